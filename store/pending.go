package store

import (
	"context"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

const addPendingSQL = "insert into pending_events (event_id, room_id) select e, r from unnest($1::text[], $2::text[]) p(e, r) order by e on conflict do nothing"

// AddPending stores events of rooms that are not described yet. They are stored in a fixed order, so that two
// transactions with the same events cannot deadlock.
func AddPending(ctx context.Context, tx Tx, events []id.EventID, rooms []id.RoomID) error {
	return row.Exec(ctx, tx, "note pending events", addPendingSQL, events, rooms)
}

const pendingSQL = "select event_id from pending_events where room_id = $1 order by received_at, event_id"

// Pending returns the events of a room that wait for its description.
func Pending(ctx context.Context, db DB, room id.RoomID) ([]id.EventID, error) {
	return row.Values[id.EventID](ctx, db, "pending events", pendingSQL, room)
}

const pruneSeenEventsSQL = "delete from seen_events where seen_at < $1"

// PruneSeenEvents deletes the ids of events that were processed before a time, so that no homeserver sends them again. It
// returns their number.
func PruneSeenEvents(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "delete old event ids", pruneSeenEventsSQL, before)
}

const prunePendingSQL = `with pending as (delete from pending_events where received_at < $1 returning 1),
	gaps as (delete from pending_gaps where noted_at < $1 returning 1)
	select (select count(*) from pending) + (select count(*) from gaps)`

// PrunePending deletes the pending events and gaps from before a time, of rooms that could not be described since. It returns their number.
func PrunePending(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Value[int](ctx, w, "delete old pending events", prunePendingSQL, before)
}

const deleteExpiredFilesSQL = "delete from kept_files where expires_at < $1"

// DeleteExpiredFiles deletes kept files whose time was over at now, and returns their number.
func DeleteExpiredFiles(ctx context.Context, w Writer, now time.Time) (int, error) {
	return row.Changed(ctx, w, "delete expired files", deleteExpiredFilesSQL, now)
}

const deletePendingSQL = "delete from pending_events where room_id = $1 and event_id = any($2)"

// DeletePending deletes pending events that were processed, or whose room is not bridged.
func DeletePending(ctx context.Context, tx Tx, room id.RoomID, events []id.EventID) error {
	return row.Exec(ctx, tx, "delete pending events", deletePendingSQL, room, events)
}

// Gap is a part of a room's timeline that a limited sync left out and that is to be fetched.
type Gap struct {
	ID   int64
	From string `db:"from_pos"` // the position from which it is read backwards
	To   string `db:"to_pos"`
}

const anyUnseenSQL = `select exists (select from unnest($1::text[]) e
	where not exists (select from seen_events s where s.event_id = e) and not exists (select from pending_events p where p.event_id = e))`

// AnyUnseen reports whether one of the events was neither processed nor is pending.
func AnyUnseen(ctx context.Context, db DB, events []id.EventID) (bool, error) {
	return row.Value[bool](ctx, db, "events not taken in", anyUnseenSQL, events)
}

const addGapSQL = "insert into pending_gaps (room_id, from_pos, to_pos) values ($1, $2, $3) on conflict do nothing"

// AddGap stores a gap.
func AddGap(ctx context.Context, tx Tx, room id.RoomID, from, to string) error {
	return row.Exec(ctx, tx, "note a gap", addGapSQL, room, from, to)
}

const gapsSQL = "select id, from_pos, to_pos from pending_gaps where room_id = $1 order by id"

// Gaps returns the gaps of a room, the oldest first.
func Gaps(ctx context.Context, db DB, room id.RoomID) ([]Gap, error) {
	return row.All[Gap](ctx, db, "gaps", gapsSQL, room)
}

const shrinkGapSQL = "update pending_gaps set from_pos = $2 where id = $1"

// ShrinkGap stores how far a gap was fetched.
func ShrinkGap(ctx context.Context, w Writer, gap int64, from string) error {
	return row.Exec(ctx, w, "shrink a gap", shrinkGapSQL, gap, from)
}

const deleteGapSQL = "delete from pending_gaps where id = $1"

// DeleteGap deletes a gap that was fetched.
func DeleteGap(ctx context.Context, w Writer, gap int64) error {
	return row.Exec(ctx, w, "delete a gap", deleteGapSQL, gap)
}

const deleteGapsSQL = "delete from pending_gaps where room_id = $1"

// DeleteGaps deletes the gaps of a room that is not bridged.
func DeleteGaps(ctx context.Context, tx Tx, room id.RoomID) error {
	return row.Exec(ctx, tx, "delete gaps", deleteGapsSQL, room)
}
