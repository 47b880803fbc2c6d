// Package commandline reads a command line into structs. The fields of the structs are commands, flags and arguments, as the tags of the fields
// say:
//
//	cmd:""                 a command; the field is a struct with the command's own fields
//	arg:""                 an argument; with optional:"" it may be missing; a slice takes all arguments that follow
//	help:"…"               the help of a command or an argument; a field with neither cmd nor arg is a flag
//	name:"…" short:"x"     the name on the command line, if it differs from the field's, and the letter of a flag
//	default:"…"            the value of a flag that is not given; on a command: "1" makes it the one that runs if none is named,
//	                       "withargs" does so even if flags of it are given
//	enum:"a,b" required:"" the values that a flag may have, and that it must be given
//	placeholder:"FILE"     how the help shows the value of a flag
//	hidden:""              a command that the help does not list
//
// The package looks up fields only. A program that looks up methods by a computed name, as libraries that call commands by reflection do, makes
// the linker keep all exported methods. Without that, multis is smaller by an eighth.
package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"multis/internal/text"
)

// Command is a command of a program, or the program itself.
type Command struct {
	Target any  // a pointer to the struct that the command line was read into
	Help   bool // --help was given: the caller prints Usage instead of running the command

	name, help  string
	hidden      bool
	parent      *Command // nil for the program
	commands    []*Command
	byDefault   *Command // the command that runs if none of commands is named, or nil
	defaultArgs bool     // byDefault also runs if only its flags are given
	flags       []flag
	arguments   []argument
}

// flag is a flag of a command.
type flag struct {
	*pflag.Flag
	value *value // the value of Flag
}

// argument is an argument of a command.
type argument struct {
	name, help string
	optional   bool
	value      *value
}

// Parse reads the arguments of a program into root, a pointer to a struct that describes them, and returns the command that they name. Its error names
// the --help that lists what is possible.
func Parse(root any, name, about string, args []string) (*Command, error) {
	program := newCommand(reflect.ValueOf(root).Elem(), name, about, nil)
	help := newFlag(reflect.ValueOf(&program.Help).Elem(), "help", `short:"h" help:"Show this help, or that of the command."`)
	program.flags = slices.Insert(program.flags, 0, help)
	command, err := program.parse(args)
	if err != nil {
		return nil, fmt.Errorf("%w; %s --help shows what there is", err, command.path())
	}
	command.Help = program.Help
	return command, nil
}

// Name returns the words that name the command, without the program's name.
func (c *Command) Name() string {
	_, name, _ := strings.Cut(c.path(), " ")
	return name
}

// path returns the words that name the command, beginning with the program's name.
func (c *Command) path() string {
	if c.parent == nil {
		return c.name
	}
	return c.parent.path() + " " + c.name
}

// program returns the program that the command belongs to.
func (c *Command) program() *Command {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// newCommand returns the command that the fields of a struct describe, and sets those fields to their defaults.
func newCommand(target reflect.Value, name, help string, parent *Command) *Command {
	c := &Command{Target: target.Addr().Interface(), name: name, help: help, parent: parent}
	for field, in := range target.Fields() {
		tag := field.Tag
		name := kebab(field.Name)
		if given := tag.Get("name"); given != "" {
			name = given
		}
		if _, is := tag.Lookup("cmd"); is {
			sub := newCommand(in, name, tag.Get("help"), c)
			_, sub.hidden = tag.Lookup("hidden")
			c.commands = append(c.commands, sub)
			if byDefault, is := tag.Lookup("default"); is {
				c.byDefault, c.defaultArgs = sub, byDefault == "withargs"
			}
		} else if _, is := tag.Lookup("arg"); is {
			_, optional := tag.Lookup("optional")
			c.arguments = append(c.arguments, argument{name: name, help: tag.Get("help"), optional: optional, value: &value{field: in}})
		} else if _, is := tag.Lookup("help"); is {
			c.flags = append(c.flags, newFlag(in, name, tag))
		}
	}
	return c
}

// newFlag returns the flag that a field describes, and sets the field to its default.
func newFlag(field reflect.Value, name string, tag reflect.StructTag) flag {
	v := &value{field: field, placeholder: tag.Get("placeholder")}
	if v.placeholder == "" {
		v.placeholder = strings.ToUpper(name)
	}
	f := flag{value: v, Flag: &pflag.Flag{Name: name, Shorthand: tag.Get("short"), Usage: tag.Get("help"), Value: v, DefValue: tag.Get("default")}}
	if field.Kind() == reflect.Bool {
		v.placeholder, f.NoOptDefVal = "bool", "true" // pflag shows no placeholder for a flag of this type
	}
	if f.DefValue != "" {
		if err := v.Set(f.DefValue); err != nil {
			panic(fmt.Errorf("the default of --%s: %w", name, err))
		}
	}
	v.isSet = false
	_, v.required = tag.Lookup("required")
	if enum := tag.Get("enum"); enum != "" {
		v.choices = strings.Split(enum, ",")
	}
	return f
}

// kebab returns the name of a field as it is on the command line: time-zone for TimeZone, and mcp for MCP.
func kebab(name string) string {
	var words strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words.WriteByte('-')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

// suggestion returns a question with the known words that are similar to word; empty if none is.
func suggestion(word string, known []string) string {
	var similar []string
	for _, k := range known {
		if len(word) < 2*len(k) && (strings.HasPrefix(k, word) || text.EditDistance(word, k) <= 2) {
			similar = append(similar, k)
		}
	}
	if len(similar) == 0 || len(word) < 2 {
		return ""
	}
	return ", did you mean " + strings.Join(similar, " or ") + "?"
}
