package commandline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/commandline"
)

// program is a command line with each kind of field.
type program struct {
	Config  string `short:"c" default:"here.yaml" placeholder:"FILE" help:"The configuration."`
	Verbose bool   `short:"v" help:"Say more."`
	Quiet   bool   `short:"q" help:"Say less."`

	Show showCmd  `cmd:"" default:"1" help:"Show what is there."`
	Keys keysCmd  `cmd:"" name:"config" help:"Show and set keys."`
	Log  logCmd   `cmd:"" help:"Show the log."`
	Make makeCmd  `cmd:"" help:"Make something."`
	Own  struct{} `cmd:"" name:"internal" hidden:""`
}

type (
	showCmd struct{}
	keysCmd struct {
		Get struct {
			Key string `arg:"" optional:"" help:"The key."`
		} `cmd:"" help:"Print a key."`
		Set struct {
			Key   string `arg:"" help:"The key."`
			Value string `arg:"" help:"Its value."`
		} `cmd:"" help:"Set a key."`
	}
	logCmd struct {
		Show struct {
			Limit int64 `default:"50" help:"How many."`
		} `cmd:"" default:"withargs" help:"Show it."`
		Verify struct{} `cmd:"" help:"Verify it."`
	}
	makeCmd struct {
		Kind    string            `required:"" enum:"big,small" help:"What kind."`
		To      *string           `placeholder:"FOLDER" help:"Where to."`
		Names   []string          `placeholder:"NAME" help:"For whom."`
		Sizes   []int             `default:"1,2" help:"How large."`
		Set     map[string]string `placeholder:"KEY=VALUE" help:"Any key."`
		MaxWait time.Duration     `help:"How long."`
		File    string            `arg:"" help:"The file."`
		More    []int             `arg:"" optional:"" help:"Numbers."`
	}
)

func parse(args ...string) (*program, *commandline.Command, error) {
	var p program
	command, err := commandline.Parse(&p, "prog", "Does things.", args)
	return &p, command, err
}

func TestFlagsAndArgumentsAreReadIntoFields(t *testing.T) {
	t.Parallel()
	p, command, err := parse("-vc", "a.yaml", "make", "--kind=big", "--to", "", "f", "--names", `a,b\,c`, "1", "--names=d", "-q",
		"--sizes", "7", "--set", "x=1;y=2=3", "--set=z=", "--max-wait=90s", "2", "--", "-3")
	require.NoError(t, err)
	require.Equal(t, "make", command.Name())
	require.Same(t, &p.Make, command.Target)
	require.True(t, p.Verbose)
	require.True(t, p.Quiet, "the program's flags may follow a command")
	require.Equal(t, "a.yaml", p.Config)
	require.Equal(t, makeCmd{
		Kind: "big", To: new(""), Names: []string{"a", "b,c", "d"}, Sizes: []int{7}, Set: map[string]string{"x": "1", "y": "2=3", "z": ""}, MaxWait: 90 * time.Second,
		File: "f", More: []int{1, 2, -3},
	}, p.Make)
}

func TestWhatIsNotGivenHasItsDefault(t *testing.T) {
	t.Parallel()
	p, command, err := parse("make", "--kind", "small", "f")
	require.NoError(t, err)
	require.Equal(t, "here.yaml", p.Config)
	require.Equal(t, makeCmd{Kind: "small", Sizes: []int{1, 2}, File: "f"}, p.Make)
	require.False(t, command.Help)
}

func TestACommandLineNamesOneCommand(t *testing.T) {
	t.Parallel()
	for line, name := range map[string]string{
		"": "show", "-v": "show", "config get": "config get", "-c x config -v set a b": "config set", "-- config set a -1": "config set",
		"log": "log show", "log --limit 3": "log show", "log verify": "log verify", "internal": "internal",
		"--verbose=no show": "show", "log --help": "log", "--help": "", "make -h": "make", "--help config get": "config get",
	} {
		_, command, err := parse(strings.Fields(line)...)
		require.NoError(t, err, line)
		require.Equal(t, name, command.Name(), line)
		require.Equal(t, strings.Contains(line, "-h"), command.Help, line)
	}
}

func TestAWrongCommandLineSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"shw":                          "unexpected argument shw, did you mean show?; prog --help",
		"int":                          "unexpected argument int; prog --help",
		"config":                       "expected one of get, set; prog config --help",
		"config et":                    "unexpected argument et, did you mean get or set?; prog config --help",
		"config set a":                 "expected <value>; prog config set --help",
		"config set a -1":              "-1 is no flag: write -- before a value that begins with a dash; prog config set --help",
		"config get a b":               "unexpected argument b; prog config get --help",
		"config get --verbos":          "unknown flag --verbos, did you mean --verbose?; prog config get --help",
		"show -vx":                     "unknown flag -x; prog show --help",
		"show -c":                      "--config: expected FILE but nothing follows; prog show --help",
		"show --verbose=maybe":         `--verbose: expected true or false but got "maybe"; prog show --help`,
		"log --limit few":              `--limit: expected a number but got "few"; prog log show --help`,
		"log --limit 3 verify":         "unexpected argument verify; prog log show --help",
		"make f":                       "missing flag: --kind=KIND; prog make --help",
		"make --kind=big":              "expected <file>; prog make --help",
		"make --kind=odd f":            `--kind: expected one of big, small but got "odd"; prog make --help`,
		"make --kind=big f x":          `<more>: expected a number but got "x"; prog make --help`,
		"make --kind=big --to -v f":    "--to: expected FOLDER but got -v: write --to=-v if it is meant; prog make --help",
		"make --kind=big --set a f":    `--set: expected KEY=VALUE but got "a"; prog make --help`,
		"make --kind=big --max-wait=1": `--max-wait: expected a duration such as 90s or 30m but got "1"; prog make --help`,
		"---":                          "bad flag syntax: ---; prog --help",
	} {
		_, _, err := parse(strings.Fields(line)...)
		require.EqualError(t, err, want+" shows what there is", line)
	}
}

func TestHelpListsFlagsArgumentsAndCommands(t *testing.T) {
	t.Parallel()
	_, command, err := parse("make", "--help")
	require.NoError(t, err)
	require.Equal(t, `Usage: prog make --kind=KIND <file> [<more> ...] [flags]

Make something.

Arguments:
  <file>         The file.
  [<more> ...]   Numbers.

Flags:
      --kind KIND           What kind.
      --to FOLDER           Where to.
      --names NAME          For whom.
      --sizes SIZES         How large. (default 1,2)
      --set KEY=VALUE       Any key.
      --max-wait MAX-WAIT   How long.

Flags of all commands:
  -h, --help          Show this help, or that of the command.
  -c, --config FILE   The configuration. (default here.yaml)
  -v, --verbose       Say more.
  -q, --quiet         Say less.
`, command.Usage(80))

	_, command, err = parse("--help")
	require.NoError(t, err)
	require.Contains(t, command.Usage(20), `
Commands:
  show
    Show what is
    there.
  config get [<key>]
    Print a key.
  config set <key> <value>
    Set a key.
  log show [flags]
    Show it.
  log verify
    Verify it.
  make --kind=KIND <file> [<more> ...] [flags]
    Make something.

Run "prog <command> --help"`)
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"make\n--kind=big\nf\n1", "-vc\nx\nlog\n--limit\n3", "config\nset\n--\na\n-1", "--set=a=b;c", "make\n--names=a\\,b\\", "-\n--\n---"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		args := strings.Split(lines, "\n")
		_, command, err := parse(args...)
		if err != nil {
			require.True(t, strings.HasSuffix(err.Error(), " --help shows what there is"))
			return
		}
		require.NotNil(t, command.Target)
		require.True(t, strings.HasPrefix(command.Usage(80), "Usage: prog"))
		if command.Help {
			require.Contains(t, lines, "h")
		}
	})
}
