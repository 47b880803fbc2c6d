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

// LiveSender is a Sender that can show what is not settled yet, and change it afterwards.
type LiveSender interface {
	Sender
	// Show sends an event that nothing rests on. It need not arrive.
	Show(ctx context.Context, o store.Out, room id.RoomID) (id.EventID, error)
}

const (
	liveEvery = time.Second     // between two changes
	liveTime  = 3 * time.Second // for one of them
)

// Live is one message of an admin room that changes while an answer is made. It goes past the outbox, because nothing rests on it:
// what is settled is said by a Letter that replaces it. A nil Live shows nothing.
type Live struct {
	box   *Box
	show  LiveSender
	room  store.Chat
	event id.EventID
	last  time.Time
	said  string
}

// Live begins to show how far something is in an admin room, or goes on with the message that did. It is nil where that is
// not possible: in a chat of a contact's, and where nothing can be changed once it is said.
func (b *Box) Live(room store.Chat, event id.EventID) *Live {
	show, able := b.sender.(LiveSender)
	if !able || room.Kind != policy.KindAdmin {
		return nil
	}
	return &Live{box: b, show: show, room: room, event: event}
}

// Event is the message; empty before there is one.
func (l *Live) Event() id.EventID {
	if l == nil {
		return ""
	}
	return l.event
}

// IsDue reports whether Show would show a text now. It is false in a nil Live.
func (l *Live) IsDue() bool { return l != nil && l.box.now().Sub(l.last) >= liveEvery }

// Show shows Markdown in place of what was shown, at most once a second: what comes sooner is passed over. It tells whether it
// made the message just now.
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

// send asks the gate like anything that goes out.
func (l *Live) send(ctx context.Context, markdown string) (id.EventID, error) {
	letter := Notice(l.room, markdown, Answer).cleaned()
	letter.Replaces = l.event
	room, err := store.ChatByID(ctx, l.box.store.DB(), l.room.ID)
	if err != nil {
		return "", err
	}
	o, c, err := l.box.build(letter, "")
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

// replacing makes an event's content the last word on another event.
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
