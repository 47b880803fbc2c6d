package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/policy"
)

// Label is a name for chats that share settings: see policy.Label.
type Label struct {
	Name     string
	Networks []string // with their names in the file
	Names    []string
	Words    []string
	Mode     policy.Mode     // empty sets none
	Delivery policy.Delivery // empty sets none
	Hours    []string        // lines such as "mon-fri 9-18"; empty sets none
	// FollowUpDays and AskRating are as in Business; nil sets none.
	FollowUpDays *int
	AskRating    *bool
}

// Label returns the label with a name, or a new one without settings.
func (c Chats) Label(name string) Label {
	if i := slices.IndexFunc(c.Labels, func(l Label) bool { return l.Name == name }); i >= 0 {
		return c.Labels[i]
	}
	return Label{Name: name}
}

// withLabel returns labels with l, which replaces a label of the same name.
func withLabel(labels []Label, l Label) []Label {
	if i := slices.IndexFunc(labels, func(other Label) bool { return other.Name == l.Name }); i >= 0 {
		labels[i] = l
		return labels
	}
	return append(labels, l)
}

// fields lists the keys of one label.
func (l *Label) fields(section string) []field {
	return []field{
		list(section+".networks", &l.Networks, lineOf(1, 50)),
		list(section+".names", &l.Names, namePattern),
		list(section+".words", &l.Words, lineOf(2, 100)),
		value(section+".mode", &l.Mode, oneOf(policy.Modes()...)),
		value(section+".delivery", &l.Delivery, oneOf(policy.Deliveries()...)),
		list(section+".hours", &l.Hours, parseHours),
		value(section+".follow_up_days", &l.FollowUpDays, pointerTo(followUpDays)),
		value(section+".ask_rating", &l.AskRating, pointerTo(boolean)),
	}
}

// pointerTo makes a parser of an optional value, for which nil means that it is not set.
func pointerTo[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(s string) (*T, error) {
		v, err := parse(s)
		return &v, err
	}
}

// namePattern checks a pattern of chat names. A pattern without a letter or a digit would match every chat.
func namePattern(s string) (string, error) {
	s, err := lineOf(1, 100)(s)
	if err == nil && strings.Trim(s, "* ") == "" {
		return "", errors.New("fits every chat; write a part of the name, such as \"ACME*\"")
	}
	return s, err
}

// maxLabelRules is the maximum number of networks, of names and of words of a label.
const maxLabelRules = 100

// checkLabels rejects labels that contacts could give themselves to loosen the owner's settings, because contacts choose
// their names and their words.
func (c *Config) checkLabels(r *reader) {
	if n := len(c.Chats.Labels); n > policy.MaxLabels {
		r.report(place{line: r.sections["chats.labels"]}, "chats.labels", fmt.Sprintf("has %d labels; write at most %d", n, policy.MaxLabels))
	}
	for _, l := range c.Chats.Labels {
		section := "chats.labels." + l.Name
		if !policy.IsLabelName(l.Name) {
			r.report(place{line: r.sections[section]}, section,
				"is not the name of a label; write a word of small letters, digits and hyphens, such as wholesale")
		}
		for key, n := range map[string]int{".networks": len(l.Networks), ".names": len(l.Names), ".words": len(l.Words)} {
			if n > maxLabelRules {
				r.reportKey(section+key, fmt.Sprintf("has %d items; write at most %d", n, maxLabelRules))
			}
		}
		if len(l.Names)+len(l.Words) == 0 {
			continue
		}
		const why = ", because contacts choose their names and words; leave out names and words, and give the label with /label"
		if l.Mode.Answers() || l.Mode == policy.ModeOff {
			r.reportKey(section+".mode", fmt.Sprintf("cannot be %q", l.Mode)+why)
		}
		if l.Delivery == policy.DeliveryAuto {
			r.reportKey(section+".delivery", fmt.Sprintf("cannot be %q", l.Delivery)+why)
		}
		if len(l.Hours) > 0 {
			r.reportKey(section+".hours", "cannot be set"+why)
		}
	}
}
