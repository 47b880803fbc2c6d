package bridgebridge

import (
	"regexp"
	"slices"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// ContentKey is the key under which every event of ours carries the id of its outbox row. Other Matrix clients see it, the
// remote network does not, and anybody could write it: it counts only with a row of that very room behind it.
const ContentKey = "ai.multis.out"

// eventMarks are the keys by which software tells its own events again.
type eventMarks struct {
	OutboxID     string `json:"ai.multis.out"`
	DoublePuppet string `json:"fi.mau.double_puppet_source"` // set by a bridge on what the owner wrote in the network's own app
}

// Senders is who is who in a room.
type Senders struct {
	Owner     id.UserID
	Bot       id.UserID // our own bot
	Operators []id.UserID
	BridgeBot id.UserID // of this room; empty where there is none
	SelfGhost id.UserID // the owner's own ghost; empty where there is none
	SentByUs  bool      // the event's id is one we sent, or its OutboxKey names an outbox row of this room
}

// Classify says who wrote an event. It goes by the Matrix id; what an event says about itself only tells apart the several
// ways in which one id speaks. In particular a ghost is never us or the owner, whatever keys and names it carries.
func Classify(evt *event.Event, who Senders) policy.Author {
	switch sender := evt.Sender; {
	case sender == "":
		return policy.AuthorOtherBot
	case sender == who.Bot:
		return policy.AuthorMultisBot
	case sender == who.Owner && who.SentByUs:
		return policy.AuthorMultisOwner
	case sender == who.BridgeBot:
		return policy.AuthorBridgeBot
	case decode[messageContent](evt).MsgType == event.MsgNotice:
		return policy.AuthorOtherBot // whoever sends it: people do not write notices
	case sender == who.Owner && decode[eventMarks](evt).DoublePuppet != "":
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

// ActsAsOwner reports whether a room's state proves that its bridge acts as the owner: the owner's own join of the room carries a bridge's
// mark. Only who holds the owner's account can send that, which nobody has who merely claims to be a bridge.
func ActsAsOwner(state []*event.Event, owner id.UserID) bool {
	join := newRoom(state)[event.StateMember.Type][owner.String()]
	return join != nil && join.Sender == owner && decode[eventMarks](join).DoublePuppet != ""
}

var outboxID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// OutboxKey gives the outbox id that an event carries under ContentKey, if it has the form of one. Whether there is such a
// row, and in that room, is for the caller to look up.
func OutboxKey(evt *event.Event) (key string, ok bool) {
	key = decode[eventMarks](evt).OutboxID
	if !outboxID.MatchString(key) {
		return "", false
	}
	return key, true
}
