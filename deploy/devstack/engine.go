package devstack

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed enter-engine.sh
var enterEngineScript []byte

// PrepareEngine returns a root file system like Prepare's that has a Docker Engine and Compose. The first call on a machine builds
// it (some minutes).
func PrepareEngine(ctx context.Context, out io.Writer) (Root, error) {
	return prepareLayer(ctx, out, "engine", "docker.io", "docker-cli", "docker-compose", "docker-buildx", "iptables", "iproute2",
		"ca-certificates", "mount", "busybox-static", "git", "openssl")
}

// Engine is a running Docker Engine. Its containers cannot reach other networks.
type Engine struct {
	box
	// Dir is the folder that commands see as /mnt.
	Dir string

	root Root
	data *os.File // the folder of images and volumes, locked
}

// NewEngine starts an engine. Its images and volumes are stored beside the root, for later engines too. Only one engine can run at a
// time; NewEngine waits until another one has ended. The caller must Stop the engine.
func NewEngine(ctx context.Context, root Root, dir string) (*Engine, error) {
	path := root.Dir + "-data"
	argv := asRoot("mkdir", "-p", path)
	if err := exec.CommandContext(ctx, argv[0], argv[1:]...).Run(); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	data, err := lock(ctx, path)
	if err != nil {
		return nil, err
	}
	e := &Engine{Dir: dir, root: root, data: data}
	if err := e.Start(ctx); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// lock opens a folder and waits for an exclusive lock on it.
func lock(ctx context.Context, path string) (*os.File, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return dir, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err, dir.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Start starts a stopped engine, which still has its images, volumes and containers.
func (e *Engine) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := e.start(ctx, e.Dir, "engine", enterEngineScript, e.root.Dir, e.data.Name(), e.Dir); err != nil {
		return err
	}
	return e.process.until(ctx, func(ctx context.Context) error { return e.Command(ctx, "/", "docker", "info").Run() })
}

// Stop kills the engine and releases the lock on its data. It may be called twice.
func (e *Engine) Stop() error {
	e.Kill()
	if e.data == nil {
		return nil
	}
	data := e.data
	e.data = nil
	return data.Close()
}
