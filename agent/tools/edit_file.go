package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"multis/policy/rules"
)

//go:embed edit_file.md
var editFileText string

// EditFile is the tool that replaces a part of a text file in the caller's workspace.
type EditFile struct{}

type editFileArgs struct {
	Path string `json:"path" jsonschema:"the file in the workspace"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file"`
	New  string `json:"new" jsonschema:"the text to put there"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every place; else the text must occur once"`
}

// Spec describes the tool.
func (EditFile) Spec() Spec {
	return Spec{
		Name:         "edit_file",
		Description:  editFileText,
		Schema:       Schema[editFileArgs](),
		Tier:         Confirm,
		Class:        rules.ClassFiles,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		HasEffect:    true,
	}
}

// ResourceOf returns the file.
func (EditFile) ResourceOf(c Call) rules.Resource {
	args, err := Decode[editFileArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceToWrite(args.Path)
}

// Refusal returns why a file is never changed, whoever allows it.
func (EditFile) Refusal(c Call) string {
	args, err := Decode[editFileArgs](c)
	if err != nil {
		return err.Error()
	}
	return c.refusalToWrite(args.Path)
}

// Run replaces the text.
func (EditFile) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[editFileArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	at, err := c.locateForWriting(args.Path)
	if err != nil {
		return Refused(CodeRefused, err.Error()), nil
	}
	defer at.root.Close()
	data, err := at.readAll(maxWritten)
	if err != nil {
		return notFound(err), nil
	}
	places := strings.Count(string(data), args.Old)
	switch {
	case args.Old == "":
		return Refused(CodeArguments, "old is empty"), nil
	case places == 0:
		return Refused(CodeArguments, "The text does not occur in the file. Read it again and copy the text exactly."), nil
	case places > 1 && !args.All:
		return Refused(CodeArguments, fmt.Sprintf("The text occurs %d times. Add text around it, or set all.", places)), nil
	}
	// The size is checked before the text is made, which may be thousands of times as long.
	if size := len(data) + places*(len(args.New)-len(args.Old)); size > maxWritten {
		return Failed(tooLongError(at.name).Error(), false), nil
	}
	if err := at.replace(strings.ReplaceAll(string(data), args.Old, args.New)); err != nil {
		return Failed(err.Error(), false), nil
	}
	return Result{ForLLM: fmt.Sprintf("Replaced %d places in %s.", places, args.Path), ForUser: "changed " + args.Path, Ref: args.Path}, nil
}
