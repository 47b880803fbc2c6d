package clock

import (
	"context"
	"errors"
	"time"

	"multis/jobs"
	"multis/store"
)

// Add inserts a new schedule and enqueues the job for its next time. The schedule's id comes from store.NextScheduleID.
func Add(ctx context.Context, tx store.Tx, s store.Schedule) error {
	if err := store.InsertSchedule(ctx, tx, s); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.NextTick(s.ID, *s.NextAt))
}

// Update updates a schedule from before to after and enqueues the job for its next time. If the stored schedule is no
// longer equal to before, Update writes nothing and returns jobs.Snooze, so that the caller's job reads it again.
func Update(ctx context.Context, tx store.Tx, before, after store.Schedule) error {
	stored, err := store.LockSchedule(ctx, tx, before.ID)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Snooze(0)
	}
	if err != nil {
		return err
	}
	if !sameTime(stored.NextAt, before.NextAt) || !sameTime(stored.PausedAt, before.PausedAt) || stored.Body != before.Body ||
		stored.Kind != before.Kind || stored.Spec != before.Spec {
		return jobs.Snooze(0)
	}
	if err := store.UpdateSchedule(ctx, tx, after); err != nil {
		return err
	}
	if !after.Waits() {
		return nil
	}
	return jobs.Enqueue(ctx, tx, jobs.NextTick(after.ID, *after.NextAt))
}

// sameTime reports whether two times are equal, or both missing.
func sameTime(x, y *time.Time) bool {
	return (x == nil) == (y == nil) && (x == nil || x.Equal(*y))
}
