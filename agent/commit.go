package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"multis/bridgebridge"
	"multis/business/desk"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	leaseRetryDelay = time.Second           // the delay before a retry while another turn of the same chat runs
	pollSlack       = 20 * time.Millisecond // added to a delay, so that what the turn waits for has ended at the next check
)

// commit writes the turn's result in one transaction. It writes nothing and retries if another turn took over the lease,
// or if a message that the answer rests on was edited or deleted.
func (t *Turns) commit(ctx context.Context, chat store.Chat, waiting []store.Message, job string, r turnResult) error {
	return t.store.InTx(ctx, func(tx store.Tx) error {
		if ours, err := store.EndLease(ctx, tx, chat.ID, job); err != nil {
			return err
		} else if !ours {
			return jobs.Snooze(leaseRetryDelay)
		}
		if chat.DeliveryIn(t.defaults) == policy.DeliveryDraft { // a draft that is outdated already is not made
			outdated, err := store.IsOutdated(ctx, tx, chat.ID, r.seen)
			if err != nil {
				return err
			}
			if outdated {
				return jobs.Snooze(pollSlack)
			}
		}
		now, err := store.LockUnchanged(ctx, tx, store.IDsOf(waiting), waiting)
		if err != nil && !errors.Is(err, store.ErrChanged) {
			return err
		}
		if err != nil || slices.ContainsFunc(now, func(m store.Message) bool { return !isUnanswered(waiting, m) }) {
			return jobs.Snooze(pollSlack)
		}
		if r.task != nil {
			ended, err := store.EndTask(ctx, tx, *r.task)
			if err != nil {
				return err
			}
			if ended.Forgotten {
				return jobs.Snooze(pollSlack)
			}
			r.sources = ended.Sources
		}
		if err := enqueueSummary(ctx, tx, chat.ID, t.personaOf(chat).ID, r.summarise); err != nil {
			return err
		}
		if err := t.recordScores(ctx, tx, chat, waiting, r.screening); err != nil {
			return err
		}
		return t.storeResult(ctx, tx, chat, waiting, r)
	})
}

// taskID returns the task that ends with the turn; 0 for none.
func (r *turnResult) taskID() store.TaskID {
	if r.task == nil {
		return 0
	}
	return r.task.ID
}

// isUnanswered reports whether a message that is one of read is still unanswered and was not given another Action meanwhile.
func isUnanswered(read []store.Message, now store.Message) bool {
	return now.AnsweredAt == nil && slices.ContainsFunc(read, func(m store.Message) bool { return m.ID == now.ID && m.Action == now.Action })
}

// storeResult queues the answer and marks the messages as answered, with the reason. An answer that the gate refuses because of its text is
// escalated, because otherwise neither the contact nor the owner would learn of it.
func (t *Turns) storeResult(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r turnResult) error {
	var answer *uuid.UUID
	if r.message != nil {
		r.message.Sources = r.sources
		r.message.TaskID = r.taskID()
		r.message.SeenID = r.seen.Newest
		key, decision, err := t.box.Queue(ctx, tx, *r.message)
		if err != nil {
			return err
		}
		if decision.Code.LacksRoom() || decision.Code == policy.CodeSafeMode {
			return jobs.Snooze(roomPoll) // the room was replaced, or safe mode entered, while the answer was made
		}
		r.outboxID = &key
		if decision.Allow {
			answer = r.outboxID
		} else {
			r.code, r.reason = decision.Code, decision.Why
		}
		if decision.Code.IsAboutText() {
			r.escalation.reason, r.escalation.cause = decision.Why, policy.CauseUnsupported
		}
	}
	if r.escalation.isNeeded() {
		if err := t.escalate(ctx, tx, chat, waiting, &r); err != nil {
			return err
		}
	}
	if answer != nil { // also where a person answers the rest, which the contact is told by another message
		r.outboxID = answer
	}
	return markAnswered(ctx, tx, waiting, r)
}

// markAnswered marks the messages as answered, each with its own reason: where one of them needs a person, the others say so.
func markAnswered(ctx context.Context, tx store.Tx, waiting []store.Message, r turnResult) error {
	var decisive, others []store.MessageID
	for _, m := range waiting {
		if r.escalation.byMessage && m.Action != policy.ActionEscalate {
			others = append(others, m.ID)
		} else {
			decisive = append(decisive, m.ID)
		}
	}
	if _, err := store.MarkAnswered(ctx, tx, decisive, r.outboxID, r.code, r.reason); err != nil {
		return err
	}
	if len(others) == 0 {
		return nil
	}
	reason := "A message that came with it needs a person." + strings.TrimPrefix(r.reason, r.escalation.reason)
	_, err := store.MarkAnswered(ctx, tx, others, r.outboxID, r.code, reason)
	return err
}

// escalate escalates the chat. The card of its thread notifies once; the thread shows later messages. The contact is told once, as soon as
// the gate allows it, and again in each period in which the business is closed.
func (t *Turns) escalate(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult) error {
	why := cmp.Or(r.escalation.modelReason, r.escalation.reason)
	if chat.DeliveryIn(t.defaults).IsShadow(policy.PurposeEscalation) {
		return t.shadowEscalation(ctx, tx, chat, waiting, r)
	}
	if r.escalation.onlyWaiting { // it may have been resolved since the turn decided; EndLease has locked the chat, as who resolves it does
		e, err := store.EscalationOfChat(ctx, tx, chat.ID)
		isMissing := errors.Is(err, store.ErrNotFound)
		if err != nil && !isMissing {
			return err
		}
		if isMissing || !e.IsWaiting() {
			return jobs.Snooze(pollSlack) // decide again
		}
	}
	untold := ""
	first, err := t.desk.Open(ctx, tx, desk.Case{
		Chat:      chat,
		Messages:  slices.Concat(r.questionMessages, waiting),
		Reason:    why,
		Cause:     r.escalation.cause,
		Sources:   r.sources,
		Proposals: r.escalation.proposals,
		Closed:    !t.standard.hoursOf(chat).At(t.now()).Open,
		Tell: func(isTold bool) (err error) {
			untold, err = t.tellEscalated(ctx, tx, chat, waiting, r, isTold)
			return err
		},
	})
	if err != nil {
		return err
	}
	r.code, r.reason = codeEscalated, r.escalation.reason+" I escalated it to you."
	if !first {
		if err := countWaiting(ctx, tx, chat, waiting, r); err != nil {
			return err
		}
	}
	r.reason += untold
	return nil
}

// tellEscalated tells the contact that a person will answer, unless a bot may have written what waits: its answer would be
// escalated again. why says why the contact was told nothing, where the gate refused the text.
func (t *Turns) tellEscalated(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult,
	isTold bool,
) (why string, err error) {
	if !slices.ContainsFunc(waiting, isByPerson) {
		return " I told the contact nothing, because a bot may have written it.", nil
	}
	said, err := t.standard.escalation(ctx, tx, chat, r.escalation.cause, isTold, t.now())
	if err != nil {
		return "", err
	}
	if said == "" {
		return "", nil
	}
	name, err := store.AssistantName(ctx, tx, t.name)
	if err != nil {
		return "", err
	}
	out, decision, err := t.box.Queue(ctx, tx, outbox.Message{
		Chat:      chat,
		Purpose:   policy.PurposeEscalation,
		Text:      said,
		Addressed: addressed(name, waiting),
		TaskID:    r.taskID(),
		SeenID:    r.seen.Newest,
	})
	if err != nil {
		return "", err
	}
	r.outboxID = &out
	if !decision.Allow {
		return " I told the contact nothing: " + decision.Why, nil
	}
	return "", store.MarkContactNotified(ctx, tx, chat.ID)
}

// isByPerson reports whether a person has surely written a message: bots write notices.
func isByPerson(m store.Message) bool { return m.Kind != string(bridgebridge.Notice) }

// shadowEscalation stores what the contact would have been told, as a shadow answer. The chat is not escalated, because
// the owner answers there.
func (t *Turns) shadowEscalation(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult) error {
	said, err := t.standard.escalation(ctx, tx, chat, r.escalation.cause, false, t.now())
	if err != nil {
		return err
	}
	r.code, r.reason = policy.CodeShadow, cmp.Or(r.escalation.modelReason, r.escalation.reason)+" I would have escalated it to you."
	if said == "" { // the contact was told in this closed period
		return nil
	}
	name, err := store.AssistantName(ctx, tx, t.name)
	if err != nil {
		return err
	}
	out, _, err := t.box.Queue(ctx, tx, outbox.Message{
		Chat:      chat,
		Purpose:   policy.PurposeEscalation,
		Text:      said,
		Addressed: addressed(name, waiting),
		TaskID:    r.taskID(),
		SeenID:    r.seen.Newest,
	})
	r.outboxID = &out
	return err
}

// countWaiting says in the reason how many messages the chat got since it was escalated. Its thread shows them.
func countWaiting(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *turnResult) error {
	before, err := store.CountSinceEscalation(ctx, tx, chat.ID, codeWaiting)
	r.code, r.reason = codeWaiting, fmt.Sprintf("%s The chat was already waiting for you; this is message %d since then.", r.escalation.reason,
		before+len(waiting))
	return err
}
