package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/business/answers"
	"multis/business/desk"
	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// escalationCommands lists the conversations that need a person, and passes messages and reactions in their threads to the desk.
type escalationCommands struct {
	base

	desk    *desk.Desk
	files   Files
	answers *AnswerCommands
}

// commands returns the commands about escalations.
func (ec *escalationCommands) commands() []command {
	return []command{
		{
			name: "escalations", group: groupCustomers, run: ec.list, answerers: true,
			summary: "customers waiting for a person",
			alone:   true,
			help: "Each has a thread. What you write there is sent to the contact, except messages that start with `note` or 📝. On the card: ✋ claim · ✅ resolve (I answer again) · " +
				"⏸ pause me · 👍 send the suggested reply, a number sends that one, and `learn 2` saves the second as your own answer to the customer's words.",
		},
		{
			name:      "handoff",
			args:      "[chat]",
			group:     groupCustomers,
			run:       ec.claim,
			answerers: true,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return ec.claimChat(pick, chat), nil
			},
			chatHint: func(chatPick) string { return " to answer there yourself" },
			summary:  "answer a chat yourself",
			help:     "`/handoff Ana` opens a thread for Ana, and I stay quiet there. ✅ on its card gives the chat back to me.",
		},
	}
}

// maxEscalations is how many escalations are listed: as many as one message has room for, because nobody sees the others.
const maxEscalations = 25

// list lists the open escalations.
func (ec *escalationCommands) list(ctx context.Context, r request, _ string) (answer, error) {
	open, err := store.UnresolvedEscalations(ctx, ec.store.DB())
	if err != nil {
		return answer{}, err
	}
	if len(open) == 0 {
		lastWords, err := ec.lastWords(ctx, r)
		return answer{text: "No open escalations." + lastWords}, err
	}
	lines := []string{"**" + text.Count(len(open), "conversation") + "** with a person, the longest waiting first:"}
	var about []store.MessageID
	for i, e := range open[:min(len(open), maxEscalations)] {
		line, err := ec.line(ctx, e)
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, fmt.Sprintf("%d %s", i+1, line))
		about = append(about, e.Sources...)
	}
	if more := len(open) - maxEscalations; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return answer{text: strings.Join(lines, "\n"), quotes: about}, nil
}

// lastWordsSpan is for how long a chat is listed in which the contact wrote last.
const lastWordsSpan = 14 * 24 * time.Hour

// lastWords tells the owner in which direct chats the contact wrote last; empty if there are none, and for others.
func (ec *escalationCommands) lastWords(ctx context.Context, r request) (string, error) {
	if !r.isOwner() || r.room.IsOperatorsRoom {
		return "", nil
	}
	db := ec.store.DB()
	from := ec.room.now().Add(-lastWordsSpan)
	active, err := store.ActiveChats(ctx, db, from, time.Time{}, "", 0, maxEscalations)
	if err != nil {
		return "", err
	}
	ids := make([]store.ChatID, len(active))
	for i, a := range active {
		ids[i] = a.ChatID
	}
	said, err := store.MessagesOfChats(ctx, db, ids, from, time.Time{}, 1)
	if err != nil {
		return "", err
	}
	var waiting []string
	for _, m := range said {
		chat, err := store.ChatByID(ctx, db, m.ChatID)
		if err != nil {
			return "", err
		}
		if m.Author == policy.AuthorContact && chat.Kind == policy.KindDM {
			waiting = append(waiting, esc(chat.Label())+", "+ec.room.ago(m.At))
		}
	}
	if len(waiting) == 0 {
		return "", nil
	}
	return " In these chats the contact wrote last:\n- " + strings.Join(waiting, "\n- ") + "\n\n`/messages NAME` shows them.", nil
}

// line describes an open escalation: whose, how old, who answers, why, and where.
func (ec *escalationCommands) line(ctx context.Context, e store.Escalation) (string, error) {
	chat, err := store.ChatByID(ctx, ec.store.DB(), e.ChatID)
	if err != nil {
		return "", err
	}
	state := "**waits**, escalated " + ec.room.ago(e.OpenedAt)
	if e.AnsweredAt != nil {
		state = "answered " + ec.room.ago(*e.AnsweredAt)
	}
	who := "unclaimed"
	if e.ClaimedBy != "" {
		who = "✋ " + esc(ec.desk.PersonName(e.ClaimedBy))
	}
	if chat.PausedUntil != nil && chat.PausedUntil.After(ec.room.now()) {
		who += " · ⏸ paused"
	}
	line := fmt.Sprintf("%s — %s · %s · %s", esc(chat.Label()), state, who, esc(text.Clip(e.Reason, 100)))
	if e.CardEvent == nil {
		return line, nil
	}
	link, err := ec.threadLink(ctx, ec.store.DB(), e)
	return line + " · " + link, err
}

// claim carries out /handoff. Operators can claim only customers' chats, and so can anybody in a room that operators can read.
func (ec *escalationCommands) claim(ctx context.Context, r request, args string) (answer, error) {
	pick := chatPick{Asked: r.message.ID, Customers: !r.isOwner() || r.room.IsOperatorsRoom}
	if args == "" {
		return ec.chats.list(ctx, "", "handoff", pick)
	}
	return ec.chats.withChat(ctx, args, "handoff", pick)
}

// claimChat opens an escalation of a chat and claims it for the person who typed the command.
func (ec *escalationCommands) claimChat(pick chatPick, chat store.Chat) answer {
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		asked, err := store.MessageByID(ctx, tx, pick.Asked)
		if err != nil {
			return "", err
		}
		if pick.Customers { // the chat may have changed since the list was shown
			open, err := store.UnresolvedEscalations(ctx, tx)
			if err != nil {
				return "", err
			}
			if !ec.chats.isCustomer(chat, open) {
				return "That is not a customer's chat.", nil
			}
		}
		taken, err := ec.desk.Claim(ctx, tx, chat, asked.Sender)
		switch {
		case errors.Is(err, desk.ErrNobodyWrote):
			return "Nobody has written in **" + esc(chat.Label()) + "** yet, so there is nothing to answer.", nil
		case taken != "":
			return "**" + esc(chat.Label()) + "**: " + taken + " You can answer in its thread as well.", err
		}
		if err != nil {
			return "", err
		}
		e, err := store.EscalationOfChat(ctx, tx, chat.ID)
		if err != nil {
			return "", err
		}
		yours := "✋ **" + esc(chat.Label()) + "** is yours: answer in its thread"
		if e.CardEvent == nil {
			return yours + ". I stay quiet there.", nil // its card follows
		}
		link, err := ec.threadLink(ctx, tx, e)
		return yours + " (" + link + "). I stay quiet there.", err
	}}
}

// threadLink returns a link to the thread of an escalation that has a card.
func (ec *escalationCommands) threadLink(ctx context.Context, db store.DB, e store.Escalation) (string, error) {
	room, err := store.ChatByID(ctx, db, e.CardRoom)
	return "[thread](" + memory.MessageLink(room, *e.CardEvent) + ")", err
}

// thread returns the escalation in whose thread a message is. found is false for a message elsewhere, and for a command.
func (ec *escalationCommands) thread(ctx context.Context, r request) (e store.Escalation, found bool, err error) {
	if r.message.Thread == "" || r.message.Kind == string(bridgebridge.Reaction) {
		return e, false, nil
	}
	if name, _ := parseCommand(typedText(r.message)); name != "" {
		return e, false, nil
	}
	e, err = store.EscalationByEvent(ctx, ec.store.DB(), r.room.ID, r.message.Thread)
	if errors.Is(err, store.ErrNotFound) {
		return e, false, nil
	}
	return e, err == nil, err
}

// isReply reports whether a message is in the thread of an escalation, and no command.
func (ec *escalationCommands) isReply(ctx context.Context, r request) (bool, error) {
	_, found, err := ec.thread(ctx, r)
	return found, err
}

// handleThreadMessage handles a message in the thread of an escalation. done is false for a message elsewhere.
func (ec *escalationCommands) handleThreadMessage(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	e, found, err := ec.thread(ctx, r)
	if err != nil {
		return answer{}, false, err
	}
	if !found {
		return answer{}, false, nil
	}
	if number := policy.LearnNumber(typedText(r.message)); number > 0 && r.isOwner() && ec.answers.keeper != nil {
		learned, err := ec.learn(ctx, e, number)
		return learned, true, err
	}
	ans := answer{reason: "It is a message in the thread of an escalation.", quotes: []store.MessageID{r.message.ID}}
	var file *outbox.File
	if ec.desk.TakesFile(r.message) {
		data, err := ec.files.Download(ctx, *r.message.Attachment, policy.MaxFile)
		if jobs.IsPermanent(err) {
			ans.text = desk.NotSent(r.message, esc(jobs.Cause(err).Error())+".")
			return ans, true, nil
		}
		if err != nil {
			return answer{}, false, err
		}
		file = desk.FileOf(r.message, data).Scanned()
	}
	ans.changeWithText = func(ctx context.Context, tx store.Tx) (string, error) {
		return ec.desk.Reply(ctx, tx, e.ID, r.message, file)
	}
	return ans, true, nil
}

// learn keeps a proposal of an escalation as the owner's own answer to the words of the customer, without personal data.
func (ec *escalationCommands) learn(ctx context.Context, e store.Escalation, number int) (answer, error) {
	if number > len(e.Proposals) {
		return answer{text: "The card has no such proposal."}, nil
	}
	chat, err := store.ChatByID(ctx, ec.store.DB(), e.ChatID)
	if err != nil {
		return answer{}, err
	}
	m, err := store.MessageByID(ctx, ec.store.DB(), e.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: "The customer has deleted the question."}, nil
	}
	if err != nil {
		return answer{}, err
	}
	asked := answers.MaskPersonalData(policy.WithoutGreeting(m.Body), []string{bridgebridge.DisplayName(chat.Name)})
	proposal := e.Proposals[number-1]
	learned, err := ec.answers.keep(ctx, asked, proposal.Text)
	if err != nil {
		return answer{}, err
	}
	keep := learned.changeWithText
	if keep == nil {
		return learned, nil
	}
	learned.quotes = []store.MessageID{e.MessageID}
	learned.changeWithText = func(ctx context.Context, tx store.Tx) (string, error) {
		current, err := store.AreCitationsCurrent(ctx, tx, proposal.Text, proposal.Citations)
		if err != nil {
			return "", err
		}
		if !current {
			return "The documents have changed since I proposed it: write the answer with `/answers add`.", nil
		}
		return keep(ctx, tx)
	}
	return learned, nil
}

// handleReaction handles a sign on the card of a thread, or a note mark on a reply there. done is false for other
// reactions, such as those to a line of the thread: they are for the people there.
func (ec *escalationCommands) handleReaction(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	if policy.ThreadSignOf(r.message.Body) == policy.SignNote {
		return ec.handleNoteMark(ctx, r)
	}
	e, err := store.EscalationByEvent(ctx, ec.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	if e.CardEvent == nil || *e.CardEvent != r.message.RelatesTo {
		return answer{}, false, nil
	}
	return answer{
		reason: "It is a sign on the card of an escalation.", thread: *e.CardEvent,
		changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
			return ec.desk.HandleReaction(ctx, tx, e.ID, r.message)
		},
	}, true, nil
}

// handleNoteMark withdraws from the contact what a message in a thread sent, because the author marked that message as a note.
func (ec *escalationCommands) handleNoteMark(ctx context.Context, r request) (_ answer, done bool, err error) {
	m, err := store.MessageByEvent(ctx, ec.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	if m.Thread == "" || m.Sender != r.message.Sender {
		return answer{}, false, nil
	}
	return answer{reason: "It marks a message in a thread as a note.", change: func(ctx context.Context, tx store.Tx) error {
		return desk.WithdrawReply(ctx, tx, m)
	}}, true, nil
}
