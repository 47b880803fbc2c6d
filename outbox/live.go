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

// LiveSender is a Sender that can show a preliminary text and replace it later.
type LiveSender interface {
	Sender
	// Show sends an event without a guarantee that it arrives.
	Show(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error)
}

const (
	liveEvery = time.Second     // between two changes
	liveTime  = 3 * time.Second // for one of them
)

// Live is a message in the admin room that shows the progress of an answer and is edited meanwhile. It does not go through the outbox, because
// it may be lost; the answer itself is a Message that replaces it. A nil Live shows nothing.
type Live struct {
	box   *Box
	show  LiveSender
	room  store.Chat
	event id.EventID
	last  time.Time
	said  string
}

// Live returns a Live for an admin room, which continues event unless that is empty. It returns nil for other chats, and when the sender
// cannot edit events.
func (b *Box) Live(room store.Chat, event id.EventID) *Live {
	show, able := b.sender.(LiveSender)
	if !able || room.Kind != policy.KindAdmin {
		return nil
	}
	return &Live{box: b, show: show, room: room, event: event}
}

// Event returns the event of the message; empty before the first Show.
func (l *Live) Event() id.EventID {
	if l == nil {
		return ""
	}
	return l.event
}

// IsDue reports whether Show would show a text now. A nil Live is never due.
func (l *Live) IsDue() bool { return l != nil && l.box.now().Sub(l.last) >= liveEvery }

// Show replaces the text, at most once a second: calls in between do nothing. It reports whether this call sent the message for the first
// time.
func (l *Live) Show(ctx context.Context, markdown string) bool {
	if !l.IsDue() || markdown == l.said {
		return false
	}
	l.last, l.said = l.box.now(), markdown
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	event, err := l.send(ctx, markdown)
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot show how far it is")
		return false
	}
	first := l.event == ""
	if first {
		l.event = event
	}
	return first
}

// send sends the text if the gate allows it.
func (l *Live) send(ctx context.Context, markdown string) (id.EventID, error) {
	notice := Notice(l.room, markdown, Answer).cleaned()
	notice.Replaces = l.event
	room, err := store.ChatByID(ctx, l.box.store.DB(), l.room.ID)
	if err != nil {
		return "", err
	}
	o, c, err := l.box.build(notice, "")
	if err != nil {
		return "", err
	}
	decision, err := l.box.check(ctx, l.box.store.DB(), room, o, c)
	if err != nil {
		return "", err
	}
	if !decision.Allow || room.RoomID == nil {
		return "", fmt.Errorf("the gate refuses: %s", decision.Why)
	}
	o.ID, o.CreatedAt = uuid.New(), l.box.now()
	return l.show.Show(ctx, o, *room.RoomID)
}

// replacing returns the content of an event that edits another.
func replacing(c content, event id.EventID) (json.RawMessage, error) {
	inner := c
	inner.Key = ""
	outer := struct {
		content
		New content `json:"m.new_content"`
	}{content: c, New: inner}
	outer.Body, outer.RelatesTo = "* "+c.Body, &relation{Type: "m.replace", Event: event}
	if c.HTML != "" {
		outer.HTML = "* " + c.HTML
	}
	raw, err := json.Marshal(outer)
	if err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return raw, nil
}
