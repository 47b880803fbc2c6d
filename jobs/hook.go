package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"multis/store"
)

// Emit tells the hooks that asked for it that something happened, in the transaction in which it did. ref is what it is
// about; see the events.
func Emit(ctx context.Context, tx store.Tx, event store.HookEvent, ref string) error {
	deliveries, err := store.AddDeliveries(ctx, tx, event, ref)
	if err != nil {
		return err
	}
	args := make([]Args, len(deliveries))
	for i, id := range deliveries {
		args[i] = HookArgs{DeliveryID: id}
	}
	return Enqueue(ctx, tx, args...)
}

// HookArgs asks to tell a hook of an event.
type HookArgs struct {
	DeliveryID uuid.UUID `json:"delivery"`
}

// Kind names the job.
func (HookArgs) Kind() string { return "hook" }

// InsertOpts puts it on its queue. It is given up after about eight hours.
func (HookArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueHooks, MaxAttempts: len(hookWaits()) + 1}
}

// hookWaits are the pauses between the attempts: a server that is restarted misses little, one that is down for a night a lot.
func hookWaits() []time.Duration {
	return []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
	}
}

// retryAfter is the pause after a failed attempt.
func (HookArgs) retryAfter(attempt int) time.Duration {
	waits := hookWaits()
	return waits[min(max(attempt, 1), len(waits))-1]
}

// Deliverer tells a hook of an event. last says that no other attempt follows.
type Deliverer interface {
	Deliver(ctx context.Context, delivery uuid.UUID, last bool) error
}
