package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/internal/text"
	"multis/memory"
	"multis/outbox"
	"multis/store"
)

// CommitmentCommands lists, closes and snoozes commitments, and reminds the owner of them.
type CommitmentCommands struct {
	base

	memory *memory.Memory
}

// commands returns the commands about commitments.
func (cs *CommitmentCommands) commands() []command {
	return []command{
		{
			name: "commitments", args: "[chat]", group: groupMemory, run: cs.run,
			onChat: func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) {
				return cs.list(ctx, " ("+esc(chat.Label())+")", []store.ChatID{chat.ID})
			},
			summary: "who promised what, and by when",
			alone:   true,
			help: "From the notes of all chats, what is due first at the head, each with the message it was said in. `/commitments Ana` shows those of one chat, `/commitments 3` one alone, to react to: " +
				"✅ done, 🕐 again in an hour, 🌅 tomorrow. `/commitments done 3`, `/commitments snooze 3 fri 9am`, `/commitments drop 3` (nobody waits for it any more), `/commitments open 3` (it does after all). " +
				"I remind you once, on the morning of the day it is due or an hour before.",
		},
	}
}

// maxShownCommitments is how many commitments one answer lists.
const maxShownCommitments = 20

// run lists commitments, or shows or changes one.
func (cs *CommitmentCommands) run(ctx context.Context, r request, args string) (answer, error) {
	verb, rest, _ := strings.Cut(args, " ")
	switch verb = strings.ToLower(verb); verb {
	case "":
		return cs.list(ctx, "", nil)
	case "done", "drop", "open", "snooze":
		return cs.change(ctx, r, verb, strings.TrimSpace(rest))
	}
	if n := store.CommitmentID(parseNumber(args)); n > 0 {
		return cs.show(ctx, n)
	}
	return cs.chats.withChat(ctx, args, "commitments", chatPick{})
}

// list lists the open commitments of some chats, or of all if chats is nil: first those of the owner, then those of others.
func (cs *CommitmentCommands) list(ctx context.Context, where string, chats []store.ChatID) (answer, error) {
	open, err := store.OpenCommitments(ctx, cs.store.DB(), chats, maxShownCommitments+1)
	if err != nil {
		return answer{}, err
	}
	if len(open) == 0 {
		return answer{text: "Nobody promised anything that is still open" + where + ". " + cs.commitmentsHint()}, nil
	}
	shown := open[:min(len(open), maxShownCommitments)]
	places, err := cs.places(ctx, shown)
	if err != nil {
		return answer{}, err
	}
	var yours, theirs []string
	var about []store.MessageID
	for _, c := range shown {
		line := fmt.Sprintf("**#%d** %s", c.ID, cs.line(c, places))
		if memory.IsByOwner(c) {
			yours = append(yours, line)
		} else {
			theirs = append(theirs, line)
		}
		about = append(about, c.MessageID)
	}
	var b strings.Builder
	for _, part := range []struct {
		title string
		lines []string
	}{{"You promised", yours}, {"Others promised", theirs}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "**%s**%s\n%s\n\n", part.title, where, strings.Join(part.lines, "\n"))
		}
	}
	if len(open) > maxShownCommitments {
		b.WriteString("and more: `/commitments` and the name of a chat shows its own. ")
	}
	fmt.Fprintf(&b, "`/commitments done %d` when it is settled, `/commitments snooze %d fri 9am` to be reminded then.", shown[0].ID,
		shown[0].ID)
	return answer{text: b.String(), quotes: about}, nil
}

// commitmentsHint says how commitments are found.
func (cs *CommitmentCommands) commitmentsHint() string {
	if cs.settings.Model == modelNone {
		return "Noting promises needs a model, and none is configured. `/remind` sets a reminder by hand."
	}
	return "I note promises together with the other notes, after 20 messages of a chat or six quiet hours."
}

// show shows one commitment, which a reaction closes or snoozes.
func (cs *CommitmentCommands) show(ctx context.Context, number store.CommitmentID) (answer, error) {
	c, err := store.CommitmentByID(ctx, cs.store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return unknownCommitmentAnswer(number), nil
	}
	if err != nil {
		return answer{}, err
	}
	places, err := cs.places(ctx, []store.Commitment{c})
	if err != nil {
		return answer{}, err
	}
	text := "🤝 " + cs.line(c, places)
	switch {
	case c.State != store.CommitmentOpen:
		return answer{
			text:   text + fmt.Sprintf(" · %s; `/commitments open %d` opens it again", c.State, c.ID),
			quotes: []store.MessageID{c.MessageID},
		}, nil
	default:
		return answer{text: text + commitmentReactionsText, quotes: []store.MessageID{c.MessageID}, commitmentID: c.ID}, nil
	}
}

// commitmentReactionsText is the text that lists the reactions that close or snooze a commitment.
const commitmentReactionsText = " · ✅ done · 🕐 1 h · 🌅 tomorrow"

func unknownCommitmentAnswer(number store.CommitmentID) answer {
	return answer{text: fmt.Sprintf("There is no promise #%d. `/commitments` lists them.", number)}
}

// change closes, snoozes or reopens a commitment.
func (cs *CommitmentCommands) change(ctx context.Context, r request, verb, args string) (answer, error) {
	word, when, _ := strings.Cut(args, " ")
	number := store.CommitmentID(parseNumber(word))
	if number == 0 {
		return answer{text: fmt.Sprintf("Which one? `/commitments %s 3`. `/commitments` lists them with their numbers.", verb)}, nil
	}
	c, err := store.CommitmentByID(ctx, cs.store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return unknownCommitmentAnswer(number), nil
	}
	if err != nil {
		return answer{}, err
	}
	if verb != "snooze" {
		state := map[string]store.CommitmentState{
			"done": store.CommitmentDone, "drop": store.CommitmentDropped,
			"open": store.CommitmentOpen,
		}[verb]
		return cs.setState(c, state), nil
	}
	if strings.TrimSpace(when) == "" {
		return answer{text: fmt.Sprintf("Until when? `/commitments snooze %d fri 9am`", number)}, nil
	}
	at, rest, err := schedule.ParseTime(when, cs.room.writtenAt(r), schedule.English())
	if err == nil && rest != "" {
		return answer{text: "I don't know what to do with " + quote(rest, 60) + fmt.Sprintf(". `/commitments snooze %d fri 9am`", number)}, nil
	}
	ans, err := timeErrorAnswer(err)
	if err != nil {
		return ans, err
	}
	if ans.text != "" {
		return ans, nil
	}
	return cs.snooze(c, at), nil
}

// setState closes a commitment, or reopens it.
func (cs *CommitmentCommands) setState(c store.Commitment, state store.CommitmentState) answer {
	return answer{reaction: "✅", reason: "You settled a promise.", change: func(ctx context.Context, tx store.Tx) error {
		return store.SetCommitment(ctx, tx, c.ID, state, nil)
	}}
}

// snooze postpones the reminder of a commitment.
func (cs *CommitmentCommands) snooze(c store.Commitment, at time.Time) answer {
	return answer{
		text:   fmt.Sprintf("🤝 Again **%s** — %s", cs.room.fullTime(at), endSentence(esc(text.Clip(c.What, 300)))),
		quotes: []store.MessageID{c.MessageID}, change: func(ctx context.Context, tx store.Tx) error {
			return store.SetCommitment(ctx, tx, c.ID, store.CommitmentOpen, &at)
		},
	}
}

// handleReaction handles a reaction to a commitment. done is false when it is a reaction to something else, or has no meaning.
func (cs *CommitmentCommands) handleReaction(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	at, ok := cs.room.reactionTime(r)
	if !ok {
		return answer{}, false, nil
	}
	c, err := store.CommitmentByEvent(ctx, cs.store.DB(), r.room.ID, r.message.RelatesTo)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answer{}, false, nil
	case err != nil:
		return answer{}, false, err
	case !r.isOwner():
		return answer{reason: "Promises are the owner's to settle."}, true, nil
	case at.IsZero():
		return cs.setState(c, store.CommitmentDone), true, nil
	default:
		return cs.snooze(c, at), true, nil
	}
}

// HasCommitments reports whether RemindCommitments has anything to do: a commitment is due soon, and the owner was not reminded of it.
func (cs *CommitmentCommands) HasCommitments(ctx context.Context) (bool, error) {
	return cs.memory.HasDueCommitments(ctx)
}

// RemindCommitments reminds the owner of each commitment that is due soon, once, and again of those that were snoozed.
func (cs *CommitmentCommands) RemindCommitments(ctx context.Context) error {
	return cs.store.InTx(ctx, func(tx store.Tx) error {
		due, err := cs.memory.DueCommitments(ctx, tx)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			return nil
		}
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		places, err := cs.places(ctx, due)
		if err != nil {
			return err
		}
		for _, c := range due {
			message := outbox.NewNotice(room, "🤝 "+cs.line(c, places)+commitmentReactionsText, outbox.Alert)
			message.Quotes = []store.MessageID{c.MessageID}
			out, _, err := cs.room.box.Queue(ctx, tx, message)
			if err != nil {
				return err
			}
			if err := store.MarkReminded(ctx, tx, c.ID, cs.room.now(), out); err != nil {
				return err
			}
		}
		return nil
	})
}

// line describes a commitment in one line: what, by when, and where it was made.
func (cs *CommitmentCommands) line(c store.Commitment, places map[store.MessageID]messagePlace) string {
	text := endSentence(esc(c.What))
	if c.DueAt != nil {
		text += " **" + cs.dueText(*c.DueAt) + "**"
	}
	if c.SnoozedTo != nil && c.SnoozedTo.After(cs.room.now()) {
		text += " · again " + cs.room.fullTime(*c.SnoozedTo)
	}
	if p, there := places[c.MessageID]; there {
		text += " · " + p.link()
	}
	return text
}

// dueText says when a commitment is or was due.
func (cs *CommitmentCommands) dueText(due time.Time) string {
	if due.Before(cs.room.now()) {
		return "was due " + cs.room.fullTime(due)
	}
	return "due " + cs.room.fullTime(due)
}

// messagePlace is where a message was written.
type messagePlace struct {
	chat   store.Chat
	source string // "Ana · WhatsApp, Tue 3 Nov 18:22"
	event  store.Message
}

// link returns the name of the place and a link to it, as Markdown.
func (p messagePlace) link() string {
	if to := memory.MessageLink(p.chat, p.event.EventID); to != "" {
		return esc(p.source) + " ([message](" + to + "))"
	}
	return esc(p.source)
}

// places returns where commitments were made, by the id of the message.
func (cs *CommitmentCommands) places(ctx context.Context, commitments []store.Commitment) (map[store.MessageID]messagePlace, error) {
	messages, chats := make([]store.MessageID, len(commitments)), make([]store.ChatID, len(commitments))
	for i, c := range commitments {
		messages[i], chats[i] = c.MessageID, c.ChatID
	}
	found, err := store.MessagesByID(ctx, cs.store.DB(), messages)
	if err != nil {
		return nil, err
	}
	in, err := store.ChatsByID(ctx, cs.store.DB(), chats)
	if err != nil {
		return nil, err
	}
	all := make(map[store.MessageID]messagePlace, len(found))
	for n, m := range found {
		chat := in[m.ChatID]
		all[n] = messagePlace{chat: chat, source: memory.MessageSource(chat, m, cs.settings.Zone, cs.room.now()), event: m}
	}
	return all, nil
}
