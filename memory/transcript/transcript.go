// Package transcript parses conversations that other programs stored: chats exported by WhatsApp, and the data folder of the first multis
// with its documents.db. multis' own export has the format of that folder.
package transcript

import (
	"fmt"
	"time"
)

// Line is one message.
type Line struct {
	At     time.Time
	Sender string // the name of the sender in the file, such as User
	Text   string
}

// Section is a group of notes that were taken at the same time.
type Section struct {
	At    time.Time
	Notes []string
}

// Chat is one conversation.
type Chat struct {
	ID       string // the name of its folder
	Name     string
	Platform string
	// Mode is the chat's mode as the file names it, unchecked. It is empty if the file names none.
	Mode string
	// Owner is true for the owner's own conversation with the assistant.
	Owner bool
	Lines []Line
	Notes []Section
}

// The senders in the files of the first multis.
const (
	User      = "user"
	Assistant = "assistant"
	Owner     = "owner"
)

// LineError is returned for a file that cannot be parsed, with the line, from 1.
type LineError struct {
	File   string
	Line   int
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Reason) }
