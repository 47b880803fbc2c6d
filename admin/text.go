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
		hint = clip(markdown[at:], outbox.MaxNotice/4)
	}
	letter := outbox.Notice(room, clip(markdown, outbox.MaxNotice/2)+"\n\n✂️ **This is only its beginning.** The file has all of it."+hint, kind)
	letter.File = &outbox.File{Name: "question.txt", MIME: "text/plain", Data: []byte(outbox.Plain(markdown) + "\n")}
	return letter
}

// line puts somebody else's words on one line, without control characters.
func line(s string) string { return text.OneLine(s) }

// esc makes somebody else's words stand in Markdown as what they are.
func esc(s string) string { return outbox.Escape(line(s)) }

// code shows somebody else's words as something that is typed.
func code(s string) string { return "`" + strings.ReplaceAll(line(s), "`", "'") + "`" }

// quote is esc with the marks around it, cut to n characters.
func quote(s string, n int) string { return "“" + esc(clip(strings.TrimSpace(s), n)) + "”" }

// firstLine is what stands before the first line end.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// clip shortens a text to n characters.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

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

// money writes an amount in millionths to the cent.
func money(amount int64, currency string) string {
	if amount > 0 && amount < 10_000 {
		return "less than 0.01 " + currency
	}
	cents := (amount + 5_000) / 10_000
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}

// count writes a number with its noun: "1 chat", "3 chats".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// list joins parts as a sentence does: "a, b and c".
func list(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// plural is yes for every number but one.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
