package bridgebridge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// Event is an event with everything that multis reads from its content. The content of state events is read with the state of their room.
type Event struct { //nolint:recvcheck // Parse fills it in place, readers have a value
	*event.Event

	Message Message
	// OutboxKey is the value of ContentKey; empty if it does not have the form of an outbox id. It counts only if the outbox
	// has a message with that id for the same room.
	OutboxKey string
	// Connection is what a bridge reports about one of the owner's logins; nil for any other event. The caller must check the sender.
	Connection *Connection
	// Redacted is the event that a redaction deletes; empty if it names none.
	Redacted id.EventID
	// Thread is the first event of the thread that the event is in, also if it is encrypted. A reaction that takes an
	// escalation over belongs to the thread of the card that it reacts to.
	Thread id.EventID
	// Sign is the meaning of a reaction or message as a sign in the thread of an escalation; empty if it has none.
	Sign policy.ThreadSign
	// IsTakeover is true for a reaction, or a message in a thread, that says that a person has the conversation.
	IsTakeover bool
	// IsNote is true for a message in a thread that is not for the contact. Of an edit it says so only if the edited message is in a thread.
	IsNote bool
	// Stands says what a notice stands for; empty for any other message.
	Stands Standing
	// Rating is the rating that a reaction or a message is; empty if it is none.
	Rating policy.Rating

	delivery       *Delivery
	isNotice       bool
	isDoublePuppet bool
}

// content is the part of an event's content that Parse reads.
type content struct {
	messageContent
	eventMarks
	stateContent
	statusContent

	Redacts     string `json:"redacts"`
	SessionID   string `json:"session_id"`
	SenderKey   string `json:"sender_key"`
	DeviceID    string `json:"device_id"`
	Replacement string `json:"replacement_room"`
	Predecessor struct {
		RoomID string `json:"room_id"`
	} `json:"predecessor"`
}

// Parse reads an event. It returns an error if an id of the event, or in its content, is longer than maxID, contains a
// zero byte, or is not valid UTF-8: homeservers do not check the ids in the content, and the database cannot store them.
// A field of the wrong JSON type counts as empty.
func Parse(evt *event.Event) (Event, error) {
	c := decode[content](evt)
	if err := checkIDs(evt, c); err != nil {
		return Event{}, err
	}
	e := Event{
		Event:          evt,
		Message:        parseMessage(evt.Type, c.messageContent),
		OutboxKey:      c.outboxKey(),
		Redacted:       evt.Redacts,
		Thread:         c.RelatesTo.GetThreadParent(),
		Stands:         c.current().standing(),
		isNotice:       c.current().MsgType == event.MsgNotice,
		isDoublePuppet: c.DoublePuppet != "",
	}
	if e.Redacted == "" {
		e.Redacted = id.EventID(c.Redacts)
	}
	if evt.StateKey != nil {
		return e, nil
	}
	switch evt.Type.Type {
	case event.EventMessage.Type:
		e.Connection = parseConnection(c.stateContent)
		e.delivery = parseNotice(e.Message)
		e.Rating = policy.RatingOf(e.Message.Text)
		e.readThread()
	case event.BeeperMessageStatus.Type:
		e.delivery = parseStatus(c.RelatesTo.GetReferenceID(), c.statusContent)
	case event.EventReaction.Type:
		e.readReaction()
	}
	return e, nil
}

// readThread reads what a message in the thread of an escalation says to the people there. An edit does not say that it is in a thread.
func (e *Event) readThread() {
	isInThread := e.Message.Thread != ""
	if isInThread {
		e.Sign = policy.ThreadSignOf(e.Message.Text)
		e.IsTakeover = policy.IsTakeover(e.Message.Words())
	}
	if isInThread || e.Message.Replaces != "" {
		e.IsNote = policy.IsNote(e.Message.Words())
	}
}

// readReaction reads what the key of a reaction means.
func (e *Event) readReaction() {
	e.Sign = policy.ThreadSignOf(e.Message.Text)
	e.Rating = policy.RatingOf(e.Message.Text)
	e.IsTakeover = e.Sign.IsTakeover()
	if e.IsTakeover {
		e.Thread = e.Message.ReplyTo
	}
}

// WithEdit returns the event as a later edit left it, with the edit's kind, text and file. What it says in a thread stays as it was written
// first. A notice that an edit replaced by a message is that message.
func (e Event) WithEdit(kind MessageKind, text string, file *File) Event {
	if e.Stands != "" && kind != Notice {
		e.Message.Kind, e.Message.Notice = kind, false
		e.Message.File = file
		e.isNotice, e.Stands = false, ""
	}
	e.Message = e.Message.withText(text)
	e.Rating = policy.RatingOf(text)
	return e
}

// maxID is the maximum length of an id that Matrix allows, in bytes. Database indexes cannot hold arbitrarily long ids.
const maxID = 255

// checkIDs implements the check of Parse.
func checkIDs(evt *event.Event, c content) error {
	var relatesTo, login string
	if c.RelatesTo != nil {
		relatesTo = c.RelatesTo.EventID.String()
	}
	if c.State != nil {
		login = c.State.RemoteID
	}
	for _, i := range []struct{ what, id string }{
		{"event_id", evt.ID.String()},
		{"room_id", evt.RoomID.String()},
		{"sender", evt.Sender.String()},
		{"type", evt.Type.Type},
		{"state_key", evt.GetStateKey()},
		{"redacts", evt.Redacts.String()},
		{"redacts", c.Redacts},
		{"m.relates_to", relatesTo},
		{"m.in_reply_to", c.RelatesTo.GetReplyTo().String()},
		{"session_id", c.SessionID},
		{"sender_key", c.SenderKey},
		{"device_id", c.DeviceID},
		{"replacement_room", c.Replacement},
		{"predecessor", c.Predecessor.RoomID},
		{"remote_id", login},
	} {
		if len(i.id) > maxID {
			return fmt.Errorf("its %s has %d bytes; Matrix allows %d", i.what, len(i.id), maxID)
		}
		if strings.IndexByte(i.id, 0) >= 0 || !utf8.ValidString(i.id) {
			return fmt.Errorf("its %s has a zero byte or broken UTF-8", i.what)
		}
	}
	return nil
}
