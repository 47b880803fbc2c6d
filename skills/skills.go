// Package skills reads the files that say how an agent works, and the tasks that are saved for it. A skill is Markdown with a head of a few lines. One in the agent's own folder
// comes before a shared one of that name, and that before the one built in. Files are read anew each time, so a change holds from
// the next answer on.
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
	// maxText is how much of one skill is read, in bytes, and maxPromptText of all of one answer.
	maxText       = 8000
	maxPromptText = 24_000
	// maxSkills are read from one folder.
	maxSkills = 50
	// folder is where an agent keeps its own, in its workspace.
	folder = "skills"
)

// Where a skill is from.
const (
	FromAgent  = "agent"
	FromShared = "shared"
	FromMultis = "built in"
)

// Skill is one of them.
type Skill struct {
	Name        string
	Description string
	// Owner and Contact say whose questions it is for. One for neither is used by its name alone, as capture is.
	Owner, Contact bool
	// URLs are the domains that may be read without asking.
	URLs []string
	// Actions are patterns of the tools that may be used. Limited: no others, which without any pattern means none at all.
	Actions []string
	Limited bool
	// NoEscalation takes away the tool that passes a conversation on; what the configuration escalates is passed on all the same.
	NoEscalation bool
	// Needs are tools without which it has nothing to say.
	Needs []string
	// NoMemory says that notes and what was said before have no part in it.
	NoMemory bool
	Text     string
	From     string
	// Cut is how long the file is when not all of it was read; zero otherwise.
	Cut int
	// Problem says what is wrong with the file. It is not used then.
	Problem string
	// Warnings say what of it is left out, or which file of that name cannot be used in its place.
	Warnings []string
}

// Set is where skills are looked for.
type Set struct {
	shared string
	own    map[string]string
}

// Open names a folder of shared skills, which need not be there, and further built-in ones that other parts bring and use by name.
func Open(shared string, more map[string]string) *Set { return &Set{shared: shared, own: more} }

// All are the skills of an agent with that workspace (empty: none), by name.
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

// readFolder reads a folder, without leaving it over a link.
func readFolder(found map[string]Skill, top, below, from string) {
	if top == "" {
		return
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return // there is none
	}
	defer root.Close()
	readSkills(found, filesOf(root), below, from)
}

// fileSystem is where files are listed and opened.
type fileSystem struct {
	fs.FS

	open func(name string) (io.ReadCloser, fs.FileInfo, error)
}

// filesOf are the files of a folder of the machine, of which only plain files are opened.
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

// readSkills reads the skills of a folder.
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

// override is a skill that comes before another one of its name. A broken one leaves that in force.
func (s *Skill) override(before Skill) Skill {
	if s.Problem == "" || before.Name == "" || before.Problem != "" {
		return *s
	}
	before.Warnings = append(slices.Clone(before.Warnings), fmt.Sprintf("the %s file of that name is not used: %s; the one that is %s stays in force", s.From, s.Problem, before.From))
	return before
}

// readStart returns the beginning of a file, and its size if that is not all.
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

// Get is one skill; without it Problem says so.
func (s *Set) Get(workspace, name string) Skill {
	for _, skill := range s.All(workspace) {
		if skill.Name == name {
			return skill
		}
	}
	return Skill{Name: name, Problem: "it is not there"}
}

// ForAnswer are the skills of one answer: for the owner or for a contact, of those an agent was given (none: all), with tools that it has.
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

// PromptText is what a model reads of skills.
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
