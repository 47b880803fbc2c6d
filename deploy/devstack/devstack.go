// Package devstack runs a real Synapse and a real Postgres with pgvector on
// loopback ports, from Debian packages and without Docker. Tests and the demo
// use it; multis itself does not.
//
// Prepare builds a root file system once per machine; Start runs servers in it,
// several stacks side by side if needed. It needs root or sudo. Every server has
// its own mount and process namespace and ends when a pipe to the starting
// process is closed, so that nothing is left running or mounted.
package devstack

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed prepare.sh
var prepareScript string

//go:embed prepare-layer.sh
var prepareLayerScript string

//go:embed enter.sh
var enterScript []byte

// Root is a root file system in which the packages are installed. Prepare returns one.
type Root struct {
	// Dir is its absolute path outside.
	Dir string
}

// Prepare returns the root file system. The first call on a machine builds it in
// CacheDir (about a minute). Progress is written to out, one line per step.
// Concurrent calls wait for the one that builds.
func Prepare(ctx context.Context, out io.Writer) (Root, error) {
	cache, err := prepare(ctx, out, prepareScript)
	if err != nil {
		return Root{}, fmt.Errorf("prepare the development root: %w", err)
	}
	return Root{Dir: filepath.Join(cache, "sid")}, nil
}

// prepareLayer returns a root file system like Prepare's with more packages. The first call on a machine builds it.
func prepareLayer(ctx context.Context, out io.Writer, name string, packages ...string) (Root, error) {
	if _, err := Prepare(ctx, out); err != nil {
		return Root{}, err
	}
	cache, err := prepare(ctx, out, prepareLayerScript, append([]string{name}, packages...)...)
	if err != nil {
		return Root{}, fmt.Errorf("prepare the root %s: %w", name, err)
	}
	return Root{Dir: filepath.Join(cache, name)}, nil
}

// prepare runs a script that builds a root file system in the cache, and returns the cache's folder.
func prepare(ctx context.Context, out io.Writer, script string, args ...string) (cache string, err error) {
	if cache, err = CacheDir(); err != nil {
		return "", err
	}
	if err := askForRoot(ctx); err != nil {
		return "", err
	}
	// Created here, because otherwise root would own the folders above it.
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	argv := append(asRoot("bash", "-s", "--", cache), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(script)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("in %s: %w", cache, err)
	}
	return cache, nil
}

// CacheDir returns the folder of the root file system: $MULTIS_CACHE/devstack, or
// multis/devstack in the user's cache folder ($XDG_CACHE_HOME or ~/.cache).
func CacheDir() (string, error) {
	base := os.Getenv("MULTIS_CACHE")
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a cache folder, set MULTIS_CACHE: %w", err)
		}
		base = filepath.Join(user, "multis")
	}
	return filepath.Abs(filepath.Join(base, "devstack"))
}

// askForRoot makes sudo ask for the password once, while it has the terminal,
// because later calls of sudo cannot ask.
func askForRoot(ctx context.Context) error {
	if os.Geteuid() == 0 {
		return nil
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return errors.New("the development stack needs root or sudo to make a root file system and enter it")
	}
	cmd := exec.CommandContext(ctx, "sudo", "-v")
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ask sudo for root: %w", err)
	}
	return nil
}

func asRoot(argv ...string) []string {
	if os.Geteuid() == 0 {
		return argv
	}
	return append([]string{"sudo", "-n", "--"}, argv...)
}
