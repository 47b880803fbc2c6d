// Command multis is a personal and business assistant in the chats people already have: one application service beside a
// Matrix homeserver, with everything it keeps in one Postgres.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"multis/config"
	"multis/policy"
	"multis/text"
)

// version is set when a release is built.
var version = "dev"

// defaultConfig is the configuration file when none is given.
const defaultConfig = "config.yaml"

// cli is the command line.
type cli struct {
	Config       string `short:"c" default:"config.yaml" placeholder:"FILE" help:"The configuration. Defaults to config.yaml."`
	Example      bool   `short:"e" help:"Print an example configuration and exit."`
	Generate     bool   `short:"g" help:"Add missing tokens to the configuration, write the registration for the homeserver and exit."`
	Registration string `short:"r" default:"registration.yaml" placeholder:"FILE" help:"Where -g writes the registration. Defaults to registration.yaml."`
	Version      bool   `short:"v" help:"Print the version and exit."`

	Next    nextCmd    `cmd:"" default:"1" hidden:""`
	Run     runCmd     `cmd:"" help:"Serve: receive, remember, answer."`
	Chat    chatCmd    `cmd:"" help:"Talk to the assistant in this terminal, without a homeserver."`
	Verify  verifyCmd  `cmd:"" help:"Verify multis' session with your recovery key, which is read from the terminal and not kept."`
	Index   indexCmd   `cmd:"" help:"Index documents: files, folders, patterns and pages."`
	Export  exportCmd  `cmd:"" help:"Export chats as files in a zip."`
	Search  searchCmd  `cmd:"" help:"Search as the owner; --explain shows how scores are computed."`
	Import  importCmd  `cmd:"" help:"Import a chat that WhatsApp exported, or the data folder of the first multis."`
	Models  modelsCmd  `cmd:"" help:"List the language models of the configuration; models test calls each one."`
	MCP     mcpCmd     `cmd:"" name:"mcp" help:"Log in to MCP servers that want it, and out again."`
	Replay  replayCmd  `cmd:"" help:"Replay a stored task without doing anything, and say whether the result is the same."`
	Read    readCmd    `cmd:"" name:"read-document" hidden:""`
	Migrate migrateCmd `cmd:"" help:"Migrate the database to the newest schema and exit. run does it by itself."`
	Health  healthCmd  `cmd:"" help:"Exit with 0 when the running multis is ready, else with 1."`
	Help    helpCmd    `cmd:"" help:"Show this help, or the help of a command."`
	Print   printCmd   `cmd:"" name:"version" help:"Print the version and exit."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var c cli
	parser := kong.Must(&c, kong.Name("multis"), kong.Description("A personal and business assistant in the chats you already have."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "multis:", misused(err))
		stop()
		os.Exit(2)
	}
	if err := dispatch(k, &c); err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(os.Stderr, "multis:", text.Clean(policy.Redact(strings.TrimRight(line, "\n"))))
		}
		stop()
		os.Exit(1)
	}
}

// misused returns the error message for a wrong command line, with the command that shows its help.
func misused(err error) string {
	command := "multis"
	if failed, ok := errors.AsType[*kong.ParseError](err); ok && failed.Context.Selected() != nil {
		command += " " + failed.Context.Selected().Path()
	}
	return fmt.Sprintf("%s; %s --help shows what there is", err, command)
}

// dispatch carries out -v, -e or -g, else runs the command.
func dispatch(k *kong.Context, c *cli) error {
	switch {
	case c.Version:
		return printCmd{}.Run()
	case c.Example:
		_, err := os.Stdout.Write(config.Example())
		return err
	case c.Generate:
		return generate(c.Config, c.Registration)
	default:
		return k.Run(c)
	}
}

// generate adds the missing tokens to the configuration and writes the registration.
func generate(path, registration string) error {
	cfg, err := config.Generate(path)
	if err != nil {
		return err
	}
	text, err := config.Registration(cfg)
	if err != nil {
		return err
	}
	if registration, err = filepath.Abs(registration); err != nil {
		return fmt.Errorf("write the registration: %w", err)
	}
	if err := writeSecret(registration, text); err != nil {
		return fmt.Errorf("write the registration: %w", err)
	}
	if isOpenToAll(path, cfg) {
		fmt.Fprintf(os.Stderr, "Every user of this machine can read %s and the secrets in it: run chmod 600 %[1]s\n", path)
	}
	fmt.Printf(`Wrote %s. It opens your Matrix account to multis: treat it like a root password.
Next: give it to Synapse, as a file that Synapse may read and others may not, name it in homeserver.yaml and restart Synapse. On Debian:

  install -m 640 -g matrix-synapse %[1]s /etc/matrix-synapse/multis-registration.yaml

  app_service_config_files:
    - /etc/matrix-synapse/multis-registration.yaml

Then: multis run
`, registration)
	return nil
}

// writeSecret writes a file that only its owner can read. An existing file loses the rights of others.
func writeSecret(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600) // before there is something to read
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
}

// printCmd prints the version.
type printCmd struct{}

// Run prints the version.
func (printCmd) Run() error {
	fmt.Println("multis", versionOf(debug.ReadBuildInfo))
	return nil
}

// versionOf returns the version of a release, else "dev" with the commit that the program was built from.
func versionOf(build func() (*debug.BuildInfo, bool)) string {
	info, ok := build()
	if version != "dev" || !ok {
		return version
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	commit := said["vcs.revision"]
	if commit == "" {
		return version
	}
	text := fmt.Sprintf("%s (commit %.12s of %.10s", version, commit, said["vcs.time"])
	if said["vcs.modified"] == "true" {
		text += ", changed since"
	}
	return text + ")"
}

// helpCmd prints the help of multis or of a command.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run prints what --help prints.
func (c helpCmd) Run(parser *kong.Kong) error {
	if len(c.Command) == 0 {
		_, err := parser.Parse([]string{"--help"})
		return err
	}
	k, err := kong.Trace(parser, c.Command)
	if err != nil {
		return err
	}
	if k.Error != nil {
		return fmt.Errorf("%w; multis --help shows what there is", k.Error)
	}
	return k.PrintUsage(false)
}

// nextCmd prints whether the configuration is complete, and what to do next.
type nextCmd struct{}

// Run loads the configuration and nothing else.
func (nextCmd) Run(c *cli) error { //nolint:unparam // as kong calls it
	_, err := config.Load(c.Config)
	switch {
	case errors.Is(err, os.ErrNotExist):
		fmt.Printf("There is no %s yet.\nTry it here first:    multis chat\nOr set it up:         multis -e > %s, edit it, then multis -g\n", c.Config, c.Config)
	case err != nil:
		fmt.Printf("%s is not complete yet:\n\n", c.Config)
		for line := range strings.Lines(err.Error()) {
			fmt.Println(" ", text.Clean(policy.Redact(strings.TrimRight(line, "\n"))))
		}
		fmt.Printf("\nNext: mend these lines, then multis -g (it makes what still says generate).\nTry it here first, without a homeserver:  multis chat\n")
	default:
		fmt.Printf("%s is complete.\nNext: multis run (after the registration was added to Synapse), or multis --help\n", c.Config)
	}
	return nil
}
