package admin

import (
	"slices"
	"strings"
	"time"

	"multis/knowledge"
	"multis/policy"
)

// Rules are what the admin room shows of the configuration, or goes by.
type Rules struct {
	Version    string
	Name       string // what the assistant is called unless the owner renamed it
	Model      string // the language model's name; "none" without one
	Zone       *time.Location
	Defaults   policy.Defaults
	OwnerPause time.Duration
	// Disclose tells by protocol whether answers are marked with the assistant's name.
	Disclose func(protocol string) bool
	// DayBudget is the most that may be spent a day, in millionths of Currency; zero means no paid call.
	DayBudget int64
	Currency  string
	// Embeddings is the name of the model that finds by meaning; "none" or empty without one.
	Embeddings string
	// Inbox is where other programs call in, as they reach it; empty: nobody can.
	Inbox string
	// HandOverAtCap tells that contacts are handed over once money is used up.
	HandOverAtCap bool
	// Agents are who answers, when it is not multis alone.
	Agents []Agent
	// Shortcuts are what the owner means by words of his own.
	Shortcuts []policy.Shortcut
	// Terminal says that the room is a terminal: documents are named there, not sent.
	Terminal bool
	folder   string // the documents folder
}

// Agent is somebody who answers, as the room shows them.
type Agent struct {
	ID      string
	Name    string
	Emoji   string
	Theme   string
	Default bool
	Model   string   // its own; empty: the one for all
	Can     []string // what it is good for
	// Mentions are further names that it is called by.
	Mentions []string
}

// isCalled tells whether a name is one of the agent's.
func (g Agent) isCalled(name string) bool {
	return slices.ContainsFunc(append([]string{g.ID, g.Name}, g.Mentions...), func(own string) bool { return own != "" && strings.EqualFold(own, name) })
}

// modelNone is what the configuration says for no language model at all.
const modelNone = "none"

// noDocumentsText answers everything that needs some, without any.
func (r Rules) noDocumentsText() string {
	return "I know no documents yet. " + r.addDocumentHint() + ". " + knowledge.ErrUnknownType.Error() + ". `/help index` says more."
}

// addDocumentHint says how a document comes here.
func (r Rules) addDocumentHint() string {
	if r.Terminal {
		return "Name one that is in " + code(r.folder) + ", as in `/index prices.pdf`"
	}
	return "Send me one here"
}

// indexHint says how /index is told what to read.
func (r Rules) indexHint() string {
	if r.Terminal {
		return "Name"
	}
	return "Send a file here (with `/index` as its caption, before or after it, or as a reply to it), or name"
}
