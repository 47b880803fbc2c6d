// Package audit is the audit log: what was done and decided, in a chain of hashes that shows whether anybody changed it afterwards.
//
// An entry is written in the transaction of its effect and linked to the chain by the commit. Triggers write most entries
// when a row changes (migrations/functions/audit.sql), so no code can forget it. Append writes the entries of actions
// that change no row. An entry holds ids and keyed hashes, never texts, so that forgetting a person leaves the log as it
// is.
package audit

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// Kind says what an entry is about, such as a tool call.
type Kind string

// The kinds of entries. Stored entries carry them: a kind is never renamed.
const (
	Command    Kind = "command"    // a command of the admin room or of multis chat
	Mode       Kind = "mode"       // a chat got another mode or delivery
	Chat       Kind = "chat"       // the bridge of a chat claims another channel or room for it, or another bridge has it
	Approval   Kind = "approval"   // an approval was requested, given or denied, or has expired
	PIN        Kind = "pin"        // the PIN was set, entered, entered wrongly or locked
	Send       Kind = "send"       // an outbox message was made, or changed its state
	Tool       Kind = "tool"       // an agent called a tool, or was refused it
	Config     Kind = "config"     // a setting changed
	Login      Kind = "login"      // a device or a session began or ended
	Deletion   Kind = "deletion"   // something was forgotten or erased
	Escalation Kind = "escalation" // a conversation was passed to a person, claimed or resolved
	Injection  Kind = "injection"  // a text looked like an attempt to give orders
)

// Actor is who did it.
type Actor string

// The actors. Stored entries carry them: an actor is never renamed.
const (
	Owner    Actor = "owner"
	Operator Actor = "operator"
	Contact  Actor = "contact"
	Agent    Actor = "agent"    // a model, in a turn or a task
	Schedule Actor = "schedule" // the clock
	Webhook  Actor = "webhook"  // another program, over HTTP or MCP
	Host     Actor = "host"     // somebody with a shell on the server
	System   Actor = "system"   // multis itself
)

// Entry is what is written to the log. Kind, Actor and Outcome are required.
type Entry struct {
	Kind    Kind
	Actor   Actor
	Person  string // a Matrix id, stored as a keyed hash; empty for none
	AgentID string // the agent that acted; empty for none
	Chat    store.ChatID
	Message store.MessageID
	Task    store.TaskID
	Ref     string // the id of another row, such as an outbox message
	Action  string // the name of a command, tool or setting, the purpose of a message, or "mode" or "delivery" (then Outcome is the new value)
	Outcome string // such as "sent", "denied"
	Rule    string // the rule that decided; empty if none did
	Content []byte // such as the text that is sent or the arguments of a call, stored as a keyed hash; nil for none
}

// Log writes and checks the audit log. The zero value uses a key that everybody knows.
type Log struct{ key []byte }

// New returns a log whose key is derived from a secret that is not in the database.
func New(secret string) (Log, error) {
	if secret == "" {
		return Log{}, errors.New("the audit log needs a secret")
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "multis: audit log", sha256.Size)
	if err != nil {
		return Log{}, fmt.Errorf("derive the key of the audit log: %w", err)
	}
	return Log{key}, nil
}

// maxName is the maximum length of a name in an entry, in bytes.
const maxName = 100

// Append adds an entry in the transaction of its effect. If the transaction fails, there is no entry.
func (l Log) Append(ctx context.Context, tx store.Tx, e Entry) error {
	if e.Kind == "" || e.Actor == "" || e.Outcome == "" {
		return errors.New("an audit entry needs a kind, an actor and an outcome")
	}
	row := store.AuditEntry{
		Kind:      string(e.Kind),
		Actor:     string(e.Actor),
		Agent:     cleanName(e.AgentID),
		ChatID:    e.Chat,
		MessageID: e.Message,
		TaskID:    e.Task,
		Ref:       cleanName(e.Ref),
		Action:    cleanName(e.Action),
		Outcome:   cleanName(e.Outcome),
		Rule:      cleanName(e.Rule),
	}
	if e.Person != "" {
		row.Person = l.Hash([]byte(e.Person))
	}
	if e.Content != nil {
		row.Content = l.Hash(e.Content)
	}
	return store.AddAudit(ctx, tx, row)
}

// SetActor sets the actor of the entries that triggers write in the rest of a transaction. The default is System.
func SetActor(ctx context.Context, tx store.Tx, actor Actor) error {
	return store.SetActor(ctx, tx, string(actor))
}

// Hash returns the keyed hash that entries hold in place of a Matrix id or a text.
func (l Log) Hash(content []byte) []byte { return l.sign("content", content) }

// sign returns an HMAC-SHA-256. purpose separates the uses of the one key.
func (l Log) sign(purpose string, content []byte) []byte {
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte(purpose + "\x00"))
	mac.Write(content)
	return mac.Sum(nil)
}

// cleanName returns a name as it is stored: "?" if it has a character that does not belong in a name, and otherwise at
// most maxName bytes of it. Other programs choose the names of their tools, and no text may get into the log, because it
// stays when a person is forgotten.
func cleanName(s string) string {
	belongs := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:#", r)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !belongs(r) }) {
		return "?"
	}
	return text.ClipBytes(s, maxName)
}

// Prune deletes the oldest entries, up to the first one that is not older than before, and leaves a signed checkpoint. It
// returns how many it deleted.
func (l Log) Prune(ctx context.Context, tx store.Tx, before time.Time) (int, error) {
	return store.PruneAudit(ctx, tx, before, l.signPoint)
}

// signPoint signs a position in the chain.
func (l Log) signPoint(p store.AuditPoint) []byte {
	return l.sign("checkpoint", append(binary.BigEndian.AppendUint64(nil, uint64(p.Seq)), p.Hash...)) //nolint:gosec // a position is not negative
}
