package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/memory"
	"multis/policy"
	"multis/store"
)

// shownNotes is how many notes one answer lists.
const shownNotes = 30

// memoryCommands are those about what multis remembers.
func (a *Admin) memoryCommands() []command {
	return []command{
		{
			name: "memory", args: "[chat]", group: groupMemory, run: a.memory,
			summary: "what I noted",
			help: "`/memory` shows your own notes, `/memory Ana` those of that chat, each with its number, its age and the messages it comes from. " +
				"I take notes after 20 messages, or after six quiet hours; that needs a model. A note goes when the message it comes from is deleted or changed.",
		},
		{
			name: "remember", args: "note", group: groupMemory, run: a.remember,
			summary: "note something for good",
			help:    "It goes into your own notes, which no contact's answer ever sees.",
		},
		{
			name: "brief", args: "[chat or network] [since when]", group: groupMemory, run: a.brief,
			summary: "what happened while you were away",
			help: "The last 24 hours unless you say otherwise: `/brief since monday`, `/brief yesterday`, `/brief whatsapp since 3d`, `/brief Ana since 2026-11-01`. What happened, what waits for an answer, what was promised, " +
				"each with the message it rests on. Without a model you see who wrote last, and who waits for you.",
		},
		{
			name: "commitments", args: "[chat] or [done, snooze, drop number]", group: groupMemory, run: a.commitments,
			summary: "who promised what, by when",
			help: "From the notes of all chats, what is due first at the head, each with the message it was said in. `/commitments Ana` shows those of one chat, `/commitments 3` one by itself, to react to: " +
				"✅ done, 🕐 again in an hour, 🌅 tomorrow. `/commitments done 3`, `/commitments snooze 3 fri 9am`, `/commitments drop 3` (nobody waits for it any more), `/commitments open 3` (it does after all). " +
				"I remind you once, on the morning of the day it is due or an hour before.",
		},
	}
}

// memory shows what is known of a chat, or what the owner had remembered.
func (a *Admin) memory(ctx context.Context, r request, args string) (answer, error) {
	if args == "" {
		return a.showMemory(ctx, r.room)
	}
	return a.withChat(ctx, args, pickChat{Then: "memory"})
}

// showMemory lists notes with what they come from, the newest first.
func (a *Admin) showMemory(ctx context.Context, chat store.Chat) (answer, error) {
	notes, err := a.Memory.Notes(ctx, chat, shownNotes+1)
	if err != nil {
		return answer{}, err
	}
	name := esc(label(chat))
	if chat.Kind == policy.KindAdmin {
		name = "Your own notes"
	}
	others, err := mergedWith(ctx, a.Store.DB(), chat)
	if err != nil {
		return answer{}, err
	}
	if len(notes) == 0 {
		return answer{text: "**" + name + "**: no notes yet. " + a.howNotesCome() + mergedNote(others)}, nil
	}
	var sources []int64
	for _, n := range notes[:min(len(notes), shownNotes)] {
		sources = append(sources, n.Sources...)
	}
	said, err := store.MessagesByID(ctx, a.Store.DB(), sources)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + name + "** (" + count(min(len(notes), shownNotes), "note") + ", newest first)"}
	for _, n := range notes[:min(len(notes), shownNotes)] {
		lines = append(lines, fmt.Sprintf("**#%d** %s — %s, %s%s", n.ID, esc(memory.Line(n)), n.Kind, a.ago(n.ValidFrom), sourceLinks(chat, n, said)))
	}
	if len(notes) > shownNotes {
		lines = append(lines, "and older ones: `/search` and a word finds them")
	}
	return answer{text: strings.Join(lines, "\n") + mergedNote(others), about: sources}, nil
}

// howNotesCome says when there will be some.
func (a *Admin) howNotesCome() string {
	if a.Rules.Model == noModel {
		return "Taking notes needs a model, and none is configured; what was said is found all the same. `/remember` adds one of your own."
	}
	return "I take some once enough was said. `/remember` adds one of your own."
}

// sourceLinks are links to the messages that a note was learned from.
func sourceLinks(chat store.Chat, n store.Note, said map[int64]store.Message) string {
	var links []string
	for _, source := range n.Sources {
		if m, there := said[source]; there && m.ChatID == chat.ID && len(links) < 3 {
			if link := memory.Link(chat, m.EventID); link != "" {
				links = append(links, fmt.Sprintf("[%d](%s)", len(links)+1, link))
			}
		}
	}
	if len(links) == 0 {
		return ""
	}
	return " · said in " + strings.Join(links, " ")
}

// remember takes down a note of the owner's.
func (a *Admin) remember(_ context.Context, r request, args string) (answer, error) {
	if args == "" {
		return answer{text: "What shall I remember? `/remember the plumber is called Otto`"}, nil
	}
	if len([]rune(args)) > memory.MaxNote {
		return answer{text: "That is long for a note. Send it as a file and I `/index` it."}, nil
	}
	return answer{react: markDone, tells: func(ctx context.Context, tx store.Tx) (string, error) {
		note, err := a.Memory.Remember(ctx, tx, r.room, r.message.ID, args)
		return fmt.Sprintf("Noted: %s. `/forget %d` takes it back.", quote(args, 200), note), err
	}}, nil
}
