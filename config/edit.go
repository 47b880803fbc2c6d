package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// ErrEdit is returned by Edit if a value cannot be changed without touching the rest of the file. Its error text names
// the line to change by hand.
var ErrEdit = errors.New("change it by hand")

// Value is a key of the file, such as "llm.model", with its new value as text.
type Value struct{ Key, Text string }

// Lookup returns the text of a single value in the file data, without defaults and environment. It returns false if the key is not set or
// has no single value.
func Lookup(data []byte, key string) (string, bool) {
	root, err := rootMapping(data)
	if err != nil {
		return "", false
	}
	if root == nil {
		return "", false
	}
	node := root
	for name := range strings.SplitSeq(key, ".") {
		node = yamlValue(node, name)
	}
	if node == nil || node.Kind != yaml.ScalarNode || isNull(node) {
		return "", false
	}
	return node.Value, true
}

// KeysWithValue returns the keys in the file data whose single value is this one, in their order. An item of a list counts for its list.
func KeysWithValue(data []byte, value string) []string {
	root, err := rootMapping(data)
	if err != nil {
		return nil
	}
	if root == nil {
		return nil
	}
	var keys []string
	var walk func(key string, node *yaml.Node)
	walk = func(key string, node *yaml.Node) {
		switch node.Kind { //nolint:exhaustive // the others have no value
		case yaml.ScalarNode:
			if node.Value == value && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		case yaml.SequenceNode:
			for _, item := range node.Content {
				walk(key, item)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				walk(joinKey(key, node.Content[i].Value), node.Content[i+1])
			}
		}
	}
	walk("", root)
	return keys
}

// Edit returns the file data with these values set. All other bytes stay the same, comments and order included. A missing
// key is added to its section. Edit does not check the values; Parse does. name is the path of the file, for errors.
func Edit(name string, data []byte, values ...Value) ([]byte, error) {
	for _, v := range values {
		if old, ok := Lookup(data, v.Key); ok && old == v.Text {
			continue
		}
		edited, err := edit(data, v)
		if err != nil {
			return nil, fmt.Errorf("%s: set %s: %w", name, v.Key, err)
		}
		if got, ok := Lookup(edited, v.Key); !ok || got != v.Text {
			return nil, fmt.Errorf("%s: set %s: %w", name, v.Key, ErrEdit)
		}
		data = edited
	}
	return data, nil
}

// edit sets one value.
func edit(data []byte, v Value) ([]byte, error) {
	root, err := rootMapping(data)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if root == nil && len(lines) == 1 && lines[0] == "" {
		lines = nil
	}
	path := strings.Split(v.Key, ".")
	section, key := root, (*yaml.Node)(nil) // the innermost section of the path that exists, and the key of that section
	inBraces := false
	for i, name := range path {
		k, value := findEntry(section, name)
		text, err := formatScalar(v.Text, inBraces)
		switch {
		case err != nil:
			return nil, err
		case k == nil && inBraces:
			return joinLines(insertInBraces(lines, section, path[i:], text))
		case k == nil:
			return joinLines(insertKey(lines, section, key, path[i:], text))
		case i == len(path)-1:
			return joinLines(replaceScalar(lines, k, value, text, inBraces))
		case !isNull(value) && value.Kind != yaml.MappingNode:
			return nil, fmt.Errorf("line %d: %w", value.Line, ErrEdit)
		}
		section, key = value, k
		inBraces = inBraces || value.Style&yaml.FlowStyle != 0
	}
	return nil, ErrEdit
}

func joinLines(lines []string, err error) ([]byte, error) {
	return []byte(strings.Join(lines, "\n") + "\n"), err
}

// rootMapping returns the mapping of a document; nil for an empty document.
func rootMapping(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil //nolint:nilnil // an empty file has no mapping
	}
	if doc.Content[0].Kind != yaml.MappingNode || doc.Content[0].Style&yaml.FlowStyle != 0 {
		return nil, ErrEdit
	}
	return doc.Content[0], nil
}

// findEntry returns the key and value nodes of a name in a mapping; nil if there are none.
func findEntry(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// formatScalar returns a value as YAML on one line, quoted where YAML requires it. inBraces means that the value is
// inserted into a {...} mapping.
func formatScalar(text string, inBraces bool) (string, error) {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if text == "" || strings.ContainsAny(text, "\n\r\t") || inBraces && strings.ContainsAny(text, ",[]{}:#") {
		node.Style = yaml.DoubleQuotedStyle
	}
	out, err := yaml.Marshal(&node)
	if err != nil {
		return "", err
	}
	line := strings.TrimSuffix(string(out), "\n")
	if strings.Contains(line, "\n") { // the encoder broke a long line
		return "", ErrEdit
	}
	return line, nil
}

// replaceScalar replaces the value of a key that exists. A comment after the value is kept.
func replaceScalar(lines []string, key, value *yaml.Node, text string, inBraces bool) ([]string, error) {
	line := &lines[key.Line-1]
	runes := []rune(*line)
	if isNull(value) && value.Value == "" { // "key:" without a value
		colon := key.Column - 1 + len([]rune(key.Value))
		if colon >= len(runes) || runes[colon] != ':' {
			return nil, fmt.Errorf("line %d: %w", key.Line, ErrEdit)
		}
		*line = string(runes[:colon+1]) + " " + text + string(runes[colon+1:])
		return lines, nil
	}
	end, ok := scalarEnd(runes, value, inBraces)
	if value.Kind != yaml.ScalarNode || value.Line != key.Line || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0 || !ok {
		return nil, fmt.Errorf("line %d: %w", key.Line, ErrEdit)
	}
	*line = string(runes[:value.Column-1]) + text + string(runes[end:])
	return lines, nil
}

// scalarEnd returns the index after a scalar in its line. It returns false if the scalar continues in the next line.
func scalarEnd(line []rune, value *yaml.Node, inBraces bool) (int, bool) {
	start := value.Column - 1
	if start >= len(line) {
		return 0, false
	}
	var end int
	switch quote := line[start]; {
	case value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	case value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		end = quotedEnd(line, start, quote)
	default:
		end = start + len([]rune(value.Value))
	}
	if end > len(line) {
		return 0, false
	}
	rest := strings.TrimSpace(string(line[end:]))
	return end, rest == "" || rest[0] == '#' || inBraces && (rest[0] == ',' || rest[0] == '}')
}

// quotedEnd returns the index after the closing quote of a quoted text, or an index after the end of the line if the quote is missing.
func quotedEnd(line []rune, start int, quote rune) int {
	for i := start + 1; i < len(line); i++ {
		switch {
		case quote == '"' && line[i] == '\\':
			i++
		case line[i] != quote:
		case quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(line) + 1
}

// insertKey inserts a value at the end of a section. path are the keys below the section that lead to the value; more
// than one if sections are missing. section is nil if it has no keys yet and only its own key exists. section and key are
// nil for a new section at the end of the file.
func insertKey(lines []string, section, key *yaml.Node, path []string, text string) ([]string, error) {
	at, indent := len(lines), 0
	switch {
	case section != nil && section.Kind == yaml.MappingNode && key != nil:
		at, indent = lastLine(section), section.Content[0].Column-1
	case key != nil:
		at, indent = key.Line, key.Column+1 // two spaces more than the key
	}
	if at > len(lines) {
		return nil, ErrEdit
	}
	var added []string
	for i, name := range path {
		line := strings.Repeat(" ", indent+2*i) + name + ":"
		if i == len(path)-1 {
			line += " " + text
		}
		added = append(added, line)
	}
	return append(lines[:at:at], append(added, lines[at:]...)...), nil
}

// insertInBraces inserts a value at the beginning of a section that is written as {...}.
func insertInBraces(lines []string, section *yaml.Node, path []string, text string) ([]string, error) {
	line := []rune(lines[section.Line-1])
	brace := section.Column - 1
	if brace >= len(line) || line[brace] != '{' {
		return nil, fmt.Errorf("line %d: %w", section.Line, ErrEdit)
	}
	last := len(path) - 1
	added := strings.Join(path[:last], ": {")
	if last > 0 {
		added += ": {"
	}
	added += path[last] + ": " + text + strings.Repeat("}", last)
	if len(section.Content) > 0 {
		added += ", "
	}
	lines[section.Line-1] = string(line[:brace+1]) + added + string(line[brace+1:])
	return lines, nil
}

// lastLine returns the last line of a node. Lines of a block scalar are included.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	if node.Kind == yaml.ScalarNode {
		last += strings.Count(strings.TrimSuffix(node.Value, "\n"), "\n")
		if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			last++
		}
	}
	return last
}
