package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// messageCommands shows what was written in a chat.
type messageCommands struct {
	base
}

// commands returns the command about messages.
func (ms *messageCommands) commands() []command {
	return []command{{
		name: "messages", args: "CHAT [NUMBER]", group: groupChats, run: ms.run,
		onChat: func(ctx context.Context, pick chatPick, chat store.Chat) (answer, error) {
			return ms.show(ctx, chat, pick.Count)
		},
		chatHint: func(chatPick) string { return " to see its last messages" },
		summary:  "the last messages of a chat",
		help:     "`/messages Ana` shows the last 5, `/messages Ana 20` more of them.",
	}}
}

// How many messages are shown: usually, and at most.
const (
	shownMessages    = 5
	maxShownMessages = 30
)

// run shows the last messages of a chat.
func (ms *messageCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	count := shownMessages
	words := strings.Fields(args)
	if last := len(words) - 1; last > 0 {
		if n := parseNumber(words[last]); n > 0 && !strings.HasPrefix(words[last], "#") {
			count = int(min(n, maxShownMessages))
			args = strings.Join(words[:last], " ")
		}
	}
	pick := chatPick{Count: count}
	if args == "" {
		return ms.chats.list(ctx, "", "messages", pick)
	}
	return ms.chats.withChat(ctx, args, "messages", pick)
}

// show shows the last messages of a chat, the oldest first.
func (ms *messageCommands) show(ctx context.Context, chat store.Chat, count int) (answer, error) {
	if chat.ModeIn(ms.settings.Defaults) == policy.ModeOff {
		return answer{text: esc(chat.Label()) + " is **off**: I store nothing there."}, nil
	}
	messages, err := store.RecentMessages(ctx, ms.store.DB(), chat.ID, ms.room.now().AddDate(-100, 0, 0), nil, max(count, 1))
	if err != nil {
		return answer{}, err
	}
	if len(messages) == 0 {
		return answer{text: "Nothing was written in **" + esc(chat.Label()) + "** since I started."}, nil
	}
	lines := []string{"**" + esc(chat.Label()) + "** (" + text.Count(len(messages), "message") + ", newest last)"}
	var quotes []store.MessageID
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf("%s · **%s**: %s", ms.room.shortTime(m.At), ms.writer(chat, m), quote(m.Body, 300)))
		quotes = append(quotes, m.ID)
	}
	return answer{text: strings.Join(lines, "\n"), quotes: quotes}, nil
}

// writer names who wrote a message.
func (ms *messageCommands) writer(chat store.Chat, m store.Message) string {
	switch m.Author {
	case policy.AuthorOwnerClient, policy.AuthorOwnerPhone:
		return "you"
	case policy.AuthorMultisOwner:
		return "me"
	case policy.AuthorContact:
		if chat.Kind == policy.KindDM {
			return esc(bridgebridge.DisplayName(chat.Name))
		}
		return esc(m.Sender.Localpart())
	default:
		return esc(m.Sender.Localpart())
	}
}
