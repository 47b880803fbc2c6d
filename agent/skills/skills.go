// Package skills reads skills and saved tasks. A skill is a Markdown file with a YAML header that tells agents how to
// work. A skill in the agent's own folder replaces a shared one of the same name, which replaces a built-in one. The
// files are read for every answer, so that changes apply at once.
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

	"multis/internal/plainfile"
)

//go:embed builtin/*.md
var builtIn embed.FS

const (
	// maxText is how many bytes of one skill are read, and maxPromptText how many all skills of one prompt may have.
	maxText       = 8000
	maxPromptText = 24_000
	// maxSkills is how many skills of one folder are read.
	maxSkills = 50
	// folder is the folder of an agent's own skills, in its workspace.
	folder = "skills"
)

// The values of Skill.From.
const (
	FromAgent   = "agent"
	FromShared  = "shared"
	FromBuiltIn = "built in"
)

// Skill is one file of instructions.
type Skill struct {
	Name        string
	Description string
	// ForOwner and Contact say whose questions it is for. A skill for neither is only used by its name, such as capture.
	ForOwner, ForContact bool
	// URLs are the domains that may be fetched without approval.
	URLs []string
	// Actions are patterns of the tools that may be used. They only apply if Limited is true. If Limited is true and Actions
	// is empty, no tool may be used.
	Actions []string
	Limited bool
	// NoEscalation denies the tool escalate. The escalations of the configuration still happen.
	NoEscalation bool
	// Needs are the tools that the skill requires. Without one of them it is left out.
	Needs []string
	// NoMemory leaves notes out of the prompt, and denies the tool recall_memory.
	NoMemory bool
	Text     string
	From     string
	// FullSize is the size in bytes of a file that is longer than maxText and was cut; zero for all others.
	FullSize int
	// Problem is what is wrong with the file. A skill with a problem is not used.
	Problem string
	// Warnings name the parts of the file that have no effect. If another file of the same name should replace this one and has a problem, a
	// warning says so.
	Warnings []string
}

// Set finds skills.
type Set struct {
	shared      string
	builtin     map[string]string
	agentsWrite bool
}

// Open returns a Set with a folder of shared skills, which need not exist. builtin are the texts of further built-in
// skills, by name; only Get uses them, not ForAnswer. agentsWrite says that agents can change files of their workspaces,
// also by commands whose effects nobody is shown. A skill there then allows no addresses, and replaces no other skill,
// whose limits it would lift.
func Open(shared string, builtin map[string]string, agentsWrite bool) *Set {
	return &Set{shared: shared, builtin: builtin, agentsWrite: agentsWrite}
}

// All returns the skills of an agent, by name. The workspace is the agent's folder; empty for an agent without one.
func (s *Set) All(workspace string) []Skill {
	found := map[string]Skill{}
	for name, text := range s.builtin {
		found[name] = parse(name, text, FromBuiltIn)
	}
	readSkills(found, fileSystem{FS: builtIn, open: openBuiltIn}, "builtin", FromBuiltIn)
	readFolder(found, s.shared, ".", FromShared)
	own := map[string]Skill{}
	readFolder(own, workspace, folder, FromAgent)
	for name, skill := range own {
		if s.agentsWrite {
			skill.restrict(found[name])
		}
		found[name] = skill.replace(found[name])
	}
	all := make([]Skill, 0, len(found))
	for name, skill := range found {
		if _, byName := s.builtin[name]; byName {
			skill.ForOwner, skill.ForContact = false, false
		}
		all = append(all, skill)
	}
	slices.SortFunc(all, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// readFolder adds the skills in a folder on the disk. Links out of it are not followed.
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

// filesOf returns the file system of a folder. Only regular files can be opened.
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

// readSkills adds the skills in a folder to found. They replace those with the same name.
func readSkills(found map[string]Skill, in fileSystem, dir, from string) {
	entries, err := fs.ReadDir(in.FS, dir)
	if err != nil {
		return
	}
	n := 0
	for _, e := range entries {
		name, isMarkdown := strings.CutSuffix(e.Name(), ".md")
		if !isMarkdown || !isValidName(name) || n == maxSkills {
			continue
		}
		n++
		skill := Skill{Name: name, From: from}
		if text, size, err := readStart(in, path.Join(dir, e.Name())); err != nil {
			skill.Problem = "it cannot be read"
		} else {
			skill = parse(name, text, from)
			skill.FullSize = size
		}
		found[name] = skill.replace(found[name])
	}
}

// restrict takes from a skill that agents can write what they must not give themselves. before is the skill that it would replace, if any.
func (s *Skill) restrict(before Skill) {
	if before.Name != "" && s.Problem == "" {
		*s = Skill{Name: s.Name, From: s.From, Problem: "agents can write it (exec.enabled, exec.write_files)"}
	}
	if len(s.URLs) > 0 {
		s.URLs = nil
		s.Warnings = append(slices.Clone(s.Warnings),
			"its allowed_urls have no effect, because agents can write it (exec.enabled, exec.write_files); put it into the folder of the skills of all agents (skills.folder)")
	}
}

// replace returns the skill to use if s and before have the same name: s, or before with a warning if s has a problem.
func (s *Skill) replace(before Skill) Skill {
	if s.Problem == "" || before.Name == "" || before.Problem != "" {
		return *s
	}
	before.Warnings = append(slices.Clone(before.Warnings),
		fmt.Sprintf("the %s file of that name is not used: %s; the one that is %s stays in force", s.From, s.Problem, before.From))
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

// Get returns the skill with a name. If there is none, the returned skill has a Problem.
func (s *Set) Get(workspace, name string) Skill {
	for _, skill := range s.All(workspace) {
		if skill.Name == name {
			return skill
		}
	}
	return Skill{Name: name, Problem: "it is not there"}
}

// ForAnswer returns the skills for an answer to the owner or to a contact. configured are the names of the agent's
// skills; empty means all. hasTool reports whether the agent has a tool.
func (s *Set) ForAnswer(workspace string, configured []string, owner bool, hasTool func(tool string) bool) []Skill {
	var chosen []Skill
	all := s.All(workspace)
	for _, skill := range all {
		switch {
		case len(configured) > 0 && !slices.Contains(configured, skill.Name):
		case skill.Problem == "" && ((owner && !skill.ForOwner) || (!owner && !skill.ForContact)):
		case slices.ContainsFunc(skill.Needs, func(tool string) bool { return !hasTool(tool) }):
		case skill.Problem != "" && !slices.Contains(configured, skill.Name):
		default:
			chosen = append(chosen, skill)
		}
	}
	for _, name := range configured {
		if !slices.ContainsFunc(all, func(skill Skill) bool { return skill.Name == name }) {
			chosen = append(chosen, Skill{Name: name, Problem: "it is not there"})
		}
	}
	return chosen
}

// PromptText returns skills as text for a model.
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
			if skill.FullSize > 0 {
				text += fmt.Sprintf("\n[%s.md is cut here: %d of %d bytes]", skill.Name, maxText, skill.FullSize)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}
