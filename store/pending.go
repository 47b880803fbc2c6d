package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"
)

const addPendingSQL = "insert into pending_events (event_id, room_id) select e, r from unnest($1::text[], $2::text[]) p(e, r) order by e on conflict do nothing"

// AddPending notes events of rooms that nobody has described yet, each with its room. They are written in one order, so that
// two transactions with the same events wait for each other instead of blocking each other.
func AddPending(ctx context.Context, tx Tx, events []id.EventID, rooms []id.RoomID) error {
	return exec(ctx, tx, "note pending events", addPendingSQL, events, rooms)
}

const pendingSQL = "select event_id from pending_events where room_id = $1 order by received_at, event_id"

// Pending returns the events of a room that wait for its description.
func Pending(ctx context.Context, db DB, room id.RoomID) ([]id.EventID, error) {
	rows, err := db.Query(ctx, pendingSQL, room)
	if err != nil {
		return nil, fmt.Errorf("read pending events: %w", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowTo[id.EventID])
	if err != nil {
		return nil, fmt.Errorf("read pending events: %w", err)
	}
	return events, nil
}

const dropOldEventsSQL = `with seen as (delete from seen_events where seen_at < now() - interval '90 days' returning 1),
	files as (delete from kept_files where expires_at < now() returning 1),
	pending as (delete from pending_events where received_at < now() - interval '7 days' returning 1)
	select (select count(*) from seen) + (select count(*) from pending) + (select count(*) from files)`

// DropOldEvents forgets the ids of events that no homeserver sends again, and of those whose room could not be looked at.
func DropOldEvents(ctx context.Context, db DB) (int, error) {
	return number(ctx, db, "drop old event ids", dropOldEventsSQL)
}

const dropPendingSQL = "delete from pending_events where room_id = $1 and event_id = any($2)"

// DropPending forgets events once they were taken in, or once the room turned out to be none of ours.
func DropPending(ctx context.Context, tx Tx, room id.RoomID, events []id.EventID) error {
	return exec(ctx, tx, "drop pending events", dropPendingSQL, room, events)
}
