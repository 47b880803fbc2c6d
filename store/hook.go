package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery. Dropped means that the event or the hook no longer exists.
const (
	DeliveryQueued    DeliveryState = "queued"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryDropped   DeliveryState = "dropped"
)

// Hook is a webhook: an address to which events are sent.
type Hook struct {
	Name   string
	Target string // the server, as shown to the owner
	Events []string
	// FailingSince is when a delivery was first given up; nil while the hook works.
	FailingSince *time.Time
}

// Delivery is an event that is sent to a hook.
type Delivery struct {
	ID       uuid.UUID
	Hook     string
	Event    policy.HookEvent
	Ref      string // the id of the row that the event is about, as text
	At       time.Time
	State    DeliveryState
	Attempts int
	Status   int // the HTTP status of the last attempt; 0 for no answer
	Error    string
	DoneAt   *time.Time
}

const deleteOtherHooksSQL = "delete from hooks where not name = any ($1)"

const putHookSQL = `insert into hooks (name, target, events) values ($1, $2, $3)
	on conflict (name) do update set target = excluded.target, events = excluded.events`

// ReplaceHooks replaces the hooks by those of the configuration.
func ReplaceHooks(ctx context.Context, tx Tx, hooks []Hook) error {
	names := make([]string, len(hooks))
	for i, h := range hooks {
		names[i] = h.Name
	}
	if err := row.Exec(ctx, tx, "delete hooks", deleteOtherHooksSQL, names); err != nil {
		return err
	}
	for _, h := range hooks {
		if err := row.Exec(ctx, tx, "write hook", putHookSQL, h.Name, h.Target, h.Events); err != nil {
			return err
		}
	}
	return nil
}

const hooksSQL = "select name, target, events, failing_since from hooks order by name"

// Hooks returns the hooks by name.
func Hooks(ctx context.Context, db DB) ([]Hook, error) {
	return row.All[Hook](ctx, db, "hooks", hooksSQL)
}

const addDeliveriesSQL = `insert into hook_deliveries (hook, event, ref) select h.name, ($1::text[])[n], ($2::text[])[n]
	from generate_subscripts($1::text[], 1) n join hooks h on ($1::text[])[n] = any (h.events) or h.name = $3 order by n, h.name returning id`

// HookEvent is an event for the owner's hooks, with its reference (see policy.HookEvent).
type HookEvent struct {
	Event     policy.HookEvent
	Reference string
}

// AddDeliveries stores events, each for every hook that subscribes to it, and returns the ids of the deliveries.
func AddDeliveries(ctx context.Context, tx Tx, events ...HookEvent) ([]uuid.UUID, error) {
	return addDeliveries(ctx, tx, events, "")
}

// AddTestDelivery stores a test event for one hook and returns the id of its delivery, or ErrNotFound without such a hook.
func AddTestDelivery(ctx context.Context, tx Tx, hook string) (uuid.UUID, error) {
	ids, err := addDeliveries(ctx, tx, []HookEvent{{Event: policy.HookTest}}, hook)
	if err == nil && len(ids) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return uuid.Nil, err
	}
	return ids[0], nil
}

func addDeliveries(ctx context.Context, tx Tx, events []HookEvent, hook string) ([]uuid.UUID, error) {
	kinds := row.Column(events, func(e HookEvent) policy.HookEvent { return e.Event })
	references := row.Column(events, func(e HookEvent) string { return e.Reference })
	return row.Values[uuid.UUID](ctx, tx, "deliveries to hooks", addDeliveriesSQL, kinds, references, hook)
}

const deliveryColumns = "id, hook, event, ref, at, state, attempts, status, error, done_at"

const deliveryByIDSQL = "select " + deliveryColumns + " from hook_deliveries where id = $1"

// DeliveryByID returns one delivery, or ErrNotFound.
func DeliveryByID(ctx context.Context, db DB, delivery uuid.UUID) (Delivery, error) {
	return row.One[Delivery](ctx, db, "delivery", deliveryByIDSQL, delivery)
}

const deliveriesSQL = "select " + deliveryColumns + " from hook_deliveries where hook = $1 order by at desc, id limit $2"

// Deliveries returns the deliveries of a hook, the newest first.
func Deliveries(ctx context.Context, db DB, hook string, limit int) ([]Delivery, error) {
	return row.All[Delivery](ctx, db, "deliveries", deliveriesSQL, hook, limit)
}

const recordDeliverySQL = `update hook_deliveries set state = $2, attempts = attempts + $3, status = $4, error = $5,
	done_at = case when $2 <> 'queued' then now() end where id = $1`

// RecordDelivery stores the result of an attempt, or that there will be no other.
func RecordDelivery(ctx context.Context, tx Tx, d Delivery, attempts int) error {
	return row.Exec(ctx, tx, "note delivery", recordDeliverySQL, d.ID, d.State, attempts, d.Status, text.Storable(d.Error))
}

const hookFailsSQL = "update hooks set failing_since = now() where name = $1 and failing_since is null"

const hookRecoveredSQL = "update hooks set failing_since = null where name = $1 and failing_since is not null"

// SetHookFailing stores whether a hook works, and reports whether that has changed.
func SetHookFailing(ctx context.Context, tx Tx, hook string, failing bool) (changed bool, err error) {
	sql := hookRecoveredSQL
	if failing {
		sql = hookFailsSQL
	}
	tag, err := tx.Exec(ctx, sql, hook)
	if err != nil {
		return false, fmt.Errorf("note state of hook: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const pruneDeliveriesSQL = "delete from hook_deliveries where done_at < $1"

// PruneDeliveries deletes the deliveries that ended before a time, and returns their number.
func PruneDeliveries(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "forget old deliveries", pruneDeliveriesSQL, before)
}
