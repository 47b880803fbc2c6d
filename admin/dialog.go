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
	// kinds has a constructor for each kind of question, for the payload to be read into.
	kinds map[string]func() question
	// fallback answers a choice when no question is open. done is false when it means nothing.
	fallback func(ctx context.Context, r request, c choice) (answer, bool, error)
}

// Kinds of questions that get special treatment.
const (
	kindDraft    = "draft"
	kindResend   = "resend"
	kindDocument = "role"
	kindShadow   = "shadow"
	kindRestored = "restored"
)

// needsReference reports whether only a reply or a reaction answers questions of a kind. They are shown without a request of the owner, and often. A word
// that does not refer to one may be meant for another question, and must not decide it; see also TaskCommands.answerApproval.
func needsReference(kind string) bool {
	return slices.Contains([]string{kindDraft, kindResend, kindCard, kindOfferAnswer, kindShadow}, kind)
}

const (
	// lateAnswerTime is how long after its end a question is still found, to say that an answer comes too late.
	lateAnswerTime = 24 * time.Hour
	// maxRecentDialogs is how many questions are searched for an open one.
	maxRecentDialogs = 50
)

// register makes kinds of questions known, each by its constructor.
func (ds *dialogs) register(constructors ...func() question) {
	for _, empty := range constructors {
		ds.kinds[empty().kind()] = empty
	}
}

// handleChoice returns the reply to a choice. done is false if the message answers no question.
func (ds *dialogs) handleChoice(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	dialog, isReference, err := ds.find(ctx, r, c)
	if none := errors.Is(err, store.ErrNotFound); none || (err == nil && !isReference && (dialog.Done || !dialog.ExpiresAt.After(r.now))) {
		if ans, done, err := ds.fallback(ctx, r, c); err != nil || done || none {
			return ans, done, err
		}
	}
	if errors.Is(err, errUnclear) {
		return answer{text: "Which question? Reply to the one you mean.", reason: "It could be about several questions."}, true, nil
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
	expired := !dialog.ExpiresAt.After(r.now) && r.grant == nil
	declined := c.word == wordNo && !asked.accepts(wordNo)
	switch {
	case c.word != "" && !declined && !asked.accepts(c.word),
		declined && (dialog.Done || expired),          // nothing is left to decline
		!allowed && (dialog.Done || c.word == wordNo): // operators talk to each other, too
		return answer{}, false, nil
	case dialog.Done && !isReference:
		return answer{text: "Which question? Reply to the one you mean, or send the command again.", reason: closedReason}, true, nil
	case dialog.Done:
		return answer{text: "That question is closed.", reason: closedReason}, true, nil
	case expired:
		late := fmt.Sprintf("That question was open until %s. Send `/%s` again.", ds.room.shortTime(dialog.ExpiresAt), asked.command())
		return answer{text: late, reason: "It answered a question that had expired."}, true, nil
	case !allowed:
		return notAllowedAnswer(cmd.name), true, nil
	}
	ans, accepted := answer{text: "Left as it was."}, true
	if !declined {
		ans, accepted, err = asked.answer(ctx, r, c)
	}
	if err == nil && accepted {
		ans.change, ans.dialog = closeDialog(dialog, ans.change), dialog.ID
	}
	return ans, true, err
}

// closedReason is the reason stored with an answer to a closed question.
const closedReason = "It answered a question that was answered before."

// errUnclear is returned for a message that may be an answer to several questions.
var errUnclear = errors.New("it could be about several questions")

// find returns the question that a message answers. A reply answers the question that it refers to, or the one about the message that it refers to, and a
// reaction the one that it is on; isReference is true then. A reply to anything else answers no question. Any other message answers the newest one. Closed
// questions are found, too, so that a late answer is not taken for the answer to another question.
func (ds *dialogs) find(ctx context.Context, r request, c choice) (d store.Dialog, isReference bool, err error) {
	if r.dialog != 0 {
		d, err = store.DialogByID(ctx, ds.store.DB(), r.dialog)
		return d, true, err
	}
	since := r.now.Add(-lateAnswerTime)
	if r.message.RelatesTo != "" {
		d, err = store.DialogByEvent(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
		if errors.Is(err, store.ErrNotFound) && r.message.Kind != string(bridgebridge.Reaction) {
			d, err = store.DialogAbout(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
		}
		d.Done = d.Done || !d.ExpiresAt.After(since)
		return d, true, err
	}
	all, err := ds.recent(ctx, r, since)
	if err != nil {
		return store.Dialog{}, false, err
	}
	recent := all
	if len(recent) > 0 && recent[0].Kind == store.DialogPIN && !recent[0].Done && recent[0].ExpiresAt.After(r.now) && c.word == wordNo {
		return recent[0], false, nil
	}
	// A question for the PIN is answered by the PIN, which never comes here; only "cancel" is meant for it.
	recent = slices.DeleteFunc(slices.Clone(all), func(d store.Dialog) bool { return needsReference(d.Kind) || d.Kind == store.DialogPIN })
	if len(recent) == 0 {
		return store.Dialog{}, false, store.ErrNotFound
	}
	d = recent[0]
	byItself, err := ds.comesByItself(d)
	if err != nil {
		return store.Dialog{}, false, err
	}
	if byItself && slices.ContainsFunc(all, func(q store.Dialog) bool { return !isSameQuestion(q, d) && ds.mayMean(r, q, c) }) {
		return store.Dialog{}, false, errUnclear
	}
	for _, older := range recent {
		// Only questions about files queue up: several files are sent at once, and each asks the same question.
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

// recent returns the questions of the room that had not expired at a time, the newest first, without those that were asked after the message was written:
// messages that come at once, as after an outage, are no answers to the questions that they lead to.
func (ds *dialogs) recent(ctx context.Context, r request, since time.Time) ([]store.Dialog, error) {
	recent, err := store.RecentDialogs(ctx, ds.store.DB(), r.room.ID, since, maxRecentDialogs)
	return slices.DeleteFunc(recent, func(d store.Dialog) bool {
		q, err := ds.read(d)
		if err != nil {
			return false
		}
		asked := d.ExpiresAt.Add(-lifetimeOf(q))
		if card, ok := q.(*approveCalls); ok {
			asked = card.Asked
		}
		return r.message.ReceivedAt.Before(asked) || r.message.At.Before(asked.Add(-maxClockSkew))
	}), err
}

// comesByItself reports whether a question was shown without a request of the owner, or long after it. A word that does not refer to it decides it only if no
// other question is open.
func (ds *dialogs) comesByItself(d store.Dialog) (bool, error) {
	q, err := ds.read(d)
	if err != nil {
		return false, err
	}
	alone, ok := q.(unrequestedQuestion)
	return ok && alone.comesByItself(), nil
}

// isSameQuestion reports whether two dialogs are about the same question, as those of /restored, which asks it again.
func isSameQuestion(a, b store.Dialog) bool {
	return a.ID == b.ID || a.Kind == kindRestored && b.Kind == kindRestored
}

// mayMean reports whether a choice that refers to no question may be meant for an open one.
func (ds *dialogs) mayMean(r request, d store.Dialog, c choice) bool {
	if d.Done || !d.ExpiresAt.After(r.now) || d.Kind == kindShadow || d.Kind == store.DialogPIN {
		return false
	}
	q, err := ds.read(d)
	switch {
	case err != nil:
		return false
	case c.word == "":
		return !needsReference(d.Kind)
	default:
		return d.Kind == kindCard || q.accepts(c.word)
	}
}

// findText returns the open question of a kind that a text answers: the question that it replies to, or else the newest open one. Drafts and approvals
// do not count, because they are shown without a request of the owner. For an answer that waited for the PIN it is the question that this answered, closed or not.
func (ds *dialogs) findText(ctx context.Context, r request, kind string) (d store.Dialog, found bool, err error) {
	switch {
	case r.dialog != 0:
		d, err = store.DialogByID(ctx, ds.store.DB(), r.dialog)
	case r.message.RelatesTo != "":
		d, err = store.DialogByEvent(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
	default:
		var recent []store.Dialog
		recent, err = ds.recent(ctx, r, r.now)
		i := slices.IndexFunc(recent, func(d store.Dialog) bool { return !d.Done && !needsReference(d.Kind) })
		if i >= 0 {
			d = recent[i]
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return store.Dialog{}, false, nil
	}
	open := !d.Done && d.ExpiresAt.After(r.now) || r.grant != nil
	return d, err == nil && d.Kind == kind && open, err
}

// closeDialog returns a change that also closes a question. If the question was closed meanwhile, the change returns jobs.Snooze: the message is then
// handled again as one that answers a closed question.
func closeDialog(d store.Dialog, change func(context.Context, store.Tx) error) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		first, err := store.FinishDialog(ctx, tx, d.ID)
		if err != nil {
			return err
		}
		if !first {
			return jobs.Snooze(0)
		}
		if change == nil {
			return nil
		}
		return change(ctx, tx)
	}
}

// read returns a stored question.
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
