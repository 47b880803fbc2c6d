package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// header is the YAML header of a skill's file.
type header struct {
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Roles       wordList  `yaml:"roles"`
	AllowedURLs wordList  `yaml:"allowed_urls"`
	Actions     *wordList `yaml:"actions"`
	Needs       wordList  `yaml:"needs"`
	Escalation  *bool     `yaml:"escalation"`
	MemoryRules struct {
		Visible string `yaml:"visible"`
		Capture *bool  `yaml:"capture"`
		Index   *bool  `yaml:"index"`
	} `yaml:"memory_rules"`
}

// headerKeys returns the known keys of a mapping in the header: the header itself if parent is empty, or the value of the
// key parent. It returns nil for a key whose value is no mapping.
func headerKeys(parent string) []string {
	switch parent {
	case "":
		return []string{"name", "description", "roles", "allowed_urls", "actions", "needs", "escalation", "memory_rules"}
	case "memory_rules":
		return []string{"visible", "capture", "index"}
	default:
		return nil
	}
}

// actionTools returns the tools that an action allows. Some actions are names from earlier versions of multis; any other
// is the name of a tool.
func actionTools(action string) []string {
	switch action {
	case "ask", "search":
		return []string{"search_docs", "recall_memory"}
	case "read":
		return []string{"read_file", "grep_files", "find_files"}
	case "cron":
		return []string{"schedule"}
	case "index", "only", "none", "all": // none of them is a tool
		return nil
	default:
		return []string{action}
	}
}

// wordList is a list of words, written as a YAML list or on one line with commas, plus signs or spaces between them.
type wordList []string

// UnmarshalYAML reads a YAML list or one line.
func (w *wordList) UnmarshalYAML(n *yaml.Node) error {
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

// parse reads a skill. If that fails, the skill has a Problem.
func parse(name, text, from string) Skill {
	skill := Skill{Name: name, From: from}
	h, unknown, body, err := splitHeader(text)
	if err == nil {
		err = skill.setHeader(h)
	}
	if err != nil {
		return Skill{Name: name, From: from, Problem: err.Error()}
	}
	for _, key := range unknown {
		skill.Warnings = append(skill.Warnings, fmt.Sprintf("%q in its head means nothing here", key))
	}
	skill.Text = strings.TrimSpace(body)
	return skill
}

// splitHeader splits a file into header and body, and lists the header's unknown keys. A file without a header is for the
// owner's questions.
func splitHeader(text string) (h header, unknown []string, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, found := strings.CutPrefix(text, "---\n")
	if !found {
		return header{Roles: wordList{"admin"}}, nil, text, nil
	}
	above, body, found := strings.Cut("\n"+rest, "\n---\n")
	if !found {
		return header{}, nil, "", errors.New("its head has no end: a line of ---")
	}
	var root yaml.Node
	if err = yaml.Unmarshal([]byte(above), &root); err == nil && len(root.Content) > 0 {
		err = root.Decode(&h)
	}
	if err != nil {
		return header{}, nil, "", fmt.Errorf("its head cannot be read: %s", yamlProblem(err.Error()))
	}
	if len(root.Content) > 0 {
		unknown = unknownKeys(root.Content[0], "")
	}
	return h, unknown, body, nil
}

// unknownKeys returns the unknown keys of a mapping in the header. parent is as in headerKeys.
func unknownKeys(n *yaml.Node, parent string) (unknown []string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; {
		case !slices.Contains(headerKeys(parent), key):
			unknown = append(unknown, strings.TrimPrefix(parent+"."+key, "."))
		case headerKeys(key) != nil:
			unknown = append(unknown, unknownKeys(n.Content[i+1], key)...)
		}
	}
	return unknown
}

// setHeader sets the fields that a header defines.
func (s *Skill) setHeader(h header) error {
	if h.Name != "" && h.Name != s.Name {
		return fmt.Errorf("it calls itself %q: the file's name counts", h.Name)
	}
	s.Description = strings.Join(strings.Fields(h.Description), " ")
	for _, role := range h.Roles {
		switch role {
		case "admin", "owner", "user:*":
			s.ForOwner = true
		case "public", "user:$chatId", "contact":
			s.ForContact = true
		case "none", "kb":
		default:
			return fmt.Errorf("roles: %q is none; write admin, public, or both", role)
		}
	}
	s.setActions(h)
	switch h.MemoryRules.Visible {
	case "", "own":
	case "none":
		s.NoMemory = true
	default:
		return fmt.Errorf("memory_rules.visible: %q is not possible; write own or none", h.MemoryRules.Visible)
	}
	for what, on := range map[string]*bool{"capture": h.MemoryRules.Capture, "index": h.MemoryRules.Index} {
		if on != nil && !*on {
			s.Warnings = append(s.Warnings, fmt.Sprintf("memory_rules.%s: false changes nothing: every chat that is not off is remembered", what))
		}
	}
	slices.Sort(s.Warnings)
	for _, url := range h.AllowedURLs {
		if !slices.Contains([]string{"none", "from", "config"}, url) {
			s.URLs = append(s.URLs, url)
		}
	}
	s.Needs = h.Needs
	return nil
}

// setActions sets which tools a header allows.
func (s *Skill) setActions(h header) {
	s.NoEscalation = h.Escalation != nil && !*h.Escalation
	if h.Actions == nil {
		return
	}
	s.Limited, s.Actions = !slices.Contains(*h.Actions, "all"), []string{}
	for _, action := range *h.Actions {
		s.addActions(actionTools(action)...)
	}
	if s.Limited && h.Escalation != nil && *h.Escalation {
		s.addActions("escalate")
	}
}

// addActions adds tools to the allowed ones, each once.
func (s *Skill) addActions(tools ...string) {
	for _, tool := range tools {
		if !slices.Contains(s.Actions, tool) {
			s.Actions = append(s.Actions, tool)
		}
	}
}

// isValidName reports whether a name can be the name of a skill or of a saved task.
func isValidName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

// yamlProblem returns an error of the YAML parser on one line, without the names of Go types.
func yamlProblem(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("yaml: ", "", "unmarshal errors:", "", " into skills.head", "",
		" in type skills.head", "").Replace(s)), " ")
}
