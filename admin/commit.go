package admin

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
)

// commit makes the changes of an answer and queues its text, in one transaction. If the message was answered meanwhile,
// it writes nothing. If it was edited or deleted meanwhile, or a message that the answer quotes was deleted, it returns
// jobs.Snooze, and the message is handled again.
func (a *Admin) commit(ctx context.Context, r request, ans answer) error {
	err := a.store.InTx(ctx, func(tx store.Tx) error {
		ans := ans // the transaction may be run again
		if err := lockUnchanged(ctx, tx, r, ans.quotes); err != nil {
			return err
		}
		if err := a.audit(ctx, tx, r, ans); err != nil {
			return err
		}
		var err error
		if ans.text, err = ans.apply(ctx, tx); err != nil {
			return err
		}
		if err := noteChange(ctx, tx, r, ans); err != nil {
			return err
		}
		if ans.reaction == reactionStarted {
			if ans.text, err = withSafeModeNote(ctx, tx, ans.text); err != nil {
				return err
			}
		}
		if ans.reaction != "" {
			if err := a.room.react(ctx, tx, r.room, r.message, ans.reaction); err != nil {
				return err
			}
		}
		out, err := a.writeAnswer(ctx, tx, r, ans)
		if err != nil {
			return err
		}
		return markHandled(ctx, tx, r, out, cmp.Or(ans.reason, policy.CodeCommand.Sentence()))
	})
	switch {
	case errors.Is(err, errAlreadyAnswered):
		return nil
	case errors.Is(err, store.ErrChanged):
		return jobs.Snooze(olderCommandWait)
	default:
		return err
	}
}

// writeAnswer queues the text of an answer, if it has one, and returns its outbox message.
func (a *Admin) writeAnswer(ctx context.Context, tx store.Tx, r request, ans answer) (*uuid.UUID, error) {
	if ans.text == "" {
		return nil, nil //nolint:nilnil // an answer without a text has no outbox message
	}
	id, err := a.room.write(ctx, tx, r.room, notice{
		text:     ans.text,
		kind:     outbox.Answer,
		question: ans.question,
		quotes:   ans.quotes,
		sources:  []store.MessageID{r.message.ID},
		thread:   cmp.Or(ans.thread, r.message.Thread),
	})
	if err != nil {
		return nil, err
	}
	if ans.commitmentID == 0 {
		return &id, nil
	}
	return &id, store.SetCommitmentEvent(ctx, tx, ans.commitmentID, id)
}

// lockUnchanged locks the message of a request, and those that its answer quotes: an edit or a deletion that comes from
// then on waits, and finds what was done. It returns store.ErrChanged if the message is not as it was read, or if one
// that is quoted was deleted since.
func lockUnchanged(ctx context.Context, tx store.Tx, r request, quotes []store.MessageID) error {
	if r.read != nil {
		if _, err := store.LockUnchanged(ctx, tx, []store.MessageID{r.read.ID}, []store.Message{*r.read}); err != nil {
			return err
		}
	}
	return store.LockQuoted(ctx, tx, quotes, r.now)
}

// markHandled marks a request as answered, or returns errAlreadyAnswered. A request that waited for the PIN was marked
// when the PIN was asked for, so its question for the PIN is closed instead.
func markHandled(ctx context.Context, tx store.Tx, r request, out *uuid.UUID, reason string) error {
	var first bool
	var err error
	if r.grant != nil {
		first, err = store.FinishDialog(ctx, tx, r.grant.dialog)
	} else {
		var marked int64
		marked, err = store.MarkAnswered(ctx, tx, []store.MessageID{r.message.ID}, out, policy.CodeCommand, reason)
		first = marked > 0
	}
	if err == nil && !first {
		return errAlreadyAnswered
	}
	return err
}

// audit sets the actor of the transaction's audit entries, and adds an entry for the request: with the name of the
// command, or for any other text with the kind of its message.
func (a *Admin) audit(ctx context.Context, tx store.Tx, r request, ans answer) error {
	actor := audit.Operator
	if r.isOwner() {
		actor = audit.Owner
	}
	if err := audit.SetActor(ctx, tx, actor); err != nil {
		return err
	}
	action, _ := parseCommand(typedText(r.message))
	if _, known := a.table.lookup(action); !known {
		action = r.message.Kind
	}
	return a.settings.Audit.Append(ctx, tx, audit.Entry{
		Kind:    audit.Command,
		Actor:   actor,
		Person:  string(r.message.Sender),
		Chat:    r.room.ID,
		Message: r.message.ID,
		Action:  action,
		Outcome: cmp.Or(ans.outcome, "answered"),
		Content: []byte(r.message.Body),
	})
}
