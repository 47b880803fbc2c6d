package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"multis/policy"
	"multis/store"
)

// EmitHookEvent enqueues a delivery for each hook that is configured for an event, in the transaction in which the event
// happened. ref identifies what the event is about; its form depends on the event (see policy.HookEvent).
func EmitHookEvent(ctx context.Context, tx store.Tx, event policy.HookEvent, ref string) error {
	return EmitHookEvents(ctx, tx, store.HookEvent{Event: event, Reference: ref})
}

// EmitHookEvents is EmitHookEvent for several events.
func EmitHookEvents(ctx context.Context, tx store.Tx, events ...store.HookEvent) error {
	deliveries, err := store.AddDeliveries(ctx, tx, events...)
	if err != nil {
		return err
	}
	args := make([]Args, len(deliveries))
	for i, id := range deliveries {
		args[i] = DeliverHookArgs{DeliveryID: id}
	}
	return Enqueue(ctx, tx, args...)
}

// DeliverHookArgs asks to deliver an event to a hook.
type DeliverHookArgs struct {
	DeliveryID uuid.UUID `json:"delivery"`
}

// Kind names the job.
func (DeliverHookArgs) Kind() string { return "deliver_hook" }

// InsertOpts sets the queue, and attempts for about eight hours.
func (DeliverHookArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueHooks, MaxAttempts: len(deliveryWaits()) + 1}
}

// deliveryWaits are the waits between the attempts at a delivery. A server that restarts still gets the event soon after;
// one that is down for a night loses it.
func deliveryWaits() []time.Duration {
	return []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		4 * time.Hour,
	}
}

func (DeliverHookArgs) retryAfter(attempt int) time.Duration {
	waits := deliveryWaits()
	return waits[min(max(attempt, 1), len(waits))-1]
}

// Deliverer delivers an event to a hook. last says that no other attempt follows.
type Deliverer interface {
	Deliver(ctx context.Context, delivery uuid.UUID, last bool) error
}
