package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"multis/policy"
	"multis/policy/rules"
	"multis/safety/sandbox"
)

//go:embed tail_output.md
var tailOutputText string

// TailOutput is the tool that reads the last lines of a process that the caller started, or of a file.
type TailOutput struct{ Processes *sandbox.Processes }

type tailOutputArgs struct {
	Process string `json:"process,omitempty" jsonschema:"the number of a process of stream_command"`
	Path    string `json:"path,omitempty" jsonschema:"or a file"`
	Lines   int    `json:"lines,omitempty" jsonschema:"how many lines, 50 unless told"`
}

// The limits of tail_output.
const (
	tailLines    = 50
	maxTailLines = 500
)

// Spec describes the tool.
func (TailOutput) Spec() Spec {
	return Spec{
		Name:         "tail_output",
		Description:  tailOutputText,
		Schema:       Schema[tailOutputArgs](),
		Tier:         Read,
		Class:        rules.ClassRead,
		NeedsFolders: true,
		Foreign:      true,
	}
}

// Run returns the last lines.
func (t TailOutput) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[tailOutputArgs](c)
	if err == nil && (args.Process == "") == (args.Path == "") {
		err = errors.New("name either a process or a path")
	}
	if err != nil {
		return BadArguments(err), nil
	}
	if args.Lines <= 0 {
		args.Lines = tailLines
	}
	lines := min(args.Lines, maxTailLines)
	if args.Process != "" {
		state, err := t.Processes.Find(processOwner(c), args.Process, sandbox.DefaultOutput)
		if err != nil {
			return notFound(err), nil
		}
		state.Output = clipTail(lastLines(policy.Hide(state.Output), lines))
		result := stateResult(state)
		result.IsError, result.Code = false, "" // reading its output worked, however the process ended
		return result, nil
	}
	at, err := c.locate(args.Path)
	if err != nil {
		return notFound(err), nil
	}
	defer at.root.Close()
	data, err := at.readAll(maxFileBytes)
	switch {
	case err != nil:
		return notFound(err), nil
	case !isText(data):
		return Failed(args.Path+" is no text", false), nil
	}
	return Result{ForLLM: clipTail(lastLines(policy.Hide(string(data)), lines)), ForUser: "read the end of " + args.Path, Ref: args.Path}, nil
}

// lastLines returns the last n lines of a text.
func lastLines(s string, n int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
