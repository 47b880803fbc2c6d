// Command multis is a personal and business assistant in the chats that people already have. It is an application service of a
// Matrix homeserver, and keeps all data in one Postgres database.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"multis/config"
	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/policy"
	"multis/safety/sandbox"
)

// version is set when a release is built.
var version = "dev"

// defaultConfig is the default path of the configuration.
const defaultConfig = "config.yaml"

// cli is the command line.
type cli struct {
	ShowHelp     helpFlag `name:"help" short:"h" group:"Flags of all commands:" help:"Show this help, or that of the command."`
	Config       string   `short:"c" group:"Flags of all commands:" default:"config.yaml" placeholder:"FILE" help:"The configuration. If none is named or in this folder, that of the service in /var/lib/multis."`
	Example      bool     `short:"e" group:"Flags of all commands:" help:"Print an example configuration and exit."`
	Generate     bool     `short:"g" group:"Flags of all commands:" help:"Add missing tokens to the configuration, write the registration for the homeserver and exit."`
	Registration string   `short:"r" group:"Flags of all commands:" default:"registration.yaml" placeholder:"FILE" help:"Where the registration is written."`
	Version      bool     `short:"v" group:"Flags of all commands:" help:"Print the version and exit."`

	Init     initCmd         `cmd:"" help:"Set up multis. Run it again any time; it keeps your settings."`
	Run      runCmd          `cmd:"" help:"Serve: receive, remember, answer."`
	Doctor   doctorCmd       `cmd:"" help:"Find problems and print the fixes. Exits with 0 (none), 1 (warnings) or 2 (errors)."`
	Diagnose diagnoseCmd     `cmd:"" help:"Write a zip for a bug report, without secrets and without anything by or about contacts."`
	Status   statusCmd       `cmd:"" default:"1" help:"Show what is set up, what is running and the next step. The default command."`
	Agents   agentsCmd       `cmd:"" help:"List the agents of the configuration."`
	Conf     configCmd       `cmd:"" name:"config" help:"Show, set and check the keys of the configuration."`
	Chat     chatCmd         `cmd:"" help:"Talk to the assistant in this terminal, without a homeserver."`
	Rehearse rehearseCmd     `cmd:"" help:"Ask a file of questions as customers would, and show what they would get. Sends nothing."`
	Verify   verifyCmd       `cmd:"" help:"Verify multis' session with your recovery key, which is read from the terminal and not kept."`
	Index    indexCmd        `cmd:"" help:"Index documents: files, folders, patterns and pages."`
	Export   exportCmd       `cmd:"" help:"Export chats as files in a zip."`
	Search   searchCmd       `cmd:"" help:"Search as the owner; --explain shows how scores are computed."`
	Import   importCmd       `cmd:"" help:"Import a chat that WhatsApp or Telegram exported, or the data folder of the first multis."`
	Models   modelsCmd       `cmd:"" help:"List the language models of the configuration; models test calls each one."`
	Monitor  monitorsCmd     `cmd:"" name:"monitors" help:"List what multis checks: the monitors of config.yaml, watched pages, and programs that call in. Exits with 1 if a check fails. /monitors in the admin room pauses one, /watch changes the watches."`
	MCP      mcpCmd          `cmd:"" name:"mcp" help:"Log in to MCP servers that want it, and out again."`
	Replay   replayCmd       `cmd:"" help:"Replay a stored task without doing anything, and say whether the result is the same."`
	Policy   policyCmd       `cmd:"" help:"Show the rules about tools, and explain what happens with a call."`
	Audit    auditCmd        `cmd:"" help:"Show, check or export the audit log: what was done, decided and refused."`
	Account  accountCmd      `cmd:"" help:"Show what multis can do as you, and how to revoke it."`
	PIN      pinCmd          `cmd:"" name:"pin" help:"Remove a forgotten PIN."`
	Pair     pairCmd         `cmd:"" hidden:""`
	Read     readCmd         `cmd:"" name:"read-document" hidden:""`
	Backup   backupCmd       `cmd:"" help:"Make, check and restore backups of everything."`
	Reg      registrationCmd `cmd:"" name:"registration" help:"Add missing tokens to the configuration, and write the registration for the homeserver, as -g does."`
	Migrate  migrateCmd      `cmd:"" help:"Migrate the database to the newest schema and exit. run does it automatically."`
	Health   healthCmd       `cmd:"" help:"Exit with 0 when the running multis is ready, else with 1."`
	Compl    completionCmd   `cmd:"" name:"completion" help:"Print the script that lets a shell complete the words of multis. The Debian package installs it."`
	Man      manCmd          `cmd:"" help:"Print the man page. The Debian package installs it."`
	Help     helpCmd         `cmd:"" help:"Show this help, or the help of a command."`
	Print    versionCmd      `cmd:"" name:"version" help:"Print the version and exit."`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand { // multis starts this for each sandboxed command
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var c cli
	selected, err := parse(&c, os.Args[1:])
	if err != nil {
		printError(os.Stderr, err.Error())
		stop()
		os.Exit(2)
	}
	c.findService(selected.Command(), setup.ServiceDir)
	if err := dispatch(ctx, selected, &c); err != nil {
		if code, ok := errors.AsType[statusError](err); ok {
			stop()
			os.Exit(int(code))
		}
		printError(os.Stderr, err.Error())
		stop()
		os.Exit(1)
	}
}

// longWord matches a word of an error message that is too long to be a path or an address.
var longWord = regexp.MustCompile(`(\S{300})\S{2,}`)

// printError prints an error message.
func printError(w io.Writer, message string) {
	for line := range strings.Lines(message) {
		fmt.Fprintln(w, "multis:", terminalLine(line))
	}
}

// terminalLine returns a line as it may be shown in a terminal, without its end: without secrets, and shortened to 4000
// characters and its words to 300, such as an argument that a message quotes.
func terminalLine(line string) string {
	const maxLine = 4000
	line = text.Clean(policy.Redact(strings.TrimRight(line, "\n")))
	return text.Clip(longWord.ReplaceAllString(line, "${1}…"), maxLine)
}

// findService makes c use the configuration of the service in folder if no file is named and the working directory has no
// config.yaml. It does nothing for the commands that set up or run an installation of their own.
func (c *cli) findService(command, folder string) {
	if c.Config != defaultConfig || command == "init" || command == "run" || command == "chat" {
		return
	}
	if _, err := os.Stat(defaultConfig); err == nil {
		return
	}
	file := filepath.Join(folder, defaultConfig)
	if _, err := os.Stat(file); err != nil && !errors.Is(err, fs.ErrPermission) {
		return // there is no service; that this user may not read its folder, the command says
	}
	c.Config = file
	if c.Registration == filepath.Base(c.Registration) {
		c.Registration = filepath.Join(folder, c.Registration)
	}
}

// dispatch handles -h, -v, -e and -g, and otherwise runs the command.
func dispatch(ctx context.Context, selected *kong.Context, global *cli) error {
	switch {
	case bool(global.ShowHelp):
		return selected.PrintUsage(false)
	case global.Version:
		return versionCmd{}.Run(ctx, global)
	case global.Example:
		_, err := os.Stdout.Write(config.Example())
		return err
	case global.Generate:
		return generate(global.Config, global.Registration)
	}
	selected.BindTo(ctx, (*context.Context)(nil))
	return selected.Run(global)
}

// registrationCmd writes the registration.
type registrationCmd struct{}

// Run does the same as -g.
func (registrationCmd) Run(_ context.Context, c *cli) error {
	return generate(c.Config, c.Registration)
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
	if err := plainfile.Replace(registration, text, 0o600); err != nil {
		return fmt.Errorf("write the registration: %w", err)
	}
	for _, open := range doctor.WorldReadable(path, cfg) {
		fmt.Fprintf(os.Stderr, "Every user of this machine can read %s and the secrets in it: run chmod 600 %[1]s\n", open)
	}
	fmt.Print(registrationHint(registration, startCommand(path, false), setup.Machine{}.InContainer()))
	return nil
}

// registrationHint returns what to do with the registration. In a container, the folder with the file is mounted, and Synapse most likely
// runs in a container as well, as its image's user 991.
func registrationHint(registration, start string, inContainer bool) string {
	const text = `Wrote %s. It opens your Matrix account to multis: treat it like a root password.
Next: give it to Synapse, as a file that Synapse may read and others may not, name it in homeserver.yaml and restart Synapse. %s:

  install -m 640 %s

  app_service_config_files:
    - %s

  %s

Then: %s
`
	if inContainer {
		file := filepath.Base(registration)
		return fmt.Sprintf(text, "data/"+file, "With Synapse in Docker",
			"-o 991 -g 991 data/"+file+" THE_FOLDER_MOUNTED_AT_DATA/multis-registration.yaml", "/data/multis-registration.yaml",
			"docker restart synapse", start)
	}
	return fmt.Sprintf(text, registration, "On Debian",
		"-o matrix-synapse "+registration+" /etc/matrix-synapse/multis-registration.yaml", "/etc/matrix-synapse/multis-registration.yaml",
		"systemctl restart matrix-synapse", start)
}

// startCommand returns the command line that starts multis with this configuration, as it is installed here and with the
// path of this program. again is true if multis may be running already.
func startCommand(config string, again bool) string {
	return setup.Machine{}.StartCommand(os.Args[0], absolutePath(config), again)
}

// stoppedCommand returns the shell line that runs a command of this multis while the service is stopped, and starts it after that.
func stoppedCommand(config, command string) string {
	return setup.Machine{}.StoppedCommand(os.Args[0], absolutePath(config), command)
}

// absolutePath returns a path for messages, which may be read in another folder.
func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// versionCmd prints the version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(context.Context, *cli) error {
	fmt.Println("multis", versionOf(debug.ReadBuildInfo))
	return nil
}

// versionOf returns the version of a release, else "dev" with the commit that the program was built from.
func versionOf(build func() (*debug.BuildInfo, bool)) string {
	info, ok := build()
	if version != "dev" || !ok {
		return version
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return version
	}
	text := fmt.Sprintf("%s (commit %.12s of %.10s", version, commit, settings["vcs.time"])
	if settings["vcs.modified"] == "true" {
		text += ", with changes"
	}
	return text + ")"
}
