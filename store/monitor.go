package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/store/row"
)

// Monitor is the state of a monitor of the configuration.
type Monitor struct {
	ID        MonitorID
	Name      string
	Paused    bool // it is not checked
	NextAt    time.Time
	CheckedAt *time.Time
	// Failures counts the failed checks since the last good one, Error is the last reason, and FailingSince the time of the first.
	Failures     int
	Error        string
	FailingSince *time.Time
	// Firing is true from an alert until a check is good. AlertedAt is the time of the last alert, OutboxID its message, Alerts their number.
	Firing    bool
	AlertedAt *time.Time
	Alerts    int64
	OutboxID  *uuid.UUID
}

// IsFailing reports whether the last check of a monitor that is not paused failed.
func (m Monitor) IsFailing() bool { return m.Failures > 0 && !m.Paused }

const monitorColumns = "id, name, paused, next_at, checked_at, failures, error, failing_since, firing, alerted_at, alerts, outbox_id"

const syncMonitorsSQL = `with gone as (delete from monitors where not name = any (@names::text[])),
	put as (insert into monitors (name) select unnest(@names::text[]) on conflict (name) do nothing)
	update monitors m set next_at = least(m.next_at, now() + c.every * interval '1 second')
		from unnest(@names::text[], @seconds::float8[]) c (name, every) where m.name = c.name`

// SyncMonitors makes the stored monitors those of the configuration: every has the interval of each by name. The state of those that stay is kept.
func SyncMonitors(ctx context.Context, tx Tx, every map[string]time.Duration) error {
	names, seconds := []string{}, []float64{}
	for name, interval := range every {
		names = append(names, name)
		seconds = append(seconds, interval.Seconds())
	}
	return row.Exec(ctx, tx, "store the monitors", syncMonitorsSQL, pgx.NamedArgs{"names": names, "seconds": seconds})
}

const monitorsSQL = "select " + monitorColumns + " from monitors order by name"

// Monitors returns the monitors by name.
func Monitors(ctx context.Context, db DB) ([]Monitor, error) {
	return row.All[Monitor](ctx, db, "monitors", monitorsSQL)
}

const monitorByIDSQL = "select " + monitorColumns + " from monitors where id = $1"

// MonitorByID returns one monitor, or ErrNotFound.
func MonitorByID(ctx context.Context, db DB, id MonitorID) (Monitor, error) {
	return row.One[Monitor](ctx, db, "monitor", monitorByIDSQL, id)
}

const recordMonitorCheckSQL = `update monitors set next_at = @next, checked_at = @checked, failures = @failures, error = @error,
	failing_since = @since, firing = @firing, alerted_at = @alerted, alerts = @alerts where id = @id and next_at = @due and not paused`

// RecordMonitorCheck stores the state of a monitor after a check that was due at a time. It returns false if the monitor was paused or
// removed meanwhile, or checked by another process.
func RecordMonitorCheck(ctx context.Context, tx Tx, m Monitor, due time.Time) (bool, error) {
	n, err := row.Changed(ctx, tx, "store a check", recordMonitorCheckSQL, pgx.NamedArgs{
		"id": m.ID, "next": m.NextAt, "checked": m.CheckedAt, "failures": m.Failures, "error": text.Storable(m.Error),
		"since": m.FailingSince, "firing": m.Firing, "alerted": m.AlertedAt, "alerts": m.Alerts, "due": due,
	})
	return n > 0, err
}

const setMonitorMessageSQL = "update monitors set outbox_id = $2 where id = $1"

// SetMonitorMessage stores the message that says that a monitor fails.
func SetMonitorMessage(ctx context.Context, tx Tx, id MonitorID, message uuid.UUID) error {
	return row.Exec(ctx, tx, "store an alert", setMonitorMessageSQL, id, message)
}

const pauseMonitorSQL = "update monitors set paused = true where id = $1"

// PauseMonitor ends the checks of a monitor.
func PauseMonitor(ctx context.Context, tx Tx, id MonitorID) error {
	return row.Exec(ctx, tx, "pause a monitor", pauseMonitorSQL, id)
}

const resumeMonitorSQL = "update monitors set paused = false, next_at = now(), failures = 0, error = '', failing_since = null where id = $1"

// ResumeMonitor has a paused monitor checked at once. Its failures are counted anew.
func ResumeMonitor(ctx context.Context, tx Tx, id MonitorID) error {
	return row.Exec(ctx, tx, "resume a monitor", resumeMonitorSQL, id)
}
