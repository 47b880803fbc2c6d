package policy

import (
	"cmp"
	"fmt"
	"slices"
)

// Defaults are the settings of chats for which the owner set none. What the owner set for a chat has priority over its labels,
// and labels have priority over the network and the profile.
type Defaults struct {
	Profile  Profile
	Networks map[string]Mode // by the name that CanonicalNetwork returns; Profile decides for other networks
	Labels   []Label         // in order of priority
	// FirstDelivery is the delivery of chats in which a default, and not the owner, set a mode that answers. Empty means DeliveryDraft.
	FirstDelivery Delivery
	// FollowUpDays is after how many days of a contact's silence a follow-up is drafted. Zero means never.
	FollowUpDays int
	// AskRating means that contacts are asked, once in a conversation, whether it helped.
	AskRating bool
}

// ChatFacts are the properties of a chat on which its settings depend.
type ChatFacts struct {
	Mode     *Mode     // as the owner set it, or nil
	Delivery *Delivery // as the owner set it, or nil
	// FollowUpDays is the number of days that the owner set for the chat, or nil.
	FollowUpDays  *int
	Kind          Kind
	Protocol      string
	Name          string
	Labels        []string // given by the owner, or because of a contact's words
	RemovedLabels []string // that the owner removed, so that no rule gives them again
}

// Delivery returns the delivery of a chat. If neither the owner nor a label set one, it is FirstDelivery in a mode that
// answers, unless the owner himself set the mode; otherwise it is DeliveryAuto.
func (d Defaults) Delivery(c ChatFacts) Delivery {
	ofLabel := func(l Label) (Delivery, bool) { return l.Delivery, l.Delivery != "" }
	if set, _, found := ResolveSetting(c.Delivery, d.LabelsOf(c), ofLabel); found {
		return set
	}
	if mode, _ := d.Mode(c); c.Mode != nil || !mode.Answers() {
		return DeliveryAuto
	}
	return cmp.Or(d.FirstDelivery, DeliveryDraft)
}

// Mode returns the mode of a chat and a sentence that says where it comes from. A label never makes a group answer: only
// the owner can. A label that contacts can give themselves does not switch on a chat that would be off without the label.
func (d Defaults) Mode(c ChatFacts) (mode Mode, why string) { return d.modeWith(c, d.LabelsOf(c)) }

// modeWith returns the mode of a chat as if labels were its labels.
func (d Defaults) modeWith(c ChatFacts, labels []Label) (mode Mode, why string) {
	mode, label, found := ResolveSetting(c.Mode, labels, func(l Label) (Mode, bool) { return l.Mode, l.Mode != "" })
	if label != "" {
		i := slices.IndexFunc(labels, func(l Label) bool { return l.Name == label })
		if labels[i].canContactsChoose() {
			if without, why := d.modeWith(c, labels[i+1:]); without == ModeOff {
				return without, why
			}
		}
	}
	switch {
	case !found:
		return DefaultMode(d.Profile, c.Kind, d.Networks[CanonicalNetwork(c.Protocol)])
	case label == "":
		return mode, "You set it."
	case c.Kind == KindGroup && mode.Answers():
		return ModeSilent, fmt.Sprintf("Its label %s is %s, but groups start silent.", label, mode)
	default:
		return mode, fmt.Sprintf("Its label %s is %s.", label, mode)
	}
}

// MaxFollowUpDays is the longest silence after which a follow-up can be drafted, in days.
const MaxFollowUpDays = 30

// FollowUpAfter returns after how many days of a contact's silence a follow-up is drafted in a chat; zero for never.
func (d Defaults) FollowUpAfter(c ChatFacts) (days int) {
	days, _, found := ResolveSetting(c.FollowUpDays, d.LabelsOf(c), func(l Label) (int, bool) { return deref(l.FollowUpDays) })
	if !found {
		return d.FollowUpDays
	}
	return days
}

// AsksRating reports whether the contact of a chat is asked whether a conversation helped.
func (d Defaults) AsksRating(c ChatFacts) bool {
	ask, _, found := ResolveSetting(nil, d.LabelsOf(c), func(l Label) (bool, bool) { return deref(l.AskRating) })
	if !found {
		return d.AskRating
	}
	return ask
}

// HasFollowUps reports whether a default or a label makes follow-ups be drafted. Settings of single chats do not count.
func (d Defaults) HasFollowUps() bool {
	return d.FollowUpDays > 0 || slices.ContainsFunc(d.Labels, func(l Label) bool { return l.FollowUpDays != nil && *l.FollowUpDays > 0 })
}

// HasRatings reports whether a default or a label makes contacts be asked whether a conversation helped.
func (d Defaults) HasRatings() bool {
	return d.AskRating || slices.ContainsFunc(d.Labels, func(l Label) bool { return l.AskRating != nil && *l.AskRating })
}

// deref returns what p points to; found is false for nil.
func deref[T any](p *T) (value T, found bool) {
	if p == nil {
		return value, false
	}
	return *p, true
}
