package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"multis/bridgebridge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// pageSize is how many entries of a list are shown at once.
const pageSize = 10

// noticeLetter is a letter that says something in an admin room. whole says that nothing of it may be missing, because somebody is to agree to
// it: what is too long for a message is then attached to its beginning as a file.
func noticeLetter(room store.Chat, markdown string, kind outbox.NoticeKind, whole bool) outbox.Message {
	if !whole || len([]rune(text.Clean(markdown))) < outbox.MaxNotice {
		return outbox.Notice(room, markdown, kind)
	}
	hint := ""
	if at := strings.LastIndex(markdown, "\n\n"); at >= 0 {
		hint = text.Clip(markdown[at:], outbox.MaxNotice/4)
	}
	letter := outbox.Notice(room, text.Clip(markdown, outbox.MaxNotice/2)+"\n\n✂️ **This is only its beginning.** The file has all of it."+hint, kind)
	letter.File = &outbox.File{Name: "question.txt", MIME: "text/plain", Data: []byte(outbox.PlainText(markdown) + "\n")}
	return letter
}

// esc makes somebody else's words stand in Markdown as what they are.
func esc(s string) string { return text.Escape(text.OneLine(s)) }

// code shows somebody else's words as something that is typed.
func code(s string) string { return "`" + strings.ReplaceAll(text.OneLine(s), "`", "'") + "`" }

// quote is esc with the marks around it, cut to n characters.
func quote(s string, n int) string { return "“" + esc(text.Clip(strings.TrimSpace(s), n)) + "”" }

// label names a chat to people: "Ana · WhatsApp", "Family · WhatsApp group", and "Ana · WhatsApp #12" when there are two of them.
func label(c store.Chat) string {
	text := labelOf(c.Name, c.Protocol, c.Kind == policy.KindGroup)
	if c.Namesake {
		text += fmt.Sprintf(" #%d", c.ID)
	}
	return text
}

// typedName is how a chat is written in a command.
func typedName(c store.Chat) string {
	name := bridgebridge.DisplayName(c.Name)
	if c.Namesake {
		name += fmt.Sprintf(" #%d", c.ID)
	}
	return name
}

func labelOf(name, protocol string, group bool) string {
	name = bridgebridge.DisplayName(name) + " · " + bridgebridge.NetworkName(protocol)
	if group {
		name += " group"
	}
	return name
}

// labels names chats in bold.
func labels(chats []store.Chat) []string {
	names := make([]string, len(chats))
	for i, c := range chats {
		names[i] = "**" + esc(label(c)) + "**"
	}
	return names
}

// privateMark marks what customers never see.
func privateMark(role policy.Role) string {
	if role == policy.Public {
		return ""
	}
	return " (only you)"
}

// visibility says who may see data of a role.
func visibility(role policy.Role) string {
	switch role {
	case policy.Public:
		return "public"
	case policy.Admin:
		return "only you"
	default:
		return "of one chat"
	}
}

// bodyOf is the text of an outgoing event.
func bodyOf(o store.Out) string {
	var content struct {
		Body string `json:"body"`
		New  struct {
			Body string `json:"body"`
		} `json:"m.new_content"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "" // we wrote it ourselves; a text that cannot be shown is no reason to explain nothing
	}
	return cmp.Or(content.New.Body, content.Body)
}

// logRef is a short mark by which an outgoing event is found in the log.
func logRef(out uuid.UUID) string {
	text := out.String()
	return "#" + text[len(text)-4:]
}

// fileSize writes a size of a file.
func fileSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d KB", max(1, n>>10))
	}
}

// endSentence ends a text with a full stop, unless it has its own end.
func endSentence(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(last) || unicode.IsDigit(last) {
		return s + "."
	}
	return s
}
