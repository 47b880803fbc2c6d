package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// startTimeout limits the start of a program, also on a busy machine.
const startTimeout = 5 * time.Minute

// child is a process that is killed when this one ends.
type child struct {
	cmd  *exec.Cmd
	log  string        // path of its output
	done chan struct{} // closed when the process has ended and err is set
	err  error
}

// startChild starts argv in dir. Its output is appended to the file log; env is
// added to the environment of this process.
func startChild(log, dir string, env []string, argv ...string) (*child, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = output, output
	// Its own process group, so that Ctrl-C in a terminal does not end it before the tests do.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c := &child{cmd: cmd, log: log, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Pdeathsig is sent when the starting thread ends, so this goroutine keeps
		// its thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return c, nil
}

// stop sends sig and waits for the end of the process, which it kills after
// 30 s. It is no error if the process has already ended.
func (c *child) stop(sig syscall.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(30 * time.Second):
	}
	err := c.cmd.Process.Kill()
	<-c.done
	return errors.Join(fmt.Errorf("stop %s: it ignored %s and was killed", c.cmd.Path, sig), err)
}

// until calls ready every 20 ms until it succeeds, the process has ended or ctx
// is done.
func (c *child) until(ctx context.Context, ready func(context.Context) error) error {
	for {
		last := ready(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("%s ended (%v), see %s", c.cmd.Path, c.err, c.log) //nolint:errorlint // nil when it ended of its own accord
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", c.cmd.Path, ctx.Err(), last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// build builds a command of this module into the rig's folder. It uses "go run -exec
// cp", because "go run" caches the linked program, unlike "go build".
func (r *Rig) build(ctx context.Context, pkg string, cgo bool) (string, error) {
	binary := filepath.Join(r.Dir, path.Base(pkg)+".bin")
	cmd := exec.CommandContext(ctx, "go", "run", "-tags", "goolm", "-exec", "cp", pkg, binary)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if cgo {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, output)
	}
	r.step("built %s", pkg)
	return binary, nil
}

// PreviousCommit is the build from which an upgrade is tested: the last commit with an older schema. Each release sets it again.
const PreviousCommit = "4b95975"

// BuildPrevious builds multis of PreviousCommit and returns the path of the program. It needs the git history.
func (r *Rig) BuildPrevious(ctx context.Context) (string, error) {
	dir := filepath.Join(r.Dir, "previous")
	binary := filepath.Join(dir, "multis.bin")
	script := `set -eu
		mkdir "$1"
		git -C "$(git rev-parse --show-toplevel)" archive "$2" | tar -x -C "$1"
		cd "$1"
		go build -tags goolm -buildvcs=false -trimpath -o "$3" ./cmd/multis`
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", script, "bash", dir, PreviousCommit, binary)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build multis of commit %s: %w\n%s", PreviousCommit, err, output)
	}
	r.step("built multis of commit %s", PreviousCommit)
	return binary, nil
}
