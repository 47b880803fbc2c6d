package policy

import (
	"regexp"
	"slices"
	"strings"
)

// MaxLabels is how many labels there may be, and how many a chat may have.
const MaxLabels = 50

// labelName is the form of a label's name.
var labelName = regexp.MustCompile(`^[\p{Ll}\p{Lo}\d][\p{Ll}\p{Lo}\d_-]{0,39}$`)

// IsLabelName reports whether a text can be the name of a label: a word of up to 40 small letters, digits, hyphens and underscores.
func IsLabelName(s string) bool { return labelName.MatchString(s) }

// Label is a name for chats that share settings. A chat has it because the owner gave it, or because one of its rules fits: Networks, Names or
// Words. The zero value fits no chat.
type Label struct {
	Name     string
	Networks []string // all chats of these networks, as Network returns them
	Names    []string // chats with such a name, in any case; "*" stands for any text
	Words    []string // chats in which a contact writes one of these words or phrases, from that message on

	Mode     Mode     // empty sets none
	Delivery Delivery // empty sets none
	// FollowUpDays and AskRating are as in Defaults; nil sets none.
	FollowUpDays *int
	AskRating    *bool
}

// HasRule reports whether a label is given by a rule as well, and not by the owner only.
func (l Label) HasRule() bool { return len(l.Networks)+len(l.Names)+len(l.Words) > 0 }

// canContactsChoose reports whether contacts can give the label to their chats: they choose their names and their words.
func (l Label) canContactsChoose() bool { return len(l.Names)+len(l.Words) > 0 }

// matches reports whether the rules give a label to a chat. The words in messages are not among them: see LabelsByWords.
func (l Label) matches(c ChatFacts) bool {
	if !c.Kind.isPortal() {
		return false
	}
	if slices.Contains(l.Networks, CanonicalNetwork(c.Protocol)) {
		return true
	}
	name := string(fold(c.Name))
	return slices.ContainsFunc(l.Names, func(pattern string) bool { return matchesStar(string(fold(pattern)), name) })
}

// matchesStar reports whether a text matches a pattern in which "*" stands for any text.
func matchesStar(pattern, text string) bool {
	first, rest, hasStar := strings.Cut(pattern, "*")
	if !hasStar {
		return pattern == text
	}
	text, isPrefix := strings.CutPrefix(text, first)
	if !isPrefix {
		return false
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// LabelsOf returns the configured labels of a chat, in the order in which they count.
func (d Defaults) LabelsOf(c ChatFacts) []Label {
	var labels []Label
	for _, l := range d.Labels {
		if slices.Contains(c.Labels, l.Name) || (!slices.Contains(c.RemovedLabels, l.Name) && l.matches(c)) {
			labels = append(labels, l)
		}
	}
	return labels
}

// LabelsByWords returns the names of the labels that a chat gets because of a contact's message, without those that it has and those that the
// owner took from it.
func (d Defaults) LabelsByWords(c ChatFacts, message string) []string {
	var names []string
	for _, l := range d.Labels {
		if len(l.Words) == 0 || !c.Kind.isPortal() || slices.Contains(c.Labels, l.Name) || slices.Contains(c.RemovedLabels, l.Name) {
			continue
		}
		if _, found := FindKeyword(l.Words, message); found {
			names = append(names, l.Name)
		}
	}
	return names[:min(len(names), max(0, MaxLabels-len(c.Labels)))]
}

// ResolveSetting returns the setting that a chat has of its own, or else that of the first of its labels with one. of reports false for a label that sets
// none. found is false if neither does, and label empty if the chat's own counts.
func ResolveSetting[T any](own *T, labels []Label, of func(Label) (T, bool)) (setting T, label string, found bool) {
	if own != nil {
		return *own, "", true
	}
	for _, l := range labels {
		if v, ok := of(l); ok {
			return v, l.Name, true
		}
	}
	return setting, "", false
}
