package bridgebridge

import (
	"regexp"
	"slices"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// ContentKey is the content key with the outbox id in every event that multis sends. Other Matrix clients see it, the remote network does
// not. Anybody can write it, so it counts only if the outbox has a message with that id for the same room.
const ContentKey = "ai.multis.out"

// eventMarks are the content keys by which multis and bridges mark their own events.
type eventMarks struct {
	OutboxID     string `json:"ai.multis.out"`
	DoublePuppet string `json:"fi.mau.double_puppet_source"` // set by a bridge on events that the owner wrote in the network's own app
}

// Senders are the known users of a room, with which Event.Author compares the sender of an event.
type Senders struct {
	Owner     id.UserID
	Bot       id.UserID // our own bot
	Operators []id.UserID
	BridgeBot id.UserID // the bot of this room; empty if there is none
	SelfGhost id.UserID // the owner's own ghost; empty if there is none
	// Contact is the contact whose messages a person must see even if the bridge can only describe them; empty if nobody must.
	Contact  id.UserID
	SentByUs bool // multis sent this event: its event id is known, or the outbox has a message with its OutboxKey for this room
}

// Author returns the author of an event. It compares the sender's Matrix id. The content only distinguishes the ways in which the same
// user can write, so a ghost is never taken for multis or the owner, whatever its content or display name says.
func (e Event) Author(who Senders) policy.Author {
	switch sender := e.Sender; {
	case sender == "":
		return policy.AuthorOtherBot
	case sender == who.Bot:
		return policy.AuthorMultisBot
	case sender == who.Owner && who.SentByUs:
		return policy.AuthorMultisOwner
	case sender == who.BridgeBot:
		return policy.AuthorBridgeBot
	case (e.Stands == ForMessage || e.Stands == ForLater) && sender == who.Contact:
		return policy.AuthorContact
	case e.isNotice:
		return policy.AuthorOtherBot // whoever the sender is, because people do not write notices
	case sender == who.Owner && e.isDoublePuppet:
		return policy.AuthorOwnerPhone
	case sender == who.Owner:
		return policy.AuthorOwnerClient
	case sender == who.SelfGhost:
		return policy.AuthorOwnerPhone
	case slices.Contains(who.Operators, sender):
		return policy.AuthorOperator
	default:
		return policy.AuthorContact
	}
}

// ActsAsOwner reports whether a room's state proves that its bridge acts as the owner: the owner's own join event has the double puppet
// mark of a bridge. Only software with access to the owner's account can send such an event.
func ActsAsOwner(state []*event.Event, owner id.UserID) bool {
	join := newRoom(state)[event.StateMember.Type][owner.String()]
	return join != nil && join.Sender == owner && decode[eventMarks](join).DoublePuppet != ""
}

var outboxID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// outboxKey returns the value of ContentKey; empty if it does not have the form of an outbox id.
func (m eventMarks) outboxKey() string {
	if !outboxID.MatchString(m.OutboxID) {
		return ""
	}
	return m.OutboxID
}
