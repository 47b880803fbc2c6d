// Package persona holds the configured agents, and decides which of them answers in a chat or room.
package persona

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"maunium.net/go/mautrix/id"

	"multis/agent/run"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Persona is one configured agent: its instructions, its tools, and where it answers. The zero value is the assistant itself.
type Persona struct {
	ID string
	// Name is shown to contacts and in rooms. Defaults to the assistant's.
	Name string
	// Theme is its style in a few words.
	Theme string
	// Emoji is the reaction with which it acknowledges a question. Empty means none.
	Emoji string
	// Avatar is an mxc address.
	Avatar id.ContentURIString
	// Mentions are names by which it can be called, beside ID and Name.
	Mentions     []string
	Instructions string
	// Allow and Deny are patterns of tools. An empty Allow means all.
	Allow, Deny []string
	// Workspace is the folder with its files, such as AGENTS.md and SOUL.md; its file tools work there. ReadPaths are more
	// folders to read from.
	Workspace string
	ReadPaths []string
	// CommandsWrite is true if commands run in the workspace. They may write its files, so that what stands there may be words of others.
	CommandsWrite bool
	// Model is its own model, with its Limits. Defaults to the Set's.
	Model  llm.Model
	Limits run.Limits
	// Delegates are the agents that it may give work to; "*" means all.
	Delegates []string
	// Capabilities are words for what it can do, which other agents see.
	Capabilities []string
	// Skills are the names of its skills. Empty means all.
	Skills []string
	// Program works in place of a model: the agent only does what others delegate to it, and answers nowhere. Nil for a model.
	Program Program
	// Where it answers, from the most to the least specific.
	Rooms, Senders, Spaces, Logins, Networks []string
	Modes                                    []policy.Mode
	Default                                  bool
}

// Program is an external command-line agent.
type Program interface {
	// Work gives it a task, and returns what it wrote. The error tells a model why the task was not done.
	Work(ctx context.Context, task string) (string, error)
	// Argv returns its command without a task.
	Argv() []string
	// Fingerprint returns a hash of what is run. An approval is valid for that hash only.
	Fingerprint(ctx context.Context) (string, error)
}

// HasName reports whether a name is one of the persona's names, in upper or lower case.
func (p Persona) HasName(name string) bool {
	return slices.ContainsFunc(append([]string{p.ID, p.Name}, p.Mentions...), func(own string) bool {
		return own != "" && strings.EqualFold(own, name)
	})
}

// Profile returns how the persona is shown in a Matrix room; nil for the assistant itself.
func (p Persona) Profile() *outbox.Profile {
	if p.Name == "" {
		return nil
	}
	return &outbox.Profile{ID: p.ID, Name: p.Name, Avatar: p.Avatar}
}

// Set holds all personas. Model is used by each persona without a model of its own.
type Set struct {
	All []Persona
	// Model writes answers from passages. With llm.None, the passages are quoted instead.
	Model  llm.Model
	Limits run.Limits
}

// RouteInput has the facts that decide which persona answers.
type RouteInput struct {
	Mention string // the name that the owner's message begins with; empty for none
	Chat    store.Chat
	Mode    policy.Mode
}

// Route returns the persona that answers, and what decided that: the name that the owner called, then the one he set for
// the chat, then room, sender, space, account, network and mode, then the default, then the first. Without any personas
// it is the zero value.
func (s Set) Route(w RouteInput) (p Persona, by string) {
	room := ""
	if w.Chat.RoomID != nil {
		room = w.Chat.RoomID.String()
	}
	has := func(list []string, s string) bool { return s != "" && slices.Contains(list, s) }
	for _, rule := range []struct {
		by   string
		fits func(p Persona) bool
	}{
		{"its name", func(p Persona) bool { return w.Mention != "" && p.HasName(w.Mention) }},
		{"your choice", func(p Persona) bool { return w.Chat.Agent != "" && p.ID == w.Chat.Agent }},
		{"the room", func(p Persona) bool { return has(p.Rooms, room) }},
		{"the contact", func(p Persona) bool { return has(p.Senders, w.Chat.Contact.String()) }},
		{"the space that the room is in", func(p Persona) bool {
			return slices.ContainsFunc(w.Chat.Spaces, func(s id.RoomID) bool { return has(p.Spaces, s.String()) })
		}},
		{"the account", func(p Persona) bool { return has(p.Logins, w.Chat.Login) }},
		{"the network", func(p Persona) bool {
			return slices.ContainsFunc(p.Networks, func(n string) bool {
				return w.Chat.Protocol != "" && policy.CanonicalNetwork(n) == policy.CanonicalNetwork(w.Chat.Protocol)
			})
		}},
		{"the chat's mode", func(p Persona) bool { return slices.Contains(p.Modes, w.Mode) }},
		{"default", func(p Persona) bool { return p.Default }},
		{"being the first", func(Persona) bool { return true }},
	} {
		if i := slices.IndexFunc(s.All, func(p Persona) bool { return p.Program == nil && rule.fits(p) }); i >= 0 {
			return s.All[i], rule.by
		}
	}
	return Persona{}, ""
}

// ByID returns the persona with an id. One that is no longer configured is replaced by the default.
func (s Set) ByID(id string) Persona {
	if i := slices.IndexFunc(s.All, func(p Persona) bool { return p.Program != nil && p.ID == id }); i >= 0 {
		return s.All[i]
	}
	p, _ := s.Route(RouteInput{Chat: store.Chat{Agent: id}})
	return p
}

// CutMention cuts "@name" off the beginning of what the owner wrote, if it names a persona.
func (s Set) CutMention(text string) (name, rest string) {
	called, found := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !found {
		return "", text
	}
	first, rest := called, ""
	if end := strings.IndexFunc(called, unicode.IsSpace); end >= 0 {
		first, rest = called[:end], called[end:]
	}
	first = strings.TrimRight(first, ":,")
	if !slices.ContainsFunc(s.All, func(p Persona) bool { return p.Program == nil && p.HasName(first) }) {
		return "", text
	}
	return first, strings.TrimSpace(rest)
}

// ForQuestion returns the persona that answers what the owner wrote in a room.
func (s Set) ForQuestion(room store.Chat, question string) Persona {
	called, _ := s.CutMention(question)
	p, _ := s.Route(RouteInput{Mention: called, Chat: room})
	return p
}

// ModelOf returns the model that a persona answers with, and its limits.
func (s Set) ModelOf(p Persona) (llm.Model, run.Limits) {
	if p.Model != nil {
		return p.Model, p.Limits
	}
	return s.Model, s.Limits
}

// HasModel reports whether a persona has a model at all.
func (s Set) HasModel(p Persona) bool {
	m, _ := s.ModelOf(p)
	return m.Name() != llm.None{}.Name()
}

// ChatModel returns a function that returns the model for the notes of a chat: that of the persona that answers there.
// The function is nil if no persona has a model of its own.
func (s Set) ChatModel(defaults policy.Defaults) func(store.Chat) llm.Model {
	if !slices.ContainsFunc(s.All, func(p Persona) bool { return p.Model != nil }) {
		return nil
	}
	return func(chat store.Chat) llm.Model {
		p, _ := s.Route(RouteInput{Chat: chat, Mode: chat.ModeIn(defaults)})
		m, _ := s.ModelOf(p)
		return m
	}
}
