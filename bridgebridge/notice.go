package bridgebridge

import (
	"regexp"

	"maunium.net/go/mautrix/event"
)

// Standing says what a bridge's notice in the name of a person stands for.
type Standing string

// The standings of notices.
const (
	ForMessage Standing = "message" // a message that the bridge cannot show: somebody has to look at it in the network's own app
	ForLater   Standing = "later"   // a message that the bridge waits for, and then shows in an edit of the notice
	ForNothing Standing = "nothing" // something that happened in the chat, such as a call that ended
)

// awaited matches the notices that mautrix-whatsapp and mautrix-gmessages replace as soon as they have the message.
var awaited = regexp.MustCompile(`(?i)\bwaiting for (?:attachment|sender|it to be sent again)\b`)

// housekeeping matches what bridges write about the chat itself. A notice that it misses is shown to a person once too often.
var housekeeping = regexp.MustCompile(`^(?:(?:Unp|P)inned a message|(?:Unk|K)ept a message|Sent an album\b|Created the group|` +
	`Upgraded this group|Your security code with |(?:Video call|Call) (?:missed|disconnected|ended|rejected))`)

// standing returns what a notice stands for; empty for a message that is none.
func (c messageContent) standing() Standing {
	switch {
	case c.MsgType != event.MsgNotice:
		return ""
	case awaited.MatchString(c.Body):
		return ForLater
	case c.Action.Type != "", housekeeping.MatchString(c.Body), notBridged.MatchString(c.Body): // in direct chats of mautrix-discord
		return ForNothing
	default:
		return ForMessage
	}
}

// IsMessageType reports whether events of a type are messages of people.
func IsMessageType(of event.Type) bool {
	switch of.Type {
	case event.EventMessage.Type, event.EventSticker.Type, event.EventEncrypted.Type,
		pollStart, event.EventUnstablePollStart.Type, pollResponse, event.EventUnstablePollResponse.Type:
		return true
	default:
		return false
	}
}
