package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"multis/internal/clidocs"
)

// commandLine has the commands and flags, which scripts and guides rely on: one may be added, but none may go.
const commandLine = `
<command> [flags] -h, --help -c, --config -e, --example -g, --generate -r, --registration -v, --version
init [flags] -y, --yes --owner --homeserver --time-zone --profile --name --database --model --set --synapse --service --wait --pair
run [flags] --safe --dev
doctor [flags] --json --fix --synapse
diagnose [flags] -o, --out
status [flags] --json
agents
config get [<key>] [flags] --json
config set <key> <value>
config check
config diff [flags] --json
chat [flags] --data --documents --customer
rehearse [flags] --documents --questions --model --json --sets
verify
index --role=public|admin <what> ... --role
export <file> [<chat> ...]
search <words> ... [flags] --explain --limit --chat
import <path> [flags] --chat --me
models list
models test
models exam [<models> ...] [flags] --only --json
monitors [flags] --json
mcp login <name>
mcp logout <name>
replay <task> [flags] --model
policy show
policy explain <agent> <tool> [<args>] [flags] --surface --tainted
audit show [flags] --task --chat --day --limit --json
audit verify [<link>] [<hash>]
audit export
account
pin reset
backup create [flags] --to --without-secrets
backup verify <file>
backup restore <file>
registration
migrate [flags] --dry-run --no-backup
health
completion <shell>
man
help [<command> ...]
version
pair
read-document
`

// describeCommand returns the line of a command in commandLine.
func describeCommand(c *kong.Node) string {
	words := []string{c.Path()}
	if c.Parent == nil {
		words = []string{"<command>"}
	}
	var flags []string
	isOptional := false
	for _, f := range c.Flags {
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		flags = append(flags, name)
		if f.Required {
			words = append(words, f.Summary())
			continue
		}
		isOptional = true
	}
	for _, a := range c.Positional {
		words = append(words, a.Summary())
	}
	if isOptional {
		words = append(words, "[flags]")
	}
	return strings.Join(append(words, flags...), " ")
}

func TestCommandLine_KeepsCommandsAndFlags(t *testing.T) {
	t.Parallel()
	parser, err := newParser(new(cli))
	require.NoError(t, err)
	commands := parser.Model.Leaves(true)
	for _, c := range parser.Model.Leaves(false) { // those that are not listed come last
		if c.Hidden {
			commands = append(commands, c)
		}
	}
	lines := "\n" + describeCommand(parser.Model.Node) + "\n"
	for _, c := range commands {
		lines += describeCommand(c) + "\n"
		require.Implements(t, (*interface {
			Run(ctx context.Context, global *cli) error
		})(nil), c.Target.Addr().Interface(), "each command runs")
	}
	require.Equal(t, commandLine, lines)
}

func TestParse_FindsCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                "status",
		"-v":                              "status",
		"config get":                      "config get",
		"-c x config set a b":             "config set",
		"config set a -- -1":              "config set",
		"audit":                           "audit show",
		"audit --limit 3":                 "audit show",
		"audit verify":                    "audit verify",
		"pair":                            "pair",
		"run -c x.yaml":                   "run",
		"--version=no status":             "status",
		"init --wait 90s --set a=1;b=2=3": "init",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			selected, err := parse(new(cli), strings.Fields(line))
			require.NoError(t, err)
			require.Equal(t, want, selected.Selected().Path())
		})
	}
}

func TestParse_ReadsFlags(t *testing.T) {
	t.Parallel()
	var c cli
	_, err := parse(&c, []string{"-c", "a.yaml", "init", "-y", "--set", "x=1;y=2=3", "--set=z=", "--wait=90s", "--owner", ""})
	require.NoError(t, err)
	require.Equal(t, "a.yaml", c.Config)
	require.Equal(t, "registration.yaml", c.Registration, "the default")
	require.True(t, c.Init.Yes)
	require.Equal(t, map[string]string{"x": "1", "y": "2=3", "z": ""}, c.Init.Set)
	require.Equal(t, 90*time.Second, *c.Init.Wait)
	require.Equal(t, "auto", c.Init.Service)
}

func TestParse_ExplainsMistakes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"int":                    `unexpected argument int, did you mean one of "init", "pin"?; multis --help`,
		"pairs":                  "unexpected argument pairs; multis --help",
		"config":                 `expected one of "get", "set", "check", "diff"; multis config --help`,
		"config et":              `unexpected argument et, did you mean one of "get", "set"?; multis config --help`,
		"config set a":           `expected "<value>"; multis config set --help`,
		"config set a -1":        "-1 is not a flag: write -- before a value that begins with a dash; multis config set --help",
		"config get a b":         "unexpected argument b; multis config get --help",
		"config get --verson":    `unknown flag --verson, did you mean "--version"?; multis config get --help`,
		"run -vx":                "unknown flag -x; multis run --help",
		"run -c":                 "--config: expected FILE but nothing follows; multis run --help",
		"audit --limit few":      `--limit: expected a number but got "few"; multis audit --help`,
		"index f":                "missing flags: --role=public|admin; multis index --help",
		"index --role=odd f":     `--role must be one of "public","kb","admin" but got "odd"; multis index --help`,
		"replay x":               `<task>: expected a number but got "x"; multis replay --help`,
		"backup create --to -v":  `--to: expected string value but got "-v" (short flag); perhaps try --to="-v"?; multis backup create --help`,
		"init --set a":           `--set: expected "<key>=<value>" but got "a"; multis init --help`,
		"completion tcsh":        `<shell> must be one of "bash","zsh","fish" but got "tcsh"; multis completion --help`,
		"run --safe=maybe":       `--safe: bool value must be true, 1, yes, false, 0 or no but got "maybe"; multis run --help`,
		"help backup crate":      "",
		"audit --limit 3 verify": `flag --limit applies to the default command "show", not "verify"; multis audit --help`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, err := parse(new(cli), strings.Fields(line))
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, want+" shows what there is")
		})
	}
}

// The help of a command needs none of its arguments; without a command it is that of multis, not that of the default command.
func TestParse_FindsHelp(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-h":                  "",
		"--help":              "",
		"index -h":            "index",
		"--help config set":   "config set",
		"audit --help":        "audit",
		"audit verify --help": "audit verify",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var c cli
			selected, err := parse(&c, strings.Fields(line))
			require.NoError(t, err)
			require.True(t, bool(c.ShowHelp))
			require.Equal(t, want, commandOf(selected).Path())
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"index\n--role=public\nf", "-vc\nx\naudit\n--limit\n3", "config\nset\n--\na\n-1", "init\n--set=a=b;c",
		"-\n--\n---",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		selected, err := parse(new(cli), strings.Split(lines, "\n"))
		if err != nil {
			require.True(t, strings.HasSuffix(err.Error(), " --help shows what there is"))
			return
		}
		require.NotNil(t, commandOf(selected))
	})
}

// writeScript writes the completion script for a shell, and returns its path.
func writeScript(t *testing.T, shell string) string {
	t.Helper()
	script, complaint, err := program(t, t.TempDir(), "", "completion", shell)
	require.NoError(t, err, complaint)
	path := filepath.Join(t.TempDir(), "multis."+shell)
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	return path
}

// The completion is that of a person who types: bash reads the script and completes at the press of Tab.
func TestCompletion_CompletesInBash(t *testing.T) {
	t.Parallel()
	bash := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-i")
	bash.Dir = t.TempDir()
	bash.Env = append(os.Environ(), "PS1=$ ", "INPUTRC=/dev/null", "HISTFILE=", "TERM=dumb")
	s := startSession(t, bash)
	s.answer("$ ", "source "+writeScript(t, "bash"))
	s.expect("$ ")
	for _, c := range []struct{ typed, completed string }{
		{"multis ba", "multis backup "},
		{"multis backup v", "multis backup verify "},
		{"multis -c x.yaml bac", "multis -c x.yaml backup "},
		{"multis help backup c", "multis help backup create "},
		{"multis index --ro", "multis index --role "},
		{"multis index --role pu", "multis index --role public "},
		{"multis index --role=a", "multis index --role=admin "},
		{"multis audit --li", "multis audit --limit "},
		{"multis completion z", "multis completion zsh "},
	} {
		s.typeIn(c.typed + "\t")
		s.expect(c.completed)
		s.typeIn("\x15\r") // Ctrl-U empties the line: Ctrl-C is a signal, and is lost while bash still draws
		s.expect("$ ")
	}
	s.typeIn("exit 0\r")
	require.NoError(t, s.end())
}

// The scripts name every command that is listed, and each flag.
func TestCompletion_NamesCommandsAndFlags(t *testing.T) {
	t.Parallel()
	parser, err := newParser(new(cli))
	require.NoError(t, err)
	for _, shell := range clidocs.Shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.NoError(t, clidocs.WriteCompletion(&out, parser.Model, shell))
			for _, c := range parser.Model.Leaves(true) {
				require.Contains(t, out.String(), c.FullPath())
				for _, f := range c.Flags {
					require.Contains(t, out.String(), f.Name)
				}
			}
			require.NotContains(t, out.String(), "read-document", "hidden commands are for multis itself")
		})
	}
}

func TestMan_ExplainsCommandsAndFlags(t *testing.T) {
	t.Parallel()
	page, complaint, err := program(t, t.TempDir(), "", "man")
	require.NoError(t, err, complaint)
	parser, err := newParser(new(cli))
	require.NoError(t, err)
	escape := func(s string) string { return strings.ReplaceAll(s, "-", `\-`) }
	for _, c := range parser.Model.Leaves(true) {
		require.Contains(t, page, ".SS "+escape(c.FullPath()))
		for _, f := range c.Flags {
			require.Contains(t, page, escape("--"+f.Name))
		}
	}
	again, _, err := program(t, t.TempDir(), "", "man")
	require.NoError(t, err)
	require.Equal(t, page, again, "a release is the same each time it is built")
}

func TestCommandLine_OtherProgramsCommands(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"start":     "use: multis run, or as a service: systemctl start multis",
		"stop":      "systemctl stop multis",
		"logs":      "journalctl -fu multis",
		"cron list": "/cron and /jobs in the admin room",
	} {
		t.Run(args, func(t *testing.T) {
			_, err := parse(new(cli), strings.Fields(args))
			require.ErrorContains(t, err, want)
		})
	}
	for name := range otherCommands {
		t.Run("no command "+name, func(t *testing.T) {
			_, err := parse(new(cli), []string{name})
			require.ErrorContains(t, err, "there is no command "+name)
		})
	}
}
