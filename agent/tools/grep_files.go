package tools

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"multis/internal/text"
	"multis/policy"
	"multis/policy/rules"
)

//go:embed grep_files.md
var grepFilesText string

// GrepFiles is the tool that searches the text files in the caller's folders.
// CommandsWrite is that of ReadFile.
type GrepFiles struct{ CommandsWrite bool }

type grepFilesArgs struct {
	Pattern string `json:"pattern" jsonschema:"what to look for, RE2 syntax"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to search; empty for the top folder"`
	Files   string `json:"files,omitempty" jsonschema:"only files whose name fits this pattern, such as *.md"`
}

// maxLineRunes is how much of a line is shown, in characters.
const maxLineRunes = 300

// Spec describes the tool.
func (t GrepFiles) Spec() Spec {
	return Spec{
		Name:         "grep_files",
		Description:  grepFilesText,
		Schema:       Schema[grepFilesArgs](),
		Tier:         Read,
		Class:        rules.ClassRead,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		Foreign:      t.CommandsWrite,
	}
}

// ResourceOf returns the folder, with everything below it.
func (GrepFiles) ResourceOf(c Call) rules.Resource {
	args, err := Decode[grepFilesArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceOf(args.Path, true)
}

// Run lists the lines that match.
func (GrepFiles) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[grepFilesArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	pattern, err := regexp.Compile(args.Pattern)
	if err != nil {
		return BadArguments(err), nil
	}
	if _, err := path.Match(args.Files, ""); err != nil {
		return BadArguments(fmt.Errorf("files: %w", err)), nil
	}
	at, err := c.locate(args.Path)
	if err != nil {
		return notFound(err), nil
	}
	defer at.root.Close()
	var found []string
	truncated, err := at.walk(ctx, func(file string, d fs.DirEntry) error {
		if fits, _ := path.Match(args.Files, d.Name()); args.Files != "" && !fits {
			return nil
		}
		data, err := location{root: at.root, path: file, name: file}.readAll(maxGrepBytes)
		if err != nil || !isText(data) {
			return nil //nolint:nilerr // a file that is no text is not searched
		}
		for n, line := range strings.Split(policy.Hide(string(data)), "\n") { // masked before it is cut into lines
			if !pattern.MatchString(line) {
				continue
			}
			if found = append(found, fmt.Sprintf("%s:%d: %s", at.displayPath(file), n+1,
				text.Clip(strings.TrimSpace(line), maxLineRunes))); len(found) == maxMatches {
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil {
		return walkError(ctx, err)
	}
	return linesResult(found, truncated || len(found) == maxMatches, "searched the files for “"+args.Pattern+"”")
}

// walkError returns the result for an error of a walk, or the error itself if the call was cancelled.
func walkError(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, err
	}
	return notFound(err), nil
}

// linesResult returns lines as a result. action describes the call for people.
func linesResult(lines []string, truncated bool, action string) (Result, error) {
	if len(lines) == 0 {
		return Result{ForLLM: "Nothing was found.", ForUser: action + ": nothing"}, nil
	}
	text := strings.Join(lines, "\n")
	if truncated {
		text += "\n[there is more: look for something narrower]"
	}
	return Result{ForLLM: text, ForUser: fmt.Sprintf("%s: %d found", action, len(lines))}, nil
}
