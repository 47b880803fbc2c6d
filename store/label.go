package store

import (
	"context"
	"fmt"
	"slices"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store/row"
)

// Label names the chat for people, with its network: "Ana · WhatsApp", "Family · WhatsApp group", or "Ana · WhatsApp #12"
// if several chats have that name.
func (c Chat) Label() string {
	label := bridgebridge.DisplayName(c.Name) + " · " + bridgebridge.NetworkName(c.Protocol)
	if c.Kind == policy.KindGroup {
		label += " group"
	}
	return label + c.numberSuffix()
}

// TypedName is the name by which a command names the chat: "Ana", or "Ana #12" if several chats have that name.
func (c Chat) TypedName() string { return bridgebridge.DisplayName(c.Name) + c.numberSuffix() }

// numberSuffix returns the chat's number if several chats have its name, else nothing.
func (c Chat) numberSuffix() string {
	if !c.HasNamesake {
		return ""
	}
	return fmt.Sprintf(" #%d", c.ID)
}

// facts returns what the settings of the chat depend on.
func (c Chat) facts() policy.ChatFacts {
	return policy.ChatFacts{
		Mode:          c.Mode,
		Delivery:      c.Delivery,
		FollowUpDays:  c.FollowUpDays,
		Kind:          c.Kind,
		Protocol:      c.Protocol,
		Name:          bridgebridge.DisplayName(c.Name),
		Labels:        c.Labels,
		RemovedLabels: c.Unlabelled,
	}
}

// LabelsIn returns the configured labels of the chat, in the order in which they count.
func (c Chat) LabelsIn(d policy.Defaults) []policy.Label { return d.LabelsOf(c.facts()) }

// FollowUpAfter returns after how many days of the contact's silence a follow-up is drafted; zero for never.
func (c Chat) FollowUpAfter(d policy.Defaults) (days int) { return d.FollowUpAfter(c.facts()) }

// AsksRating reports whether the contact is asked whether a conversation helped.
func (c Chat) AsksRating(d policy.Defaults) bool { return d.AsksRating(c.facts()) }

// LabelNames returns the names of all labels that the chat has: those in the configuration, then those that only the owner gave.
func (c Chat) LabelNames(d policy.Defaults) []string {
	var names []string
	for _, l := range c.LabelsIn(d) {
		names = append(names, l.Name)
	}
	for _, name := range c.Labels {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// LabelsByWords returns the labels that the chat gets because of a contact's message.
func (c Chat) LabelsByWords(d policy.Defaults, message string) []string {
	return d.LabelsByWords(c.facts(), message)
}

// ModeOrigin says what set the mode in force, as a sentence.
func (c Chat) ModeOrigin(d policy.Defaults) string {
	_, why := d.Mode(c.facts())
	return why
}

const addLabelsSQL = `update chats set labels = array(select distinct unnest(labels || $2::text[]) order by 1),
	unlabelled = array(select unnest(unlabelled) except select unnest($2::text[]) order by 1) where id = $1`

// AddLabels gives labels to a chat. The chat may have policy.MaxLabels altogether.
func AddLabels(ctx context.Context, tx Tx, chat ChatID, labels ...string) error {
	return row.Exec(ctx, tx, "add labels", addLabelsSQL, chat, labels)
}

const removeLabelSQL = `update chats set labels = array_remove(labels, $2),
	unlabelled = case when $3 then array(select distinct unnest(unlabelled || $2::text) order by 1) else array_remove(unlabelled, $2) end where id = $1`

// RemoveLabel takes a label from a chat. With forGood no rule gives it again.
func RemoveLabel(ctx context.Context, tx Tx, chat ChatID, label string, forGood bool) error {
	return row.Exec(ctx, tx, "remove label", removeLabelSQL, chat, label, forGood)
}
