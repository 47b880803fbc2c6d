// Package commandline reads a command line into structs. Their fields are commands, flags and arguments, which the tags of the fields
// describe:
//
//	cmd:""                 a command, whose own fields are a struct like this one
//	arg:""                 an argument, optional:"" if it may be missing; a slice takes all that follow
//	help:"…"               a flag, or the help of what the other tags say
//	name:"…" short:"x"     the name on the command line, if it is not that of the field, and the letter of a flag
//	default:"…"            the value of a flag that is not given; of a command: "1" for the one that runs if none is named,
//	                       "withargs" if its flags may be given then
//	enum:"a,b" required:"" the values that a flag may have, and whether it must be given
//	placeholder:"FILE"     what the help shows for the value of a flag
//	hidden:""              a command that the help does not list
//
// The linker keeps all exported methods of a program that looks up one by a name it computes, as libraries that call commands by reflection do.
// Here only fields are looked up, which leaves an eighth of multis out.
package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"multis/text"
)

// Command is a command that a command line may name, or the program itself.
type Command struct {
	Target any  // a pointer to the struct that the command line was read into
	Help   bool // --help was given; it asks for Usage instead

	name, help  string
	hidden      bool
	parent      *Command // nil for the program
	commands    []*Command
	byDefault   *Command // what runs if none of commands is named, or nil
	defaultArgs bool     // byDefault may be given flags without being named
	flags       []flag
	arguments   []argument
}

// flag is a flag of a command.
type flag struct {
	*pflag.Flag
	value *value // that of pflag.Flag
}

// argument is an argument of a command.
type argument struct {
	name, help string
	optional   bool
	value      *value
}

// Parse reads the arguments of a program into root, a pointer to a struct that describes them, and returns the command that they name. An error says
// which --help to read.
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

// Name returns the words that name the command, without the program.
func (c *Command) Name() string {
	_, name, _ := strings.Cut(c.path(), " ")
	return name
}

// path returns the words that name the command.
func (c *Command) path() string {
	if c.parent == nil {
		return c.name
	}
	return c.parent.path() + " " + c.name
}

// program returns the command that is the program.
func (c *Command) program() *Command {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// newCommand returns the command that the fields of a struct describe, and sets them to their defaults.
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
		v.placeholder, f.NoOptDefVal = "bool", "true" // pflag knows it by this name
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

// kebab returns the name of a field as it is written on a command line: TimeZone is time-zone, and MCP is mcp.
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

// suggestion returns a question for a word that is none of the known ones, or "".
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
