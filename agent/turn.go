package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/store"
)

const (
	renewPeriod = store.LeaseTime / 3 // between renewals of the lease
	maxPoll     = 2 * time.Second     // between checks of what a turn waits for
)

// Turn answers everything that waits in a chat, as one. job identifies this attempt; last says that no other follows.
func (a *Agent) Turn(ctx context.Context, chat store.ChatID, job string, last bool) error {
	locked, err := store.LeaseChat(ctx, a.Store.Lazy(), chat, job)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Later(busyWait)
	}
	if err != nil {
		return err
	}
	err = a.turnLocked(ctx, locked, job, last)
	if err != nil {
		// The lease would run out by itself; giving it back lets the next attempt begin at once.
		if _, unlockErr := store.EndLease(context.WithoutCancel(ctx), a.Store.Writer(), chat, job); unlockErr != nil {
			zerolog.Ctx(ctx).Warn().Err(unlockErr).Msg("Cannot give back the lease of a chat")
		}
	}
	return err
}

// turnLocked is the turn of the one job that has the chat's lease.
func (a *Agent) turnLocked(ctx context.Context, chat store.Chat, job string, last bool) error {
	waiting, err := store.WaitingMessages(ctx, a.Store.DB(), chat.ID)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		_, err := store.EndLease(ctx, a.Store.Writer(), chat.ID, job)
		return err
	}
	if wait := a.wait(chat, waiting); wait > 0 {
		return jobs.Later(wait)
	}
	if wait, err := a.awaitsTranscript(ctx, chat.ID, waiting); err != nil || wait {
		return cmp.Or(err, jobs.Later(maxPoll))
	}
	working, stop := a.renewLease(ctx, chat.ID, job)
	result, err := a.decide(working, chat, waiting, last)
	stop()
	if err != nil && last && ctx.Err() == nil && !jobs.IsLater(err) {
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(chat.ID)).Msg("A turn failed for good; escalating")
		result, err = turnResult{escalation: "Something is broken on my side; the log says what."}, nil
	}
	if err != nil {
		return err
	}
	if err := a.commit(ctx, chat, waiting, job, result); err != nil {
		return err
	}
	a.recordAccess(ctx, result.scope, result.used)
	return nil
}

// maxReadDelay is how long an owner who reads along without writing delays an answer.
const maxReadDelay = time.Minute

// wait returns how long a turn waits before it begins: until a burst of messages is over, quiet for BurstQuiet and with nobody
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
		wait = max(wait, min(chat.HeldUntil.Sub(now), newest.Add(maxReadDelay).Sub(now)))
	}
	if wait <= 0 {
		return 0
	}
	return min(wait, maxPoll) + pollSlack
}

// awaitsTranscript reports whether a voice note of the chat is still being transcribed and the burst may still wait for it.
func (a *Agent) awaitsTranscript(ctx context.Context, chat store.ChatID, waiting []store.Message) (bool, error) {
	for _, m := range waiting {
		if a.now().Sub(m.ReceivedAt) > a.BurstMax {
			return false, nil
		}
	}
	return store.IsTranscribing(ctx, a.Store.DB(), chat)
}

// renewLease renews the chat's lease until the returned function is called. When another turn has taken it over, the context ends.
func (a *Agent) renewLease(ctx context.Context, chat store.ChatID, job string) (context.Context, func()) {
	working, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(renewPeriod)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
				if _, err := store.LeaseChat(working, a.Store.Lazy(), chat, job); errors.Is(err, store.ErrNotFound) {
					cancel()
					return
				}
			}
		}
	}()
	return working, func() { cancel(); <-done }
}
