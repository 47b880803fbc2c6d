package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"multis/internal/text"
)

// MaxBody is the maximum length of a text that is sent in one event, in bytes. Matrix allows 65,536 bytes for the whole event.
const MaxBody = 60_000

// RoomReplacementTimeout is how long a message waits while another room replaces the room of its chat.
const RoomReplacementTimeout = 2 * time.Minute

// Purpose says why multis sends a text. The zero value is not valid and is denied.
type Purpose string

// The purposes. Their values are stored and are not renamed.
const (
	PurposeReply      Purpose = "reply"      // an answer of the assistant to a contact
	PurposeClarify    Purpose = "clarify"    // asks a contact which of two things a question is about
	PurposeGreeting   Purpose = "greeting"   // the configured greeting, without facts
	PurposeEscalation Purpose = "escalation" // tells a contact that a person will answer, such as "let me check with the team"
	PurposeDraft      Purpose = "draft"      // a draft that the owner approved, unchanged
	PurposeOperator   Purpose = "operator"   // a text that an operator wrote
	// PurposeFollowUp is a question to a contact who has been silent for days. It is a draft in every chat.
	PurposeFollowUp Purpose = "follow_up"
	PurposeRating   Purpose = "rating" // asks a contact whether a conversation helped
	PurposeNotice   Purpose = "notice" // anything for the admin room
	// PurposeRedaction deletes an event of multis, in any room, because the message that it answered or quoted was deleted.
	PurposeRedaction Purpose = "redaction"
	// PurposePIN deletes a message of the owner from the admin room, because it holds a PIN.
	PurposePIN Purpose = "pin"
)

// isDeletion reports whether multis deletes an event for this purpose. Then it sends no text.
func (p Purpose) isDeletion() bool { return p == PurposeRedaction || p == PurposePIN }

// isForAdmin reports whether this purpose occurs only in the admin room.
func (p Purpose) isForAdmin() bool { return p == PurposeNotice || p == PurposePIN }

// isAutomatic reports whether no person wrote or approved the text.
func (p Purpose) isAutomatic() bool {
	return p == PurposeReply || p == PurposeClarify || p == PurposeGreeting || p == PurposeEscalation || p == PurposeFollowUp ||
		p == PurposeRating
}

// IsDisclosed reports whether a text of this purpose is marked with the assistant's name, because the assistant wrote it to a contact.
func (p Purpose) IsDisclosed() bool { return p.isAutomatic() }

// NeedsSource reports whether a text of this purpose must cite public documents that contain all of its claims.
func (p Purpose) NeedsSource() bool { return p == PurposeReply || p == PurposeClarify }

// isForContact reports whether texts of this purpose go to a contact.
func (p Purpose) isForContact() bool {
	return p.isAutomatic() || p == PurposeDraft || p == PurposeOperator
}

// SendAs says which Matrix user sends a text. The zero value is not valid and is denied.
type SendAs string

// The senders.
const (
	AsOwner SendAs = "owner" // into chats, where a bridge relays only the owner
	AsBot   SendAs = "bot"   // into the admin room
)

// GateInput has everything that Gate needs for a decision. Gate denies the zero value.
type GateInput struct {
	Purpose Purpose
	As      SendAs

	Mode       Mode
	Kind       Kind
	Encryption Encryption
	HasRoom    bool // the chat has a room, and the sender is in it
	Tombstoned bool // the room was replaced by another
	Verified   bool // a trusted bridge created the room

	Now time.Time
	Presence
	Addressed   bool // the message to be answered names the assistant
	HasCitation bool // the answer quotes a public document word for word
	// Unsupported is the result of FindUnsupported: the first claim of the text that none of its sources contains; empty if there is none.
	Unsupported string

	// OnHold is true after a backup was restored, until the owner releases the hold (see Restore).
	OnHold bool
	// SafeMode is true while multis is in safe mode.
	SafeMode bool

	Sent, SendCap Rate // automatic texts sent to the contact, and the cap

	Features Features  // of the network
	File     *FileSpec // the file to be sent; nil for none
	Edits    bool      // it edits an earlier message of multis
	Reacts   bool      // it is a reaction

	MsgType string // the event's msgtype: m.text, m.notice, ...
	Body    string // the text as it will be sent, with any prefix
	// Leaks is true if the text contained a secret of the configuration when it was written (see LeaksSecret). In Body the
	// secret may be masked.
	Leaks bool
}

// Decision is the result of Gate, with a code that stays the same between versions and a sentence for people. The zero value denies.
type Decision struct {
	Allow bool
	Code  Code
	Why   string
}

// Gate decides whether a text may be sent. multis calls it twice for each text: before the text is queued and right before it is sent.
// Gate denies unknown values.
func Gate(in GateInput) Decision {
	checks := []func(GateInput) Code{
		checkPlace, checkHold, checkRoom, checkMode,
		checkPresence, checkCaps, checkBody, checkFeatures,
	}
	for _, check := range checks {
		if code := check(in); code != "" {
			return Decision{Code: code, Why: in.sentence(code)}
		}
	}
	return Decision{Allow: true, Code: CodeAllowed, Why: in.sentence(CodeAllowed)}
}

// checkPlace refuses the bot in chats with contacts and the owner's account in the admin room.
func checkPlace(in GateInput) Code {
	switch {
	case !in.Purpose.isForContact() && !in.Purpose.isForAdmin() && in.Purpose != PurposeRedaction:
		return CodeUnknownPurpose
	case in.Kind != KindAdmin && !in.Kind.isPortal():
		return CodeNoChat
	case in.Purpose != PurposeRedaction && (in.Kind == KindAdmin) != in.Purpose.isForAdmin():
		return CodeUnknownPurpose
	case in.Kind == KindAdmin && in.As != AsBot, in.Kind.isPortal() && in.As != AsOwner:
		return CodeWrongSender
	default:
		return ""
	}
}

// checkHold refuses everything except texts for the admin room, while a restored backup is on hold and in safe mode.
func checkHold(in GateInput) Code {
	switch {
	case in.Purpose.isForAdmin():
		return ""
	case in.OnHold:
		return CodeRestored
	case in.SafeMode:
		return CodeSafeMode
	default:
		return ""
	}
}

// checkRoom refuses rooms that no longer exist or were replaced, rooms that no trusted bridge created, and rooms whose
// encryption is unknown.
func checkRoom(in GateInput) Code {
	switch {
	case !in.HasRoom:
		return CodeNoRoom
	case in.Tombstoned:
		return CodeTombstoned
	case in.Kind.isPortal() && !in.Verified:
		return CodeUnverified
	case in.Purpose.isDeletion():
		return "" // a deletion has no text that would need encryption
	case in.Encryption != EncryptionNo && in.Encryption != EncryptionYes:
		return CodeEncryptionUnknown
	default:
		return ""
	}
}

// checkMode refuses what the chat's mode does not allow. ModeOff allows nothing; ModeSilent only what a person wrote or approved.
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

// checkPresence refuses every text to contacts while everything is paused, and automatic texts while the chat is paused or the owner is
// active in it.
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

// checkCaps limits how many automatic texts one contact gets. It allows one text of PurposeEscalation above the cap,
// which tells the contact that a person will answer. That text is counted too, so there is only one.
func checkCaps(in GateInput) Code {
	if !in.Purpose.isAutomatic() {
		return ""
	}
	caps := in.SendCap
	if in.Purpose == PurposeEscalation {
		caps = Rate{Minute: caps.Minute + 1, Day: caps.Day + 1}
	}
	switch in.Sent.reachedPeriod(caps) {
	case "minute":
		return CodeMinuteCap
	case "day":
		return CodeDayCap
	default:
		return ""
	}
}

// checkBody refuses texts because of their form or their sources. A deletion has no text.
func checkBody(in GateInput) Code {
	switch {
	case in.Purpose.isDeletion():
		return ""
	case len(in.Body) > MaxBody: // first, because the others read all of it
		return CodeTooLong
	case strings.TrimSpace(text.Clean(in.Body)) == "":
		return CodeEmpty
	case in.Body != text.Clean(in.Body):
		return CodeControl
	case in.Kind == KindAdmin:
		return "" // secrets are masked in the admin room
	case in.Leaks || LeaksSecret(in.Body):
		return CodeSecret
	case in.MsgType != "m.text" && in.File == nil && !in.Reacts:
		return CodeNotice
	case IsBridgeCommand(in.Body):
		return CodeBridgeCommand
	case in.Purpose.NeedsSource() && !in.HasCitation:
		return CodeNoSource
	case in.Purpose.NeedsSource() && in.Unsupported != "":
		return CodeUnsupported
	default:
		return ""
	}
}

// sentence returns the sentence for a code, with the numbers of this text.
func (in GateInput) sentence(code Code) string {
	switch code {
	case CodeAllowed:
		return in.allowedSentence()
	case CodeOwnerActive:
		return ownerActiveSentence(in.Presence, in.Now)
	case CodeMinuteCap:
		return fmt.Sprintf("I already sent %d texts to this chat within a minute; %d are allowed.", in.Sent.Minute, in.SendCap.Minute)
	case CodeDayCap:
		return fmt.Sprintf("I already sent %d texts to this chat within a day; %d are allowed.", in.Sent.Day, in.SendCap.Day)
	case CodeNetworkLimit:
		return fmt.Sprintf("The text has %d characters; the network takes %d in one message.", utf8.RuneCountInString(in.Body),
			in.Features.MaxText)
	case CodeUnsupported:
		return fmt.Sprintf("“%s” is in none of the sources.", text.Clip(text.OneLine(in.Unsupported), 60))
	case CodeTooLong:
		return fmt.Sprintf("The text has %d bytes; one message takes %d.", len(in.Body), MaxBody)
	default:
		return code.Sentence()
	}
}

func (in GateInput) allowedSentence() string {
	switch in.Purpose {
	case PurposeNotice:
		return "It is for the admin room."
	case PurposeDraft:
		return "You approved this text."
	case PurposeOperator:
		return "A person wrote this text."
	case PurposeRedaction:
		return "It deletes a message of mine."
	case PurposePIN:
		return "It deletes a PIN from the admin room."
	default: // multis itself writes to a contact
	}
	said := fmt.Sprintf("The chat is %s, you were away", in.Mode)
	if !in.OwnerWroteAt.IsZero() {
		who := ""
		if in.OperatorWrote != "" {
			who = in.OperatorWrote + " "
		}
		said += fmt.Sprintf(" (%slast wrote %s ago)", who, text.Duration(in.Now.Sub(in.OwnerWroteAt)))
	}
	switch in.Purpose {
	case PurposeReply:
		said += ", it quotes a source"
	case PurposeClarify:
		said += ", it names what two sources are about"
	default:
	}
	return said + "."
}
