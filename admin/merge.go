package admin

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// mergeCommands lets several chats of one person share their memory.
type mergeCommands struct {
	base
}

// commands returns the commands about people who have several chats.
func (ms *mergeCommands) commands() []command {
	return []command{
		{
			name: "merge", args: "CHAT with CHAT", group: groupMemory, run: ms.merge,
			summary: "two chats, one person",
			help: "`/merge Ana WhatsApp with Ana Signal`: what is noted and was said in one is then known in the other, when I answer there and when you ask. `/merge Ana` is enough when two chats are called so. " +
				"Nothing is moved: `/unmerge Ana Signal` makes it as it was. Modes stay apart.",
		},
		{
			name: "unmerge", args: "CHAT", group: groupMemory, run: ms.unmerge,
			onChat: func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) {
				return ms.unmergeChat(ctx, chat)
			},
			chatHint: func(chatPick) string { return " to have it remember for itself" },
			summary:  "separate them again",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (ms *mergeCommands) questions() []func() question {
	return []func() question{
		func() question { return &confirmMerge{} },
	}
}

// mergeSeparator matches what is typed between the names of two chats.
var mergeSeparator = regexp.MustCompile(`(?i)\s+(?:with|and|&)\s+|\s*,\s*`)

const mergeHint = "Try `/merge Ana WhatsApp with Ana Signal`."

// merge asks whether two chats are with the same person.
func (ms *mergeCommands) merge(ctx context.Context, _ request, args string) (answer, error) {
	if args == "" {
		return answer{text: "Which two chats are one person's? " + mergeHint}, nil
	}
	chats, err := store.ListChats(ctx, ms.store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	chats = slices.DeleteFunc(chats, func(c store.Chat) bool { return c.Kind != policy.KindDM })
	var merged []store.Chat
	names := mergeSeparator.Split(args, -1)
	for _, name := range names {
		found, sure := matchChats(chats, name)
		switch {
		case len(found) == 0:
			return answer{text: unknownChatText(chats, name)}, nil
		case len(names) == 1 && len(found) == 2:
			merged = found
		case len(names) == 1 && len(found) == 1:
			return answer{text: "I know one chat with " + quote(name, 60) + ". " + mergeHint}, nil
		case len(found) > 1 || !sure:
			return answer{text: "Which " + quote(name, 60) + "? There is " + text.List(chatLabels(found[:min(len(found), pageSize)])) + ". " +
				mergeHint}, nil
		default:
			merged = append(merged, found[0])
		}
	}
	return ms.askMerge(ctx, merged)
}

// askMerge asks whether these chats are with the same person.
func (ms *mergeCommands) askMerge(ctx context.Context, chats []store.Chat) (answer, error) {
	linked, err := store.LinkedChats(ctx, ms.store.DB(), chats[0].ID)
	if err != nil {
		return answer{}, err
	}
	q := confirmMerge{}
	isNew := false
	for _, c := range chats {
		q.Chats = append(q.Chats, c.ID)
		isNew = isNew || !slices.Contains(linked, c.ID)
	}
	switch {
	case len(chats) < 2 || chats[0].ID == chats[1].ID:
		return answer{text: "Which two chats are one person's? " + mergeHint}, nil
	case !isNew:
		return answer{text: text.List(chatLabels(chats)) + " are merged already."}, nil
	}
	return answer{question: &q, text: "**One person?** " + text.List(chatLabels(chats)) +
		"\nWhat was said and noted in one is then known in the other: whoever writes there can learn it from my answers. " +
		"`/unmerge` undoes it. Type **yes** if it is one person, **no** if not."}, nil
}

// confirmMerge asks whether chats are with the same person.
type confirmMerge struct {
	yesOrNo

	Chats []store.ChatID
}

func (confirmMerge) traits() traits {
	return traits{kind: "merge", command: "merge"}
}

func (q confirmMerge) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	switch {
	case c.word == wordNo:
		return answer{text: "They stay apart."}, true, nil
	case c.word != wordYes:
		return answer{text: "Yes or no, please."}, false, nil
	case r.message.Kind == string(bridgebridge.Reaction):
		return answer{text: "Please type **yes**: who may know what is not decided by a reaction, which travels in plain text."}, false, nil
	}
	return answer{
		text: "🔗 One person: what I know in one of the chats I know in the other. Each keeps its mode. `/unmerge` undoes it.",
		change: func(ctx context.Context, tx store.Tx) error {
			return store.MergeChats(ctx, tx, q.Chats)
		},
	}, true, nil
}

// unmerge separates a chat from the others of a person.
func (ms *mergeCommands) unmerge(ctx context.Context, _ request, args string) (answer, error) {
	if args == "" {
		return answer{text: "Which chat remembers for itself again? `/unmerge Ana Signal`"}, nil
	}
	return ms.chats.withChat(ctx, args, "unmerge", chatPick{})
}

// unmergeChat separates a chat from the others of its person.
func (ms *mergeCommands) unmergeChat(ctx context.Context, chat store.Chat) (answer, error) {
	others, err := mergedWith(ctx, ms.store.DB(), chat)
	if err != nil {
		return answer{}, err
	}
	if len(others) == 0 {
		return answer{text: "**" + esc(chat.Label()) + "** is merged with no other chat."}, nil
	}
	return answer{
		text: "**" + esc(chat.Label()) + "** remembers for itself again, apart from " + text.List(chatLabels(others)) + ".",
		change: func(ctx context.Context, tx store.Tx) error {
			return store.UnmergeChat(ctx, tx, chat.ID)
		},
	}, nil
}

// mergedWith returns the other chats that a chat is merged with.
func mergedWith(ctx context.Context, db store.DB, chat store.Chat) ([]store.Chat, error) {
	ids, err := store.LinkedChats(ctx, db, chat.ID)
	if err != nil {
		return nil, err
	}
	byID, err := store.ChatsByID(ctx, db, ids)
	var others []store.Chat
	for _, id := range ids {
		if c, there := byID[id]; there && id != chat.ID {
			others = append(others, c)
		}
	}
	return others, err
}

// mergedNote names the chats that a chat is merged with; empty if there are none.
func mergedNote(others []store.Chat) string {
	if len(others) == 0 {
		return ""
	}
	return "\nOne person with " + strings.Join(chatLabels(others), ", ") + ": what is known there is known here."
}
