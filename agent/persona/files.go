package persona

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"multis/internal/plainfile"
	"multis/internal/text"
)

// The files of a workspace that are added to a prompt, by the reader of the answer.
var (
	contactFiles = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md"}
	workerFiles  = []string{"AGENTS.md", "TOOLS.md"}
	ownerFiles   = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"}
)

// maxFile is how much of one file is read, in bytes.
const maxFile = 8000

// OwnerPrompt returns the instructions for answers to the owner. Files are read each time, so that a change applies from
// the next answer on. foreign is true if a command may have written a part of them.
func (p Persona) OwnerPrompt() (text string, foreign bool) {
	return p.prompt(p.configured(), ownerFiles)
}

// ContactPrompt returns the instructions for answers to a contact, without the files about the owner. foreign is that of OwnerPrompt.
func (p Persona) ContactPrompt() (text string, foreign bool) {
	return p.prompt(p.configured(), contactFiles)
}

// WorkerPrompt returns the instructions for work for another agent, which reads the answer. foreign is that of OwnerPrompt.
func (p Persona) WorkerPrompt() (text string, foreign bool) { return p.prompt(nil, workerFiles) }

// configured returns the instructions of the configuration.
func (p Persona) configured() (parts []string) {
	if p.Theme != "" {
		parts = append(parts, "Your manner: "+p.Theme+".")
	}
	if p.Instructions != "" {
		parts = append(parts, strings.TrimSpace(p.Instructions))
	}
	return parts
}

func (p Persona) prompt(parts, files []string) (text string, foreign bool) {
	own := p.files(files)
	return strings.Join(append(parts, own...), "\n\n"), p.CommandsWrite && len(own) > 0
}

// files returns the contents of files of the workspace, and a line that names the missing ones. Without a workspace it returns nothing.
func (p Persona) files(names []string) []string {
	if p.Workspace == "" {
		return nil
	}
	root, err := os.OpenRoot(p.Workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	var parts, missing []string
	for _, name := range names {
		content, size, err := readFile(root, name, maxFile)
		switch {
		case err != nil && (name == "HEARTBEAT.md" || name == "BOOTSTRAP.md"): // few personas have these
		case err != nil:
			missing = append(missing, name)
		case content == "":
		case size > maxFile:
			parts = append(parts, fmt.Sprintf("## %s\n%s\n[%s is cut here: %d of %d bytes]", path.Base(name), content, name, len(content), size))
		default:
			parts = append(parts, "## "+path.Base(name)+"\n"+content)
		}
	}
	if len(missing) > 0 && len(parts) > 0 {
		parts = append(parts, "[not written yet: "+strings.Join(missing, ", ")+"]")
	}
	return parts
}

// readFile returns the first limit bytes of a file, and its whole size.
func readFile(root *os.Root, name string, limit int64) (content string, size int64, err error) {
	f, info, err := plainfile.OpenIn(root, name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit))
	replacement := "\uFFFD"
	if info.Size() > limit {
		replacement = "" // the last character may be cut in two
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data), replacement)), info.Size(), err
}

const (
	// maxItems bounds what is read from HEARTBEAT.md, maxItem each line of it, in characters.
	maxItems = 20
	maxItem  = 300
)

// HeartbeatItems returns the lines of HEARTBEAT.md: what the persona's heartbeat checks.
func (p Persona) HeartbeatItems() []string {
	if p.Workspace == "" {
		return nil
	}
	root, err := os.OpenRoot(p.Workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	list, _, err := readFile(root, "HEARTBEAT.md", maxItems*maxFile)
	if err != nil {
		return nil
	}
	var items []string
	for line := range strings.Lines(list) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+ ")
		if line != "" && !strings.HasPrefix(line, "#") && len(items) < maxItems {
			items = append(items, text.Clip(line, maxItem))
		}
	}
	return items
}
