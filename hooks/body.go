package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// errGone says that what an event is about does not exist any more, or must not be told any more.
var errGone = errors.New("what it was about is gone")

// body is what a hook is told.
type body struct {
	Event    store.HookEvent `json:"event"`
	At       time.Time       `json:"at"`
	Ref      string          `json:"ref,omitempty"`
	Chat     *chat           `json:"chat,omitempty"`
	Message  *message        `json:"message,omitempty"`
	Document *document       `json:"document,omitempty"`
	Why      string          `json:"why,omitempty"`
}

type chat struct {
	ID      int64      `json:"id"`
	Name    string     `json:"name"`
	Network string     `json:"network"`
	Room    *id.RoomID `json:"room,omitempty"`
}

type message struct {
	Event  id.EventID `json:"event_id"`
	Sender id.UserID  `json:"sender"`
	At     time.Time  `json:"at"`
	Text   string     `json:"text"` // empty when it was deleted
}

type document struct {
	Name   string      `json:"name"`
	Origin string      `json:"origin"`
	Role   policy.Role `json:"role"`
	Chunks int         `json:"chunks"`
}

// body reads what there is to tell of an event now. It returns errGone when there is nothing.
func (h *Hooks) body(ctx context.Context, d store.Delivery) ([]byte, error) {
	b := body{Event: d.Event, At: d.At.UTC(), Ref: d.Ref}
	var err error
	switch d.Event {
	case store.HookMessage, store.HookEscalation:
		err = h.addMessage(ctx, &b, d.Ref)
	case store.HookHandoff:
		err = h.addChat(ctx, &b, number(d.Ref))
	case store.HookIndex:
		err = h.addDocument(ctx, &b, d.Ref)
	default: // there is nothing to say but that it happened
	}
	if errors.Is(err, store.ErrNotFound) {
		err = errGone
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write event for a hook: %w", err)
	}
	return text, nil
}

// number reads a reference; what is none names no row.
func number(ref string) int64 {
	n, err := strconv.ParseInt(ref, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (h *Hooks) addMessage(ctx context.Context, b *body, ref string) error {
	m, err := store.MessageByID(ctx, h.Store.DB(), number(ref))
	if err != nil {
		return err
	}
	b.Message = &message{Event: m.EventID, Sender: m.Sender, At: m.At.UTC(), Text: m.Body}
	b.Why = m.Reason
	return h.addChat(ctx, b, m.ChatID)
}

// addChat adds a chat. One that was turned off meanwhile is not told of.
func (h *Hooks) addChat(ctx context.Context, b *body, chatID int64) error {
	c, err := store.ChatByID(ctx, h.Store.DB(), chatID)
	if err != nil {
		return err
	}
	if c.ModeIn(h.Defaults) == policy.ModeOff {
		return errGone
	}
	b.Chat = &chat{ID: c.ID, Name: c.Name, Network: c.Protocol, Room: c.RoomID}
	return nil
}

func (h *Hooks) addDocument(ctx context.Context, b *body, origin string) error {
	d, err := store.DocumentByOrigin(ctx, h.Store.DB(), origin)
	if err != nil {
		return err
	}
	b.Document = &document{Name: d.Name, Origin: d.Origin, Role: d.Role, Chunks: d.Chunks}
	return nil
}
