package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// LiveSender is a Sender that can send events of a LiveMessage.
type LiveSender interface {
	Sender
	// Show sends an event once, without a retry.
	Show(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error)
}

const (
	liveInterval = time.Second     // the minimum time between two edits
	liveTimeout  = 3 * time.Second // of one edit
)

// LiveMessage is a message in the admin room that shows the progress of an answer by being edited. It bypasses the outbox: losing it does
// no harm, because the answer itself is a Message that replaces it. A nil LiveMessage does nothing.
type LiveMessage struct {
	box       *Box
	sender    LiveSender
	room      store.Chat
	event     id.EventID
	last      time.Time
	shownText string
}

// Live returns a LiveMessage for an admin room. It edits event, unless that is empty. Live returns nil for other chats,
// and for a sender that is no LiveSender.
func (b *Box) Live(room store.Chat, event id.EventID) *LiveMessage {
	sender, isLive := b.sender.(LiveSender)
	if !isLive || room.Kind != policy.KindAdmin {
		return nil
	}
	return &LiveMessage{box: b, sender: sender, room: room, event: event}
}

// Event returns the event of the message; empty before the first Show.
func (l *LiveMessage) Event() id.EventID {
	if l == nil {
		return ""
	}
	return l.event
}

// IsDue reports whether Show would edit the message now. It is false for a nil LiveMessage.
func (l *LiveMessage) IsDue() bool { return l != nil && l.box.now().Sub(l.last) >= liveInterval }

// Show replaces the text, at most once a second: calls in between do nothing. It reports whether this call sent the message's first event.
func (l *LiveMessage) Show(ctx context.Context, markdown string) bool {
	if !l.IsDue() || markdown == l.shownText {
		return false
	}
	l.last, l.shownText = l.box.now(), markdown
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	event, err := l.send(ctx, markdown)
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot show progress")
		return false
	}
	first := l.event == ""
	if first {
		l.event = event
	}
	return first
}

// send sends the text if the gate allows it.
func (l *LiveMessage) send(ctx context.Context, markdown string) (id.EventID, error) {
	notice := NewNotice(l.room, markdown, Answer).cleaned()
	notice.Replaces = l.event
	room, err := store.ChatByID(ctx, l.box.store.DB(), l.room.ID)
	if err != nil {
		return "", err
	}
	o, c, err := l.box.build(notice, "")
	if err != nil {
		return "", err
	}
	decision, err := l.box.check(ctx, l.box.store.DB(), room, o, c, false)
	if err != nil {
		return "", err
	}
	if !decision.Allow || room.RoomID == nil {
		return "", fmt.Errorf("the gate refuses: %s", decision.Why)
	}
	o.ID, o.CreatedAt = uuid.New(), l.box.now()
	return l.sender.Show(ctx, o, *room.RoomID)
}

// replacementContent returns the content of an event that edits another event.
func replacementContent(c content, event id.EventID) (json.RawMessage, error) {
	inner := c
	inner.Key, inner.RelatesTo = "", nil
	outer := struct {
		content
		New content `json:"m.new_content"`
	}{content: c, New: inner}
	outer.Body, outer.RelatesTo = "* "+c.Body, &relation{Type: relationReplaces, Event: event}
	if c.HTML != "" {
		outer.HTML = "* " + c.HTML
	}
	raw, err := json.Marshal(outer)
	if err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return raw, nil
}
