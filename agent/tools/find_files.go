package tools

import (
	"context"
	_ "embed"
	"io/fs"
	"path"
	"strings"

	"multis/policy/rules"
)

//go:embed find_files.md
var findFilesText string

// FindFiles is the tool that finds files in the caller's folders by name.
// CommandsWrite is that of ReadFile.
type FindFiles struct{ CommandsWrite bool }

type findFilesArgs struct {
	Name string `json:"name" jsonschema:"the name, with * for any part of it, any case"`
	Path string `json:"path,omitempty" jsonschema:"the folder to look in; empty for the top folder"`
}

// Spec describes the tool.
func (t FindFiles) Spec() Spec {
	return Spec{
		Name:         "find_files",
		Description:  findFilesText,
		Schema:       Schema[findFilesArgs](),
		Tier:         Read,
		Class:        rules.ClassRead,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		Foreign:      t.CommandsWrite,
	}
}

// ResourceOf returns the folder, with everything below it.
func (FindFiles) ResourceOf(c Call) rules.Resource {
	args, err := Decode[findFilesArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceOf(args.Path, true)
}

// Run lists the files whose names match.
func (FindFiles) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[findFilesArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	pattern := strings.ToLower(args.Name)
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return Refused(CodeArguments, "name is no pattern"), nil
	}
	at, err := c.locate(args.Path)
	if err != nil {
		return notFound(err), nil
	}
	defer at.root.Close()
	var found []string
	truncated, err := at.walk(ctx, func(file string, d fs.DirEntry) error {
		if fits, _ := path.Match(pattern, strings.ToLower(d.Name())); fits {
			found = append(found, at.displayPath(file))
		}
		if len(found) == maxMatches {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return walkError(ctx, err)
	}
	return linesResult(found, truncated || len(found) == maxMatches, "looked for files named “"+args.Name+"”")
}
