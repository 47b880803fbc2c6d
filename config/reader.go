package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader fills a Config from the file, the settings made in chat and the environment, and collects the problems.
type reader struct {
	places
	config     *Config
	env        func(string) (string, bool) // looks up an environment variable
	fields     map[string]field
	fieldOrder []string // the keys of fields, in the order of their lists
	groups     []group
	ignored    map[string]bool   // keys whose values in the file and the environment are ignored
	references map[string]string // values that are references to secrets, by key
	problems   []Problem
}

// place is where a value was set: a line of the file, in chat, or an environment variable.
type place struct {
	line     int
	variable string
	setting  bool
}

func newReader(file string, c *Config) *reader {
	r := &reader{
		places:  places{file: file, sections: map[string]int{"": 1}, source: map[string]place{}},
		config:  c,
		fields:  map[string]field{},
		groups:  c.groups(),
		ignored: map[string]bool{},

		references: map[string]string{},
	}
	r.add(c.fields())
	for _, g := range r.groups {
		r.sections[g.section] = 0
	}
	return r
}

// add registers fields and the sections that contain them.
func (r *reader) add(fields []field) {
	for _, f := range fields {
		r.fields[f.key] = f
		r.fieldOrder = append(r.fieldOrder, f.key)
		for section := parentSection(f.key); section != ""; section = parentSection(section) {
			if _, seen := r.sections[section]; !seen {
				r.sections[section] = 0
			}
		}
	}
}

// readDocument reads the file. It returns false if the text is not YAML.
func (r *reader) readDocument(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return true // an empty file is valid: all keys may come from the environment
	case err != nil:
		r.reportYAMLError(data, err)
		return false
	}
	for _, top := range doc.Content {
		r.readMapping("", top)
	}
	if err := decoder.Decode(&second); err == nil {
		r.report(place{line: second.Line}, "", "a second document starts here and would be ignored; remove the line with ---")
	} else if !errors.Is(err, io.EOF) {
		r.reportYAMLError(data, err)
	}
	return true
}

// readMapping reads one section.
func (r *reader) readMapping(section string, node *yaml.Node) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode {
		r.report(place{line: node.Line}, section, "is "+kindOf(node)+`; write a section of "key: value" lines`)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content) && !r.isFull(); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		key := joinKey(section, name.Value)
		if first, twice := seen[name.Value]; twice {
			r.report(place{line: name.Line}, key, fmt.Sprintf("is set a second time (first in line %d); keep one", first))
			continue
		}
		seen[name.Value] = name.Line
		r.readEntry(section, name, content)
	}
}

// readEntry reads one key of a section.
func (r *reader) readEntry(section string, name, content *yaml.Node) {
	key := joinKey(section, name.Value)
	if g, ok := r.group(section); ok {
		r.readGroupItem(g, name, content)
		return
	}
	if name.Value == "" || strings.Contains(name.Value, ".") {
		r.report(place{line: name.Line}, key, "unknown key; write a section, and the keys of that section below it")
		return
	}
	if _, ok := r.sections[key]; ok {
		r.sections[key] = name.Line
		r.readMapping(key, content)
		return
	}
	f, ok := r.fields[key]
	if !ok {
		r.report(place{line: name.Line}, key, "unknown key; "+r.suggest(section, name.Value))
		return
	}
	if isNull(content) || r.ignored[key] {
		return // "key:" without a value counts as not set
	}
	if f.isSecret && f.example == "" && content.Kind == yaml.ScalarNode && content.Value == "" {
		return // an empty secret is not set, as in the example; its file may have it
	}
	at := place{line: content.Line}
	if !r.recordSource(key, at) {
		return
	}
	if f.node != nil {
		for _, p := range f.node(r.file, content) {
			r.report(place{line: p.Line}, key, p.Text)
		}
		return
	}
	if f.entry != nil {
		r.readEntries(f, content)
		return
	}
	if f.clear == nil {
		r.readScalar(f, content, f.key)
		return
	}
	if content.Kind != yaml.SequenceNode {
		r.report(at, key, "is "+kindOf(content)+`; write a list, one "- item" a line`)
		return
	}
	f.clear()
	for i, item := range content.Content {
		r.readScalar(f, item, fmt.Sprintf("%s[%d]", key, i))
	}
}

// readEntries reads a mapping whose names the user chooses.
func (r *reader) readEntries(f field, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		r.report(place{line: node.Line}, f.key, "is "+kindOf(node)+`; write "NAME: value" lines below it`)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		one, err := f.entry(name.Value)
		switch {
		case err != nil:
			r.report(place{line: name.Line}, f.key, err.Error())
		case seen[name.Value]:
			r.report(place{line: name.Line}, one.key, "is set a second time; keep one")
		default:
			r.readScalar(one, content, one.key)
		}
		seen[name.Value] = true
	}
}

// group returns the group with this section name.
func (r *reader) group(section string) (group, bool) {
	i := slices.IndexFunc(r.groups, func(g group) bool { return g.section == section })
	if i < 0 {
		return group{}, false
	}
	return r.groups[i], true
}

// inGroup reports whether a key belongs to a group.
func (r *reader) inGroup(key string) bool {
	return slices.ContainsFunc(r.groups, func(g group) bool { return strings.HasPrefix(key, g.section+".") })
}

// readGroupItem reads the section of one name in a group.
func (r *reader) readGroupItem(g group, name, content *yaml.Node) {
	key := joinKey(g.section, name.Value)
	if there, ok := otherProgramKeys[key]; ok && (there.ours != g.section || content.Kind == yaml.SequenceNode) {
		r.report(place{line: name.Line}, key, otherProgramHint(key))
		return
	}
	known, err := word(name.Value)
	if err != nil || strings.Contains(known, ".") {
		r.report(place{line: name.Line}, key, "is not "+g.expected)
		return
	}
	fields, keep := g.item(known)
	r.add(fields)
	r.sections[key] = name.Line
	r.readMapping(key, content)
	keep()
}

// readScalar sets a single value or one item of a list. key is its name in errors.
func (r *reader) readScalar(f field, node *yaml.Node, key string) {
	if node.Kind != yaml.ScalarNode {
		r.report(place{line: node.Line}, key, "is "+kindOf(node)+"; write a single value")
		return
	}
	if strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") {
		r.report(place{line: node.Line}, key,
			"has a YAML tag (a word after !), which is not supported; write only the value, in quotes if it begins with !")
		return
	}
	if err := r.setField(f, node.Value); err != nil {
		r.report(place{line: node.Line}, key, err.Error())
	}
}

// readEnvironment overrides other values with environment variables. An empty variable counts as not set, because compose
// files pass variables that the host does not set as empty ones. Items of a list are separated by commas.
func (r *reader) readEnvironment() {
	for _, key := range r.fieldOrder {
		name := EnvName(key)
		text, ok := r.env(name)
		if !ok || text == "" || r.ignored[key] || r.inGroup(key) {
			continue
		}
		at := place{variable: name}
		if r.recordSource(key, at) {
			r.setItems(r.fields[key], text, at)
		}
	}
}

// readSettings overrides the file with the settings that were made in chat, by key. A list is a JSON array, or items that are separated by
// commas.
func (r *reader) readSettings(settings map[string]string) {
	for _, key := range r.fieldOrder {
		text, ok := settings[key]
		if !ok || !slices.Contains(SafeKeys(), key) {
			continue
		}
		at := place{setting: true}
		r.source[key] = at
		var items []string
		if f := r.fields[key]; f.clear != nil && json.Unmarshal([]byte(text), &items) == nil {
			r.setList(f, items, at)
		} else {
			r.setItems(f, text, at)
		}
	}
}

// setItems parses text and sets a field to it. For a list, text has items that are separated by commas.
func (r *reader) setItems(f field, text string, at place) {
	if f.clear != nil {
		r.setList(f, strings.Split(text, ","), at)
		return
	}
	if err := r.setField(f, strings.TrimSpace(text)); err != nil {
		r.report(at, f.key, err.Error())
	}
}

// setList sets the field of a list to items.
func (r *reader) setList(f field, items []string, at place) {
	f.clear()
	for _, item := range items {
		if err := r.setField(f, strings.TrimSpace(item)); err != nil {
			r.report(at, f.key, err.Error())
		}
	}
}

// recordSource records where a key was set. It reports an error and returns false if a secret is set both directly and
// with key_file in the same source. The environment may override either form in the file.
func (r *reader) recordSource(key string, at place) bool {
	twin, isFile := strings.CutSuffix(key, fileSuffix)
	if !isFile {
		twin = key + fileSuffix
	}
	r.source[key] = at
	if other, ok := r.source[twin]; ok && (other.variable == "") == (at.variable == "") {
		r.report(at, key, "is set, and so is "+keyName(twin)+"; keep one of the two")
		return false
	}
	return true
}

// reportMissing reports the required keys that are not set.
func (r *reader) reportMissing() {
	for _, key := range r.fieldOrder {
		_, set := r.source[key]
		_, byFile := r.source[key+fileSuffix]
		if f := r.fields[key]; f.example != "" && !set && !byFile {
			r.report(place{line: max(r.sections[parentSection(key)], 1)}, key, missingText(keyName(key), f.example))
		}
	}
}

// missingText says what to write for a missing key. If the key is "secret", it shows only the example value, because the
// filter of the output would hide text after "secret:".
func missingText(name, example string) string {
	switch {
	case strings.HasPrefix(example, "generate"):
		return "is missing; write generate as its value, and run multis -g"
	case name == "secret":
		return "is missing; write for example " + example
	}
	return fmt.Sprintf("is missing; write for example %s: %s", name, example)
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a section"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "a reference to another place"
	default:
		return "a single value"
	}
}

func joinKey(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}

// parentSection returns the section of a key; empty means the top level.
func parentSection(key string) string { return key[:max(strings.LastIndexByte(key, '.'), 0)] }

// keyName returns the name of a key without its section.
func keyName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
