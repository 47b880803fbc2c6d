package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"multis/text"
)

// MaxBody is the length in bytes of the longest text that goes into one event. Matrix allows 65,536 for all of it.
const MaxBody = 60_000

// RoomReplacementTimeout is how long what is to be said in a chat waits while its room is being replaced by another.
const RoomReplacementTimeout = 2 * time.Minute

// Purpose says what a text that goes out is for. The zero value is not valid and is denied.
type Purpose string

// The purposes.
const (
	PurposeReply      Purpose = "reply"    // an answer of the assistant to a contact
	PurposeGreeting   Purpose = "greeting" // the configured greeting, without facts
	PurposeEscalation Purpose = "handover" // "let me check with the team"
	PurposeDraft      Purpose = "draft"    // the very bytes the owner approved
	PurposeOperator   Purpose = "operator" // what a person typed at the desk
	PurposeNotice     Purpose = "notice"   // anything for the admin room
	// PurposeRedaction deletes a message of ours, anywhere, because somebody deleted what it answered or quoted.
	PurposeRedaction Purpose = "redaction"
)

// isAutomatic reports whether no person stands behind this very text.
func (p Purpose) isAutomatic() bool {
	return p == PurposeReply || p == PurposeGreeting || p == PurposeEscalation
}

// isForContact reports whether the purpose is one for a contact's chat.
func (p Purpose) isForContact() bool {
	return p.isAutomatic() || p == PurposeDraft || p == PurposeOperator
}

// SendAs says whose name a text goes out under. The zero value is not valid and is denied.
type SendAs string

// The senders.
const (
	AsOwner SendAs = "owner" // into chats, where a bridge relays only the owner
	AsBot   SendAs = "bot"   // into the admin room
)

// GateInput is all that Gate looks at. Its zero value is denied.
type GateInput struct {
	Purpose Purpose
	As      SendAs

	Mode       Mode
	Kind       Kind
	Encryption Encryption
	HasRoom    bool // the chat has a room, and the sender is in it
	Tombstoned bool // the room was replaced by another
	Verified   bool // the room was made by the bridge it names

	Now time.Time
	Presence
	Addressed bool // the message that is answered called the assistant by its name
	HasSpan   bool // a verbatim span was found in a public document for what is said
	// Unsupported is the first number, address or other claim of the text that stands in none of its sources; empty for none.
	Unsupported string

	Sent, SendCap Rate // texts sent to the contact so far, and how many are sent

	Features Features  // of the network
	File     *FileSpec // the file that it is; nil for none
	Edits    bool      // it changes an earlier text of ours
	Reacts   bool      // it is a reaction

	MsgType string // the event's msgtype: m.text, m.notice, ...
	Body    string // the text as it will be sent, with any prefix
}

// Decision is what Gate decided, with a code that stays the same between versions and a sentence that says why. The zero
// value denies.
type Decision struct {
	Allow bool
	Code  Code
	Why   string
}

// Gate decides whether a text may be sent. It is the one gate for everything that goes out, asked when a text is queued and
// again right before it is sent. What it does not understand it denies.
func Gate(in GateInput) Decision {
	for _, check := range []func(GateInput) Code{checkPlace, checkRoom, checkMode, checkPresence, checkCaps, checkBody, checkFeatures} {
		if code := check(in); code != "" {
			return Decision{Code: code, Why: in.sentence(code)}
		}
	}
	return Decision{Allow: true, Code: CodeAllowed, Why: in.sentence(CodeAllowed)}
}

// checkPlace keeps the bot out of contacts' chats and the owner's voice out of the admin room.
func checkPlace(in GateInput) Code {
	switch {
	case !in.Purpose.isForContact() && in.Purpose != PurposeNotice && in.Purpose != PurposeRedaction:
		return CodeUnknownPurpose
	case in.Kind != KindAdmin && !in.Kind.isPortal():
		return CodeNoChat
	case in.Purpose != PurposeRedaction && (in.Kind == KindAdmin) != (in.Purpose == PurposeNotice):
		return CodeUnknownPurpose
	case in.Kind == KindAdmin && in.As != AsBot, in.Kind.isPortal() && in.As != AsOwner:
		return CodeWrongSender
	default:
		return ""
	}
}

// checkRoom refuses rooms that are gone, that somebody else made, or where plain text could be the wrong thing.
func checkRoom(in GateInput) Code {
	switch {
	case !in.HasRoom:
		return CodeNoRoom
	case in.Tombstoned:
		return CodeTombstoned
	case in.Kind.isPortal() && !in.Verified:
		return CodeUnverified
	case in.Purpose == PurposeRedaction:
		return "" // it has no text that could be read
	case in.Encryption != EncryptionNo && in.Encryption != EncryptionYes:
		return CodeEncryptionUnknown
	default:
		return ""
	}
}

// checkMode keeps to the ladder of modes. Off lets nothing out; silent only what a person wrote or approved.
func checkMode(in GateInput) Code {
	switch {
	case in.Kind == KindAdmin:
		return ""
	case in.Mode == ModeOff || !in.Mode.Valid():
		return CodeOff
	case !in.Purpose.isAutomatic():
		return ""
	case in.Mode == ModeSilent:
		return CodeSilent
	case mustBeAddressed(in.Mode, in.Kind) && !in.Addressed:
		return CodeNotAddressed
	default:
		return ""
	}
}

// checkPresence stops everything to contacts under /pause all, and the assistant where the chat is paused or the owner is.
func checkPresence(in GateInput) Code {
	switch {
	case in.Kind == KindAdmin:
		return ""
	case in.PausedAll:
		return CodePausedAll
	case !in.Purpose.isAutomatic():
		return ""
	case in.PausedChat:
		return CodePausedChat
	case in.isOwnerActive(in.Now):
		return CodeOwnerActive
	default:
		return ""
	}
}

// checkCaps bounds what the assistant sends to one contact. The hand-over has one place above the caps: it is what is said
// when they are reached, and counting itself it is said once.
func checkCaps(in GateInput) Code {
	if !in.Purpose.isAutomatic() {
		return ""
	}
	caps := in.SendCap
	if in.Purpose == PurposeEscalation {
		caps = Rate{Minute: caps.Minute + 1, Day: caps.Day + 1}
	}
	switch in.Sent.reachedSpan(caps) {
	case "minute":
		return CodeCapMinute
	case "day":
		return CodeCapDay
	default:
		return ""
	}
}

// checkBody looks at the text itself. A redaction has none.
func checkBody(in GateInput) Code {
	switch {
	case in.Purpose == PurposeRedaction:
		return ""
	case strings.TrimSpace(text.Clean(in.Body)) == "":
		return CodeEmpty
	case len(in.Body) > MaxBody:
		return CodeTooLong
	case in.Body != text.Clean(in.Body):
		return CodeControl
	case in.Kind == KindAdmin:
		return ""
	case in.MsgType != "m.text" && in.File == nil && !in.Reacts:
		return CodeNotice
	case IsCommand(in.Body):
		return CodeBridgeCommand
	case in.Purpose == PurposeReply && !in.HasSpan:
		return CodeNoSource
	case in.Purpose == PurposeReply && in.Unsupported != "":
		return CodeUnsupported
	default:
		return ""
	}
}

// sentence says a code's reason with the numbers of this text.
func (in GateInput) sentence(code Code) string {
	switch code {
	case CodeAllowed:
		return in.allowedSentence()
	case CodeOwnerActive:
		return ownerActiveSentence(in.Presence, in.Now)
	case CodeCapMinute:
		return fmt.Sprintf("I already sent %d texts to this chat within a minute; %d are allowed.", in.Sent.Minute, in.SendCap.Minute)
	case CodeCapDay:
		return fmt.Sprintf("I already sent %d texts to this chat within a day; %d are allowed.", in.Sent.Day, in.SendCap.Day)
	case CodeNetworkLimit:
		return fmt.Sprintf("The text has %d characters; the network takes %d in one message.", utf8.RuneCountInString(in.Body), in.Features.MaxText)
	case CodeUnsupported:
		return fmt.Sprintf("“%s” stands in none of the sources.", text.Clip(text.OneLine(in.Unsupported), 60))
	case CodeTooLong:
		return fmt.Sprintf("The text has %d bytes; %d go into one message.", len(in.Body), MaxBody)
	default:
		return code.Sentence()
	}
}

func (in GateInput) allowedSentence() string {
	switch in.Purpose {
	case PurposeNotice:
		return "It goes to the admin room."
	case PurposeDraft:
		return "You approved this very text."
	case PurposeOperator:
		return "A person wrote this text."
	case PurposeRedaction:
		return "It deletes a message of mine."
	default: // multis itself writes to a contact
	}
	said := fmt.Sprintf("The chat is %s, you were away", in.Mode)
	if !in.OwnerWroteAt.IsZero() {
		said += fmt.Sprintf(" (last wrote %s ago)", text.Duration(in.Now.Sub(in.OwnerWroteAt)))
	}
	if in.Purpose == PurposeReply {
		said += ", a quoted source stands behind it"
	}
	return said + "."
}
