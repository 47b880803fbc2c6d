package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/internal/text"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// noteCommands lists notes, and writes the owner's own.
type noteCommands struct {
	base

	memory *memory.Memory
}

// commands returns the commands about notes.
func (ns *noteCommands) commands() []command {
	return []command{
		{
			name: "memory", args: "[chat]", group: groupMemory, run: ns.list,
			onChat:   func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) { return ns.show(ctx, chat) },
			chatHint: func(chatPick) string { return " to see its notes" },
			summary:  "my notes",
			help: "`/memory` shows your own notes, `/memory Ana` those of that chat, each with its number, its age and the messages it comes from. " +
				"I take notes after 20 messages, or after six quiet hours; that needs a model. A note goes when the message it comes from is deleted or changed.",
		},
		{
			name: "remember", args: "TEXT", group: groupMemory, run: ns.remember,
			summary: "save a note",
			help:    "It goes into your own notes, which no contact's answer ever sees.",
		},
	}
}

// maxShownNotes is how many notes one answer lists.
const maxShownNotes = 30

// list shows the notes of a chat, or the owner's own.
func (ns *noteCommands) list(ctx context.Context, r request, args string) (answer, error) {
	if args == "" {
		return ns.show(ctx, r.room)
	}
	return ns.chats.withChat(ctx, args, "memory", chatPick{})
}

// show lists the notes of a chat with their sources, the newest first.
func (ns *noteCommands) show(ctx context.Context, chat store.Chat) (answer, error) {
	notes, err := ns.memory.Notes(ctx, chat, maxShownNotes+1)
	if err != nil {
		return answer{}, err
	}
	name := esc(chat.Label())
	if chat.Kind == policy.KindAdmin {
		name = "Your own notes"
	}
	others, err := mergedWith(ctx, ns.store.DB(), chat)
	if err != nil {
		return answer{}, err
	}
	if len(notes) == 0 {
		return answer{text: "**" + name + "**: no notes yet. " + ns.notesHint() + mergedNote(others)}, nil
	}
	var sources []store.MessageID
	for _, n := range notes[:min(len(notes), maxShownNotes)] {
		sources = append(sources, n.Sources...)
	}
	messages, err := store.MessagesByID(ctx, ns.store.DB(), sources)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + name + "** (" + text.Count(min(len(notes), maxShownNotes), "note") + ", newest first)"}
	for _, n := range notes[:min(len(notes), maxShownNotes)] {
		lines = append(lines, fmt.Sprintf("**#%d** %s — %s, %s%s", n.ID, esc(memory.NoteText(n)), n.Kind, ns.room.ago(n.ValidFrom),
			sourceLinks(chat, n, messages)))
	}
	if len(notes) > maxShownNotes {
		lines = append(lines, "and older ones: a question about them finds them")
	}
	return answer{text: strings.Join(lines, "\n") + mergedNote(others), quotes: sources}, nil
}

// notesHint says how notes are made.
func (ns *noteCommands) notesHint() string {
	if ns.settings.Model == modelNone {
		return "Taking notes needs a model, and none is configured; what was said is found all the same. `/remember` adds one of your own."
	}
	return "I take some once enough was said. `/remember` adds one of your own."
}

// sourceLinks links to the messages that a note comes from.
func sourceLinks(chat store.Chat, n store.Note, messages map[store.MessageID]store.Message) string {
	var links []string
	for _, source := range n.Sources {
		if m, there := messages[source]; there && m.ChatID == chat.ID && len(links) < 3 {
			if link := memory.MessageLink(chat, m.EventID); link != "" {
				links = append(links, fmt.Sprintf("[%d](%s)", len(links)+1, link))
			}
		}
	}
	if len(links) == 0 {
		return ""
	}
	return " · said in " + strings.Join(links, " ")
}

// remember writes a note for the owner.
func (ns *noteCommands) remember(_ context.Context, r request, args string) (answer, error) {
	if args == "" {
		return answer{text: "What should I remember? `/remember the plumber is called Otto`"}, nil
	}
	if len([]rune(args)) > memory.MaxNote {
		return answer{text: "That is long for a note. Send it as a file and I `/index` it."}, nil
	}
	return answer{reaction: reactionDone, changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		note, err := ns.memory.Remember(ctx, tx, r.room, r.message.ID, args)
		return fmt.Sprintf("Noted: %s. Undo: `/forget %d`.", quote(args, 200), note), err
	}}, nil
}
