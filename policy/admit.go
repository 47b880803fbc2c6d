package policy

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"multis/internal/text"
)

// Action is what multis does with an incoming event. The zero value is not valid.
type Action string

// The actions. Their values are stored: after the first release they are not renamed, because the previous build runs
// beside this one during an upgrade.
const (
	ActionIgnore     Action = "ignore"     // nothing is stored
	ActionArchive    Action = "archive"    // stored only
	ActionTranscribe Action = "transcribe" // stored; Admit decides again once the voice note is transcribed
	ActionAnswer     Action = "answer"     // stored, and the assistant answers
	ActionEscalate   Action = "escalate"   // stored, and escalated to a person
	ActionCommand    Action = "command"    // run as a command of the owner or an operator
)

// Admission is the decision of Admit: what to do, a code that stays the same between versions, and a sentence for people.
type Admission struct {
	Action Action
	Code   Code
	Why    string
}

// Rate is a number of messages in the last minute and in the last day. As a cap, zero allows none.
type Rate struct {
	Minute int
	Day    int
}

// reachedPeriod returns the period whose cap is reached: "minute", "day", or empty for neither.
func (c Rate) reachedPeriod(caps Rate) string {
	switch {
	case c.Minute >= caps.Minute:
		return "minute"
	case c.Day >= caps.Day:
		return "day"
	default:
		return ""
	}
}

// AdmitInput has everything that Admit needs for a decision. Events with the zero value are ignored.
type AdmitInput struct {
	Mode   Mode
	Kind   Kind
	Author Author

	Name   string // the assistant's name
	Text   string // the author's words; empty for a sticker, a voice note or a picture without a caption
	Notice bool   // an m.notice, the message type of bots
	Voice  bool   // a voice note that can be transcribed
	// HasAttachment is true for what must be looked at: a picture, a video, a recording, a file, a place, a poll, what the bridge can only
	// describe. IsViewable is true if it is a picture that a model can look at.
	HasAttachment bool
	IsViewable    bool

	SentAt   time.Time     // the event's own timestamp
	Now      time.Time     // the time of the decision
	MaxAge   time.Duration // older messages are stored but not answered; zero means none is answered
	WasFresh bool          // an earlier decision found the message younger than MaxAge, so its age is not checked again
	Backfill bool          // history that a bridge or another source imported later
	Edited   bool          // an edit of an earlier message
	// AwaitsReply is true while the assistant waits for the contact's reply to a question: then a bare "ok" is a reply.
	AwaitsReply bool

	Presence
	Restore

	EscalationKeywords []string // words and phrases that escalate to a person

	Stored, StoreCap Rate // messages, notices and edits stored from the contact, and the cap
	Sent, SendCap    Rate // answers sent to the contact, and the cap
}

// Presence says whether the assistant must stay quiet, regardless of the message. The zero value does not keep it quiet.
type Presence struct {
	PausedAll     bool
	PausedChat    bool
	OwnerWroteAt  time.Time     // when the owner or an operator last wrote in this chat by hand; zero for never
	OperatorWrote string        // the name of that operator; empty for the owner
	OwnerPause    time.Duration // how long the assistant then stays quiet; zero for not at all
}

// isOwnerActive reports whether the owner wrote less than OwnerPause ago. A time after now counts as recent.
func (p Presence) isOwnerActive(now time.Time) bool {
	return !p.OwnerWroteAt.IsZero() && p.OwnerPause > 0 && now.Sub(p.OwnerWroteAt) < p.OwnerPause
}

// Admit decides what to do with one event. It runs once, when the event arrives, so that a crash and a later retry cannot make an old
// message fresh again. Gate checks again, before an answer is sent, what can change until then.
func Admit(in AdmitInput) Admission {
	if in.Kind == KindAdmin {
		return admitCommand(in)
	}
	switch {
	case !in.Kind.isPortal():
		return in.admission(ActionIgnore, CodeNoChat)
	case in.Mode == ModeOff || !in.Mode.Valid():
		return in.admission(ActionIgnore, CodeOff)
	case in.Author.IsCapped() && !in.Backfill && !in.isStale() && in.Stored.reachedPeriod(in.StoreCap) != "":
		return in.admission(ActionIgnore, CodeFlood)
	case in.Author != AuthorContact:
		return admitOther(in)
	case in.Notice && !in.needsViewer():
		return in.admission(ActionArchive, CodeBot)
	}
	if silence := in.silenceCode(); silence != "" {
		return in.admission(ActionArchive, silence)
	}
	return admitQuestion(in)
}

// isStale reports whether the message is too old to be answered. Stale messages are stored without a cap, because a bridge delivers many at
// once after an outage or at its first start, and they start no work.
func (in AdmitInput) isStale() bool {
	return !in.WasFresh && (in.MaxAge <= 0 || in.Now.Sub(in.SentAt) > in.MaxAge)
}

// needsTranscript reports whether the message is a voice note that must be transcribed first. In chats where the
// assistant must be addressed by name, voice notes are not transcribed.
func (in AdmitInput) needsTranscript() bool {
	return in.Voice && !hasWords(in.Text) && !mustBeAddressed(in.Mode, in.Kind)
}

// needsViewer reports whether the message has a picture or a file, in a chat where the assistant need not be addressed by
// name. Such a message is escalated, or a model looks at the picture before the message is answered: it is never answered
// from its text alone.
func (in AdmitInput) needsViewer() bool { return in.HasAttachment && NeedsViewer(in.Mode, in.Kind) }

// NeedsViewer reports whether a picture or a file in a chat must be looked at by a person or a model.
func NeedsViewer(mode Mode, kind Kind) bool {
	return mode == ModeBusiness && !mustBeAddressed(mode, kind)
}

// silenceCode returns why a contact's message gets no answer; empty if it may get one.
func (in AdmitInput) silenceCode() Code {
	switch {
	case in.Mode == ModeSilent:
		return CodeSilent
	case in.Backfill:
		return CodeBackfill
	case in.forbidsAnswer(in.SentAt):
		return CodeRestored
	case in.isStale():
		return CodeStale
	case in.Edited:
		return CodeEdited
	case !hasWords(in.Text) && !in.needsTranscript() && !in.needsViewer():
		return CodeNoText
	case mustBeAddressed(in.Mode, in.Kind) && !MentionsName(in.Name, in.Text):
		return CodeNotAddressed
	case in.PausedAll:
		return CodePausedAll
	case in.PausedChat:
		return CodePausedChat
	case in.isOwnerActive(in.Now):
		return CodeOwnerActive
	case AsksToStop(in.Text):
		return CodeAskedToStop
	case !in.Notice && IsAcknowledgement(in.Text, in.Name) && !in.needsViewer() && !in.AwaitsReply:
		return CodeAcknowledged
	default:
		return ""
	}
}

// admitQuestion decides whether a message is answered, escalated or first transcribed.
func admitQuestion(in AdmitInput) Admission {
	keyword, found := FindKeyword(in.EscalationKeywords, in.Text)
	switch {
	case in.needsTranscript():
		return in.admission(ActionTranscribe, CodeTranscribing)
	case in.Notice: // its words are the bridge's
		return in.admission(ActionEscalate, CodeAttached)
	case in.Mode == ModeBusiness && IsDanger(in.Text):
		return in.admission(ActionEscalate, CodeDanger)
	case found && in.Mode == ModeBusiness:
		return Admission{ActionEscalate, CodeKeyword, fmt.Sprintf("The word %q escalates to a person.", keyword)}
	case WantsHuman(in.Text):
		return in.admission(ActionEscalate, CodeWantsHuman)
	case in.Mode == ModeBusiness && WantsAction(in.Text):
		return in.admission(ActionEscalate, CodeWantsAction)
	case in.needsViewer() && !in.IsViewable:
		return in.admission(ActionEscalate, CodeAttached)
	case WantsReminder(in.Text):
		return in.admission(ActionEscalate, CodeReminder)
	case in.Sent.reachedPeriod(in.SendCap) == "minute":
		return in.admission(ActionEscalate, CodeMinuteCap)
	case in.Sent.reachedPeriod(in.SendCap) == "day":
		return in.admission(ActionEscalate, CodeDayCap)
	default:
		return in.admission(ActionAnswer, CodeAnswer)
	}
}

// admitCommand decides about an event in the admin room. What the owner or an operator writes there is a command, however old it is.
// Backfill, edits and what was written before a backup was restored are no commands, so that none runs twice.
func admitCommand(in AdmitInput) Admission {
	refused := AdminEvent{Author: in.Author}.Refusal()
	switch {
	case refused.IsReportedRefusal():
		return in.admission(ActionArchive, refused)
	case refused != "":
		return in.admission(ActionIgnore, refused)
	case in.Notice:
		return in.admission(ActionIgnore, CodeBot)
	case in.Backfill:
		return in.admission(ActionIgnore, CodeBackfill)
	case in.Edited:
		return in.admission(ActionIgnore, CodeEdited)
	case in.forbidsCommand(in.SentAt):
		return in.admission(ActionArchive, CodeRestored)
	case in.Voice && in.Author.MayCommandAsOwner() && !hasWords(in.Text):
		return in.admission(ActionTranscribe, CodeTranscribing)
	default:
		return in.admission(ActionCommand, CodeCommand)
	}
}

// admitOther decides about an event in a chat whose author is not a contact. Such an event is never answered. It is
// stored if a person or another bot wrote it.
func admitOther(in AdmitInput) Admission {
	switch in.Author {
	case AuthorOwnerClient, AuthorOwnerPhone:
		return in.admission(ActionArchive, CodeOwnerWrote)
	case AuthorOperator:
		return in.admission(ActionArchive, CodeOperatorWrote)
	case AuthorMultisOwner:
		return in.admission(ActionArchive, CodeEcho)
	case AuthorOtherBot:
		return in.admission(ActionArchive, CodeBot)
	case AuthorMultisBot:
		return in.admission(ActionIgnore, CodeEcho)
	case AuthorBridgeBot:
		return in.admission(ActionIgnore, CodeBridgeBot)
	default:
		return in.admission(ActionIgnore, CodeUnknownAuthor)
	}
}

// mustBeAddressed reports whether the assistant answers only when it is addressed by name: in personal chats and in every group.
func mustBeAddressed(mode Mode, kind Kind) bool { return mode == ModePersonal || kind == KindGroup }

// hasWords reports whether a text has a letter or a digit, and not only emoji and punctuation.
func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// admission returns the decision with the sentence for its code.
func (in AdmitInput) admission(action Action, code Code) Admission {
	return Admission{Action: action, Code: code, Why: in.sentence(code)}
}

// sentence returns the reason as a sentence, with the numbers of this message.
func (in AdmitInput) sentence(code Code) string {
	switch code {
	case CodeAnswer:
		return fmt.Sprintf("The chat is %s, the message was %s old, you were away.", in.Mode, text.Duration(in.Now.Sub(in.SentAt)))
	case CodeStale:
		return fmt.Sprintf("It was %s old when it arrived; I answer what is at most %s old.", text.Duration(in.Now.Sub(in.SentAt)),
			text.Duration(in.MaxAge))
	case CodeOwnerActive:
		return ownerActiveSentence(in.Presence, in.Now)
	case CodeFlood:
		return fmt.Sprintf("Too many messages: I keep %d a minute and %d a day from one contact.", in.StoreCap.Minute, in.StoreCap.Day)
	case CodeMinuteCap:
		return fmt.Sprintf("I already answered %d times within a minute; a person takes over.", in.Sent.Minute)
	case CodeDayCap:
		return fmt.Sprintf("I already answered %d times within a day; a person takes over.", in.Sent.Day)
	case CodeNotAddressed:
		return fmt.Sprintf("In %s chats I answer only when somebody calls me %s.", placeName(in.Mode, in.Kind), in.Name)
	default:
		return code.Sentence()
	}
}

// placeName returns the word for a chat in a sentence: "group", or the mode.
func placeName(mode Mode, kind Kind) string {
	if kind == KindGroup {
		return "group"
	}
	return string(mode)
}

func ownerActiveSentence(p Presence, now time.Time) string {
	return fmt.Sprintf("%s wrote here %s ago; I stay quiet for %s after that.", cmp.Or(p.OperatorWrote, "You"),
		text.Duration(now.Sub(p.OwnerWroteAt)), text.Duration(p.OwnerPause))
}
