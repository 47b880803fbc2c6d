package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// TickArgs asks to carry out a schedule at one of its times. It does nothing when the schedule has another next time by then.
type TickArgs struct {
	ScheduleID store.ScheduleID `json:"schedule"`
	At         time.Time        `json:"at"`
}

// fetchWindow is longer than River's interval for scheduled jobs. River would start a job that is due sooner too late. So
// such a job is made available at once, and its worker waits for the time.
const fetchWindow = 6 * time.Second

// Kind names the job.
func (TickArgs) Kind() string { return "tick" }

// InsertOpts allows one such job for a schedule and time at a time.
func (a TickArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueTick, MaxAttempts: 25, UniqueOpts: uniqueByArgs()}
	if time.Until(a.At) > fetchWindow {
		opts.ScheduledAt = a.At
	}
	return opts
}

// NextTick returns the job for a schedule's next time, to the microsecond as Postgres keeps it.
func NextTick(schedule store.ScheduleID, at time.Time) TickArgs {
	return TickArgs{ScheduleID: schedule, At: at.UTC().Truncate(time.Microsecond)}
}

// WithdrawScheduleArgs asks to end a schedule whose message is not sent if the contact writes first, because the contact
// has written.
type WithdrawScheduleArgs struct {
	ScheduleID store.ScheduleID `json:"schedule"`
}

// Kind names the job.
func (WithdrawScheduleArgs) Kind() string { return "withdraw_schedule" }

// InsertOpts sets the queue and the attempts.
func (WithdrawScheduleArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueTick, MaxAttempts: 25}
}

// ScheduleRunner runs schedules.
type ScheduleRunner interface {
	// Tick carries out a schedule at one of its times and enqueues the TickArgs of the next time, in one transaction.
	Tick(ctx context.Context, schedule store.ScheduleID, at time.Time) error
	// Withdraw ends a schedule without its message if the contact has written first.
	Withdraw(ctx context.Context, schedule store.ScheduleID) error
}

// enqueueMissingTicks enqueues a TickArgs for each schedule whose next time has no job.
func enqueueMissingTicks(ctx context.Context, tx store.Tx) error {
	found, err := store.SchedulesWithoutJob(ctx, tx)
	if err != nil {
		return err
	}
	ticks := make([]Args, len(found))
	for i, d := range found {
		ticks[i] = NextTick(d.ID, d.At)
	}
	return Enqueue(ctx, tx, ticks...)
}
