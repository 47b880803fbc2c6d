package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// head is what stands above the text.
type head struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Roles       words  `yaml:"roles"`
	AllowedURLs words  `yaml:"allowed_urls"`
	Actions     *words `yaml:"actions"`
	Needs       words  `yaml:"needs"`
	MemoryRules struct {
		Visible string `yaml:"visible"`
	} `yaml:"memory_rules"`
}

// words are a list, or one line with commas or plus signs between.
type words []string

// UnmarshalYAML takes either.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		var list []string
		if err := n.Decode(&list); err != nil {
			return err
		}
		*w = list
		return nil
	}
	var line string
	if err := n.Decode(&line); err != nil {
		return err
	}
	*w = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '+' || unicode.IsSpace(r) })
	return nil
}

// parse reads a skill. What is wrong with it is its Problem.
func parse(name, text, from string) Skill {
	skill := Skill{Name: name, From: from}
	h, body, err := split(text)
	if err == nil {
		err = skill.fill(h)
	}
	if err != nil {
		return Skill{Name: name, From: from, Problem: err.Error()}
	}
	skill.Text = strings.TrimSpace(body)
	return skill
}

// split takes the head off a file. A file without one is text for the owner's questions.
func split(text string) (head, string, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, found := strings.CutPrefix(text, "---\n")
	if !found {
		return head{Roles: words{"admin"}}, text, nil
	}
	above, body, found := strings.Cut("\n"+rest, "\n---\n")
	if !found {
		return head{}, "", errors.New("its head has no end: a line of ---")
	}
	var h head
	d := yaml.NewDecoder(strings.NewReader(above))
	d.KnownFields(true)
	if err := d.Decode(&h); err != nil && strings.TrimSpace(above) != "" {
		return head{}, "", fmt.Errorf("its head cannot be read: %s", oneLine(err.Error()))
	}
	return h, body, nil
}

// fill says what a head means.
func (s *Skill) fill(h head) error {
	if h.Name != "" && h.Name != s.Name {
		return fmt.Errorf("it calls itself %q: the file's name counts", h.Name)
	}
	s.Description = strings.Join(strings.Fields(h.Description), " ")
	for _, role := range h.Roles {
		switch role {
		case "admin", "owner":
			s.Owner = true
		case "public", "user:$chatId", "contact":
			s.Contact = true
		case "none", "kb":
		default:
			return fmt.Errorf("roles: %q is none; write admin, public, or both", role)
		}
	}
	if h.Actions != nil {
		s.Limited = !slices.Contains(*h.Actions, "all")
		s.Actions = slices.DeleteFunc(slices.Clone(*h.Actions), func(a string) bool { return a == "none" || a == "all" })
	}
	switch h.MemoryRules.Visible {
	case "", "own":
	case "none":
		s.Forgetful = true
	default:
		return fmt.Errorf("memory_rules.visible: %q is not possible; write own or none", h.MemoryRules.Visible)
	}
	for _, url := range h.AllowedURLs {
		if !slices.Contains([]string{"none", "config"}, url) {
			s.URLs = append(s.URLs, url)
		}
	}
	s.Needs = h.Needs
	return nil
}

// plainName tells whether a name can be a skill's.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
}

// oneLine is what the reader of YAML complains of, on one line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("yaml: ", "", "unmarshal errors:", "", " into skills.head", "", " in type skills.head", "").Replace(s)), " ")
}
