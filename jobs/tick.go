package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// TickArgs asks to do what is due of a schedule. One waits for each schedule and time; when the schedule has another time
// by then, it does nothing.
type TickArgs struct {
	ScheduleID int64     `json:"schedule"`
	At         time.Time `json:"at"`
}

// fetchWindow is how far ahead the queue looks for what becomes due, every so often. What is due sooner would be late, so it is
// taken up at once and waits in its worker's hands.
const fetchWindow = 6 * time.Second

// Kind names the job.
func (TickArgs) Kind() string { return "tick" }

// InsertOpts puts it on its queue, once for each time.
func (a TickArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueTick, MaxAttempts: 25, UniqueOpts: once()}
	if time.Until(a.At) > fetchWindow {
		opts.ScheduledAt = a.At
	}
	return opts
}

// NextTick is the job for a schedule's next time.
func NextTick(schedule int64, at time.Time) TickArgs {
	return TickArgs{ScheduleID: schedule, At: at.UTC().Truncate(time.Microsecond)}
}

// Ticker does what is due of a schedule, and asks for its next time, all in one transaction.
type Ticker interface {
	Tick(ctx context.Context, schedule int64, at time.Time) error
}

// enqueueMissingTicks inserts the missing jobs of schedules.
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
