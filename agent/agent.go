// Package agent makes one answer: to what waits in a contact's chat, or to a question of the owner. It sends nothing itself;
// what it decides goes to the outbox in the transaction that settles the messages.
package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/skills"
	"multis/store"
	"multis/tools"
)

// Options are what an agent works with.
type Options struct {
	Store  *store.Store
	Box    *outbox.Box
	Search *search.Searcher
	// Memory recalls what was said and noted; nil for documents alone.
	Memory *memory.Memory
	// Model answers from passages; llm.None quotes them.
	Model llm.Model
	// OpenModel opens a model that the owner names; nil where he cannot.
	OpenModel func(name string) (llm.Model, error)
	// Limits are what the model can hold. A persona's own model has its own.
	Limits Limits
	// Tools are what the model may call. Defaults to none.
	Tools *tools.Registry
	// Skills say how answers are worked on. Nil: no more than is built in.
	Skills *skills.Set
	// Personas are who answers; without any, multis does.
	Personas []Persona
	// Pulses are who looks around by himself; none: nobody does.
	Pulses []Pulse
	// Defaults tell the mode of a chat that has none of its own.
	Defaults policy.Defaults
	// Currency is that of the budget.
	Currency string
	// Name is what the assistant is called unless the owner renamed it.
	Name string
	// Greeting answers a greeting; Handover is said once when a person has to take over.
	Greeting string
	Handover string
	// HandOverAtCap has a person answer contacts once money is used up. Defaults to answers in the documents' own words.
	HandOverAtCap bool
	// BurstQuiet is the silence that ends a burst of messages, BurstMax the longest wait for it.
	BurstQuiet time.Duration
	BurstMax   time.Duration
	Zone       *time.Location
}

// Agent answers.
type Agent struct {
	Options
	now   func() time.Time
	fence func() string
}

// New makes an agent.
func New(o Options) *Agent {
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(tools.Tiers{})
	}
	return &Agent{Options: o, now: time.Now, fence: newFence}
}

const (
	busyWait  = time.Second           // before another try when a turn of the same chat runs
	renewTime = store.LeaseTime / 3   // between renewals of the lease
	pollTime  = 2 * time.Second       // at most, between looks at what a turn waits for
	pollSlack = 20 * time.Millisecond // so that a burst has surely ended when we look again
)

// Turn answers everything that waits in a chat, as one. job tells this attempt from all others.
func (a *Agent) Turn(ctx context.Context, chat int64, job string, last bool) error {
	locked, err := store.LockChat(ctx, a.Store.Lazy(), chat, job)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Later(busyWait)
	}
	if err != nil {
		return err
	}
	err = a.locked(ctx, locked, job, last)
	if err != nil {
		// The lease would run out by itself; giving it back lets the next attempt begin at once.
		if _, unlockErr := store.UnlockChat(context.WithoutCancel(ctx), a.Store.DB(), chat, job); unlockErr != nil {
			zerolog.Ctx(ctx).Warn().Err(unlockErr).Int64("chat_id", chat).Msg("Cannot give back the lease of a chat")
		}
	}
	return err
}

// locked is the turn of the one job that holds the chat.
func (a *Agent) locked(ctx context.Context, chat store.Chat, job string, last bool) error {
	waiting, err := store.Waiting(ctx, a.Store.DB(), chat.ID)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		_, err := store.UnlockChat(ctx, a.Store.DB(), chat.ID, job)
		return err
	}
	if wait := a.wait(chat, waiting); wait > 0 {
		return jobs.Later(wait)
	}
	if wait, err := a.listening(ctx, chat.ID, waiting); err != nil || wait {
		return cmp.Or(err, jobs.Later(pollTime))
	}
	working, stop := a.renew(ctx, chat.ID, job)
	result, err := a.reply(working, chat, waiting, last)
	stop()
	if err != nil && last && ctx.Err() == nil && !jobs.IsLater(err) {
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", chat.ID).Msg("A turn failed for good; handing over")
		result, err = resultOf(err), nil
	}
	if err != nil {
		return err
	}
	if err := a.commit(ctx, chat, waiting, job, result); err != nil {
		return err
	}
	a.noteUse(ctx, result.scope, result.used)
	return nil
}

// maxHold is how long an owner who reads along without a word holds an answer back.
const maxHold = time.Minute

// wait is how long a turn waits before it begins: until a burst of messages is over, quiet for BurstQuiet and with nobody
// typing, but no longer than BurstMax; and while the owner seems about to answer himself.
func (a *Agent) wait(chat store.Chat, waiting []store.Message) time.Duration {
	first, newest := waiting[0].ReceivedAt, waiting[0].ReceivedAt
	for _, m := range waiting {
		if m.ReceivedAt.Before(first) {
			first = m.ReceivedAt
		}
		if m.ReceivedAt.After(newest) {
			newest = m.ReceivedAt
		}
	}
	now := a.now()
	quiet := newest.Add(a.BurstQuiet)
	if chat.TypingUntil != nil && chat.TypingUntil.After(quiet) {
		quiet = *chat.TypingUntil
	}
	wait := min(quiet.Sub(now), first.Add(a.BurstMax).Sub(now))
	if chat.HeldUntil != nil {
		wait = max(wait, min(chat.HeldUntil.Sub(now), newest.Add(maxHold).Sub(now)))
	}
	if wait <= 0 {
		return 0
	}
	return min(wait, pollTime) + pollSlack
}

// renew keeps the lease while an answer is made. When it is lost, the context ends: another turn has taken over.
func (a *Agent) renew(ctx context.Context, chat int64, job string) (context.Context, func()) {
	working, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(renewTime)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
				if _, err := store.LockChat(working, a.Store.Lazy(), chat, job); errors.Is(err, store.ErrNotFound) {
					cancel()
					return
				}
			}
		}
	}()
	return working, func() { cancel(); <-done }
}

// result is what a turn came to.
type result struct {
	// letter is what the contact gets; nil for silence.
	letter *outbox.Message
	// out is the row of the outbox that the letter, or word of a handover, became.
	out    *uuid.UUID
	code   policy.Code
	reason string
	// handover is why a person has to take over; empty when none has. words are a model's own about it.
	handover string
	words    string
	// task ends with the result; nil for none.
	task      *store.Task
	summarise bool // what was said before
	// restsOn are the messages whose words may be in what is said.
	restsOn []int64
	// used are the passages that it was made of, found in scope.
	used  []search.Hit
	scope policy.Scope
}

// resultOf is what becomes of messages that could not be answered because something is broken: a person is asked for.
func resultOf(error) result {
	return result{handover: "Something is broken on my side; the log says what."}
}

// commit writes the turn's result in one transaction. A turn whose lease was taken meanwhile writes nothing, and neither does
// one whose messages were edited or deleted, or anything else that the answer rests on: it answers what is said now.
func (a *Agent) commit(ctx context.Context, chat store.Chat, waiting []store.Message, job string, r result) error {
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if ours, err := store.UnlockChat(ctx, tx, chat.ID, job); err != nil {
			return err
		} else if !ours {
			return jobs.Later(busyWait)
		}
		now, err := store.HoldMessages(ctx, tx, idsOf(waiting))
		if err != nil {
			return err
		}
		if changed(waiting, now) {
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
		if err := shorten(ctx, tx, chat.ID, a.personaOf(chat).ID, r.summarise); err != nil {
			return err
		}
		return a.settle(ctx, tx, chat, waiting, r)
	})
}

// changed tells whether messages are not what a turn has read.
func changed(read, now []store.Message) bool {
	byID := map[int64]store.Message{}
	for _, m := range now {
		byID[m.ID] = m
	}
	for _, m := range read {
		n, there := byID[m.ID]
		if !there || n.Body != m.Body || n.Action != m.Action || n.RedactedAt != nil || n.AnsweredAt != nil {
			return true
		}
	}
	return false
}
