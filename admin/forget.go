package admin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// ForgetCommands deletes the memory of a topic, a chat or a contact, after the owner confirms it.
type ForgetCommands struct {
	base

	memory *memory.Memory
}

// commands returns the commands about forgetting.
func (fg *ForgetCommands) commands() []command {
	return []command{
		{
			name: "forget", args: "TOPIC, NUMBER, LINK or all [chat]", group: groupMemory, run: fg.forget,
			onChat:   func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) { return fg.askChat(ctx, chat) },
			chatHint: func(chatPick) string { return " (I ask before anything goes)" },
			summary:  "delete messages and notes",
			help: "`/forget door code` takes the messages with these words, the notes made of them, what I promised to do about them, my own answers and reminders. " +
				"`/forget 12` takes note 12 of `/memory` and the messages it comes from, a link to a message takes that one; `/forget all Ana` all that was said in a chat, `/forget all` everything but your documents. " +
				"I ask before, and tell after what went and what I cannot reach.",
		},
		{
			name: "erase", args: "CONTACT", group: groupMemory, run: fg.erase,
			onChat:   func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) { return fg.askErase(ctx, chat) },
			chatHint: func(chatPick) string { return " (I ask before anything goes)" },
			summary:  "delete everything about a contact",
			help: "All of the contact's chats, and what the contact wrote in groups; the chats are **off** then, so that nothing new is kept. What others wrote about the person stays: `/forget` and the name finds it. " +
				"I ask before, and tell after what went and what I cannot reach.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (fg *ForgetCommands) questions() []func() question {
	return []func() question{
		func() question { return &confirmForget{commands: fg} },
	}
}

// forget finds what is to be deleted and asks for confirmation.
func (fg *ForgetCommands) forget(ctx context.Context, r request, args string) (answer, error) {
	first, rest, _ := strings.Cut(args, " ")
	switch number, err := strconv.ParseInt(strings.TrimPrefix(args, "#"), 10, 64); {
	case args == "":
		return answer{text: "What should I forget? `/forget door code`, `/forget 12` (a note of `/memory`), a link to a message, `/forget all Ana`, or `/forget all`."}, nil
	case strings.EqualFold(args, "all"):
		return fg.askAll(ctx)
	case strings.EqualFold(first, "all"):
		return fg.chats.withChat(ctx, strings.TrimSpace(rest), "forget", chatPick{})
	case err == nil:
		return fg.askNote(ctx, r, store.NoteID(number))
	case messageLink.MatchString(args):
		return fg.askMessage(ctx, r, parseEventLink(args))
	default:
		return fg.askTopic(ctx, r, numberTopic.ReplaceAllString(args, "$1"))
	}
}

// messageLink matches a link to a message, or the id of one. An amount such as $500 is neither.
var messageLink = regexp.MustCompile(`^(?:\S+(?:/|%2F)(?:\$|%24)\S+|matrix:\S+/e/\S+|\$[A-Za-z0-9_-]{43}|\$\S+:\S+)$`)

// numberTopic matches a topic that is a number, which without the word would be that of a note.
var numberTopic = regexp.MustCompile(`(?i)^number\s+(#?\d+)$`)

// erase asks for confirmation to delete everything about a contact.
func (fg *ForgetCommands) erase(ctx context.Context, _ request, args string) (answer, error) {
	if args == "" {
		return answer{text: "Whom? `/erase Ana` takes all of Ana's chats and what Ana wrote elsewhere. One thing alone: `/forget`."}, nil
	}
	return fg.chats.withChat(ctx, args, "erase", chatPick{})
}

// askTopic asks whether everything about a topic is to be deleted.
func (fg *ForgetCommands) askTopic(ctx context.Context, r request, topic string) (answer, error) {
	found, err := fg.memory.FindTopic(ctx, topic)
	if err != nil {
		return answer{}, err
	}
	d := found.Rows
	d.Messages = slices.DeleteFunc(d.Messages, func(m store.MessageID) bool { return m == r.message.ID })
	stays := ""
	if len(found.Documents) > 0 {
		names := make([]string, len(found.Documents))
		for i, name := range found.Documents {
			names[i] = "**" + esc(text.Clip(name, 60)) + "**"
		}
		stays = "It is also in " + text.List(names) + ", which is not memory and stays (`/docs remove`, `/watch remove`)."
	}
	switch {
	case isEmpty(d) && stays == "":
		// The command itself contains the topic and is deleted.
		names := chatNames{ctx: ctx, db: fg.store.DB()}
		said := "I hold nothing about that."
		if chats := names.find(topic); len(chats) == 1 {
			said += " " + code("/forget all "+chats[0].TypedName()) + " deletes the messages of that chat."
		}
		return answer{text: said, change: fg.beginForgetting(store.Forgetting{
			Kind:      store.ForgetSome,
			Remaining: store.DeletionSet{Request: r.message.ID},
			Command:   r.message.ID,
		})}, nil
	case isEmpty(d):
		return answer{text: "I remember nothing about that. " + stays, change: fg.beginForgetting(store.Forgetting{
			Kind:      store.ForgetSome,
			Remaining: store.DeletionSet{Request: r.message.ID},
			Command:   r.message.ID,
		})}, nil
	case max(len(d.Messages), len(d.Notes), len(d.Tasks), len(d.OutboxMessages), len(d.Schedules), len(d.Jobs), len(d.Dialogs),
		len(d.Summaries)) > memory.MaxTopic:
		return answer{text: fmt.Sprintf("That is in more than %d places, too many for one topic. Say it with more words, or `/forget all` and the name of a chat.", memory.MaxTopic)}, nil
	}
	return fg.ask(ctx, r, d, "**Forget what I hold about "+quote(topic, 60)+"?**", stays)
}

// askNote asks whether a note and its sources are to be deleted.
func (fg *ForgetCommands) askNote(ctx context.Context, r request, number store.NoteID) (answer, error) {
	d, err := fg.store.FindNote(ctx, number)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: fmt.Sprintf("There is no note %d. `/memory` shows yours with their numbers, `/memory Ana` those of a chat. For a topic that is a number: `/forget number %d`.", number, number)}, nil
	}
	if err != nil {
		return answer{}, err
	}
	d.Messages = slices.DeleteFunc(d.Messages, func(m store.MessageID) bool { return m == r.message.ID })
	return fg.ask(ctx, r, d, fmt.Sprintf("**Forget note %d and what it comes from?**", number), "")
}

// askMessage asks whether a message is to be deleted.
func (fg *ForgetCommands) askMessage(ctx context.Context, r request, event id.EventID) (answer, error) {
	m, err := store.MessageByEventInAnyChat(ctx, fg.store.DB(), event)
	if errors.Is(err, store.ErrNotFound) || (err == nil && m.RedactedAt != nil) {
		return answer{text: "I hold no message under that link."}, nil
	}
	if err != nil {
		return answer{}, err
	}
	return fg.ask(ctx, r, store.DeletionSet{Messages: []store.MessageID{m.ID}}, "**Forget this message?**", "")
}

// maxShownDeletions is how many of the messages to delete are shown.
const maxShownDeletions = 8

// ask shows what will be deleted and asks for confirmation.
func (fg *ForgetCommands) ask(ctx context.Context, r request, d store.DeletionSet, title, stays string) (answer, error) {
	shown := d.Messages[:min(len(d.Messages), maxShownDeletions)]
	messages, err := store.MessagesByID(ctx, fg.store.DB(), shown)
	if err != nil {
		return answer{}, err
	}
	var in []store.ChatID
	for _, m := range messages {
		in = append(in, m.ChatID)
	}
	chats, err := store.ChatsByID(ctx, fg.store.DB(), in)
	if err != nil {
		return answer{}, err
	}
	d.Request = r.message.ID
	lines := []string{title + " " + endSentence(deletionText(d))}
	for _, id := range shown {
		if m, there := messages[id]; there && m.Body != "" {
			lines = append(lines, "- "+esc(memory.MessageSource(chats[m.ChatID], m, fg.settings.Zone, fg.room.now()))+": "+quote(m.Body, 80))
		}
	}
	if more := len(d.Messages) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", more))
	}
	if stays != "" {
		lines = append(lines, "", stays)
	}
	lines = append(lines, "", "👍 forget · 👎 keep.")
	return answer{
		text:     strings.Join(lines, "\n"),
		question: &confirmForget{commands: fg, Kind: store.ForgetSome, Deletions: d},
		quotes:   slices.Concat(d.Messages, []store.MessageID{r.message.ID}),
	}, nil
}

// deletionText counts what will be deleted.
func deletionText(d store.DeletionSet) string {
	var parts []string
	for _, p := range []struct {
		n   int
		one string
	}{
		{len(d.Messages), "message"},
		{len(d.Notes), "note"},
		{len(d.Schedules), "reminder"},
		{len(d.OutboxMessages), "thing I said"},
		{len(d.Tasks), "task of mine"},
		{len(d.Summaries), "summary"},
		{len(d.Jobs) + len(d.Dialogs), "entry in my books"},
	} {
		if p.n > 0 {
			parts = append(parts, countNoun(p.n, p.one))
		}
	}
	return text.List(parts)
}

// isEmpty reports whether nothing would be deleted.
func isEmpty(d store.DeletionSet) bool {
	return len(d.Messages)+len(d.Notes)+len(d.Tasks)+len(d.OutboxMessages)+len(d.Schedules)+len(d.Jobs)+len(d.Dialogs)+len(d.Summaries) == 0
}

// askAll asks whether everything that was said is to be deleted.
func (fg *ForgetCommands) askAll(ctx context.Context) (answer, error) {
	chats, err := store.AllChats(ctx, fg.store.DB())
	if err != nil {
		return answer{}, err
	}
	q := confirmForget{commands: fg, Kind: store.ForgetChats, NeedsTypedYes: true, Deletions: store.DeletionSet{Chats: chats}}
	return answer{
		question: &q,
		text: "⚠️ **Forget everything that was said and noted**, in all chats and here? Your documents, reminders and settings stay, and so do the modes of the chats. " +
			"There is no way back but a backup. Type **yes** to do it, **no** to leave it.",
	}, nil
}

// askChat asks whether everything that was said in a chat is to be deleted.
func (fg *ForgetCommands) askChat(_ context.Context, chat store.Chat) (answer, error) {
	q := confirmForget{
		commands:      fg,
		Kind:          store.ForgetChats,
		NeedsTypedYes: true,
		Deletions:     store.DeletionSet{Chats: []store.ChatID{chat.ID}},
	}
	return answer{question: &q, text: "⚠️ **Forget all that was said in " + esc(chat.Label()) +
		"**, with all notes and promises? The chat stays " + string(chat.ModeIn(fg.settings.Defaults)) +
		", and what is said from now on is remembered. There is no way back but a backup. Type **yes** to do it, **no** to leave it."}, nil
}

// askErase asks whether everything about a contact is to be deleted, in all of the contact's chats.
func (fg *ForgetCommands) askErase(ctx context.Context, chat store.Chat) (answer, error) {
	if chat.Kind != policy.KindDM {
		return answer{text: "**" + esc(chat.Label()) + "** is not a person. " + code("/forget all "+chat.TypedName()) +
			" forgets what was said there."}, nil
	}
	chats, err := store.ChatsOfPerson(ctx, fg.store.DB(), chat.ID)
	if err != nil {
		return answer{}, err
	}
	names, d := chatLabels(chats), store.DeletionSet{}
	for _, c := range chats {
		d.Chats = append(d.Chats, c.ID)
	}
	if d.Messages, err = store.MessagesOfContactsInOtherChats(ctx, fg.store.DB(), d.Chats); err != nil {
		return answer{}, err
	}
	reply := "⚠️ **Erase " + esc(chat.Name) + "?** All of " + text.List(names) + " goes"
	if len(d.Messages) > 0 {
		reply += ", and " + text.Count(len(d.Messages), "message") + " in groups"
	}
	reply += ": what was said, noted and promised, and what I wrote there. " + text.Plural(len(chats), "The chat is", "The chats are") +
		" **off** then, so that nothing new is kept. " +
		"There is no way back but a backup. Type **yes** to do it, **no** to leave it."
	return answer{text: reply, question: &confirmForget{commands: fg, Kind: store.ForgetErase, NeedsTypedYes: true, Deletions: d}}, nil
}

// confirmForget asks for confirmation before anything is deleted.
type confirmForget struct {
	yesOrNo

	commands *ForgetCommands

	Kind      store.ForgetKind
	Deletions store.DeletionSet `json:"Doomed"`
	// NeedsTypedYes says that a word must be typed: a reaction, which is sent unencrypted, is not enough.
	NeedsTypedYes bool
}

func (q confirmForget) traits() traits {
	command := "forget"
	if q.Kind == store.ForgetErase {
		command = "erase"
	}
	return traits{kind: "forget", command: command}
}

func (q confirmForget) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	switch {
	case c.word == wordNo:
		return answer{text: "Kept."}, true, nil
	case c.word != wordYes:
		return answer{text: "Yes or no, please."}, false, nil
	case q.NeedsTypedYes && r.message.Kind == string(bridgebridge.Reaction):
		return answer{text: "Please type **yes**: so much does not go by a reaction, which travels in plain text."}, false, nil
	}
	ans := answer{
		text:   "🧹 Forgetting. I tell you when it is done.",
		change: q.commands.beginForgetting(store.Forgetting{Kind: q.Kind, Remaining: q.Deletions, Command: r.message.ID}),
	}
	if q.Kind != store.ForgetErase && q.Kind != store.ForgetChats {
		return ans, true, nil // needs no PIN: the owner has seen what is deleted
	}
	named, err := q.namedChats(ctx)
	if err != nil {
		return answer{}, false, err
	}
	ans.pin = &pinNeed{pin.ActionForgetAll, "forget all of " + named}
	if q.Kind == store.ForgetErase {
		ans.text, ans.pin = "🧹 Erasing. I tell you when it is done.", &pinNeed{pin.ActionErase, "erase what was said in " + named}
	}
	return ans, true, nil
}

// maxNamedChats is how many chats the question for the PIN names.
const maxNamedChats = 5

// namedChats counts the chats whose messages will be deleted, and names the first ones.
func (q confirmForget) namedChats(ctx context.Context) (string, error) {
	shown := q.Deletions.Chats[:min(len(q.Deletions.Chats), maxNamedChats)]
	chats, err := store.ChatsByID(ctx, q.commands.store.DB(), shown)
	if err != nil {
		return "", err
	}
	var names []string
	for _, id := range shown {
		if c, there := chats[id]; there {
			names = append(names, text.Clip(text.OneLine(c.Label()), 60))
		}
	}
	if more := len(q.Deletions.Chats) - len(shown); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return text.Count(len(q.Deletions.Chats), "chat") + ": " + text.List(names), nil
}

// beginForgetting returns a change that stores what is to be deleted.
func (fg *ForgetCommands) beginForgetting(f store.Forgetting) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		if err := store.DropSetting(ctx, tx, store.SettingRehearsal); err != nil { // it may repeat what is forgotten
			return err
		}
		return fg.memory.BeginForgetting(ctx, tx, f)
	}
}

// Forget deletes step by step, each step in a transaction of its own. The last one also notifies the owner of what was deleted.
func (fg *ForgetCommands) Forget(ctx context.Context, forgetting store.ForgettingID) error {
	for {
		over := false
		err := fg.store.InTx(ctx, func(tx store.Tx) error {
			f, ended, err := fg.memory.ForgetStep(ctx, tx, forgetting)
			if err != nil {
				return err
			}
			over = f.DoneAt != nil
			if !ended || (f.Kind == store.ForgetSome && f.Counts.IsZero()) {
				return nil
			}
			room, err := store.AdminChat(ctx, tx)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			_, err = fg.room.notify(ctx, tx, room, outbox.Answer, forgottenText(f), nil)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return jobs.Permanent(err)
		}
		if err != nil {
			return err
		}
		if over {
			return nil
		}
	}
}

// forgottenText says what was deleted, and what multis cannot delete.
func forgottenText(f store.Forgetting) string {
	c := f.Counts
	var parts []string
	for _, p := range []struct {
		n   int
		one string
	}{
		{c.Messages, "message"},
		{c.Files, "file I kept"},
		{c.Notes, "note"},
		{c.Passages, "passage of notes"},
		{c.Commitments, "promise"},
		{c.Summaries, "summary"},
		{c.Schedules, "reminder"},
		{c.OutboxMessages, "thing I said"},
		{c.Tasks, "task of mine"},
		{c.Escalations, "call for a person"},
		{c.Entries, "entry in my books"},
	} {
		if p.n > 0 {
			parts = append(parts, countNoun(p.n, p.one))
		}
	}
	reply := "🧹 **Forgotten:** " + text.List(parts) + ", out of every table and index."
	if len(parts) == 0 {
		reply = "🧹 **Forgotten:** there was nothing."
	}
	reply += "\n**What I cannot reach:** the messages in Matrix and on the networks (delete them there), backups of the database, exports you made, and what a model's provider keeps."
	if f.Kind == store.ForgetErase {
		reply += "\nThe chat is **off** now. Its line in `/mode` stays, with the name and number that the bridge gives it, so that nothing new is kept of it; what others wrote about the person stays, too."
	}
	return reply
}

// countNoun formats a number with a phrase, with the plural at the end of the first word: "3 things I said".
func countNoun(n int, one string) string {
	noun, more, _ := strings.Cut(one, " ")
	if n != 1 {
		noun = strings.TrimSuffix(noun+"s", "ys") + map[bool]string{true: "ies"}[strings.HasSuffix(noun, "y")]
	}
	return strings.TrimSpace(strconv.Itoa(n) + " " + noun + " " + more)
}
