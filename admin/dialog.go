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

// dialogs finds the question that a message answers, and carries the answer out.
type dialogs struct {
	store *store.Store
	room  *room
	table *commandTable
	// kinds makes an empty question of each kind, for its payload to be read into.
	kinds map[string]func() question
	// fallback answers a choice that points at no question, when none is open. False: it means nothing.
	fallback func(ctx context.Context, r request, c choice) (answer, bool, error)
}

// The kinds of questions that others must know.
const (
	kindDraft    = "draft"
	kindDocument = "role"
)

const (
	// lateAnswerTime is how long after that an answer is still told that it comes too late.
	lateAnswerTime = 24 * time.Hour
	// maxRecentDialogs is how many questions in a row are looked through for an open one.
	maxRecentDialogs = 50
)

// handleChoice carries out an answer to an open question. False: the message is none.
func (ds *dialogs) handleChoice(ctx context.Context, r request, c choice) (answer, bool, error) {
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
		putAside && (dialog.Done || expired),          // that is so already
		!allowed && (dialog.Done || c.word == wordNo): // operators talk to each other as well
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

// closedReason is the record of an answer to nothing.
const closedReason = "It answered a question that was answered before."

// find finds the question that a message answers: the one it replies or reacts to, which pointed says, else the newest that
// was asked. A question that is closed counts, so that the answer to it can be told so instead of falling on another one.
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
	// A draft comes by itself: a word without pointing at it may be meant for something else, and must send nothing.
	recent = slices.DeleteFunc(recent, func(d store.Dialog) bool { return d.Kind == kindDraft })
	if len(recent) == 0 {
		return store.Dialog{}, false, store.ErrNotFound
	}
	d = recent[0]
	for _, older := range recent {
		// Only files queue up: they are sent several at a time, and each asks the same.
		if older.Kind != kindDocument {
			break
		}
		if d.Done && !older.Done && older.ExpiresAt.After(r.now) {
			d = older
			break
		}
	}
	if !d.Done {
		d.Done, err = store.FileAfter(ctx, ds.store.DB(), recent[0])
	}
	return d, false, err
}

// closing closes a question together with what its answer changes. When somebody else was quicker, the message is looked
// at again: by then it answers nothing.
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

// read brings a stored question back.
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
