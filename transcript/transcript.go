// Package transcript reads what other programs kept: WhatsApp's exported chats, and the data folder of the first multis with its
// documents.db. That folder is also the form of our own export. It only reads.
package transcript

import (
	"fmt"
	"time"
)

// Line is one message.
type Line struct {
	At   time.Time
	Who  string // the sender as the file names it
	Text string
}

// Section is notes that were taken at one time.
type Section struct {
	At    time.Time
	Notes []string
}

// Chat is one conversation.
type Chat struct {
	ID       string // its name in the folder
	Name     string
	Platform string
	// Mode is what the assistant did there: business, personal, silent or off; empty where that is not known.
	Mode string
	// Owner says that it is a conversation of the owner's with the assistant.
	Owner bool
	Lines []Line
	Notes []Section
}

// The senders in the first multis' files.
const (
	User      = "user"
	Assistant = "assistant"
	Owner     = "owner"
)

// LineError says where a file cannot be read.
type LineError struct {
	File string
	Line int
	Why  string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Why) }
