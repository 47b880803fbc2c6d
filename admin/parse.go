package admin

import (
	"strconv"
	"strings"
	"unicode"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// parseCommand splits a text into the name of a command, in lower case, and its arguments. For a text that is no command,
// name is empty and rest is the text.
func parseCommand(text string) (name, rest string) {
	command, isCommand := policy.CutCommandSign(text)
	if !isCommand {
		return "", strings.TrimSpace(text)
	}
	end := strings.IndexFunc(command, unicode.IsSpace)
	if end < 0 {
		end = len(command)
	}
	return strings.ToLower(command[:end]), strings.TrimSpace(command[end:])
}

// typedText returns what the author of a message typed: its text without the placeholder for a file. It is empty for a
// sticker or a place, whose name the author did not type.
func typedText(m store.Message) string {
	switch bridgebridge.MessageKind(m.Kind) {
	case bridgebridge.Text:
		return m.Body
	case bridgebridge.Sticker, bridgebridge.Location, bridgebridge.Poll, bridgebridge.Contact, bridgebridge.Call, bridgebridge.Other:
		return ""
	default: // a file may have a caption
	}
	if m.Attachment != nil {
		if caption, found := strings.CutPrefix(m.Body, "[file "+m.Attachment.Name+"]"); found {
			return strings.TrimSpace(caption)
		}
	}
	if !strings.HasPrefix(m.Body, "[") {
		return m.Body
	}
	_, caption, _ := strings.Cut(m.Body, "]")
	return strings.TrimSpace(caption)
}

// isQuestion reports whether a message changes nothing but may take long, because a model or a search answers it.
func isQuestion(m store.Message) bool {
	if m.Code == policy.CodeTranscribed {
		return true
	}
	if m.Kind != string(bridgebridge.Text) {
		return false
	}
	name, rest := parseCommand(m.Body)
	if name != "" {
		return mayTakeLong(name, rest)
	}
	_, chosen := parseChoice(rest)
	return !chosen
}

// mayTakeLong reports whether a command may wait for a model or a search, and changes nothing.
func mayTakeLong(name, args string) bool {
	switch name {
	case "ask", "search", "brief", "rehearse":
		return true
	default:
		return name == "business" && strings.HasPrefix(strings.ToLower(args), "preview ")
	}
}

// choice is a short answer to a question: a number, a word, or a reaction that means one of these.
type choice struct {
	number int    // zero for a word
	word   string // in lower case; empty for a number
	// onPage says that the number counts from the first entry of the message that was reacted to.
	onPage bool
}

// The words that common reactions mean.
const (
	wordMore = "more"
	wordYes  = "yes"
	wordNo   = "no"
)

// parseReaction reads a reaction as a choice. It returns false for a reaction that means none.
func parseReaction(key string) (choice, bool) {
	switch key = policy.PlainEmoji(key); key {
	case "➡", "▶", "⏩":
		return choice{word: wordMore}, true
	case "👍", "✅", "✔":
		return choice{word: wordYes}, true
	case "👎", "❌":
		return choice{word: wordNo}, true
	case "🔟":
		return choice{number: 10, onPage: true}, true
	}
	digit, found := strings.CutSuffix(key, "\u20e3")
	if !found || len(digit) != 1 || digit < "1" || digit > "9" {
		return choice{}, false
	}
	return choice{number: int(digit[0] - '0'), onPage: true}, true
}

// maxChoice is the largest number that is a choice. A larger one is more likely a question about a number.
const maxChoice = 9999

// parseChoice reads a typed text as a choice. It returns false for a longer text, and for a word that no question accepts.
func parseChoice(text string) (choice, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if c, ok := parseReaction(text); ok {
		return c, ok
	}
	if text == "0" || text == "cancel" {
		return choice{word: wordNo}, true
	}
	number, digits := 0, strings.TrimPrefix(strings.TrimRight(text, ".)"), "#")
	for _, r := range digits {
		if r < '0' || r > '9' || number > maxChoice {
			return choice{word: text}, isAnswerWord(text)
		}
		number = number*10 + int(r-'0')
	}
	return choice{number: number}, digits != "" && number >= 1 && number <= maxChoice
}

// isAnswerWord reports whether a word can answer a question of the admin room: yes, no, more, a mode.
func isAnswerWord(word string) bool {
	switch word {
	case wordMore, "next", wordYes, wordNo, "skip":
		return true
	}
	_, isRole := parseRole(word)
	return isRole || policy.Mode(word).Valid()
}

// parseRole reads the word for who may see a document.
func parseRole(word string) (policy.Role, bool) {
	switch strings.ToLower(word) {
	case "public", "kb", "everybody":
		return policy.RolePublic, true
	case "admin", "me", "private":
		return policy.RoleAdmin, true
	default:
		return "", false
	}
}

// parseEventLink returns the event id in a link to a message, or the id itself.
func parseEventLink(args string) id.EventID {
	link := strings.TrimSpace(args)
	if uri, err := id.ParseMatrixURIOrMatrixToURL(link); err == nil && uri != nil && uri.EventID() != "" {
		return uri.EventID()
	}
	event, _, _ := strings.Cut(link[strings.IndexByte(link, '$'):], "?")
	event, _, _ = strings.Cut(event, " ")
	return id.EventID(event)
}

// parseNumber reads the number of a job, a task or a commitment, such as 12 or #12. It returns zero for anything else.
func parseNumber(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil {
		return 0
	}
	if n < 1 {
		return 0
	}
	return n
}
