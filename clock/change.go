package clock

import (
	"context"
	"errors"
	"time"

	"multis/jobs"
	"multis/store"
)

// Add writes a new schedule, with the job for its next time. Its id is one that store.NextScheduleID gave.
func Add(ctx context.Context, tx store.Tx, s store.Schedule) error {
	if err := store.InsertSchedule(ctx, tx, s); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.NextTick(s.ID, *s.NextAt))
}

// Change writes a changed schedule, with the job for its next time. If it was carried out, changed or deleted since it was read as
// before, Change writes nothing and returns an error that has the job try again (jobs.IsLater).
func Change(ctx context.Context, tx store.Tx, before, after store.Schedule) error {
	now, err := store.LockSchedule(ctx, tx, before.ID)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Later(0)
	}
	if err != nil {
		return err
	}
	if !sameTime(now.NextAt, before.NextAt) || !sameTime(now.PausedAt, before.PausedAt) || now.Body != before.Body || now.Kind != before.Kind || now.Spec != before.Spec {
		return jobs.Later(0)
	}
	if err := store.UpdateSchedule(ctx, tx, after); err != nil || !after.Waits() {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.NextTick(after.ID, *after.NextAt))
}

// sameTime reports whether two times are equal, or both missing.
func sameTime(x, y *time.Time) bool {
	return (x == nil) == (y == nil) && (x == nil || x.Equal(*y))
}
