package admin

import (
	"time"

	"multis/agent/persona"
	"multis/knowledge"
	"multis/policy"
	"multis/safety/audit"
)

// Settings is the part of the configuration that the admin room needs.
type Settings struct {
	Version    string
	Name       string // the assistant's name, unless the owner renamed it
	Model      string // the language model's name; "none" without one
	Zone       *time.Location
	Defaults   policy.Defaults
	LabelHours map[string]bool // the labels with opening hours of their own
	OwnerPause time.Duration
	Audit      audit.Log
	// Disclose reports whether answers on a network, given by its protocol, are marked with the assistant's name.
	Disclose func(protocol string) bool
	// DayBudget is the cap on spending a day, in millionths of Currency. Zero forbids paid calls.
	DayBudget int64
	Currency  string
	// ViewsPictures says that a model looks at pictures.
	ViewsPictures bool
	// Embeddings is the name of the embedding model; "none" or empty without one.
	Embeddings string
	// WebhookAddress is the address that other programs post webhooks to; empty when webhooks are off.
	WebhookAddress string
	// WebAddress is how browsers reach the web page, without a slash at its end; empty when it is off.
	WebAddress string
	// EscalateAtCap says that questions of contacts are escalated to the owner when the budget is used up.
	EscalateAtCap bool
	// Agents are the agents of the configuration; empty when multis answers alone.
	Agents []persona.Persona
	// AskedHooks are the command hooks that are asked before something is done.
	AskedHooks []AskedHook
	// Monitors are those of the configuration.
	Monitors []Monitor
	// Shortcuts are the owner's own words for commands.
	Shortcuts []policy.Shortcut
	// Terminal says that the room is a terminal, where documents cannot be sent, only named.
	Terminal bool
	folder   string // the documents folder
}

// AskedHook is a command hook that is asked before calls of tools, or before messages to contacts.
type AskedHook struct {
	Name   string
	Before []string // "tool", "send"
	Tools  []string // patterns of the tools; empty for all
}

// modelNone is the value of Settings.Model and Settings.Embeddings that means no model.
const modelNone = "none"

// noDocumentsText answers commands that need documents when there are none.
func (r Settings) noDocumentsText() string {
	return "I know no documents yet. " + r.addDocumentHint() + ". " + knowledge.ErrUnknownType.Error() + ". `/help index` says more."
}

// addDocumentHint says how to add a document, as the beginning of a sentence.
func (r Settings) addDocumentHint() string {
	if r.Terminal {
		return "Name one that is in " + code(r.folder) + ", as in `/index prices.pdf`"
	}
	return "Send me one here"
}

// indexHint is the beginning of the help of /index: how to name a document.
func (r Settings) indexHint() string {
	if r.Terminal {
		return "Name"
	}
	return "Send a file here (with `/index` as its caption, before or after it, or as a reply to it), or name"
}
