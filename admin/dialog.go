package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// dialogs finds the question that a message answers, and has it answered.
type dialogs struct {
	store *store.Store
	room  *room
	table *commandTable
	// kinds has a constructor for each kind of question, to read its payload into.
	kinds map[string]func() question
	// fallback answers a choice when no question is open. done is false when it means nothing.
	fallback func(ctx context.Context, r request, c choice) (answer, bool, error)
}

// Kinds of questions that get special treatment.
const (
	kindDraft    = "draft"
	kindDocument = "role"
)

const (
	// lateAnswerTime is how long after its end a question is still found, to say that an answer comes too late.
	lateAnswerTime = 24 * time.Hour
	// maxRecentDialogs is how many questions are searched for an open one.
	maxRecentDialogs = 50
)

// handleChoice returns the answer to a choice. done is false when the message answers no question.
func (ds *dialogs) handleChoice(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	dialog, pointed, err := ds.find(ctx, r)
	if none := errors.Is(err, store.ErrNotFound); none || (err == nil && !pointed && (dialog.Done || !dialog.ExpiresAt.After(r.now))) {
		if ans, done, err := ds.fallback(ctx, r, c); err != nil || done || none {
			return ans, done, err
		}
	}
	if err != nil {
		return answer{}, false, err
	}
	asked, err := ds.read(dialog)
	if err != nil {
		return answer{}, false, err
	}
	cmd, known := ds.table.lookup(asked.command())
	allowed := !known || cmd.allows(r)
	expired := !dialog.ExpiresAt.After(r.now)
	putAside := c.word == wordNo && !asked.accepts(wordNo)
	switch {
	case c.word != "" && !putAside && !asked.accepts(c.word),
		putAside && (dialog.Done || expired),          // nothing is left to decline
		!allowed && (dialog.Done || c.word == wordNo): // operators talk to each other, too
		return answer{}, false, nil
	case dialog.Done && !pointed:
		return answer{text: "Which question? Reply to the one you mean, or send the command again.", reason: closedReason}, true, nil
	case dialog.Done:
		return answer{text: "That question is closed.", reason: closedReason}, true, nil
	case expired:
		late := fmt.Sprintf("That question was open until %s. Send `/%s` again.", ds.room.shortTime(dialog.ExpiresAt), asked.command())
		return answer{text: late, reason: "It answered a question that had expired."}, true, nil
	case !allowed:
		return refusal(cmd.name), true, nil
	}
	ans, taken := answer{text: "Left as it was."}, true
	if !putAside {
		ans, taken, err = asked.answer(ctx, r, c)
	}
	if err == nil && taken {
		ans.change = closing(dialog, ans.change)
	}
	return ans, true, err
}

// closedReason is the reason stored with an answer to a closed question.
const closedReason = "It answered a question that was answered before."

// find returns the question that a message answers: the one it replies or reacts to, for which pointed is true, else the newest one.
// Closed questions are found as well, so that a late answer is not taken for the answer to another question.
func (ds *dialogs) find(ctx context.Context, r request) (d store.Dialog, pointed bool, err error) {
	since := r.now.Add(-lateAnswerTime)
	if r.message.RelatesTo != "" {
		d, err = store.DialogByEvent(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
		d.Done = d.Done || !d.ExpiresAt.After(since)
		if err == nil || !errors.Is(err, store.ErrNotFound) || r.message.Kind == string(bridgebridge.Reaction) {
			return d, true, err
		}
	}
	recent, err := store.RecentDialogs(ctx, ds.store.DB(), r.room.ID, since, maxRecentDialogs)
	if err != nil {
		return store.Dialog{}, false, err
	}
	// A draft is shown without being asked for. A word that does not point at it may be meant for something else, and must not send it.
	recent = slices.DeleteFunc(recent, func(d store.Dialog) bool { return d.Kind == kindDraft })
	if len(recent) == 0 {
		return store.Dialog{}, false, store.ErrNotFound
	}
	d = recent[0]
	for _, older := range recent {
		// Only files queue up: several are sent at a time, and each asks the same question.
		if older.Kind != kindDocument {
			break
		}
		if d.Done && !older.Done && older.ExpiresAt.After(r.now) {
			d = older
			break
		}
	}
	if !d.Done {
		d.Done, err = store.IsFileHandledSince(ctx, ds.store.DB(), recent[0])
	}
	return d, false, err
}

// closing closes a question in the transaction of its change. If the question was closed meanwhile, the message is handled again and
// then answers nothing.
func closing(d store.Dialog, do func(context.Context, store.Tx) error) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		first, err := store.FinishDialog(ctx, tx, d.ID)
		if err != nil {
			return err
		}
		if !first {
			return jobs.Later(0)
		}
		if do == nil {
			return nil
		}
		return do(ctx, tx)
	}
}

// read returns a question that is stored.
func (ds *dialogs) read(d store.Dialog) (question, error) {
	empty, known := ds.kinds[d.Kind]
	if !known {
		return nil, fmt.Errorf("read question %d: kind %q is unknown", d.ID, d.Kind)
	}
	q := empty()
	if err := json.Unmarshal(d.Payload, q); err != nil {
		return nil, fmt.Errorf("read question %d: %w", d.ID, err)
	}
	return q, nil
}
