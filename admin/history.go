package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// history reads what was said in a chat before multis was there, from a day on or from the beginning.
func (a *Admin) history(ctx context.Context, _ request, args string) (answer, error) {
	name, since, err := a.parseSince(args)
	if err != nil {
		return answer{text: esc(err.Error())}, nil
	}
	if name == "" {
		return answer{text: "Which chat? Say it like: `/import Ana`, `/import Ana since 2026-05-01`."}, nil
	}
	return a.withChat(ctx, name, pickChat{Then: "import", Since: since.Unix()})
}

// parseSince splits "Ana since 2026-05-01". Without a day it is the beginning of time.
func (a *Admin) parseSince(args string) (name string, since time.Time, err error) {
	words := strings.Fields(args)
	last := len(words) - 1
	if last < 1 || !strings.EqualFold(words[last-1], "since") {
		return strings.Join(words, " "), time.Unix(0, 0), nil
	}
	since, err = time.ParseInLocation(time.DateOnly, words[last], a.Rules.Zone)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("I don't know the day “%s”. Say it like 2026-05-01", clip(words[last], 30))
	}
	return strings.Join(words[:last-1], " "), since, nil
}

// readHistory asks for a chat's history.
func (a *Admin) readHistory(chat store.Chat, since int64) answer {
	switch {
	case chat.ModeIn(a.Rules.Defaults) == policy.ModeOff:
		return answer{text: "**" + esc(label(chat)) + " is off**, so I read nothing there. " + code("/mode silent "+typed(chat)) + " first."}
	case !chat.Usable():
		return answer{text: "I cannot read **" + esc(label(chat)) + "**: it has no room at the moment."}
	}
	keeps := ""
	if days := a.Memory.Rules.Days; time.Unix(since, 0).Before(a.Now().AddDate(0, 0, -days)) {
		keeps = fmt.Sprintf(" What is older than %d days goes again tonight (config: memory.retention_days).", days)
	}
	from := "the beginning"
	if since > 0 {
		from = time.Unix(since, 0).In(a.Rules.Zone).Format("Mon 2 Jan 2006")
	}
	return answer{
		text: "📥 I read **" + esc(label(chat)) + "** back to " + from + ", a few hundred messages a minute. Nothing of it is answered." + keeps + " I tell you when it is done.",
		do: func(ctx context.Context, tx store.Tx) error {
			return jobs.Enqueue(ctx, tx, jobs.HistoryArgs{Chat: chat.ID, Since: since})
		},
	}
}

// HistoryRead tells that a chat's history was read.
func (a *Admin) HistoryRead(ctx context.Context, chat int64, stored int) error {
	c, err := store.ChatByID(ctx, a.Store.DB(), chat)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil {
		return err
	}
	text := "📥 **" + esc(label(c)) + "**: " + count(stored, "older message") + " read and remembered."
	if c.Unreadable > 0 {
		text += " " + count(c.Unreadable, "message") + " there " + plural(c.Unreadable, "is", "are") + " encrypted, and I have no key for " + plural(c.Unreadable, "it", "them") + "."
	}
	return a.tellSentence(ctx, outbox.Answer, text)
}
