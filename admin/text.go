package admin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// pageSize is how many entries of a list are shown at once.
const pageSize = 10

// noticeMessage returns a notice for a room. If whole is true and the text is too long for a message, a file has the full
// text, because the owner must be able to read what a question is about.
func noticeMessage(room store.Chat, markdown string, kind outbox.NoticeKind, whole bool) outbox.Message {
	if !whole || len([]rune(text.Clean(markdown))) < outbox.MaxNotice {
		return outbox.NewNotice(room, markdown, kind)
	}
	hint := ""
	if at := strings.LastIndex(markdown, "\n\n"); at >= 0 {
		hint = text.Clip(markdown[at:], outbox.MaxNotice/4)
	}
	message := outbox.NewNotice(room, text.Clip(markdown, outbox.MaxNotice/2)+"\n\n✂️ **This is only its beginning.** The file has all of it."+
		hint, kind)
	message.File = &outbox.File{Name: "question.txt", MIME: "text/plain", Data: []byte(outbox.PlainText(markdown) + "\n")}
	return message
}

// esc escapes untrusted text for Markdown, on one line.
func esc(s string) string { return text.Escape(text.OneLine(s)) }

// code formats text as Markdown code.
func code(s string) string { return "`" + strings.ReplaceAll(text.OneLine(s), "`", "'") + "`" }

// quote escapes text, cut to n characters, between quotation marks.
func quote(s string, n int) string { return "“" + esc(text.Clip(strings.TrimSpace(s), n)) + "”" }

// chatLabels names chats in bold.
func chatLabels(chats []store.Chat) []string {
	names := make([]string, len(chats))
	for i, c := range chats {
		names[i] = "**" + esc(c.Label()) + "**"
	}
	return names
}

// privateMark returns the mark of passages that contacts never see; empty for public ones.
func privateMark(role policy.Role) string {
	if role == policy.RolePublic {
		return ""
	}
	return " (only you)"
}

// visibility says who may see data of a role.
func visibility(role policy.Role) string {
	switch role {
	case policy.RolePublic:
		return "public"
	case policy.RoleAdmin:
		return "only you"
	default:
		return "of one chat"
	}
}

// logRef returns the reference of an outbox message in the log.
func logRef(out uuid.UUID) string {
	text := out.String()
	return "#" + text[len(text)-4:]
}

// fileSize formats the size of a file.
func fileSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d KB", max(1, n>>10))
	}
}

// endSentence adds a full stop to a text that ends with a letter or a digit.
func endSentence(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(last) || unicode.IsDigit(last) {
		return s + "."
	}
	return s
}
