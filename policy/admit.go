package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"multis/text"
)

// Action is what is done with an event that came in. The zero value is not valid.
type Action string

// The actions, from the least to the most that is done.
const (
	ActionIgnore     Action = "ignore"  // nothing is stored
	ActionArchive    Action = "archive" // stored, and that is all
	ActionTranscribe Action = "listen"  // stored, and judged again when what the recording says is known
	ActionAnswer     Action = "answer"  // stored, and a turn is asked for
	ActionEscalate   Action = "handoff" // stored, and a person is asked for
	ActionCommand    Action = "command" // carried out as the owner's or an operator's command
)

// Admission is what Admit decided, with a code that stays the same between versions and a sentence that says why.
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

// reachedSpan gives the span in which a cap is reached: "minute", "day" or nothing.
func (c Rate) reachedSpan(caps Rate) string {
	switch {
	case c.Minute >= caps.Minute:
		return "minute"
	case c.Day >= caps.Day:
		return "day"
	default:
		return ""
	}
}

// AdmitInput is all that Admit looks at. Its zero value is ignored.
type AdmitInput struct {
	Mode   Mode
	Kind   Kind
	Author Author

	Name   string // the assistant's name
	Text   string // the words the author wrote: empty for a sticker, a voice note, a picture without a caption
	Notice bool   // an m.notice, which is how bots speak
	Voice  bool   // a recording that can be turned into words

	SentAt   time.Time     // when it was written, by the event's own time
	Now      time.Time     // when it is judged
	MaxAge   time.Duration // what is older is stored but not answered; zero answers nothing
	WasFresh bool          // it was judged before, and was young enough then
	Backfill bool          // history that a bridge or a door brought in afterwards
	Edited   bool          // a change of an earlier message

	Presence

	Keywords []string // words that hand over to a person

	Stored, StoreCap Rate // the contact's messages, notices and edits kept so far, and how many are kept
	Sent, SendCap    Rate // answers given to the contact so far, and how many are given
}

// Presence is what keeps the assistant quiet whatever is asked. Its zero value keeps nothing quiet.
type Presence struct {
	PausedAll    bool
	PausedChat   bool
	OwnerWroteAt time.Time     // when the owner last wrote in this chat by hand; zero for never
	OwnerPause   time.Duration // how long the assistant then stays quiet; zero for not at all
}

// isOwnerActive reports whether the owner wrote so recently that the chat is his. A time that is ahead of now counts as recent.
func (p Presence) isOwnerActive(now time.Time) bool {
	return !p.OwnerWroteAt.IsZero() && p.OwnerPause > 0 && now.Sub(p.OwnerWroteAt) < p.OwnerPause
}

// Admit decides what is done with one event. It is asked once, when the event comes in, so that a crash later does not make
// an old message fresh again; what can change until the answer is sent is asked again by Gate.
func Admit(in AdmitInput) Admission {
	if in.Kind == KindAdmin {
		return admitCommand(in)
	}
	switch {
	case !in.Kind.isPortal():
		return in.admission(ActionIgnore, CodeNoChat)
	case in.Mode == ModeOff || !in.Mode.Valid():
		return in.admission(ActionIgnore, CodeOff)
	case in.Author.Capped() && !in.Backfill && !in.stale() && in.Stored.reachedSpan(in.StoreCap) != "":
		return in.admission(ActionIgnore, CodeFlood)
	case in.Author != AuthorContact:
		return admitOther(in)
	case in.Notice:
		return in.admission(ActionArchive, CodeBot)
	}
	if silence := in.silenceCode(); silence != "" {
		return in.admission(ActionArchive, silence)
	}
	return admitQuestion(in)
}

// stale reports whether the message is too old to be answered. Such messages are kept without a cap: they are what a bridge
// brings after an outage or from before its time, and start nothing.
func (in AdmitInput) stale() bool {
	return !in.WasFresh && (in.MaxAge <= 0 || in.Now.Sub(in.SentAt) > in.MaxAge)
}

// needsTranscript reports whether the words are still to be had. Only where an answer needs no call by name is it worth listening.
func (in AdmitInput) needsTranscript() bool {
	return in.Voice && !hasWords(in.Text) && !mustBeAddressed(in.Mode, in.Kind)
}

// silenceCode gives the reason why a contact's message gets no answer; empty when it may get one.
func (in AdmitInput) silenceCode() Code {
	switch {
	case in.Mode == ModeSilent:
		return CodeSilent
	case in.Backfill:
		return CodeBackfill
	case in.stale():
		return CodeStale
	case in.Edited:
		return CodeEdited
	case !hasWords(in.Text) && !in.needsTranscript():
		return CodeNoText
	case mustBeAddressed(in.Mode, in.Kind) && !Addressed(in.Name, in.Text):
		return CodeNotAddressed
	case in.PausedAll:
		return CodePausedAll
	case in.PausedChat:
		return CodePausedChat
	case in.isOwnerActive(in.Now):
		return CodeOwnerActive
	case IsStop(in.Text):
		return CodeAskedToStop
	case IsAcknowledgement(in.Text, in.Name):
		return CodeAcknowledged
	default:
		return ""
	}
}

// admitQuestion decides between the assistant and a person for a message that gets an answer.
func admitQuestion(in AdmitInput) Admission {
	keyword, found := FindKeyword(in.Keywords, in.Text)
	switch {
	case in.needsTranscript():
		return in.admission(ActionTranscribe, CodeTranscribing)
	case found && in.Mode == ModeBusiness:
		return Admission{ActionEscalate, CodeKeyword, fmt.Sprintf("The word %q hands over to a person.", keyword)}
	case WantsHuman(in.Text):
		return in.admission(ActionEscalate, CodeWantsHuman)
	case WantsReminder(in.Text):
		return in.admission(ActionEscalate, CodeReminder)
	case in.Sent.reachedSpan(in.SendCap) == "minute":
		return in.admission(ActionEscalate, CodeCapMinute)
	case in.Sent.reachedSpan(in.SendCap) == "day":
		return in.admission(ActionEscalate, CodeCapDay)
	default:
		return in.admission(ActionAnswer, CodeAnswer)
	}
}

// admitCommand judges the admin room: what the owner and the operators write there is a command, however old, unless it is
// history. Edits are left alone, so that no command runs twice.
func admitCommand(in AdmitInput) Admission {
	switch {
	case in.Author == AuthorMultisBot || in.Author == AuthorMultisOwner:
		return in.admission(ActionIgnore, CodeEcho)
	case !in.Author.IsOwner() && in.Author != AuthorOperator:
		return in.admission(ActionIgnore, CodeNotAllowed)
	case in.Notice:
		return in.admission(ActionIgnore, CodeBot)
	case in.Backfill:
		return in.admission(ActionIgnore, CodeBackfill)
	case in.Edited:
		return in.admission(ActionIgnore, CodeEdited)
	case in.Voice && in.Author.IsOwner() && !hasWords(in.Text):
		return in.admission(ActionTranscribe, CodeTranscribing)
	default:
		return in.admission(ActionCommand, CodeCommand)
	}
}

// admitOther judges what in a chat was not written by a contact: kept as part of the conversation, never answered.
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

// mustBeAddressed reports whether the assistant speaks only when called by its name: in personal chats and in every group.
func mustBeAddressed(mode Mode, kind Kind) bool { return mode == ModePersonal || kind == KindGroup }

// hasWords reports whether there is anything to answer: a letter or a digit, not only emoji and signs.
func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func (in AdmitInput) admission(action Action, code Code) Admission {
	return Admission{Action: action, Code: code, Why: in.sentence(code)}
}

// sentence says a code's reason with the numbers of this message.
func (in AdmitInput) sentence(code Code) string {
	switch code {
	case CodeAnswer:
		return fmt.Sprintf("The chat is %s, the message was %s old, you were away.", in.Mode, text.Duration(in.Now.Sub(in.SentAt)))
	case CodeStale:
		return fmt.Sprintf("It was %s old when it arrived; I answer what is at most %s old.", text.Duration(in.Now.Sub(in.SentAt)), text.Duration(in.MaxAge))
	case CodeOwnerActive:
		return ownerActiveSentence(in.Presence, in.Now)
	case CodeFlood:
		return fmt.Sprintf("Too many messages: I keep %d a minute and %d a day from one contact.", in.StoreCap.Minute, in.StoreCap.Day)
	case CodeCapMinute:
		return fmt.Sprintf("I already answered %d times within a minute; a person takes over.", in.Sent.Minute)
	case CodeCapDay:
		return fmt.Sprintf("I already answered %d times within a day; a person takes over.", in.Sent.Day)
	case CodeNotAddressed:
		return fmt.Sprintf("In %s chats I answer only when somebody calls me %s.", placeName(in.Mode, in.Kind), in.Name)
	default:
		return code.Sentence()
	}
}

func placeName(mode Mode, kind Kind) string {
	if kind == KindGroup {
		return "group"
	}
	return string(mode)
}

func ownerActiveSentence(p Presence, now time.Time) string {
	return fmt.Sprintf("You wrote here %s ago; I stay quiet for %s after that.", text.Duration(now.Sub(p.OwnerWroteAt)), text.Duration(p.OwnerPause))
}
