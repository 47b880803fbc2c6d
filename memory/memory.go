// Package memory keeps what multis knows of its chats beside their messages: notes that a model takes, commitments, a search over notes and
// messages, summaries of what happened, and the deletion of all of it.
package memory

import (
	"context"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Options are what a Memory works with.
type Options struct {
	Store  *store.Store
	Search *search.Searcher
	// Model takes the notes. With llm.None no notes are taken.
	Model llm.Model
	// ModelOf returns the model for a chat, where agents have models of their own. Nil: Model is used for all.
	ModelOf  func(store.Chat) llm.Model
	Defaults policy.Defaults
	Zone     *time.Location
	Settings Settings
	// Name is the assistant's, unless the owner renamed it.
	Name string
	// NotesOnly keeps Recall from searching messages: memory.search_messages is off.
	NotesOnly bool
	// Now defaults to time.Now.
	Now func() time.Time
}

// Settings are the settings of memory. Their zero values are the documented defaults.
type Settings struct {
	// Threshold is how many new messages start a capture. Defaults to 20.
	Threshold int
	// Quiet is how long a chat must be silent before fewer than Threshold new messages start a capture, at least Minimum. They default to 6
	// hours and 6 messages.
	Quiet   time.Duration
	Minimum int
	// Sections is how many of the newest captures have their notes in every prompt. Defaults to 12.
	Sections int
	// Days is how long messages and notes of chats are kept, OwnerDays those of the owner's rooms. They default to 90 and 365.
	Days      int
	OwnerDays int
	// LogDays is how far the daily log of an export goes back. Defaults to 30.
	LogDays int
	// SkipInjections keeps messages of others that were blocked as attempts to give the assistant orders
	// (store.WithoutBlocked) out of captures, and out of what a contact's model recalls.
	SkipInjections bool
	// Skill returns the instructions for taking notes. It is called for each capture. Defaults to DefaultSkill, which is
	// also used if Skill returns an empty text.
	Skill func() string
}

// keepAfterCapture is how many messages stay in the conversation's window after a capture.
const keepAfterCapture = 5

// Memory takes notes and recalls them. It keeps no state in the process.
type Memory struct {
	Options
}

// New returns a Memory.
func New(o Options) *Memory {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	r := &o.Settings
	r.Threshold = positiveOr(r.Threshold, 20)
	r.Minimum = positiveOr(r.Minimum, 6)
	r.Sections = positiveOr(r.Sections, 12)
	r.Days = positiveOr(r.Days, 90)
	r.OwnerDays = positiveOr(r.OwnerDays, 365)
	r.LogDays = positiveOr(r.LogDays, 30)
	if r.Quiet <= 0 {
		r.Quiet = 6 * time.Hour
	}
	if r.Skill == nil {
		r.Skill = DefaultSkill
	}
	return &Memory{Options: o}
}

// modelOf returns the model for a chat.
func (m *Memory) modelOf(chat store.Chat) llm.Model {
	if m.ModelOf != nil {
		return m.ModelOf(chat)
	}
	return m.Model
}

func positiveOr(n, fallback int) int {
	if n > 0 {
		return n
	}
	return fallback
}

// IndexMessages adds all messages that are not yet searchable to the message index.
func (m *Memory) IndexMessages(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = search.IndexMessages(ctx, m.Store, m.Zone); err != nil {
			return err
		}
	}
	return nil
}

// NotesRole returns the role that the notes of a chat have: the owner's for rooms in which he talks to multis, else the chat's own.
func NotesRole(chat store.Chat) policy.Role {
	if chat.Kind == policy.KindAdmin {
		return policy.RoleAdmin
	}
	return policy.UserRole(chat.ID)
}

// scopeOf returns the scope of the notes of a chat, and of nothing else.
func scopeOf(chat store.Chat) policy.Scope {
	if chat.Kind == policy.KindAdmin {
		return policy.OwnerScope()
	}
	return policy.ContactScope(chat.ID)
}

// labelOf returns the name of a chat for people.
func labelOf(chat store.Chat) string {
	if chat.Kind == policy.KindAdmin {
		return "You"
	}
	name := strings.TrimSpace(chat.Name)
	if name == "" {
		name = "Somebody"
	}
	return name + " · " + bridgebridge.NetworkName(chat.Protocol)
}
