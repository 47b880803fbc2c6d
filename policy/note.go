package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"multis/internal/text"
)

// NoteMarker marks a message in the thread of an escalation as a note.
const NoteMarker = "📝"

// IsNote reports whether a message in the thread of an escalation is for the people there and not for the contact: it
// begins with "note", with 📝, or with an @, which addresses another person. Markup, other emoji, invisible characters and
// look-alike letters do not hide these signs.
func IsNote(s string) bool {
	s = strings.TrimLeftFunc(text.Fold(text.Clean(s)), func(r rune) bool { // all else that is no word, such as other emoji
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("@"+NoteMarker+"🗒", r)
	})
	if strings.HasPrefix(s, NoteMarker) || strings.HasPrefix(s, "🗒") || strings.HasPrefix(s, "@") {
		return true
	}
	word := s
	if end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = s[:end]
	}
	switch strings.Map(likeLatin, strings.ToLower(word)) {
	case "note", "notes":
		return true
	default:
		return false
	}
}

// likeLatin returns the letter of "notes" that a Greek, Cyrillic or Armenian letter looks like; other letters unchanged.
func likeLatin(r rune) rune {
	switch r {
	case 'о', 'ο', 'օ', 'ᴏ':
		return 'o'
	case 'е', 'ε', 'є', 'ҽ', 'ᴇ':
		return 'e'
	case 'т', 'τ', 'ᴛ':
		return 't'
	case 'п', 'ո', 'ռ', 'η', 'ν', 'ɴ', 'и':
		return 'n'
	case 'ѕ':
		return 's'
	default:
		return r
	}
}

// IsThreadCommand reports whether a message in the thread of an escalation is a command, or one of the signs that claim
// or resolve it, and so does not go to the contact.
func IsThreadCommand(s string) bool {
	typed := strings.TrimSpace(text.Fold(text.Clean(s))) // input methods of Chinese and Japanese write ／ and ！
	return IsSigned(typed) || ThreadSignOf(s) != ""
}

// IsTakeover reports whether a message in the thread of an escalation says that a person has the conversation: a reply,
// or a sign that says so.
func IsTakeover(s string) bool {
	return ThreadSignOf(s).IsTakeover() || !IsNote(s) && !IsThreadCommand(s) && LearnNumber(s) == 0
}

// CannedNumber reads a message in the thread of an escalation that is the number of one of the owner's answers, as in
// "#2". found is false for any other message.
func CannedNumber(s string) (number int64, found bool) {
	digits, found := strings.CutPrefix(strings.TrimSpace(text.Clean(s)), "#")
	if !found || len(digits) == 0 || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, err == nil
}

// LearnNumber reads a message in the thread of an escalation that keeps a proposal as the owner's answer: "learn", or
// "learn 2" for the second one. It returns the number of the proposal, from 1; 0 for any other message.
func LearnNumber(s string) int {
	words := strings.Fields(strings.ToLower(text.Clean(s)))
	switch {
	case len(words) == 1 && words[0] == "learn":
		return 1
	case len(words) == 2 && words[0] == "learn":
		number, err := strconv.Atoi(words[1])
		if err != nil {
			return 0
		}
		return max(number, 0)
	default:
		return 0
	}
}

// ThreadSign is what a reaction to the card of an escalation does.
type ThreadSign string

// The signs.
const (
	SignClaim   ThreadSign = "✋" // whoever sets it answers there
	SignResolve ThreadSign = "✅" // it is done, and the assistant answers again
	SignPause   ThreadSign = "⏸" // the assistant stays quiet there until it is resolved
	SignSend    ThreadSign = "👍" // the first proposal is sent
	SignSecond  ThreadSign = "2" // the second one
	SignThird   ThreadSign = "3"
	SignNote    ThreadSign = NoteMarker
)

// IsTakeover reports whether a sign says that a person has the conversation, so that the assistant stays quiet in the
// chat with the contact.
func (s ThreadSign) IsTakeover() bool {
	return slices.Contains([]ThreadSign{SignClaim, SignPause, SignSend, SignSecond, SignThird}, s)
}

// ThreadSignOf reads a reaction, or a text that is nothing else; empty for any other.
func ThreadSignOf(s string) ThreadSign {
	s = PlainEmoji(strings.TrimSpace(text.Clean(s)))
	switch s {
	case "✋", "🤚", "🖐", "🙋", "🙋‍♀", "🙋‍♂":
		return SignClaim
	case "✅", "✔", "☑":
		return SignResolve
	case "⏸":
		return SignPause
	case "👍", "1\u20e3":
		return SignSend
	case "2\u20e3":
		return SignSecond
	case "3\u20e3":
		return SignThird
	case NoteMarker, "🗒":
		return SignNote
	default:
		return ""
	}
}

// RefusalReason reads a reply to a draft that begins with 👎 or ❌, and returns what is written behind the sign. isRefusal
// is false for any other text.
func RefusalReason(s string) (reason string, isRefusal bool) {
	s = PlainEmoji(strings.TrimSpace(text.Clean(s)))
	for _, sign := range []string{"👎", "❌"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			isSign := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.In(r, unicode.Sk) }
			return strings.TrimLeftFunc(rest, isSign), true
		}
	}
	return "", false
}
