package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

const (
	busyWait  = time.Second           // before another try while another turn of the same chat runs
	pollSlack = 20 * time.Millisecond // added to a wait, so that its reason is surely over at the next check
)

// commit writes the turn's result in one transaction. A turn whose lease was taken over writes nothing, and neither does
// one whose messages, or anything else that the answer rests on, were edited or deleted: the next turn answers what is said now.
func (a *Agent) commit(ctx context.Context, chat store.Chat, waiting []store.Message, job string, r turnResult) error {
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if ours, err := store.EndLease(ctx, tx, chat.ID, job); err != nil {
			return err
		} else if !ours {
			return jobs.Later(busyWait)
		}
		now, err := store.LockUnchanged(ctx, tx, idsOf(waiting), waiting)
		if err != nil && !errors.Is(err, store.ErrChanged) {
			return err
		}
		if err != nil || slices.ContainsFunc(now, func(m store.Message) bool { return !isOpen(waiting, m) }) {
			return jobs.Later(pollSlack)
		}
		if r.task != nil {
			ended, err := store.EndTask(ctx, tx, *r.task)
			if err != nil {
				return err
			}
			if ended.Forgotten {
				return jobs.Later(pollSlack)
			}
			r.restsOn = ended.RestsOn
		}
		if err := enqueueSummary(ctx, tx, chat.ID, a.personaOf(chat).ID, r.summarise); err != nil {
			return err
		}
		return a.settle(ctx, tx, chat, waiting, r)
	})
}

// taskID is the task that ends with the turn; 0 for none.
func (r *turnResult) taskID() store.TaskID {
	if r.task == nil {
		return 0
	}
	return r.task.ID
}

// isOpen reports whether a message still waits for what it waited for when it was read: nobody answered it or judged it anew.
func isOpen(read []store.Message, now store.Message) bool {
	return now.AnsweredAt == nil && slices.ContainsFunc(read, func(m store.Message) bool { return m.ID == now.ID && m.Action == now.Action })
}

// settle queues the answer and marks the messages with what became of them. An answer that the gate refuses for its text is escalated, because
// otherwise neither the contact nor the owner would learn of it.
func (a *Agent) settle(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r turnResult) error {
	if r.message != nil {
		r.message.RestsOn, r.message.TaskID = r.restsOn, r.taskID()
		key, decision, err := a.Box.Queue(ctx, tx, *r.message)
		if err != nil {
			return err
		}
		if decision.Code.LacksRoom() {
			return jobs.Later(roomPoll) // the room was replaced while the answer was made
		}
		r.outboxID = &key
		if !decision.Allow {
			r.code, r.reason = decision.Code, decision.Why
		}
		if decision.Code.AboutText() {
			r.escalation = decision.Why
		}
	}
	if r.escalation != "" {
		if err := a.escalate(ctx, tx, chat, waiting, &r); err != nil {
			return err
		}
	}
	_, err := store.MarkAnswered(ctx, tx, idsOf(waiting), r.outboxID, r.code, r.reason)
	return err
}

// escalate asks for a person. The owner gets one notice that rings; what comes while the chat waits is counted. The contact is told once, as soon
// as the gate allows it.
func (a *Agent) escalate(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult) error {
	why := cmp.Or(r.words, r.escalation)
	first, contactKnows, err := store.OpenEscalation(ctx, tx, chat.ID, waiting[len(waiting)-1].ID, why, r.restsOn)
	if err != nil {
		return err
	}
	if first {
		r.code, r.reason = codeHandedOver, r.escalation+" I handed over to you."
		if err := a.notify(ctx, tx, outbox.Alert, escalationText(chat, waiting, why), idsOf(waiting), r.restsOn); err != nil {
			return err
		}
		if err := jobs.Emit(ctx, tx, policy.HookEscalation, strconv.FormatInt(int64(waiting[len(waiting)-1].ID), 10)); err != nil {
			return err
		}
	} else if err := a.notifyAgain(ctx, tx, chat, waiting, r); err != nil {
		return err
	}
	if contactKnows {
		return nil
	}
	name, err := store.AssistantName(ctx, tx, a.Name)
	if err != nil {
		return err
	}
	out, decision, err := a.Box.Queue(ctx, tx, outbox.Message{Chat: chat, Purpose: policy.PurposeEscalation, Text: a.Handover, Addressed: addressed(name, waiting), TaskID: r.taskID()})
	if err != nil {
		return err
	}
	r.outboxID = &out
	if !decision.Allow {
		r.reason += " I told the contact nothing: " + decision.Why
		return nil
	}
	return store.MarkContactTold(ctx, tx, chat.ID)
}

// notifyAgain tells the owner, without a ring, that an escalated chat got more messages: at the first, and then each time
// that their number doubled, so that no contact can fill the admin room.
func (a *Agent) notifyAgain(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult) error {
	before, err := store.CountMessagesWaiting(ctx, tx, chat.ID, codeWaiting)
	if err != nil {
		return err
	}
	now := before + len(waiting)
	r.code, r.reason = codeWaiting, fmt.Sprintf("%s The chat was already waiting for you; this is message %d since then.", r.escalation, now)
	if bits.Len(uint(before)) == bits.Len(uint(now)) {
		return nil
	}
	return a.notify(ctx, tx, outbox.Quiet, againText(chat, waiting, now), idsOf(waiting), r.restsOn)
}

// escalationText is the notice that a chat was escalated, and why.
func escalationText(chat store.Chat, waiting []store.Message, why string) string {
	return fmt.Sprintf("🙋 **%s needs a person**\n\n%s\n\n%s Write to them in [that chat](%s); I stay quiet there while you do. `/resume %s` when it is settled.",
		text.Escape(chatLabel(chat)), quotes(waiting), text.Escape(why), roomLink(chat), strings.ReplaceAll(numbered(bridgebridge.DisplayName(chat.Name), chat), "`", "'"))
}

// againText is the notice that an escalated chat got more messages, and how many by now.
func againText(chat store.Chat, waiting []store.Message, n int) string {
	more := "another message"
	if n > 1 {
		more = fmt.Sprintf("%d more messages", n)
	}
	return fmt.Sprintf("🙋 **%s** is still waiting and sent [%s](%s)\n\n%s", text.Escape(chatLabel(chat)), more, roomLink(chat), quotes(waiting))
}
