package tools

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"multis/policy"
	"multis/policy/rules"
)

//go:embed read_file.md
var readFileText string

// Extractor extracts the text of a document.
type Extractor interface {
	Text(ctx context.Context, name, mediaType string, data []byte) (string, error)
}

// ReadFile is the tool that reads the caller's files and lists the caller's folders.
type ReadFile struct {
	Documents Extractor
	// CommandsWrite is true if commands run in workspaces, whose files may then have words of others.
	CommandsWrite bool
}

type readFileArgs struct {
	Path  string `json:"path" jsonschema:"the file or folder; empty for the top folder"`
	From  int    `json:"from,omitempty" jsonschema:"first line, from 1"`
	Lines int    `json:"lines,omitempty" jsonschema:"how many lines, 200 unless told"`
}

// defaultLines is how many lines one call returns by default.
const defaultLines = 200

// Spec describes the tool.
func (t ReadFile) Spec() Spec {
	return Spec{
		Name:         "read_file",
		Description:  readFileText,
		Schema:       Schema[readFileArgs](),
		Tier:         Read,
		Class:        rules.ClassRead,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		Foreign:      t.CommandsWrite,
	}
}

// ResourceOf returns the file.
func (ReadFile) ResourceOf(c Call) rules.Resource {
	args, err := Decode[readFileArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceOf(args.Path, false)
}

// Run returns the lines of a file, or the names in a folder.
func (t ReadFile) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[readFileArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	at, err := c.locate(args.Path)
	if err != nil {
		return notFound(err), nil
	}
	defer at.root.Close()
	info, err := at.root.Stat(at.path)
	if err != nil {
		return notFound(errOutsideFolders), nil
	}
	if info.IsDir() {
		return at.list()
	}
	data, err := at.readAll(maxFileBytes)
	if err != nil {
		return notFound(err), nil
	}
	text := string(data)
	if !isText(data) {
		if text, err = t.Documents.Text(ctx, args.Path, "", data); err != nil {
			return Failed(err.Error(), false), nil
		}
	}
	return Result{ForLLM: lineRange(policy.Hide(text), args.From, args.Lines), ForUser: "read " + args.Path, Ref: args.Path}, nil
}

// lineRange returns count lines of a text, beginning with line from, and says above them if that is not the whole text.
// The first line is 1. Zero means the first line, and defaultLines.
func lineRange(text string, from, count int) string {
	if count <= 0 {
		count = defaultLines
	}
	lines := strings.SplitAfter(text, "\n")
	first := min(max(from, 1)-1, len(lines))
	last := min(first+count, len(lines))
	shown := strings.Join(lines[first:last], "")
	if first == 0 && last == len(lines) {
		return shown
	}
	return fmt.Sprintf("[lines %d to %d of %d]\n%s", first+1, last, len(lines), shown)
}

// list returns the names in a folder.
func (p location) list() (Result, error) {
	f, err := p.root.Open(p.path)
	if err != nil {
		return notFound(errOutsideFolders), nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxFolderEntries)
	if err != nil && err != io.EOF { //nolint:errorlint // ReadDir returns it bare
		return notFound(errOutsideFolders), nil
	}
	var names []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			names = append(names, e.Name()+"/")
		default:
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return Result{ForLLM: "The folder is empty."}, nil
	}
	return Result{ForLLM: strings.Join(names, "\n"), ForUser: fmt.Sprintf("listed a folder: %d entries", len(names))}, nil
}
