package clock

import (
	"context"

	"multis/store"
)

// SkipOverdue skips the overdue times of schedules after a restore, because they may have been carried out after the
// backup. note is stored in the history. Upkeep is not skipped.
func (c *Clock) SkipOverdue(ctx context.Context, tx store.Tx, note string) error {
	overdue, err := store.OverdueSchedules(ctx, tx, c.Now())
	if err != nil {
		return err
	}
	for _, s := range overdue {
		plan, err := TimesOf(s)
		if err != nil {
			if err := c.stopUnreadable(ctx, tx, s, err); err != nil {
				return err
			}
			continue
		}
		run, first, err := store.StartExecution(ctx, tx, s.ID, *s.NextAt, c.Now())
		if err != nil {
			return err
		}
		if first {
			if _, err := store.EndExecution(ctx, tx, run, store.ExecutionSkipped, note, nil); err != nil {
				return err
			}
		}
		next, _ := plan.Skip(*s.NextAt, c.Now())
		if err := setNext(ctx, tx, s.ID, next); err != nil {
			return err
		}
	}
	return nil
}
