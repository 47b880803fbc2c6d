// Package clidocs writes shell completion and the man page of a program from the model of its command line.
//
// The scripts are complete in themselves. The libraries that add completion to kong start the program at each press of Tab instead, which
// is slower and needs an installed program.
package clidocs

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

//go:embed *.tmpl
var files embed.FS

// Shells are the shells that WriteCompletion knows.
var Shells = []string{"bash", "zsh", "fish"}

// Command is a command of the program, or the program itself, as the templates see it.
type Command struct {
	Path        string // the words that name it, beginning with the program's name
	Name        string
	Help        string
	Usage       string // the flags and arguments that follow its name
	IsLeaf      bool   // whether it runs, instead of having commands of its own
	Flags       []Flag // its own, with those of a default command that need not be named
	Inherited   []Flag // those of the commands above it
	Arguments   []Argument
	Subcommands []Command
}

// Flag is a flag of a command.
type Flag struct {
	Name, Short, Help string
	Value             string   // how the value is shown; empty if the flag takes none
	Values            []string // the values that are possible; nil if any is
}

// Argument is an argument of a command.
type Argument struct {
	Summary, Help string
	Values        []string // the values that are possible; nil if any is
}

// WriteCompletion writes the completion script for a shell.
func WriteCompletion(w io.Writer, app *kong.Application, shell string) error {
	if !slices.Contains(Shells, shell) {
		return fmt.Errorf("there is no completion for %s: choose one of %s", shell, strings.Join(Shells, ", "))
	}
	return write(w, shell+".tmpl", newCommand(app.Node, nil))
}

// WriteMan writes the man page, in section 1.
func WriteMan(w io.Writer, app *kong.Application) error {
	return write(w, "man.tmpl", newCommand(app.Node, nil))
}

// write executes a template on the program.
func write(w io.Writer, name string, program Command) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"all":    allCommands,
		"quote":  quote,
		"roff":   roff,
		"join":   strings.Join,
		"colons": func(s string) string { return strings.ReplaceAll(s, ":", `\:`) },
	}).ParseFS(files, name)
	if err != nil {
		return fmt.Errorf("read the template %s: %w", name, err)
	}
	if err := t.Execute(w, program); err != nil {
		return fmt.Errorf("write %s: %w", strings.TrimSuffix(name, ".tmpl"), err)
	}
	return nil
}

// newCommand returns a command of the model without the commands that are hidden.
func newCommand(n *kong.Node, inherited []Flag) Command {
	c := Command{
		Path:      n.FullPath(),
		Name:      n.Name,
		Help:      n.Help,
		Inherited: inherited,
		IsLeaf:    len(n.Children) == 0,
	}
	c.Usage = strings.TrimSpace(strings.TrimPrefix(n.Summary(), n.Path()))
	flags := n.Flags
	if n.DefaultCmd != nil && n.DefaultCmd.Tag.Default == "withargs" {
		flags = slices.Concat(flags, n.DefaultCmd.Flags)
	}
	for _, f := range flags {
		if !f.Hidden {
			c.Flags = append(c.Flags, newFlag(f))
		}
	}
	for _, a := range n.Positional {
		c.Arguments = append(c.Arguments, Argument{Summary: a.Summary(), Help: a.Help, Values: valuesOf(a)})
	}
	for _, sub := range n.Children {
		if !sub.Hidden {
			c.Subcommands = append(c.Subcommands, newCommand(sub, slices.Concat(inherited, c.Flags)))
		}
	}
	return c
}

// newFlag returns a flag of the model.
func newFlag(f *kong.Flag) Flag {
	flag := Flag{Name: f.Name, Help: Describe(f.Value), Values: valuesOf(f.Value)}
	if f.Short != 0 {
		flag.Short = string(f.Short)
	}
	if !f.IsBool() {
		flag.Value = f.FormatPlaceHolder()
	}
	return flag
}

// Describe returns the help of a flag or argument, with the default of the flag.
func Describe(v *kong.Value) string {
	if v.Flag == nil || v.Default == "" {
		return v.Help
	}
	return fmt.Sprintf("%s (default %s)", v.Help, v.Default)
}

// valuesOf returns the values that a flag or argument may have; nil if any is possible.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

// allCommands returns a command and all commands below it.
func allCommands(c Command) []Command {
	all := []Command{c}
	for _, sub := range c.Subcommands {
		all = append(all, allCommands(sub)...)
	}
	return all
}

// AllFlags returns the flags that may follow the command's name.
func (c Command) AllFlags() []Flag { return slices.Concat(c.Flags, c.Inherited) }

// Leaves returns the commands below c that run.
func (c Command) Leaves() []Command {
	return slices.DeleteFunc(allCommands(c), func(sub Command) bool { return !sub.IsLeaf })
}

// Names returns the flag as it is typed, the letter first.
func (f Flag) Names() []string {
	if f.Short == "" {
		return []string{"--" + f.Name}
	}
	return []string{"-" + f.Short, "--" + f.Name}
}

// quote returns a word of a shell, in single quotes. fish reads a backslash in them as a sign of its own; bash and zsh do not.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// roff returns text of a man page, in which no sign is a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
