package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

const addPendingSQL = "insert into pending_events (event_id, room_id) select e, r from unnest($1::text[], $2::text[]) p(e, r) order by e on conflict do nothing"

// AddPending notes events of rooms that nobody has described yet, each with its room. They are written in one order, so that
// two transactions with the same events wait for each other instead of blocking each other.
func AddPending(ctx context.Context, tx Tx, events []id.EventID, rooms []id.RoomID) error {
	return row.Exec(ctx, tx, "note pending events", addPendingSQL, events, rooms)
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
	pending as (delete from pending_events where received_at < now() - interval '7 days' returning 1),
	gaps as (delete from pending_gaps where noted_at < now() - interval '7 days' returning 1)
	select (select count(*) from seen) + (select count(*) from pending) + (select count(*) from files) + (select count(*) from gaps)`

// DropOldEvents forgets the ids of events that no homeserver sends again, the pending events and gaps of rooms that could not be described
// for a week, and kept files that have expired. It returns their number.
func DropOldEvents(ctx context.Context, w Writer) (int, error) {
	return row.Value[int](ctx, w, "drop old event ids", dropOldEventsSQL)
}

const dropPendingSQL = "delete from pending_events where room_id = $1 and event_id = any($2)"

// DropPending forgets events once they were taken in, or once the room turned out to be none of ours.
func DropPending(ctx context.Context, tx Tx, room id.RoomID, events []id.EventID) error {
	return row.Exec(ctx, tx, "drop pending events", dropPendingSQL, room, events)
}

// Gap is a part of a room's timeline that the sync left out and that is still to be fetched.
type Gap struct {
	ID   int64
	From string // it is read backwards from this position
	To   string
}

const anyUnseenSQL = `select exists (select from unnest($1::text[]) e
	where not exists (select from seen_events s where s.event_id = e) and not exists (select from pending_events p where p.event_id = e))`

// AnyUnseen tells whether one of events neither was taken in nor waits for its room's description.
func AnyUnseen(ctx context.Context, db DB, events []id.EventID) (bool, error) {
	return row.Value[bool](ctx, db, "events not taken in", anyUnseenSQL, events)
}

const addGapSQL = "insert into pending_gaps (room_id, from_pos, to_pos) values ($1, $2, $3) on conflict do nothing"

// AddGap notes a part of a room's timeline that is still to be fetched.
func AddGap(ctx context.Context, tx Tx, room id.RoomID, from, to string) error {
	return row.Exec(ctx, tx, "note a gap", addGapSQL, room, from, to)
}

const gapsSQL = "select id, from_pos, to_pos from pending_gaps where room_id = $1 order by id"

// Gaps returns what is still to be fetched of a room's timeline, the oldest first.
func Gaps(ctx context.Context, db DB, room id.RoomID) ([]Gap, error) {
	return row.All[Gap](ctx, db, "gaps", gapsSQL, room)
}

const shrinkGapSQL = "update pending_gaps set from_pos = $2 where id = $1"

// ShrinkGap notes how far a gap was fetched.
func ShrinkGap(ctx context.Context, w Writer, gap int64, from string) error {
	return row.Exec(ctx, w, "shrink a gap", shrinkGapSQL, gap, from)
}

const dropGapSQL = "delete from pending_gaps where id = $1"

// DropGap removes a gap that was fetched.
func DropGap(ctx context.Context, w Writer, gap int64) error {
	return row.Exec(ctx, w, "drop a gap", dropGapSQL, gap)
}

const dropGapsSQL = "delete from pending_gaps where room_id = $1"

// DropGaps forgets the gaps of a room that is none of ours.
func DropGaps(ctx context.Context, tx Tx, room id.RoomID) error {
	return row.Exec(ctx, tx, "drop gaps", dropGapsSQL, room)
}
