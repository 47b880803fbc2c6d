package config

import (
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
)

// suggest returns a hint about an unknown name in a section: the key to use instead of another program's key, else a similar name in this
// section, else the same name in another section, else all names in this section.
func (r *reader) suggest(section, name string) string {
	if advice := otherProgramHint(joinKey(section, name)); advice != "" {
		return advice
	}
	here := r.keyNames(section)
	best, least := "", 1+max(2, len(name)/3)
	for _, known := range here {
		if len(name) > 2*len(known)+2 {
			continue // too long to be a misspelling
		}
		if d := text.EditDistance(strings.ToLower(name), known); d < least {
			best, least = known, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	for _, key := range r.fieldOrder {
		if keyName(key) == name {
			return fmt.Sprintf("did you mean %q?", key)
		}
	}
	return "known here: " + strings.Join(here, ", ")
}

// keyNames returns the names that are valid in a section, in the order of the fields.
func (r *reader) keyNames(section string) []string {
	var names []string
	keys := slices.Clone(r.fieldOrder)
	for _, g := range r.groups {
		keys = append(keys, g.section)
	}
	for _, key := range keys {
		rest, inside := strings.CutPrefix("."+key, strings.TrimSuffix("."+section, ".")+".")
		name, _, _ := strings.Cut(rest, ".")
		if inside && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
