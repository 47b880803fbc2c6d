package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// FormatEntry describes an entry in one line of plain text, with its time in zone. chat is the name of its chat; empty for none.
func FormatEntry(l store.AuditLink, chat string, zone *time.Location) string {
	parts := []string{strconv.FormatInt(l.Seq, 10), l.At.In(zone).Format("Mon 2 Jan 15:04:05"), l.Kind}
	who := l.Actor
	if l.Agent != "" {
		who += " " + l.Agent
	}
	parts = append(parts, who)
	if chat != "" {
		parts = append(parts, chat)
	} else if l.ChatID != 0 {
		parts = append(parts, fmt.Sprintf("chat %d", l.ChatID))
	}
	if l.TaskID != 0 {
		parts = append(parts, fmt.Sprintf("task %d", l.TaskID))
	}
	end := l.Outcome
	if l.Action != "" {
		end = l.Action + ": " + l.Outcome
	}
	if l.Rule != "" {
		end += " (" + l.Rule + ")"
	}
	return strings.Join(append(parts, end), " · ")
}

// exported is the form of an entry in an export: a JSON object on a line. Hashes are in hexadecimal.
type exported struct {
	Seq     int64           `json:"seq"`
	ID      int64           `json:"id"`
	At      time.Time       `json:"at"`
	Kind    string          `json:"kind"`
	Actor   string          `json:"actor"`
	Person  string          `json:"person,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Chat    store.ChatID    `json:"chat,omitempty"`
	Message store.MessageID `json:"message,omitempty"`
	Task    store.TaskID    `json:"task,omitempty"`
	Ref     string          `json:"ref,omitempty"`
	Action  string          `json:"action,omitempty"`
	Outcome string          `json:"outcome"`
	Rule    string          `json:"rule,omitempty"`
	Content string          `json:"content,omitempty"`
	Hash    string          `json:"hash"`
}

// WriteJSON writes an entry as a JSON object on a line.
func WriteJSON(w io.Writer, l store.AuditLink) error {
	err := json.NewEncoder(w).Encode(exported{
		Seq:     l.Seq,
		ID:      l.ID,
		At:      l.At.UTC(),
		Kind:    l.Kind,
		Actor:   l.Actor,
		Person:  hex.EncodeToString(l.Person),
		Agent:   l.Agent,
		Chat:    l.ChatID,
		Message: l.MessageID,
		Task:    l.TaskID,
		Ref:     l.Ref,
		Action:  l.Action,
		Outcome: l.Outcome,
		Rule:    l.Rule,
		Content: hex.EncodeToString(l.Content),
		Hash:    hex.EncodeToString(l.Hash),
	})
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

// VerifiedText describes the result of a check that found nothing. saved is the link that the log was compared with; zero for none.
func VerifiedText(r Report, saved store.AuditPoint, zone *time.Location) string {
	s := fmt.Sprintf("The audit log is as it was written: %d %s", r.Entries, text.Plural(r.Entries, "entry", "entries"))
	if !r.First.IsZero() {
		s += " since " + r.First.In(zone).Format("Mon 2 Jan 2006 15:04")
	}
	if r.Pruned > 0 {
		s += fmt.Sprintf(", after %d that were pruned", r.Pruned)
	}
	if r.Head.Seq == 0 {
		return s + "." // an empty log has no link
	}
	s += fmt.Sprintf(". Its last link is %d %x", r.Head.Seq, ShortHash(r.Head))
	if saved.Seq > 0 {
		return s + fmt.Sprintf(", and link %d is the one that you named.", saved.Seq)
	}
	return s + ". Whether all of it was written again, only a link from the admin room shows: put its number and its letters behind verify."
}

// ParsePoint reads a link of the log as multis shows it: its number and the beginning of its hash.
func ParsePoint(number, hash string) (store.AuditPoint, error) {
	seq, err := strconv.ParseInt(number, 10, 64)
	digits, badHash := hex.DecodeString(hash)
	if err != nil || seq < 1 || badHash != nil || len(digits) < shortHash || len(digits) > sha256.Size {
		return store.AuditPoint{},
			fmt.Errorf("%q is no link of the audit log; write its number and its %d letters and digits, like 812 53a6cc19b5ea8138", number+" "+hash,
				2*shortHash)
	}
	return store.AuditPoint{Seq: seq, Hash: digits}, nil
}

// shortHash is how many bytes of a hash people compare.
const shortHash = 8

// ShortHash returns the first 8 bytes of a link's hash, for people to compare.
func ShortHash(p store.AuditPoint) []byte { return p.Hash[:min(len(p.Hash), shortHash)] }
