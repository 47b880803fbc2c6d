package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"multis/config"
	"multis/internal/plainfile"
	"multis/ops/setup"
)

// initCmd sets multis up.
type initCmd struct {
	Yes        bool              `short:"y" help:"Ask nothing: take what is given and found, and what config.yaml says. Something missing is an error."`
	Owner      string            `placeholder:"@YOU:DOMAIN" help:"Your Matrix id."`
	Homeserver string            `placeholder:"URL" help:"Where multis reaches Synapse."`
	TimeZone   string            `placeholder:"ZONE" help:"Your time zone, such as Europe/Berlin."`
	Profile    string            `placeholder:"PROFILE" help:"personal or business."`
	Name       string            `placeholder:"NAME" help:"The name of the assistant."`
	Database   string            `placeholder:"URL" help:"A Postgres database. Without one multis runs its own Postgres."`
	Model      string            `placeholder:"MODEL" help:"The language model, such as anthropic/claude-haiku-4-5 or none. Its key: --set llm.api_key_file=PATH."`
	Set        map[string]string `placeholder:"KEY=VALUE" help:"Any other key of config.yaml, such as llm.base_url; can be repeated."`
	Synapse    string            `placeholder:"FILE" help:"Synapse's homeserver.yaml, where it is not found by itself."`
	Service    string            `enum:"auto,systemd,compose,none" default:"auto" help:"systemd: install a service in /var/lib/multis; compose: write .env beside docker-compose.yml; none: only write the files; auto: systemd for root where it runs."`
	Wait       *time.Duration    `placeholder:"TIME" help:"How long to wait for Synapse. Defaults to 30m, with --yes to 0."`
	Pair       bool              `help:"Find out your Matrix id by a one-time code that you send from your Matrix client."`
}

// Run asks the questions, tests the answers, writes the files, waits for Synapse, starts multis and waits for its greeting.
func (c initCmd) Run(ctx context.Context, g *cli) error {
	if c.Service == "compose" {
		return c.writeEnv(ctx)
	}
	i, err := c.plan(g)
	if err != nil {
		return err
	}
	if i.systemd {
		fmt.Printf("multis will run as a service of systemd, as the user multis, in %s.\n", filepath.Dir(i.config))
	}
	options := setup.Options{
		Config: i.config, Registration: i.registration, Given: c.given(), Synapse: c.Synapse, Out: os.Stdout, Env: os.LookupEnv, Probes: probes(),
		Pairing: c.Pair,
	}
	if !c.Yes {
		options.Asker = setup.NewAsker(os.Stdin, os.Stdout)
	}
	answers, err := setup.Run(ctx, options)
	if err != nil {
		return err
	}
	if err := i.write(ctx, answers, answers.Old); err != nil {
		return err
	}
	if c.Pair {
		if answers, err = i.pair(ctx, answers); err != nil {
			return err
		}
	}
	return i.bringUp(ctx, answers)
}

// writeEnv writes .env for Docker Compose, with the network of Synapse. It runs on the host; the questions are asked in the container of multis.
func (c initCmd) writeEnv(ctx context.Context) error {
	if _, err := os.Stat("docker-compose.yml"); err != nil {
		return errors.New("there is no docker-compose.yml here: change to the folder of multis' repository")
	}
	network, err := setup.Machine{}.SynapseNetwork(ctx, c.Synapse)
	if err != nil {
		return err
	}
	file, changed, err := setup.ComposeEnv(".env", network)
	if err != nil {
		return err
	}
	if changed {
		if err := setup.Write(ctx, []setup.Output{file}); err != nil {
			return err
		}
	}
	fmt.Printf("✓ .env         Synapse is on the network %s\n\nNext: docker compose run --rm --use-aliases multis init\n", network)
	return nil
}

// installation says where and how multis is set up.
type installation struct {
	config, registration string
	program              string // this program
	synapse              string // path of homeserver.yaml; empty to look for it
	systemd              bool   // install a service
	wait                 time.Duration
	machine              setup.Machine
}

// plan decides where the files are written.
func (c initCmd) plan(g *cli) (installation, error) {
	i := installation{config: g.Config, registration: g.Registration, synapse: c.Synapse, wait: 30 * time.Minute}
	i.systemd = c.Service == "systemd" || c.Service == "auto" && os.Geteuid() == 0 && i.machine.HasSystemd() && !i.machine.InContainer()
	if i.systemd && os.Geteuid() != 0 {
		return i, errors.New("a service of systemd is installed by root: run it with sudo, or with --service none")
	}
	if g.Config != defaultConfig && filepath.Dir(g.Config) != setup.ServiceDir && c.Service == "auto" {
		i.systemd = false // the systemd unit only reads the configuration in its own folder
	}
	var err error
	if i.systemd && g.Config == defaultConfig {
		i.config = filepath.Join(setup.ServiceDir, defaultConfig)
	}
	if i.config, err = filepath.Abs(i.config); err != nil {
		return i, err
	}
	if !filepath.IsAbs(i.registration) {
		i.registration = filepath.Join(filepath.Dir(i.config), i.registration)
	}
	if i.program, err = os.Executable(); err != nil {
		return i, fmt.Errorf("find this program: %w", err)
	}
	if c.Wait != nil {
		i.wait = *c.Wait
	} else if c.Yes {
		i.wait = 0
	}
	if c.Pair && i.wait == 0 {
		return i, errors.New("--pair waits for you: leave --yes out, or add --wait 10m")
	}
	return i, nil
}

// given returns the values from the command line, by configuration key.
func (c initCmd) given() map[string]string {
	given := maps.Clone(c.Set)
	if given == nil {
		given = map[string]string{}
	}
	for key, value := range map[string]string{
		"owner": c.Owner, "homeserver.address": strings.TrimSuffix(c.Homeserver, "/"), "time_zone": c.TimeZone, "chats.profile": c.Profile, "name": c.Name,
		"database.url": c.Database, "llm.model": c.Model,
	} {
		if value != "" {
			given[key] = value
		}
	}
	return given
}

// write creates the user and the folder of a service, and then writes all files, if config.yaml is still as it was before; nil if there was none.
func (i installation) write(ctx context.Context, a setup.Answers, before []byte) error {
	uid, gid := -1, -1
	var files []setup.Output
	if i.systemd {
		var err error
		if uid, gid, err = setup.EnsureUser(ctx); err != nil {
			return err
		}
		if err := setup.EnsureFolder(filepath.Dir(i.config), uid, gid); err != nil {
			return err
		}
		if files, err = i.machine.ServiceFiles(i.program); err != nil {
			return err
		}
	} else if os.Geteuid() == 0 {
		// multis runs as the owner of the folder, so that user must own the files that root writes.
		var err error
		if uid, gid, err = ownerOf(filepath.Dir(i.config)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(i.config), 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must be able to enter it
		return fmt.Errorf("make the folder of config.yaml: %w", err)
	}
	if uid > 0 {
		if err := setup.CheckReadable(ctx, a.Config.SecretFiles, filepath.Dir(i.config), uid, gid, i.systemd); err != nil {
			return err
		}
	}
	path, err := plainfile.Resolve(i.config) // replace the target of a symbolic link, not the link
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path = i.config
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
		setup.Output{Path: i.registration, Data: a.Registration, Mode: 0o600, UID: uid, GID: gid},
		setup.Output{Path: path, Data: a.Data, Mode: 0o600, UID: uid, GID: gid})
	files = slices.DeleteFunc(files, setup.Output.IsWritten)
	if err := setup.Write(ctx, files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Printf("✓ wrote        %s\n", f.Path)
	}
	return nil
}
