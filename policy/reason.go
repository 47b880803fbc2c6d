package policy

import "slices"

// Code identifies the reason of a decision. Codes are stored and shown, so their values never change.
type Code string

// The reasons of Admit and Gate.
const (
	// Admit: the message is answered, escalated, transcribed or run.
	CodeAnswer       Code = "answer"
	CodeCommand      Code = "command"
	CodeDanger       Code = "danger"
	CodeKeyword      Code = "keyword"
	CodeWantsHuman   Code = "wants_human"
	CodeWantsAction  Code = "wants_action"
	CodeReminder     Code = "wants_reminder"
	CodeAttached     Code = "attached"
	CodeTranscribing Code = "transcribing"
	CodeTranscribed  Code = "transcribed"
	CodeNote         Code = "note"
	CodeClarified    Code = "clarified" // the assistant asked the contact a clarifying question

	// Admit: stored or ignored without an answer.
	CodeStale               Code = "stale"
	CodeBackfill            Code = "backfill"
	CodeEdited              Code = "edited"
	CodeNoText              Code = "no_text"
	CodeTranscriptionFailed Code = "transcription_failed"
	CodeAskedToStop         Code = "asked_to_stop"
	CodeAcknowledged        Code = "acknowledged"
	CodeFlood               Code = "flood"
	CodeOwnerWrote          Code = "owner_wrote"
	CodeOperatorWrote       Code = "operator_wrote"
	CodeEcho                Code = "echo"
	CodeBot                 Code = "bot"
	CodeBridgeBot           Code = "bridge_bot"
	CodeUnknownAuthor       Code = "unknown_author"
	CodeEncrypted           Code = "encrypted"
	CodeUntrusted           Code = "untrusted"
	CodeBridged             Code = "bridged"
	CodeRoomClosed          Code = "room_closed"
	CodeNotAllowed          Code = "not_allowed"

	// Admit and Gate: nothing may be sent in the chat, now or ever.
	CodeNoChat       Code = "no_chat"
	CodeOff          Code = "off"
	CodeSilent       Code = "silent"
	CodeNotAddressed Code = "not_addressed"
	CodeRestored     Code = "restored"
	// CodeRestoreDropped means that the owner dropped what a restored backup would have sent.
	CodeRestoreDropped Code = "restore_dropped"
	CodeSafeMode       Code = "safe_mode"
	CodePausedAll      Code = "paused_all"
	CodePausedChat     Code = "paused_chat"
	CodeOwnerActive    Code = "owner_active"
	CodeMinuteCap      Code = "minute_limit"
	CodeDayCap         Code = "day_limit"

	// Gate: allowed, or why the room or the text is refused.
	CodeAllowed           Code = "allowed"
	CodeUnknownPurpose    Code = "unknown_purpose"
	CodeWrongSender       Code = "wrong_sender"
	CodeNoRoom            Code = "no_room"
	CodeTombstoned        Code = "tombstoned"
	CodeUnverified        Code = "unverified"
	CodeEncryptionUnknown Code = "encryption_unknown"
	CodeNoSource          Code = "no_source"
	CodeUnsupported       Code = "unsupported"
	CodeNotice            Code = "notice"
	CodeEmpty             Code = "empty"
	CodeTooLong           Code = "too_long"
	CodeControl           Code = "control_characters"
	CodeBridgeCommand     Code = "bridge_command"
	CodeSecret            Code = "secret"
	CodeHook              Code = "hook"
	CodeQuoteDeleted      Code = "quote_deleted"
	CodeNetworkLimit      Code = "network_limit"
	CodeNoFiles           Code = "no_files"
	CodeFileTooBig        Code = "file_too_big"
	CodeNoCaptions        Code = "no_captions"
	CodeNoEdits           Code = "no_edits"
	CodeNoReactions       Code = "no_reactions"
	CodePartMissing       Code = "part_missing"

	// The owner's decision on a draft.
	CodeDraftDropped Code = "draft_dropped"
	CodeShadow       Code = "shadow"
	CodeDraftChanged Code = "draft_changed"
	CodeDraftExpired Code = "draft_expired"

	// A draft was withdrawn, because it is outdated (see store.SeenState), or because the chat's mode or a cited document
	// changed. Most of these codes are set by the database: see withdraw_drafts() in migrations/functions/outbox.sql. It
	// stores their sentences with them, and a test compares the two.
	CodeDraftOutdated Code = "draft_outdated"
	CodeDraftAnswered Code = "draft_answered"
	CodeDraftMode     Code = "draft_mode"
	CodeDraftSource   Code = "draft_source"
	CodeDraftRefused  Code = "draft_refused" // the owner refused it with feedback for the next one
	CodeDraftLate     Code = "draft_late"    // it was approved already, and not sent yet
)

// WithdrawnCodes returns the reasons for which a draft is withdrawn.
func WithdrawnCodes() []Code {
	return []Code{CodeDraftOutdated, CodeDraftAnswered, CodeDraftMode, CodeDraftSource, CodeDraftRefused, CodeDraftLate}
}

// IsWithdrawn reports whether a draft was withdrawn.
func (c Code) IsWithdrawn() bool { return slices.Contains(WithdrawnCodes(), c) }

// IsRedrafted reports whether another draft may replace a draft that was dropped for this reason.
func (c Code) IsRedrafted() bool {
	return c == CodeDraftOutdated || c == CodeDraftSource || c == CodeDraftRefused || c == CodeDraftChanged
}

// IsAboutText reports whether a text was refused because of the text itself, so that it would also be refused later.
func (c Code) IsAboutText() bool {
	switch c {
	case CodeNoSource, CodeUnsupported, CodeNotice, CodeEmpty, CodeTooLong, CodeControl, CodeBridgeCommand, CodeSecret,
		CodeNetworkLimit, CodeNoFiles, CodeFileTooBig, CodeNoCaptions, CodeNoEdits, CodeNoReactions:
		return true
	default:
		return false
	}
}

// Sentence returns the reason as a sentence for people, without the numbers of the case. It is empty for an unknown code.
func (c Code) Sentence() string {
	switch c {
	case CodeAnswer:
		return "It was a fresh question in a chat I answer."
	case CodeCommand:
		return "It was written in the admin room."
	case CodeDanger:
		return "It says that somebody is in danger or in pain."
	case CodeKeyword:
		return "A keyword escalates to a person."
	case CodeWantsAction:
		return "It asks that something is done, and a person has to do that."
	case CodeWantsHuman:
		return "It asks for a person."
	case CodeReminder:
		return "It asks to be reminded. I promise and schedule nothing for others; `/remind` sets a reminder for you."
	case CodeAttached:
		return "It has a picture, a file or the like, which I do not look at."
	case CodeTranscribing:
		return "It is a voice note; I am transcribing it."
	case CodeTranscribed:
		return "It is a voice note, and I transcribed it."
	case CodeTranscriptionFailed:
		return "It is a voice note, and I could not transcribe it."
	case CodeStale:
		return "It was too old when it arrived."
	case CodeBackfill:
		return "It is history that was brought in later."
	case CodeEdited:
		return "It only changes an earlier message."
	case CodeNoText:
		return "It has no words I could answer."
	case CodeAskedToStop:
		return "It asks me to stop writing."
	case CodeAcknowledged:
		return "It only says thanks, goodbye or that all is well; that needs no answer."
	case CodeFlood:
		return "Too many messages from one contact."
	case CodeOwnerWrote:
		return "You wrote it yourself."
	case CodeOperatorWrote:
		return "One of your operators wrote it."
	case CodeEcho:
		return "I wrote it myself."
	case CodeBot:
		return "Another bot wrote it."
	case CodeBridgeBot:
		return "The bridge wrote it, not a person."
	case CodeUnknownAuthor:
		return "I could not tell who wrote it."
	case CodeNotAllowed:
		return "Only you and your operators command me."
	default:
		return c.gateSentence()
	}
}

func (c Code) gateSentence() string {
	switch c {
	case CodeNoChat:
		return "This kind of room is never listened to or written in."
	case CodeOff:
		return "The chat is off."
	case CodeSilent:
		return "The chat is silent."
	case CodeNotAddressed:
		return "Nobody called me by my name."
	case CodeNote:
		return "It is a note among the people in the thread."
	case CodeOwnerActive:
		return "You were writing here yourself."
	case CodeMinuteCap:
		return "I already answered often enough within a minute."
	case CodeDayCap:
		return "I already answered often enough within a day."
	case CodeAllowed:
		return "No rule forbids it."
	case CodeUnknownPurpose:
		return "I could not tell what this text is for."
	case CodeWrongSender:
		return "It would have gone out under the wrong name."
	case CodeNoRoom:
		return "The chat has no room at the moment."
	case CodeTombstoned:
		return "The room was replaced by another one."
	case CodeUnverified:
		return "Nobody has confirmed that a bridge of yours made this room; /bridges asks you."
	case CodeEncrypted:
		return "It is encrypted, and I am waiting for its key."
	case CodeUntrusted:
		return "It came from a device that I cannot tell is yours."
	case CodeBridged:
		return "A bridge sent it in your name; in this room only your own Matrix client counts."
	case CodeRoomClosed:
		return "It was written in a room that I no longer use."
	case CodeEncryptionUnknown:
		return "I do not know whether the room is encrypted, so I send nothing in plain text."
	case CodeNoSource:
		return "The answer quotes no source."
	case CodeUnsupported:
		return "A number or an address in it is in none of its sources."
	case CodeNotice:
		return "Bridges drop notices; it must be plain text."
	case CodeEmpty:
		return "There was nothing to send."
	case CodeTooLong:
		return "The text is too long for one message."
	case CodeControl:
		return "The text has broken or invisible control characters."
	case CodeQuoteDeleted:
		return "It quoted a message that was deleted."
	case CodeSecret:
		return "It held a key or a password of my configuration, so I stopped it."
	case CodeBridgeCommand:
		return "The bridge would take the text for a command."
	default:
		return c.networkSentence()
	}
}

// LacksRoom reports whether the chat has no room to send to at the moment. A chat whose room is being replaced soon gets another.
func (c Code) LacksRoom() bool { return c == CodeNoRoom || c == CodeTombstoned }

func (c Code) networkSentence() string {
	switch c {
	case CodeNetworkLimit:
		return "The text is longer than the network takes in one message."
	case CodeNoFiles:
		return "The network takes no files of this kind."
	case CodeFileTooBig:
		return "The file is larger than the network takes."
	case CodeNoCaptions:
		return "The network takes no such text beside a file."
	case CodeNoEdits:
		return "The network does not let messages be changed."
	case CodeNoReactions:
		return "The network takes no reactions."
	case CodeHook:
		return "A command hook of yours stopped it."
	case CodePartMissing:
		return "An earlier part of it was not sent."
	case CodeShadow:
		return "You set the chat to shadow answers before it was sent."
	case CodeRestoreDropped:
		return "A backup was restored, and you dropped what it would send."
	case CodeDraftDropped:
		return "You dropped the draft."
	case CodeDraftChanged:
		return "You changed the draft; another one took its place."
	case CodeDraftExpired:
		return "It was a draft, and nobody approved it in time."
	case CodeDraftOutdated:
		return "Something was written, changed or deleted in the chat after it was drafted."
	case CodeDraftAnswered:
		return "A person answered in the chat."
	case CodeDraftMode:
		return "The mode or the delivery of the chat was changed."
	case CodeDraftSource:
		return "A document that it cites was changed or removed."
	case CodeDraftRefused:
		return "You asked for a different draft."
	case CodeDraftLate:
		return "Something changed in the chat before it was sent."
	default:
		return c.stopSentence()
	}
}

// stopSentence returns the sentence of a reason that lasts until the owner ends it.
func (c Code) stopSentence() string {
	switch c {
	case CodeRestored:
		return "A backup was restored, and you had not yet said that I may continue; /restored asks you."
	case CodeSafeMode:
		return "I am in safe mode; /safe says why."
	case CodePausedAll:
		return "Everything is paused; /resume ends it."
	case CodePausedChat:
		return "This chat is paused; /resume ends it."
	default:
		return ""
	}
}
