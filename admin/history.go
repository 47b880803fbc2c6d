package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// ImportCommands imports the history of chats.
type ImportCommands struct {
	base

	memory *memory.Memory
}

// commands returns the commands about imports.
func (im *ImportCommands) commands() []command {
	return []command{
		{
			name: "import", args: "CHAT [since DAY]", group: groupChats, run: im.run,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return im.start(chat, pick.Since), nil
			},
			chatHint: func(chatPick) string { return " to read what was said there" },
			summary:  "read messages from before I was here",
			help:     "`/import Ana` reads the whole chat, `/import Ana since 2026-05-01` from that day on. It is remembered like any message, and nothing of it is answered.",
		},
	}
}

// run imports the messages that were sent in a chat before multis was there.
func (im *ImportCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	name, since, err := im.parseSince(args)
	if err != nil {
		return answer{text: esc(err.Error())}, nil
	}
	if name == "" {
		return answer{text: "Which chat? Try `/import Ana`, `/import Ana since 2026-05-01`."}, nil
	}
	return im.chats.withChat(ctx, name, "import", chatPick{Since: since.Unix()})
}

// parseSince splits "Ana since 2026-05-01" into the chat and the day. Without a day, since is the Unix epoch.
func (im *ImportCommands) parseSince(args string) (name string, since time.Time, err error) {
	words := strings.Fields(args)
	last := len(words) - 1
	if last < 1 || !strings.EqualFold(words[last-1], "since") {
		return strings.Join(words, " "), time.Unix(0, 0), nil
	}
	since, err = time.ParseInLocation(time.DateOnly, words[last], im.settings.Zone)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("I don't know the day “%s”. Write it as 2026-05-01", text.Clip(words[last], 30))
	}
	return strings.Join(words[:last-1], " "), since, nil
}

// start returns the answer that enqueues the import of a chat's history back to since, a Unix time (0: the beginning), or
// that says why it is refused.
func (im *ImportCommands) start(chat store.Chat, since int64) answer {
	switch {
	case chat.ModeIn(im.settings.Defaults) == policy.ModeOff:
		return answer{text: "**" + esc(chat.Label()) + " is off**, so I read nothing there. " + code("/mode silent "+chat.TypedName()) +
			" first."}
	case !chat.HasRoom():
		return answer{text: "I cannot read **" + esc(chat.Label()) + "**: it has no room at the moment."}
	}
	keeps := ""
	if days := im.memory.Settings.Days; time.Unix(since, 0).Before(im.room.now().AddDate(0, 0, -days)) {
		keeps = fmt.Sprintf(" What is older than %d days goes again tonight (config: memory.retention_days).", days)
	}
	from := "the beginning"
	if since > 0 {
		from = time.Unix(since, 0).In(im.settings.Zone).Format("Mon 2 Jan 2006")
	}
	return answer{
		text: "📥 I read **" + esc(chat.Label()) + "** back to " + from + ", a few hundred messages a minute. Nothing of it is answered." + keeps +
			" I tell you when it is done.",
		change: func(ctx context.Context, tx store.Tx) error {
			return jobs.Enqueue(ctx, tx, jobs.HistoryArgs{ChatID: chat.ID, SinceUnix: since})
		},
	}
}

// NotifyImported tells the owner that a chat's history was imported.
func (im *ImportCommands) NotifyImported(ctx context.Context, chat store.ChatID, stored int) error {
	c, err := store.ChatByID(ctx, im.store.DB(), chat)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	reply := "📥 **" + esc(c.Label()) + "**: " + text.Count(stored, "older message") + " read and remembered."
	if c.Unreadable > 0 {
		reply += " " + text.Count(c.Unreadable, "message") + " there " + text.Plural(c.Unreadable, "is", "are") +
			" encrypted, and I have no key for " + text.Plural(c.Unreadable, "it", "them") + "."
	}
	return im.room.completeWithNotice(ctx, outbox.Answer, reply)
}
