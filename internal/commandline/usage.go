package commandline

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// Usage returns the help of a command, in lines of up to width columns.
func (c *Command) Usage(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s%s\n", c.path(), c.synopsis())
	if c.help != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(c.help, 0, width))
	}
	if len(c.arguments) > 0 {
		longest := 0
		for _, a := range c.arguments {
			longest = max(longest, utf8.RuneCountInString(a.String()))
		}
		b.WriteString("\nArguments:\n")
		for _, a := range c.arguments {
			fmt.Fprintf(&b, "  %-*s   %s\n", longest, a, wrap(a.help, longest+5, width))
		}
	}
	if c.parent != nil && len(c.flags) > 0 {
		fmt.Fprintf(&b, "\nFlags:\n%s\nFlags of all commands:\n", usageOf(c.flags, width))
	} else {
		b.WriteString("\nFlags:\n")
	}
	b.WriteString(usageOf(c.program().flags, width))
	if len(c.commands) > 0 {
		b.WriteString("\nCommands:\n")
		c.list(&b, "", width)
		fmt.Fprintf(&b, "\nRun \"%s <command> --help\" for the flags and arguments of a command.\n", c.path())
	}
	return b.String()
}

// list writes the help of all commands below c that have no subcommands. before is the names that lead to c.
func (c *Command) list(b *strings.Builder, before string, width int) {
	for _, sub := range c.commands {
		switch {
		case sub.hidden:
		case len(sub.commands) > 0:
			sub.list(b, before+sub.name+" ", width)
		default:
			fmt.Fprintf(b, "  %s%s%s\n    %s\n", before, sub.name, sub.synopsis(), wrap(sub.help, 4, width))
		}
	}
}

// synopsis returns the flags and arguments of a command, as they follow its name.
func (c *Command) synopsis() string {
	if len(c.commands) > 0 {
		return " <command> [flags]"
	}
	var b strings.Builder
	optional := false
	for _, f := range c.flags {
		if f.value.required {
			fmt.Fprintf(&b, " --%s=%s", f.Name, f.value.Type())
		} else {
			optional = true
		}
	}
	for _, a := range c.arguments {
		b.WriteString(" " + a.String())
	}
	if optional {
		b.WriteString(" [flags]")
	}
	return b.String()
}

// String returns an argument as the help shows it: in brackets if it is optional, with three dots if it may be repeated.
func (a argument) String() string {
	s := "<" + a.name + ">"
	if a.value.isList() {
		s += " ..."
	}
	if a.optional {
		return "[" + s + "]"
	}
	return s
}

// usageOf returns the help of flags.
func usageOf(flags []flag, width int) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	addFlags(set, flags)
	return set.FlagUsagesWrapped(width)
}

// wrap breaks a text into lines of up to width columns. It indents all lines but the first, which the caller has indented.
func wrap(text string, indent, width int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
