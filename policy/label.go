package policy

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxLabels is the maximum number of labels that can be configured, and that a chat can have.
const MaxLabels = 50

// maxLabelName is the maximum number of characters of a label's name.
const maxLabelName = 40

// labelName matches the name of a label, of any length.
var labelName = regexp.MustCompile(`^[\p{Ll}\p{Lo}\d][\p{Ll}\p{Lo}\d_-]*$`)

// IsLabelName reports whether a text can be the name of a label: a word of up to 40 small letters, digits, hyphens and underscores.
func IsLabelName(s string) bool {
	return utf8.RuneCountInString(s) <= maxLabelName && labelName.MatchString(s)
}

// Label is a name for chats that share settings. The owner gives it to a chat, or one of its rules does: Networks, Names or Words.
// The rules of the zero value match no chat.
type Label struct {
	Name     string
	Networks []string // all chats of these networks, with the names that CanonicalNetwork returns
	Names    []string // chats with such a name, in any case; "*" matches any text
	Words    []string // chats in which a contact writes one of these words or phrases, from that message on

	Mode     Mode     // empty sets none
	Delivery Delivery // empty sets none
	// FollowUpDays and AskRating are as in Defaults; nil sets none.
	FollowUpDays *int
	AskRating    *bool
}

// HasRule reports whether a label has a rule that gives it to chats. Otherwise only the owner gives it.
func (l Label) HasRule() bool { return len(l.Networks)+len(l.Names)+len(l.Words) > 0 }

// canContactsChoose reports whether contacts can give the label to their own chats, because they choose their names and their words.
func (l Label) canContactsChoose() bool { return len(l.Names)+len(l.Words) > 0 }

// matches reports whether the label's Networks or Names match a chat. LabelsByWords matches its Words.
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

// matchesStar reports whether a text matches a pattern in which "*" matches any text.
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

// LabelsOf returns the configured labels of a chat, in order of priority.
func (d Defaults) LabelsOf(c ChatFacts) []Label {
	var labels []Label
	for _, l := range d.Labels {
		if slices.Contains(c.Labels, l.Name) || (!slices.Contains(c.RemovedLabels, l.Name) && l.matches(c)) {
			labels = append(labels, l)
		}
	}
	return labels
}

// LabelsByWords returns the names of the labels that a chat gets because of the words in a contact's message. It omits
// labels that the chat has, and labels that the owner removed from it.
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

// ResolveSetting returns the chat's own setting, or else the setting of the first label that has one. of returns the
// setting of a label, and false if it has none. found is false if there is no setting. label is the name of the label, or
// empty for the chat's own setting.
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
