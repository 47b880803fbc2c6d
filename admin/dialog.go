package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

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

const (
	// lateAnswerTime is how long after its end a question is still found, to say that an answer comes too late.
	lateAnswerTime = 24 * time.Hour
	// maxRecentDialogs is how many questions are searched for an open one.
	maxRecentDialogs = 50
)

// register makes kinds of questions known, each by its constructor.
func (ds *dialogs) register(constructors ...func() question) {
	for _, empty := range constructors {
		ds.kinds[empty().traits().kind] = empty
	}
}

// handleChoice returns the reply to a choice. done is false if the message answers no question.
func (ds *dialogs) handleChoice(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	asked, isReference, err := ds.find(ctx, r, c)
	none := errors.Is(err, store.ErrNotFound)
	if none || (err == nil && !isReference && !asked.isOpen(r.now)) {
		ans, done, err := ds.fallback(ctx, r, c)
		if err != nil {
			return answer{}, false, err
		}
		if done || none {
			return ans, done, nil
		}
	}
	if errors.Is(err, errUnclear) {
		return answer{text: "Which question? Reply to the one you mean.", reason: "It could be about several questions."}, true, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	cmd, known := ds.table.lookup(asked.traits.command)
	allowed := !known || cmd.allows(r)
	expired := !asked.ExpiresAt.After(r.now) && r.grant == nil
	declined := c.word == wordNo && !asked.question.accepts(wordNo)
	switch {
	case c.word != "" && !declined && !asked.question.accepts(c.word),
		declined && (asked.Done || expired),          // nothing is left to decline
		!allowed && (asked.Done || c.word == wordNo): // operators talk to each other, too
		return answer{}, false, nil
	case asked.Done && !isReference:
		return answer{text: "Which question? Reply to the one you mean, or send the command again.", reason: closedReason}, true, nil
	case asked.Done:
		return answer{text: "That question is closed.", reason: closedReason}, true, nil
	case expired:
		late := fmt.Sprintf("That question was open until %s. Send `/%s` again.", ds.room.shortTime(asked.ExpiresAt), asked.traits.command)
		return answer{text: late, reason: "It answered a question that had expired."}, true, nil
	case !allowed:
		return notAllowedAnswer(cmd.name), true, nil
	}
	ans, accepted := answer{text: "Left as it was."}, true
	if !declined {
		ans, accepted, err = asked.question.answer(ctx, r, c)
	}
	ans.keepsUndo = ans.change == nil && ans.changeWithText == nil
	if err == nil && accepted {
		ans.change = ds.close(asked.Dialog, markOf(c.word != wordNo), ans.change)
		ans.dialog = asked.ID
	}
	return ans, true, err
}

// closedReason is the reason stored with an answer to a closed question.
const closedReason = "It answered a question that was answered before."

// errUnclear is returned for a message that may be an answer to several questions.
var errUnclear = errors.New("it could be about several questions")

// find returns the question that a message answers. A reply answers the question that it refers to, or the one about the
// message that it refers to, and a reaction the one that it is on; isReference is true then. A reply to anything else
// answers no question. Any other message answers the newest one. Closed questions are found, too, so that a late answer
// is not taken for the answer to another question.
func (ds *dialogs) find(ctx context.Context, r request, c choice) (q openQuestion, isReference bool, err error) {
	if r.dialog != 0 {
		d, err := store.DialogByID(ctx, ds.store.DB(), r.dialog)
		if err != nil {
			return openQuestion{}, true, err
		}
		q, err = ds.load(d)
		return q, true, err
	}
	if r.message.RelatesTo != "" {
		q, err = ds.findReferred(ctx, r)
		return q, true, err
	}
	q, err = ds.findNewest(ctx, r, c)
	return q, false, err
}

// findReferred returns the question that a reply or a reaction refers to.
func (ds *dialogs) findReferred(ctx context.Context, r request) (openQuestion, error) {
	d, err := store.DialogByEvent(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) && r.message.Kind != string(bridgebridge.Reaction) {
		d, err = store.DialogAbout(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
	}
	if err != nil {
		return openQuestion{}, err
	}
	q, err := ds.load(d)
	q.Done = q.Done || !q.ExpiresAt.After(r.now.Add(-lateAnswerTime))
	return q, err
}

// findNewest returns the question that a choice answers which refers to none, or errUnclear.
func (ds *dialogs) findNewest(ctx context.Context, r request, c choice) (openQuestion, error) {
	all, err := ds.recent(ctx, r, r.now.Add(-lateAnswerTime))
	if err != nil {
		return openQuestion{}, err
	}
	if len(all) > 0 && all[0].traits.onlyCancel && all[0].isOpen(r.now) && c.word == wordNo {
		return all[0], nil
	}
	recent := slices.DeleteFunc(slices.Clone(all), func(q openQuestion) bool { return q.traits.needsReference || q.traits.onlyCancel })
	if len(recent) == 0 {
		return openQuestion{}, store.ErrNotFound
	}
	newest := recent[0]
	if newest.traits.unrequested && slices.ContainsFunc(all, func(q openQuestion) bool { return !q.isSame(newest) && q.mayMean(c, r.now) }) {
		return openQuestion{}, errUnclear
	}
	q := firstOpen(recent, r.now)
	if !q.Done {
		q.Done, err = store.IsFileHandledSince(ctx, ds.store.DB(), newest.Dialog)
	}
	return q, err
}

// firstOpen returns the newest question, or the newest open one while the questions before it queue.
func firstOpen(recent []openQuestion, now time.Time) openQuestion {
	if !recent[0].Done {
		return recent[0]
	}
	for _, q := range recent {
		if !q.traits.queues {
			break
		}
		if q.isOpen(now) {
			return q
		}
	}
	return recent[0]
}

// recent returns the questions of the room that had not expired at a time, the newest first, without those that were
// asked after the message was written: messages that come at once, as after an outage, are no answers to the questions
// that they lead to.
func (ds *dialogs) recent(ctx context.Context, r request, since time.Time) ([]openQuestion, error) {
	rows, err := store.RecentDialogs(ctx, ds.store.DB(), r.room.ID, since, maxRecentDialogs)
	if err != nil {
		return nil, err
	}
	var recent []openQuestion
	for _, d := range rows {
		q, err := ds.load(d)
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot read a question of the admin room")
			if d.Done || !d.ExpiresAt.After(r.now) {
				continue
			}
			q = openQuestion{Dialog: d, question: unreadable{}}
		}
		asked := q.askedAt()
		if !r.message.ReceivedAt.Before(asked) && !r.message.At.Before(asked.Add(-maxClockSkew)) {
			recent = append(recent, q)
		}
	}
	return recent, nil
}

// unreadable is an open question that this program cannot read, as one of another version. It stands for the question, so
// that its answer is not taken for the answer to an older one.
type unreadable struct{}

func (unreadable) traits() traits { return traits{} }

func (unreadable) accepts(string) bool { return true }

func (unreadable) answer(context.Context, request, choice) (answer, bool, error) {
	return answer{text: "I can no longer read that question. Send its command again.", reason: "It answered a question that cannot be read."},
		true, nil
}

// findText returns the open question of a kind that a text answers: the question that it replies to, or else the newest
// open one that needs no reference. For an answer that waited for the PIN it is the question that this answered, closed
// or not.
func (ds *dialogs) findText(ctx context.Context, r request, kind string) (d store.Dialog, found bool, err error) {
	switch {
	case r.dialog != 0:
		d, err = store.DialogByID(ctx, ds.store.DB(), r.dialog)
	case r.message.RelatesTo != "":
		d, err = store.DialogByEvent(ctx, ds.store.DB(), r.room.ID, r.message.RelatesTo)
	default:
		var recent []openQuestion
		recent, err = ds.recent(ctx, r, r.now)
		i := slices.IndexFunc(recent, func(q openQuestion) bool { return !q.Done && !q.traits.needsReference })
		if i >= 0 {
			d = recent[i].Dialog
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return store.Dialog{}, false, nil
	}
	open := !d.Done && d.ExpiresAt.After(r.now) || r.grant != nil
	return d, err == nil && d.Kind == kind && open, err
}

// close returns a change that also closes a question, and marks its message. If the question was closed meanwhile, the change returns
// jobs.Snooze: the message is then handled again as one that answers a closed question.
func (ds *dialogs) close(d store.Dialog, mark string, change func(context.Context, store.Tx) error) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		first, err := store.FinishDialog(ctx, tx, d.ID)
		if err != nil {
			return err
		}
		if !first {
			return jobs.Snooze(0)
		}
		if err := ds.room.endQuestion(ctx, tx, d, mark); err != nil {
			return err
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

// load returns the question of a row.
func (ds *dialogs) load(d store.Dialog) (openQuestion, error) {
	q, err := ds.read(d)
	if err != nil {
		return openQuestion{}, err
	}
	return openQuestion{Dialog: d, question: q, traits: q.traits()}, nil
}
