// Package memory is what multis knows of its chats beside their messages: notes that a model takes from them, a search over
// everything that was said, what was promised, and how all of it is forgotten again.
package memory

import (
	"context"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// Options are what a memory works with.
type Options struct {
	Store  *store.Store
	Search *search.Searcher
	// Model takes the notes. With llm.None none are taken, and the messages themselves are all there is.
	Model llm.Model
	// ModelOf is the model that reads a chat, where agents have models of their own; nil: Model reads all.
	ModelOf  func(store.Chat) llm.Model
	Defaults policy.Defaults
	Zone     *time.Location
	Rules    Rules
	// NotesOnly leaves out what was said: memory.search_messages is off.
	NotesOnly bool
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

// Rules are what the configuration says about remembering. Their zero values are the documented defaults.
type Rules struct {
	// Threshold is how many new messages make a capture. Defaults to 20.
	Threshold int
	// Quiet is the silence after which Minimum messages make one. They default to 6 hours and 6.
	Quiet   time.Duration
	Minimum int
	// Sections is how many captures' notes are in every prompt. Defaults to 12.
	Sections int
	// Days is how long messages and notes of chats are kept, OwnerDays those of the owner's rooms. They default to 90 and 365.
	Days      int
	OwnerDays int
	// LogDays is how far the daily log of an export goes back. Defaults to 30.
	LogDays int
	// Skill says what to take note of, each time anew. Defaults to DefaultSkill, as does an empty one.
	Skill func() string
}

// keepAfterCapture is how many messages of a window stay when the notes hold the others.
const keepAfterCapture = 5

// Memory remembers. It keeps nothing in the process.
type Memory struct {
	Options
}

// New makes a memory.
func New(o Options) *Memory {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	r := &o.Rules
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

// modelOf is the model that reads a chat.
func (m *Memory) modelOf(chat store.Chat) llm.Model {
	if m.ModelOf != nil {
		return m.ModelOf(chat)
	}
	return m.Model
}

func positiveOr(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// IndexMessages makes searchable what was said since the last time.
func (m *Memory) IndexMessages(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = search.IndexMessages(ctx, m.Store, m.Zone); err != nil {
			return err
		}
	}
	return nil
}

// NotesRole is whose memory what is said in a chat belongs to: the owner's for the rooms he talks to multis in, else the chat's own.
func NotesRole(chat store.Chat) policy.Role {
	if chat.Kind == policy.KindAdmin {
		return policy.Admin
	}
	return policy.UserRole(chat.ID)
}

// scopeOf is what may be read and written on behalf of a chat, and nothing else.
func scopeOf(chat store.Chat) policy.Scope {
	if chat.Kind == policy.KindAdmin {
		return policy.OwnerScope()
	}
	return policy.ContactScope(chat.ID)
}

// labelOf names a chat to people.
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
