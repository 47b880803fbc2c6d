package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/alecthomas/kong"

	"multis/internal/clidocs"
)

// errHelp ends the reading of a command line when --help is found, before a missing argument is an error.
var errHelp = errors.New("help was asked for")

// helpFlag is --help.
type helpFlag bool

// BeforeReset is called by kong if the flag is given.
func (helpFlag) BeforeReset() error { return errHelp }

// IgnoreDefault tells kong that --help without a command is that of the program, not that of the default command.
func (helpFlag) IgnoreDefault() {}

// newParser returns the parser of the command line.
func newParser(c *cli) (*kong.Kong, error) {
	parser, err := kong.New(c,
		kong.Name("multis"),
		kong.Description("A personal and business assistant in the chats you already have."),
		kong.NoDefaultHelp(),
		kong.ValueFormatter(clidocs.Describe),
	)
	if err != nil {
		return nil, fmt.Errorf("read the definition of the command line: %w", err)
	}
	return parser, nil
}

// parse reads the command line. Its error names the --help that lists what is possible.
func parse(c *cli, args []string) (*kong.Context, error) {
	parser, err := newParser(c)
	if err != nil {
		return nil, err
	}
	selected, err := parser.Parse(args)
	if err == nil {
		return selected, nil
	}
	failed, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return nil, err
	}
	if errors.Is(err, errHelp) {
		c.ShowHelp = true
		return failed.Context, nil
	}
	if instead := otherCommand(args); instead != "" {
		return nil, errors.New(instead)
	}
	command := commandOf(failed.Context)
	return nil, fmt.Errorf("%s; %s --help shows what there is", explain(err.Error(), command), command.FullPath())
}

// commandOf returns the command that a command line names, as far as it was read.
func commandOf(c *kong.Context) *kong.Node {
	if selected := c.Selected(); selected != nil {
		return selected
	}
	return c.Model.Node
}

// These match errors of kong that are clearer in other words.
var (
	numberAsFlag  = regexp.MustCompile(`^unknown flag (-[0-9])`)
	unknownLetter = regexp.MustCompile(`^(unknown flag -[^-]),`) // each letter is similar to each other one
	missingValue  = regexp.MustCompile(`^--([a-z-]+): .*"EOL"`)
	noNumber      = regexp.MustCompile(`expected a valid \d+ bit int`)
)

// explain returns an error of kong about a command in words that say what to do.
func explain(message string, command *kong.Node) string {
	if found := numberAsFlag.FindStringSubmatch(message); found != nil {
		return found[1] + " is not a flag: write -- before a value that begins with a dash"
	}
	if found := unknownLetter.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	if found := missingValue.FindStringSubmatch(message); found != nil {
		return fmt.Sprintf("--%s: expected %s but nothing follows", found[1], placeholderOf(command, found[1]))
	}
	return noNumber.ReplaceAllString(message, "expected a number")
}

// placeholderOf returns how the help shows the value of a flag.
func placeholderOf(command *kong.Node, name string) string {
	for _, flags := range command.AllFlags(false) {
		for _, f := range flags {
			if f.Name == name {
				return f.FormatPlaceHolder()
			}
		}
	}
	return "a value"
}

// helpCmd prints the help of multis or of a command.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run prints what --help prints.
func (c helpCmd) Run(context.Context, *cli) error {
	selected, err := parse(new(cli), append(c.Command, "--help"))
	if err != nil {
		printError(os.Stderr, err.Error())
		return statusError(2)
	}
	return selected.PrintUsage(false)
}

// completionCmd prints the script that completes command lines in a shell.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c completionCmd) Run(_ context.Context, _ *cli) error {
	parser, err := newParser(new(cli))
	if err != nil {
		return err
	}
	return clidocs.WriteCompletion(os.Stdout, parser.Model, c.Shell)
}

// manCmd prints the man page.
type manCmd struct{}

// Run prints the page.
func (manCmd) Run(context.Context, *cli) error {
	parser, err := newParser(new(cli))
	if err != nil {
		return err
	}
	return clidocs.WriteMan(os.Stdout, parser.Model)
}
