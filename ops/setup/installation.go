package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"multis/config"
	"multis/internal/plainfile"
)

// Installation says where and how multis is set up.
type Installation struct {
	Config, Registration string // their paths
	Program              string // this program
	Synapse              string // path of homeserver.yaml; empty to look for it
	Systemd              bool   // install a service
	Wait                 time.Duration
	Pairing              bool // find out the owner by a one-time code
	Machine              Machine
	Out                  io.Writer
}

// Request says what the user wants of an installation.
type Request struct {
	Config, Registration string // their paths; relative ones are in the working directory
	DefaultConfig        string // the path of the configuration if none was named
	Synapse              string // as in Installation
	Service              string // auto, systemd or none
	Wait                 time.Duration
	Pairing              bool // as in Installation
	Out                  io.Writer
}

// NewInstallation decides where the files are written, and whether multis becomes a service.
func NewInstallation(r Request) (*Installation, error) {
	i := &Installation{
		Config:       r.Config,
		Registration: r.Registration,
		Synapse:      r.Synapse,
		Wait:         r.Wait,
		Pairing:      r.Pairing,
		Out:          r.Out,
	}
	isRoot := os.Geteuid() == 0
	i.Systemd = r.Service == "systemd" || r.Service == "auto" && isRoot && i.Machine.HasSystemd() && !i.Machine.InContainer()
	if i.Systemd && !isRoot {
		return nil, errors.New("a service of systemd is installed by root: run it with sudo, or with --service none")
	}
	if r.Config != r.DefaultConfig && filepath.Dir(r.Config) != ServiceDir && r.Service == "auto" {
		i.Systemd = false // the systemd unit only reads the configuration in its own folder
	}
	if i.Systemd && r.Config == r.DefaultConfig {
		i.Config = filepath.Join(ServiceDir, r.DefaultConfig)
	}
	var err error
	if i.Config, err = filepath.Abs(i.Config); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(i.Registration) {
		i.Registration = filepath.Join(filepath.Dir(i.Config), i.Registration)
	}
	if i.Program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if i.Pairing && i.Wait == 0 {
		return nil, errors.New("--pair waits for you: leave --yes out, or add --wait 10m")
	}
	return i, nil
}

// Install asks the questions, tests the answers, writes the files, waits for Synapse, starts multis and waits for its
// greeting. Given are the values that are not asked for, by key of config.yaml. A nil asker asks nothing.
func (i *Installation) Install(ctx context.Context, given map[string]string, asker Asker, probes Probes) error {
	if i.Systemd {
		fmt.Fprintf(i.Out, "multis will run as a service of systemd, as the user multis, in %s.\n", filepath.Dir(i.Config))
	}
	answers, err := Run(ctx, Options{
		Config:       i.Config,
		Registration: i.Registration,
		Given:        given,
		Synapse:      i.Synapse,
		Pairing:      i.Pairing,
		Asker:        asker,
		Out:          i.Out,
		Env:          os.LookupEnv,
		Probes:       probes,
	})
	if err != nil {
		return err
	}
	if err := i.write(ctx, answers, answers.Old); err != nil {
		return err
	}
	if i.Pairing {
		if answers, err = i.pair(ctx, answers); err != nil {
			return err
		}
	}
	return i.bringUp(ctx, answers)
}

// write creates the user and the folder of a service, and then writes all files, if config.yaml is still as it was
// before; nil if there was none.
func (i *Installation) write(ctx context.Context, a Answers, before []byte) error {
	uid, gid := -1, -1
	var files []Output
	if i.Systemd {
		var err error
		if uid, gid, err = EnsureUser(ctx); err != nil {
			return err
		}
		if err := EnsureFolder(filepath.Dir(i.Config), uid, gid); err != nil {
			return err
		}
		if files, err = i.Machine.ServiceFiles(i.Program); err != nil {
			return err
		}
	} else if os.Geteuid() == 0 {
		// multis runs as the owner of the folder, so that user must own the files that root writes.
		var err error
		if uid, gid, err = ownerOf(filepath.Dir(i.Config)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(i.Config), 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must be able to enter it
		return fmt.Errorf("make the folder of config.yaml: %w", err)
	}
	if uid > 0 {
		if err := CheckReadable(ctx, a.Config.SecretFiles, filepath.Dir(i.Config), uid, gid, i.Systemd); err != nil {
			return err
		}
	}
	path, err := plainfile.Resolve(i.Config) // replace the target of a symbolic link, not the link
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path = i.Config
	case err != nil:
		return err
	}
	unlock, err := plainfile.LockFolder(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer unlock()
	switch now, err := config.ReadFile(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !bytes.Equal(now, before):
		return fmt.Errorf("%s was changed while the questions were asked, so nothing was written: run multis init again", path)
	}
	files = append(files,
		Output{
			Path: i.Registration,
			Data: a.Registration,
			Mode: 0o600,
			UID:  uid,
			GID:  gid,
		},
		Output{
			Path: path,
			Data: a.Data,
			Mode: 0o600,
			UID:  uid,
			GID:  gid,
		})
	files = slices.DeleteFunc(files, Output.IsWritten)
	if err := Write(ctx, files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(i.Out, "✓ wrote        %s\n", f.Path)
	}
	return nil
}
