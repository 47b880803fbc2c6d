package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/store/row"
)

// WatchKind is what a watch looks at.
type WatchKind string

// The kinds of watches.
const (
	WatchPage    WatchKind = "page"    // a web page, regularly
	WatchWebhook WatchKind = "webhook" // what other programs send to an address
)

// Watch is a web page or an incoming webhook. The owner is notified when the page changes or another program calls the webhook.
type Watch struct {
	ID       WatchID
	Name     string
	Kind     WatchKind
	Address  string // of a page
	Interval int64  `db:"every"` // seconds between two checks of a page
	Token    []byte // the SHA-256 of a webhook's token
	// Validator and Seen are the last version of the page. Seen is nil before the first check.
	Validator string
	Seen      *string
	NextAt    time.Time
	CheckedAt *time.Time
	ChangedAt *time.Time
	// Failures counts the failed checks since the last good one, and Error is the last reason.
	Failures int
	Error    string
	// Changes counts the checks in a row that found a change, Changing has the shapes of the lines that changed in all of them, and LeftOut
	// those that are no longer compared.
	Changes  int
	Changing []string
	LeftOut  []string
}

const watchColumns = "id, name, kind, address, every, token, validator, seen, next_at, checked_at, changed_at, failures, error, changes, changing, left_out"

const insertWatchSQL = "insert into watches (name, kind, address, every, token) values ($1, $2, $3, $4, $5) on conflict do nothing returning id"

// InsertWatch stores a watch and returns its id, or 0 if the name is taken.
func InsertWatch(ctx context.Context, tx Tx, w Watch) (WatchID, error) {
	rows, err := tx.Query(ctx, insertWatchSQL, w.Name, w.Kind, w.Address, w.Interval, w.Token)
	if err != nil {
		return 0, fmt.Errorf("write watch: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[WatchID])
	if err != nil {
		return 0, err
	}
	if len(ids) == 0 {
		return 0, nil
	}
	return ids[0], nil
}

const watchesSQL = "select " + watchColumns + " from watches order by name"

// HashToken returns the hash under which a webhook's token is stored.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Watches returns the watches by name.
func Watches(ctx context.Context, db DB) ([]Watch, error) {
	return row.All[Watch](ctx, db, "watches", watchesSQL)
}

const watchByIDSQL = "select " + watchColumns + " from watches where id = $1"

// WatchByID returns one watch, or ErrNotFound.
func WatchByID(ctx context.Context, db DB, watch WatchID) (Watch, error) {
	return row.One[Watch](ctx, db, "watch", watchByIDSQL, watch)
}

const watchByNameSQL = "select " + watchColumns + " from watches where name = $1"

// WatchByName returns one watch, or ErrNotFound.
func WatchByName(ctx context.Context, db DB, name string) (Watch, error) {
	return row.One[Watch](ctx, db, "watch", watchByNameSQL, name)
}

const recordPageCheckSQL = `update watches set validator = @validator, seen = @seen, next_at = @next, checked_at = now(),
	changed_at = case when @changed then now() else changed_at end, failures = @failures, error = @error,
	changes = @changes, changing = coalesce(@changing::text[], '{}'), left_out = coalesce(@left_out::text[], '{}') where id = @id and next_at = @due`

// RecordPageCheck stores the result of a check of a page that was due at a time. changed means that the page has changed.
// It returns false if the watch was removed meanwhile, or the page checked by another process.
func RecordPageCheck(ctx context.Context, tx Tx, w Watch, due time.Time, changed bool) (bool, error) {
	n, err := row.Changed(ctx, tx, "note watch", recordPageCheckSQL, pgx.NamedArgs{
		"id": w.ID, "validator": w.Validator, "seen": w.Seen, "next": w.NextAt, "changed": changed, "failures": w.Failures,
		"error": text.Storable(w.Error), "due": due, "changes": w.Changes, "changing": w.Changing, "left_out": w.LeftOut,
	})
	return n > 0, err
}

const pruneWebhookRequestsSQL = "delete from webhook_requests where at < $1"

// PruneWebhookRequests deletes the ids of requests from before a time, and returns their number.
func PruneWebhookRequests(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "forget old requests", pruneWebhookRequestsSQL, before)
}

const touchWatchSQL = "update watches set checked_at = now(), changed_at = now() where id = $1"

const deleteOldCallsSQL = "delete from webhook_requests where watch_id = $1 and at < $2"

const insertCallSQL = "insert into webhook_requests (watch_id, key) values ($1, $2) on conflict do nothing"

// RecordWebhookCall stores a call of an incoming webhook. first is false if a call with the same key was stored since a
// time. A call without a key is always new.
func RecordWebhookCall(ctx context.Context, tx Tx, watch WatchID, key string, since time.Time) (first bool, err error) {
	if err := row.Exec(ctx, tx, "note call", touchWatchSQL, watch); err != nil {
		return false, err
	}
	if key == "" {
		return true, nil
	}
	if err := row.Exec(ctx, tx, "forget old calls", deleteOldCallsSQL, watch, since); err != nil {
		return false, err
	}
	tag, err := tx.Exec(ctx, insertCallSQL, watch, key)
	if err != nil {
		return false, fmt.Errorf("note call: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const deleteWatchSQL = "delete from watches where id = $1"

// DeleteWatch deletes a watch. It does nothing if there is none.
func DeleteWatch(ctx context.Context, tx Tx, watch WatchID) error {
	return row.Exec(ctx, tx, "end watch", deleteWatchSQL, watch)
}
