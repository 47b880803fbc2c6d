package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// question is something the room was asked. It is stored with the message that asks it, so that it can be answered by a
// number, a word or a reaction, by the next process as well as by this one.
type question interface {
	kind() string
	// command is the command that asks it: who may give that one may answer.
	command() string
	// answer gives what a choice leads to. The question stays open when it says that the choice is none of its own.
	answer(ctx context.Context, a *Admin, r request, c choice) (ans answer, taken bool, err error)
	// takes tells whether a word is meant for this question.
	takes(word string) bool
}

const (
	// dialogTime is how long a question can be answered.
	dialogTime = 15 * time.Minute
	// lateTime is how long after that an answer is still told that it comes too late.
	lateTime = 24 * time.Hour
)

// readQuestion brings a stored question back.
func readQuestion(d store.Dialog) (question, error) {
	var q question
	switch d.Kind {
	case pickChat{}.kind():
		q = &pickChat{}
	case pickMode{}.kind():
		q = &pickMode{}
	case pickRole{}.kind():
		q = &pickRole{}
	default:
		return nil, fmt.Errorf("read question %d: kind %q is unknown", d.ID, d.Kind)
	}
	if err := json.Unmarshal(d.Payload, q); err != nil {
		return nil, fmt.Errorf("read question %d: %w", d.ID, err)
	}
	return q, nil
}

// chosen carries out an answer to an open question. False: the message is none.
func (a *Admin) chosen(ctx context.Context, r request, c choice) (answer, bool, error) {
	dialog, err := a.dialog(ctx, r)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errClosed) && (c.word == wordYes || c.word == wordNo):
		return answer{}, false, nil
	case errors.Is(err, errClosed):
		return answer{text: "That question is closed.", why: "It answered a question that was answered before."}, true, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	asked, err := readQuestion(dialog)
	if err != nil {
		return answer{}, false, err
	}
	if c.word != "" && !asked.takes(c.word) {
		return answer{}, false, nil
	}
	if !dialog.ExpiresAt.After(r.now) {
		late := fmt.Sprintf("That question was open until %s. Send `/%s` again.", a.moment(dialog.ExpiresAt), asked.command())
		return answer{text: late, why: "It answered a question that had expired."}, true, nil
	}
	if cmd, known := a.lookup(asked.command()); known && !cmd.allows(r) {
		return refusal(cmd), true, nil
	}
	ans, taken, err := asked.answer(ctx, a, r, c)
	if err == nil && taken {
		ans.do = finishing(dialog, ans.do)
	}
	return ans, true, err
}

// errClosed is returned by dialog for a message that points to a question which nobody waits for any more.
var errClosed = errors.New("the question is closed")

// dialog finds the question that a message answers: the one it replies or reacts to, else the newest. One that expired not
// long ago counts, so that the answer to it can be told so. What points to one question never answers another.
func (a *Admin) dialog(ctx context.Context, r request) (store.Dialog, error) {
	since := r.now.Add(-lateTime)
	if r.message.RelatesTo != "" {
		d, err := store.DialogByEvent(ctx, a.Store.DB(), r.room.ID, r.message.RelatesTo, since)
		if !errors.Is(err, store.ErrNotFound) {
			return d, err
		}
		if asked, err := store.HasAsked(ctx, a.Store.DB(), r.room.ID, r.message.RelatesTo); err != nil {
			return store.Dialog{}, err
		} else if asked {
			return store.Dialog{}, errClosed
		}
		if r.message.Kind == string(bridgebridge.Reaction) {
			return store.Dialog{}, store.ErrNotFound
		}
	}
	return store.NewestDialog(ctx, a.Store.DB(), r.room.ID, since)
}

// finishing closes a question together with what its answer changes. When somebody else was quicker, the message is looked
// at again: by then it answers nothing.
func finishing(d store.Dialog, do func(context.Context, store.Tx) error) func(context.Context, store.Tx) error {
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
