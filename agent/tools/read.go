package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"multis/internal/plainfile"
	"multis/policy"
	"multis/policy/rules"
	"multis/safety/sandbox"
)

//go:embed read.md
var readText string

// ReadPath is the tool behind the owner's command /read: it reads a text file anywhere on this machine. No model is offered it.
type ReadPath struct{ Sandbox *sandbox.Sandbox }

type readPathArgs struct {
	Path string `json:"path" jsonschema:"the file"`
}

// maxReadPath is how many bytes of a file are shown.
const maxReadPath = 64 << 10

// Spec describes the tool.
func (ReadPath) Spec() Spec {
	return Spec{
		Name:        "read",
		Description: readText,
		Schema:      Schema[readPathArgs](),
		Tier:        Pin,
		Class:       rules.ClassFiles,
		Kinds:       rules.Kinds{Paths: true},
		TypedOnly:   true,
	}
}

// ResourceOf returns the file, first with all links resolved.
func (ReadPath) ResourceOf(c Call) rules.Resource {
	args, err := Decode[readPathArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	if c.AnyCall {
		return rules.Resource{}
	}
	return rules.Resource{Paths: pathsOf(args.Path, false)}
}

// Refusal returns why a file is never read, whatever rules say.
func (t ReadPath) Refusal(c Call) string {
	if t.Sandbox == nil || c.AnyCall || len(c.Args) == 0 { // without a sandbox the tool is only described
		return ""
	}
	args, err := Decode[readPathArgs](c)
	if err != nil {
		return err.Error()
	}
	f, err := t.open(resolve(args.Path))
	if err != nil {
		return err.Error()
	}
	_ = f.Close() // nothing was written
	return ""
}

// Run returns the beginning of the file that the rules have judged: if a link in its path was changed meanwhile, the call is refused.
func (t ReadPath) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[readPathArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	f, err := t.open(args.Path)
	if err != nil {
		return Refused(CodeRefused, err.Error()), nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxReadPath+1))
	if err != nil {
		return Failed("It cannot be read.", false), nil
	}
	if !isText(data) {
		return Failed("It is no text file.", false), nil
	}
	shown := string(data)
	if len(data) > maxReadPath {
		shown = policy.HideBeforeCut(shown[:maxReadPath]) + "\n[cut here: only the first 64 KB are shown]"
	}
	return Result{ForLLM: shown, ForUser: "read " + args.Path, Ref: args.Path}, nil
}

var errNeverRead = errors.New("it is never shown: it belongs to the system or to multis itself (configuration, keys, database, backups)")

// open opens a file whose path has no symbolic links. It returns errNeverRead for a file that the sandbox forbids.
func (t ReadPath) open(path string) (*os.File, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("write the whole path, from / on")
	}
	if t.Sandbox == nil || t.Sandbox.IsForbidden(path, nil) {
		return nil, errNeverRead
	}
	f, info, err := plainfile.Open(path)
	switch {
	case errors.Is(err, plainfile.ErrNotRegular):
		return nil, errors.New("it is no plain file")
	case errors.Is(err, os.ErrPermission):
		return nil, errors.New("multis' user may not read it")
	case err != nil:
		return nil, errors.New("there is no such file")
	}
	opened, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	switch {
	case err != nil || opened != path:
		err = errors.New("that path has links in it that changed just now; try again")
	case t.Sandbox.IsForbidden(opened, info):
		err = errNeverRead
	default:
		return f, nil
	}
	_ = f.Close() // nothing was read
	return nil, err
}

// resolve returns a path with all links resolved, or as it is written if that is not possible.
func resolve(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) {
		return resolved
	}
	return filepath.Clean(path)
}
