package admin

import (
	"fmt"
	"strings"

	"multis/bridgebridge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// notice is a letter that says something in an admin room. whole says that nothing of it may be missing, because somebody is to agree to
// it: what is too long for a message is then attached to its beginning as a file.
func notice(room store.Chat, markdown string, kind outbox.NoticeKind, whole bool) outbox.Letter {
	if !whole || len([]rune(text.Clean(markdown))) < outbox.MaxNotice {
		return outbox.Notice(room, markdown, kind)
	}
	hint := ""
	if at := strings.LastIndex(markdown, "\n\n"); at >= 0 {
		hint = text.Clip(markdown[at:], outbox.MaxNotice/4)
	}
	letter := outbox.Notice(room, text.Clip(markdown, outbox.MaxNotice/2)+"\n\n✂️ **This is only its beginning.** The file has all of it."+hint, kind)
	letter.File = &outbox.File{Name: "question.txt", MIME: "text/plain", Data: []byte(outbox.Plain(markdown) + "\n")}
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

// typed is how a chat is written in a command.
func typed(c store.Chat) string {
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
