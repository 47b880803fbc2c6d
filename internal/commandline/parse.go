package commandline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// parse reads args, and returns the command that they name. If there is an error, it returns the last command whose name was read.
func (c *Command) parse(args []string) (*Command, error) {
	flags := c.flagSet()
	err := flags.ParseAll(args, func(flag *pflag.Flag, given string) error { return setFlag(flag, given, args) })
	if _, unknown := errors.AsType[*pflag.NotExistError](err); unknown && c.defaultArgs {
		return c.byDefault.parse(args)
	}
	if err != nil {
		return c, flagError(err, flags)
	}
	words := flags.Args()
	if len(c.commands) > 0 && len(words) > 0 {
		sub, err := c.subcommand(words[0])
		if err != nil {
			return c, err
		}
		words = words[1:]
		if flags.ArgsLenAtDash() == 0 {
			words = slices.Insert(words, 0, "--") // the -- that was before the command's name
		}
		return sub.parse(words)
	}
	switch {
	case c.program().Help:
		return c, nil
	case len(c.commands) == 0:
		return c, c.setArguments(words)
	case c.byDefault != nil:
		return c.byDefault.parse(nil)
	default:
		return c, fmt.Errorf("expected one of %s", strings.Join(c.subcommandNames(), ", "))
	}
}

// flagSet returns the flags that may follow the name of a command: its own, and those of the program.
func (c *Command) flagSet() *pflag.FlagSet {
	set := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	set.SetInterspersed(len(c.commands) == 0)
	set.SortFlags = false
	for at := c; at != nil; at = at.parent {
		addFlags(set, at.flags)
	}
	return set
}

// addFlags adds flags to a set.
func addFlags(set *pflag.FlagSet, flags []flag) {
	for _, f := range flags {
		set.AddFlag(f.Flag)
	}
}

// setFlag sets a flag. It rejects a value that is an argument of its own and looks like a flag, because then the value was most likely forgotten.
func setFlag(flag *pflag.Flag, given string, args []string) error {
	if len(given) > 1 && given[0] == '-' && slices.Contains(args, given) {
		return fmt.Errorf("--%s: expected %s but got %s: write --%[1]s=%[3]s if it is meant", flag.Name, flag.Value.Type(), given)
	}
	if err := flag.Value.Set(given); err != nil {
		return fmt.Errorf("--%s: %w", flag.Name, err)
	}
	return nil
}

// flagError rewrites pflag's error about a flag in the style of the other errors.
func flagError(err error, flags *pflag.FlagSet) error {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s: expected %s but nothing follows", missing.GetFlag().Name, missing.GetFlag().Value.Type())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		if strings.IndexAny(letters, "0123456789") == 0 {
			return fmt.Errorf("-%s is no flag: write -- before a value that begins with a dash", letters)
		}
		return fmt.Errorf("unknown flag -%s", letters)
	}
	var known []string
	flags.VisitAll(func(flag *pflag.Flag) { known = append(known, "--"+flag.Name) })
	given := "--" + unknown.GetSpecifiedName()
	return fmt.Errorf("unknown flag %s%s", given, suggestion(given, known))
}

// setArguments sets the arguments of a command to words, and checks that no flag and no argument is missing.
func (c *Command) setArguments(words []string) error {
	for _, f := range c.flags {
		if f.value.required && !f.value.isSet {
			return fmt.Errorf("missing flag: --%s=%s", f.Name, f.value.Type())
		}
	}
	for _, a := range c.arguments {
		if len(words) == 0 && !a.optional {
			return fmt.Errorf("expected %s", a)
		}
		for first := true; len(words) > 0 && (first || a.value.isList()); first = false {
			if err := a.value.add(words[0]); err != nil {
				return fmt.Errorf("<%s>: %w", a.name, err)
			}
			words = words[1:]
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("unexpected argument %s", words[0])
	}
	return nil
}

// subcommand returns the subcommand with a name.
func (c *Command) subcommand(word string) (*Command, error) {
	for _, sub := range c.commands {
		if sub.name == word {
			return sub, nil
		}
	}
	return nil, fmt.Errorf("unexpected argument %s%s", word, suggestion(word, c.subcommandNames()))
}

// subcommandNames returns the names of the subcommands that the help lists.
func (c *Command) subcommandNames() []string {
	var names []string
	for _, sub := range c.commands {
		if !sub.hidden {
			names = append(names, sub.name)
		}
	}
	return names
}
