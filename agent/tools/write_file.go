package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"multis/internal/text"
	"multis/policy/rules"
)

//go:embed write_file.md
var writeFileText string

// WriteFile is the tool that writes a text file in the caller's workspace.
type WriteFile struct{}

type writeFileArgs struct {
	Path    string `json:"path" jsonschema:"the file in the workspace; its folders are made"`
	Content string `json:"content" jsonschema:"the whole text of the file"`
	Append  bool   `json:"append,omitempty" jsonschema:"add to the end of the file in place of replacing it"`
}

// maxWritten is the maximum size of a file that is written, in bytes.
const maxWritten = 1 << 20

// Spec describes the tool.
func (WriteFile) Spec() Spec {
	return Spec{
		Name:         "write_file",
		Description:  writeFileText,
		Schema:       Schema[writeFileArgs](),
		Tier:         Confirm,
		Class:        rules.ClassFiles,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		HasEffect:    true,
	}
}

// ResourceOf returns the file.
func (WriteFile) ResourceOf(c Call) rules.Resource {
	args, err := Decode[writeFileArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceToWrite(args.Path)
}

// Refusal returns why a file is never written, whoever allows it.
func (WriteFile) Refusal(c Call) string {
	args, err := Decode[writeFileArgs](c)
	if err != nil {
		return err.Error()
	}
	return c.refusalToWrite(args.Path)
}

// Run writes the file.
func (WriteFile) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[writeFileArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	at, err := c.locateForWriting(args.Path)
	if err != nil {
		return Refused(CodeRefused, err.Error()), nil
	}
	defer at.root.Close()
	content := args.Content
	if args.Append {
		before, err := at.readAll(maxWritten)
		if err != nil && !errors.Is(err, errOutsideFolders) {
			return Refused(CodeRefused, err.Error()), nil
		}
		content = string(before) + content
	}
	if err := at.replace(content); err != nil {
		return Failed(err.Error(), false), nil
	}
	return Result{ForLLM: fmt.Sprintf("Wrote %d bytes to %s.", len(content), args.Path), ForUser: "wrote " + args.Path, Ref: args.Path}, nil
}

// InstructionFiles are the files in the top folder of a workspace that are added to the prompts of its agent.
var InstructionFiles = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"} //nolint:gochecknoglobals // a constant, were there constant lists

// resourceToWrite is resourceOf for a file that is written.
func (c Caller) resourceToWrite(name string) rules.Resource {
	r := c.resourceOf(name, false)
	for _, workspace := range pathsOf(c.Workspace, false) {
		for _, file := range r.Paths {
			r.Instructs = r.Instructs || instructs(workspace, file)
		}
	}
	return r
}

// instructs reports whether a file tells the agent of a workspace how to work: one of InstructionFiles, or a skill. It
// ignores case, as some file systems do.
func instructs(workspace, file string) bool {
	inside, ok := strings.CutPrefix(strings.ToUpper(file), strings.ToUpper(workspace)+"/")
	isNamed := func(name string) bool { return strings.EqualFold(name, inside) }
	return ok && (strings.HasPrefix(inside, "SKILLS/") || slices.ContainsFunc(InstructionFiles, isNamed))
}

// locateForWriting opens the workspace for a file to be written. It refuses folders of Git, because Git runs programs
// that files there name.
func (c Caller) locateForWriting(name string) (location, error) {
	at, err := Caller{Workspace: c.Workspace}.locate(name)
	if err != nil {
		return location{}, errors.New(c.whyNotWritten())
	}
	why := ""
	switch {
	case at.path == ".":
		why = "this is the workspace itself; name a file"
	case slices.ContainsFunc(strings.Split(at.path, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }):
		why = "files of Git are not written, because Git runs programs that they name"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		why = "the name of the file has control characters"
	case strings.ContainsFunc(name, text.IsInvisible):
		why = "the name of the file has characters that cannot be seen, such as direction marks"
	}
	if why != "" {
		at.root.Close()
		return location{}, errors.New(why)
	}
	return at, nil
}

// whyNotWritten returns why a path is no place to write to.
func (c Caller) whyNotWritten() string {
	if c.Workspace == "" {
		return "there is no workspace here: the agents of the configuration have one, multis itself has none"
	}
	if _, err := os.Stat(c.Workspace); err != nil {
		return "the folder of the workspace is not there; the owner has to make it (agents.<name>.workspace)"
	}
	return "only files in the workspace are written"
}

// refusalToWrite returns why a file of a call is not written; empty if the call is about all files. The owner is not
// asked about such a call.
func (c Call) refusalToWrite(name string) string {
	if c.AnyCall || name == "" {
		return ""
	}
	at, err := c.locateForWriting(name)
	if err != nil {
		return err.Error()
	}
	_ = at.root.Close() // nothing was written
	return ""
}

// tooLongError returns the error for a text of more than maxWritten bytes.
func tooLongError(name string) error {
	return fmt.Errorf("%s would be bigger than %d MB", name, maxWritten>>20)
}

// replace writes a file in one step: others see the old content or the new one. Links are replaced, not followed.
func (p location) replace(content string) error {
	if len(content) > maxWritten {
		return tooLongError(p.name)
	}
	mode := fs.FileMode(0o644)
	switch info, err := p.root.Lstat(p.path); {
	case err == nil && info.Mode().IsRegular():
		mode = info.Mode().Perm()
	case err == nil:
		return fmt.Errorf("%s is no plain file", p.name)
	}
	if err := p.root.MkdirAll(path.Dir(p.path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %s", p.name, errorText(err))
	}
	temp := path.Join(path.Dir(p.path), ".multis-"+path.Base(p.path))
	_ = p.root.Remove(temp) // left by an interrupted write
	err := p.create(temp, content, mode)
	if err == nil && os.Geteuid() == 0 { // commands run as the owner of the workspace
		err = p.giveToOwner(temp)
	}
	if err == nil {
		err = p.root.Rename(temp, p.path)
	}
	if err != nil {
		_ = p.root.Remove(temp)
		return fmt.Errorf("write %s: %s", p.name, errorText(err))
	}
	return nil
}

// create writes a new file. A command may have put a link or a pipe there, which is refused.
func (p location) create(name, content string, mode fs.FileMode) error {
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// giveToOwner makes the owner of the workspace the owner of a file, and of its folder.
func (p location) giveToOwner(name string) error {
	info, err := p.root.Stat(".")
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return errors.Join(p.root.Lchown(path.Dir(name), int(owner.Uid), int(owner.Gid)), p.root.Lchown(name, int(owner.Uid), int(owner.Gid)))
}

// errorText returns the text of a file error without the file's path on this machine.
func errorText(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	if failed, ok := errors.AsType[*os.LinkError](err); ok {
		return failed.Err.Error()
	}
	return "it failed"
}
