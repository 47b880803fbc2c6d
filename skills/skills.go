// Package skills reads the files that tell agents how to work, and saved tasks. A skill is a Markdown file with a YAML header. One in the agent's own
// folder replaces a shared one of the same name, which replaces a built-in one. Files are read each time, so that a change holds from the next
// answer on.
package skills

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"multis/plainfile"
)

//go:embed builtin/*.md
var builtIn embed.FS

const (
	// maxText is how much of one skill is read, in bytes, and maxPromptText how much all skills of one prompt may have.
	maxText       = 8000
	maxPromptText = 24_000
	// maxSkills is how many skills of one folder are read.
	maxSkills = 50
	// folder is the folder of an agent's own skills, in its workspace.
	folder = "skills"
)

// The values of Skill.From.
const (
	FromAgent  = "agent"
	FromShared = "shared"
	FromMultis = "built in"
)

// Skill is one file of instructions.
type Skill struct {
	Name        string
	Description string
	// Owner and Contact tell whose questions it is for. A skill for neither is only used by its name, as capture is.
	Owner, Contact bool
	// URLs are the domains that may be fetched without approval.
	URLs []string
	// Actions are patterns of the tools that may be used. They only apply if Limited is true; without any, no tool may be used then.
	Actions []string
	Limited bool
	// NoEscalation denies the tool escalate. What the configuration escalates is escalated all the same.
	NoEscalation bool
	// Needs are tools without which the skill is left out.
	Needs []string
	// NoMemory leaves notes out of the prompt, and denies the tool recall_memory.
	NoMemory bool
	Text     string
	From     string
	// Cut is the size of a file that is too long to be read whole, in bytes; zero otherwise.
	Cut int
	// Problem is what is wrong with the file. A skill with a problem is not used.
	Problem string
	// Warnings are what of the file has no effect, or why a file of that name does not replace it.
	Warnings []string
}

// Set finds skills.
type Set struct {
	shared string
	own    map[string]string
}

// Open returns a Set with a folder of shared skills, which need not exist, and more built-in skills, by name, which are only used by name.
func Open(shared string, more map[string]string) *Set { return &Set{shared: shared, own: more} }

// All returns the skills of an agent with a workspace (empty for none), by name.
func (s *Set) All(workspace string) []Skill {
	found := map[string]Skill{}
	for name, text := range s.own {
		found[name] = parse(name, text, FromMultis)
	}
	readSkills(found, fileSystem{FS: builtIn, open: openBuiltIn}, "builtin", FromMultis)
	readFolder(found, s.shared, ".", FromShared)
	readFolder(found, workspace, folder, FromAgent)
	all := make([]Skill, 0, len(found))
	for name, skill := range found {
		if _, byName := s.own[name]; byName {
			skill.Owner, skill.Contact = false, false
		}
		all = append(all, skill)
	}
	slices.SortFunc(all, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// readFolder adds the skills in a folder of the machine. Links out of it are not followed.
func readFolder(found map[string]Skill, top, below, from string) {
	if top == "" {
		return
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return // it does not exist
	}
	defer root.Close()
	readSkills(found, filesOf(root), below, from)
}

// fileSystem lists and opens files.
type fileSystem struct {
	fs.FS

	open func(name string) (io.ReadCloser, fs.FileInfo, error)
}

// filesOf is the file system of a folder, of which only plain files can be opened.
func filesOf(root *os.Root) fileSystem {
	return fileSystem{FS: root.FS(), open: func(name string) (io.ReadCloser, fs.FileInfo, error) { return plainfile.OpenIn(root, name) }}
}

func openBuiltIn(name string) (io.ReadCloser, fs.FileInfo, error) {
	f, err := builtIn.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	return f, info, err
}

// readSkills adds the skills in a folder to found, in place of those with the same name.
func readSkills(found map[string]Skill, in fileSystem, dir, from string) {
	entries, err := fs.ReadDir(in.FS, dir)
	if err != nil {
		return
	}
	n := 0
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".md")
		if !is || !isValidName(name) || n == maxSkills {
			continue
		}
		n++
		skill := Skill{Name: name, From: from}
		if text, size, err := readStart(in, path.Join(dir, e.Name())); err != nil {
			skill.Problem = "it cannot be read"
		} else {
			skill = parse(name, text, from)
			skill.Cut = size
		}
		found[name] = skill.override(found[name])
	}
}

// override returns the skill, which replaces another one of the same name. If s has a problem, the other one stays, with a warning.
func (s *Skill) override(before Skill) Skill {
	if s.Problem == "" || before.Name == "" || before.Problem != "" {
		return *s
	}
	before.Warnings = append(slices.Clone(before.Warnings), fmt.Sprintf("the %s file of that name is not used: %s; the one that is %s stays in force", s.From, s.Problem, before.From))
	return before
}

// readStart returns the first maxText bytes of a file, and its size if it has more.
func readStart(in fileSystem, name string) (text string, size int, err error) {
	f, info, err := in.open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return "", 0, err
	}
	if len(data) > maxText {
		data, size = data[:maxText], int(info.Size())
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), size, nil
}

// Get returns the skill with a name. If there is none, it has a Problem.
func (s *Set) Get(workspace, name string) Skill {
	for _, skill := range s.All(workspace) {
		if skill.Name == name {
			return skill
		}
	}
	return Skill{Name: name, Problem: "it is not there"}
}

// ForAnswer returns the skills for an answer to the owner or to a contact. given are the names that the agent is configured with (none means all), and has
// tells which tools it has.
func (s *Set) ForAnswer(workspace string, given []string, owner bool, has func(tool string) bool) []Skill {
	var chosen []Skill
	all := s.All(workspace)
	for _, skill := range all {
		switch {
		case len(given) > 0 && !slices.Contains(given, skill.Name):
		case skill.Problem == "" && ((owner && !skill.Owner) || (!owner && !skill.Contact)):
		case slices.ContainsFunc(skill.Needs, func(tool string) bool { return !has(tool) }):
		case skill.Problem != "" && !slices.Contains(given, skill.Name):
		default:
			chosen = append(chosen, skill)
		}
	}
	for _, name := range given {
		if !slices.ContainsFunc(all, func(skill Skill) bool { return skill.Name == name }) {
			chosen = append(chosen, Skill{Name: name, Problem: "it is not there"})
		}
	}
	return chosen
}

// PromptText writes skills for a model.
func PromptText(chosen []Skill) string {
	var parts []string
	left := maxPromptText
	for _, skill := range chosen {
		switch {
		case skill.Problem != "":
			parts = append(parts, fmt.Sprintf("[the skill %s is missing: %s]", skill.Name, skill.Problem))
		case skill.Text == "":
		case len(skill.Text) > left:
			parts = append(parts, fmt.Sprintf("[the skill %s is left out: there are too many]", skill.Name))
		default:
			left -= len(skill.Text)
			text := "## " + skill.Name + "\n" + skill.Text
			if skill.Cut > 0 {
				text += fmt.Sprintf("\n[%s.md is cut here: %d of %d bytes]", skill.Name, maxText, skill.Cut)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}
