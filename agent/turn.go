package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/business/answers"
	"multis/business/desk"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	renewPeriod = store.LeaseTTL / 3 // between renewals of the lease
	maxPoll     = 2 * time.Second    // between checks of what a turn waits for
)

// Turns answers contacts.
type Turns struct {
	*core
	desk               *desk.Desk
	standard           standardTexts
	awayOutsideHours   bool // outside of the opening hours, contacts are told no more than when the business opens
	escalateAtCap      bool
	escalationKeywords []string // for Preview
	answers            *answers.Keeper
	burstQuiet         time.Duration
	burstMax           time.Duration
}

// Turn answers all messages that wait in a chat with one reply. job identifies this attempt; last says that no other attempt follows.
func (t *Turns) Turn(ctx context.Context, chat store.ChatID, job string, last bool) error {
	locked, err := store.LeaseChat(ctx, t.store.AsyncCommit(), chat, job)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Snooze(leaseRetryDelay)
	}
	if err != nil {
		return err
	}
	err = t.turnLeased(ctx, locked, job, last)
	if err != nil {
		// The lease would run out by itself; giving it back lets the next attempt begin at once.
		if _, endErr := store.EndLease(context.WithoutCancel(ctx), t.store.Writer(), chat, job); endErr != nil {
			zerolog.Ctx(ctx).Warn().Err(endErr).Msg("Cannot give back the lease of a chat")
		}
	}
	return err
}

// turnLeased answers a chat whose lease the job holds. If no message waits, it ends the lease. If the last attempt fails,
// it escalates.
func (t *Turns) turnLeased(ctx context.Context, chat store.Chat, job string, last bool) error {
	seen, err := store.CurrentSeen(ctx, t.store.DB(), chat.ID) // before the messages are read, so that none of them is newer and unseen
	if err != nil {
		return err
	}
	waiting, err := store.WaitingMessages(ctx, t.store.DB(), chat.ID)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		_, err := store.EndLease(ctx, t.store.Writer(), chat.ID, job)
		return err
	}
	if wait := t.delay(chat, waiting); wait > 0 {
		return jobs.Snooze(wait)
	}
	wait, err := t.awaitsTranscript(ctx, chat.ID, waiting)
	if err != nil {
		return err
	}
	if wait {
		return jobs.Snooze(maxPoll)
	}
	working, stop := t.renewLease(ctx, chat.ID, job)
	result, err := decider{t}.decide(working, chat, waiting, last)
	stop()
	if err != nil && last && ctx.Err() == nil && !jobs.IsSnooze(err) {
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(chat.ID)).Msg("A turn failed for good; escalating")
		result, err = escalated("Something is broken on my side; the log says what.", policy.CauseFailure), nil
	}
	if err != nil {
		return err
	}
	result.seen = seen
	if result.escalation.isNeeded() {
		t.addSuggestions(ctx, chat, slices.Concat(result.questionMessages, waiting), &result)
	}
	if err := t.commit(ctx, chat, waiting, job, result); err != nil {
		return err
	}
	t.recordAccess(ctx, result.scope, result.used)
	return nil
}

// maxReadDelay is how long an answer waits for an owner who reads the chat but does not write.
const maxReadDelay = time.Minute

// delay returns how long a turn waits before it begins: until nobody has written for burstQuiet or is typing, but at most burstMax; or,
// up to maxReadDelay, while the owner reads or types there.
func (t *Turns) delay(chat store.Chat, waiting []store.Message) time.Duration {
	first, newest := waiting[0].ReceivedAt, waiting[0].ReceivedAt
	for _, m := range waiting {
		if m.ReceivedAt.Before(first) {
			first = m.ReceivedAt
		}
		if m.ReceivedAt.After(newest) {
			newest = m.ReceivedAt
		}
	}
	now := t.now()
	quiet := newest.Add(t.burstQuiet)
	if chat.TypingUntil != nil && chat.TypingUntil.After(quiet) {
		quiet = *chat.TypingUntil
	}
	wait := min(quiet.Sub(now), first.Add(t.burstMax).Sub(now))
	if chat.OwnerActiveUntil != nil {
		wait = max(wait, min(chat.OwnerActiveUntil.Sub(now), newest.Add(maxReadDelay).Sub(now)))
	}
	if wait <= 0 {
		return 0
	}
	return min(wait, maxPoll) + pollSlack
}

// awaitsTranscript reports whether a voice note of the chat is still being transcribed and the burst may still wait for it.
func (t *Turns) awaitsTranscript(ctx context.Context, chat store.ChatID, waiting []store.Message) (bool, error) {
	for _, m := range waiting {
		if t.now().Sub(m.ReceivedAt) > t.burstMax {
			return false, nil
		}
	}
	return store.IsTranscribing(ctx, t.store.DB(), chat)
}

// errLeaseLost is the cause of a context that ends because another turn has taken over the lease of the chat.
var errLeaseLost = errors.New("another turn has taken over the lease of the chat")

// renewLease renews the chat's lease until the returned function is called. The context ends when another turn has taken over the lease.
func (t *Turns) renewLease(ctx context.Context, chat store.ChatID, job string) (context.Context, func()) {
	return run.Poll(ctx, renewPeriod, func(ctx context.Context) error {
		_, err := store.LeaseChat(ctx, t.store.AsyncCommit(), chat, job)
		if errors.Is(err, store.ErrNotFound) {
			return errLeaseLost
		}
		return nil // a failed renewal is tried again before the lease runs out
	})
}
