package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"multis/internal/text"
)

// maxPrompt is the maximum length of a saved task's prompt, in bytes.
const maxPrompt = 4000

// SavedTask is a task in a YAML file, which the owner starts by its name.
type SavedTask struct {
	Name   string
	Prompt string
	// Agent is the agent that works on it. Defaults to the one that answers in the room.
	Agent string
	// Tools are patterns of the tools that it may use. Nil means all that the agent has, an empty slice none.
	Tools []string
	// Target names the chat that it is about; empty for none.
	Target string
	// Problem is what is wrong with the file. A task with a problem cannot be started.
	Problem string
}

// ReadSavedTasks returns the saved tasks in a folder, by name; none for a folder that does not exist. Links out of the
// folder are not followed.
func ReadSavedTasks(folder string) []SavedTask {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil
	}
	var all []SavedTask
	for _, e := range entries {
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext)
		if (ext != ".yaml" && ext != ".yml") || !isValidName(name) || len(all) == maxSkills {
			continue
		}
		text, size, err := readStart(filesOf(root), e.Name())
		switch {
		case err != nil:
			all = append(all, SavedTask{Name: name, Problem: "it cannot be read"})
		case size > 0:
			all = append(all, SavedTask{Name: name, Problem: fmt.Sprintf("it is too long: at most %d bytes", maxText)})
		case slices.ContainsFunc(all, func(s SavedTask) bool { return s.Name == name }):
			all = append(all, SavedTask{Name: name, Problem: "there is another file of that name; keep one"})
		default:
			all = append(all, parseSaved(name, text))
		}
	}
	return all
}

// parseSaved reads a saved task. If that fails, the task has a Problem.
func parseSaved(name, text string) SavedTask {
	s := SavedTask{Name: name}
	if err := s.parse(text); err != nil {
		return SavedTask{Name: name, Problem: yamlProblem(err.Error())}
	}
	return s
}

func (s *SavedTask) parse(text string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "\uFEFF")), &doc); err != nil {
		return fmt.Errorf("it is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return errors.New(`it has no keys; write "prompt: what to do"`)
	}
	seen := map[string]bool{}
	for pairs := doc.Content[0].Content; len(pairs) > 1; pairs = pairs[2:] {
		key, value := pairs[0], pairs[1]
		if seen[key.Value] {
			return fmt.Errorf("line %d: %s is set a second time; keep one", key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := s.set(key, value); err != nil {
			return err
		}
	}
	switch {
	case s.Prompt == "":
		return errors.New(`prompt is missing; write "prompt: what to do"`)
	case len(s.Prompt) > maxPrompt:
		return fmt.Errorf("prompt is too long: at most %d bytes", maxPrompt)
	}
	return nil
}

// set sets the field of one key.
func (s *SavedTask) set(key, value *yaml.Node) error {
	into := map[string]*string{"prompt": &s.Prompt, "agent": &s.Agent, "target": &s.Target}[key.Value]
	if key.Value == "tools" {
		return s.setTools(key, value)
	}
	if into == nil {
		return fmt.Errorf("line %d: %s is none of its keys; there are prompt, agent, tools and target", key.Line, key.Value)
	}
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %s is not a text; write it on one line, or below %s: |", key.Line, key.Value, key.Value)
	}
	if value.Tag != "!!null" {
		*into = strings.TrimSpace(value.Value)
	}
	if key.Value != "prompt" {
		*into = text.CollapseSpaces(*into)
	}
	return nil
}

func (s *SavedTask) setTools(key, value *yaml.Node) error {
	if value.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: tools is not a list; write [search_docs, fetch_url], or [] for none", key.Line)
	}
	s.Tools = []string{}
	for _, item := range value.Content {
		if _, err := path.Match(item.Value, ""); err != nil || item.Kind != yaml.ScalarNode || item.Value == "" {
			return fmt.Errorf("line %d: %q is no name of a tool; /tools lists them", item.Line, item.Value)
		}
		s.Tools = append(s.Tools, item.Value)
	}
	return nil
}
