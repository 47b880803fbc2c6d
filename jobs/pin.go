package jobs

import (
	"context"

	"github.com/riverqueue/river"
	"maunium.net/go/mautrix/id"
)

// PINArgs asks to do what follows a possible PIN in the admin room: what waited for the PIN, or a notice of the result.
// It does not hold the digits.
type PINArgs struct {
	Result    string `json:"result"`               // see pin.EntryResult
	DialogID  int64  `json:"dialog,omitempty"`     // the question that was answered; zero for none
	TriesLeft int    `json:"tries_left,omitempty"` // the tries that are left
}

// Kind names the job.
func (PINArgs) Kind() string { return "pin" }

// InsertOpts sets the queue and the attempts.
func (PINArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// PINContinuer does what waited for a PIN, or notifies the owner of the result. last says that no other attempt follows.
type PINContinuer interface {
	ContinueAfterPIN(ctx context.Context, a PINArgs, last bool) error
}

// RedactArgs asks to delete a message of the owner from the admin room, because it holds a PIN.
type RedactArgs struct {
	RoomID  id.RoomID  `json:"room"`
	EventID id.EventID `json:"event"`
}

// Kind names the job.
func (RedactArgs) Kind() string { return "redact" }

// InsertOpts sets the queue and the attempts.
func (RedactArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 12}
}

// Redactor deletes a message with a PIN from the admin room. last says that no other attempt follows.
type Redactor interface {
	RedactPIN(ctx context.Context, room id.RoomID, event id.EventID, last bool) error
}
