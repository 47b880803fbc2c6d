// Package clock carries out schedules: when one is due, it sends a message, has the assistant work, or runs maintenance or a
// heartbeat, and stores the result. Each time of a schedule is carried out once, even after a crash.
package clock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/clock/schedule"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Messenger sends the messages of schedules and notifies the owner of problems. Everything is written in the given transaction.
type Messenger interface {
	// Send sends the body of a schedule to its chat, or to the admin room as a reminder. late is a sentence that says how late it
	// is; empty when it is on time.
	Send(ctx context.Context, tx store.Tx, s store.Schedule, late string) (Sent, error)
	// NotifySkipped tells the owner that the only execution of a schedule was skipped, and why.
	NotifySkipped(ctx context.Context, tx store.Tx, s store.Schedule, at time.Time, reason string) error
	// NotifyReplied tells the owner that the message of a schedule was not sent, because its contact has written before.
	NotifyReplied(ctx context.Context, tx store.Tx, s store.Schedule, reply store.Message) error
	// NotifyFailed tells the owner that a schedule failed, and why.
	NotifyFailed(ctx context.Context, tx store.Tx, s store.Schedule, reason string) error
	// NotifyUnreadable tells the owner that a schedule stopped because its stored times cannot be read.
	NotifyUnreadable(ctx context.Context, tx store.Tx, s store.Schedule) error
	// NotifyHeartbeatStopped tells the owner that a heartbeat was paused after a number of failures in a row. reason is that
	// of the last failure.
	NotifyHeartbeatStopped(ctx context.Context, tx store.Tx, s store.Schedule, failures int, reason string) error
	// NotifyTakenOver tells the owner which schedules of former operators were paused and are the owner's from now on.
	NotifyTakenOver(ctx context.Context, tx store.Tx, paused []store.Schedule) error
}

// Sent is the result of Messenger.Send.
type Sent struct {
	OutboxID uuid.UUID
	Decision policy.Decision // of the gate
	IsDraft  bool            // it waits for the owner's approval
}

// Worker has the assistant work on the text of a schedule.
type Worker interface {
	// AnswerScheduled works on a text and writes the result to a room, once for each execution.
	AnswerScheduled(ctx context.Context, room store.Chat, run store.ExecutionID, text string) error
}

// Checker carries out heartbeats. It notifies the owner once for each execution.
type Checker interface {
	// Heartbeat makes an agent check whether anything needs the owner, and returns a note for the history of the schedule.
	Heartbeat(ctx context.Context, room store.Chat, run store.ExecutionID, agent string) (note string, err error)
}

// Options are what a Clock works with.
type Options struct {
	Store     *store.Store
	Messenger Messenger
	Worker    Worker
	Checker   Checker
	// Upkeep and Heartbeats are the schedules that multis itself creates.
	Upkeep     []Upkeep
	Heartbeats []Heartbeat
	// Owner and Operators may set schedules. Prepare pauses the schedules of all others, who are former operators.
	Owner     id.UserID
	Operators []id.UserID
	// Zone is the owner's time zone.
	Zone *time.Location
	// Timeout bounds an execution that asks a model, with all its attempts. Defaults to jobs.ExecutionTimeout.
	Timeout time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// Clock carries out schedules. It keeps no state in memory: several processes may carry out the same schedules.
type Clock struct{ Options }

// New returns a Clock.
func New(o Options) *Clock {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Clock{Options: o}
}

const (
	// maxSkipDelay is how late an execution may start if the schedule skips what was missed.
	maxSkipDelay = 5 * time.Minute
	// maxDelay is how late an execution may start if the schedule catches up once.
	maxDelay = 24 * time.Hour
	// maxSnooze limits how long a Tick job that runs too early is delayed at a time. It is short because the system clock
	// may be changed meanwhile.
	maxSnooze = time.Minute
)

// TimesOf returns the times of a schedule, in the time zone in which it was set, which may differ from that of the configuration.
func TimesOf(s store.Schedule) (schedule.Plan, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return schedule.Plan{}, fmt.Errorf("read schedule %d: %w", s.ID, err)
	}
	plan, err := schedule.Open(schedule.Kind(s.Kind), s.Spec, zone)
	if err != nil {
		return schedule.Plan{}, fmt.Errorf("read schedule %d: %w", s.ID, err)
	}
	return plan, nil
}

// Tick carries out a schedule that is due at a time and enqueues the job for its next time, in one transaction. It does
// nothing if the schedule has another next time by now, so that each time is carried out once.
func (c *Clock) Tick(ctx context.Context, scheduleID store.ScheduleID, at time.Time) error {
	if wait := at.Sub(c.Now()); wait > 0 {
		return jobs.Snooze(min(wait, maxSnooze))
	}
	return c.Store.InTx(ctx, func(tx store.Tx) error {
		s, err := store.LockSchedule(ctx, tx, scheduleID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && (!s.Waits() || !s.NextAt.Equal(at))) {
			return nil
		}
		if err != nil {
			return err
		}
		plan, err := TimesOf(s)
		if err != nil {
			return c.stopUnreadable(ctx, tx, s, err)
		}
		now := c.Now()
		next, missed := nextTime(s.CatchUp, plan, at, now)
		if err := c.start(ctx, tx, s, at, now.Sub(at), missed); err != nil {
			return err
		}
		return setNext(ctx, tx, s.ID, next)
	})
}

// nextTime returns the next time to carry out after at, and how many missed times in between are skipped.
func nextTime(c store.CatchUp, plan schedule.Plan, at, now time.Time) (next time.Time, missed int) {
	next, missed = plan.Skip(at, now)
	switch {
	case c == store.CatchAll:
		return plan.Next(at), 0
	case c == store.CatchOnce && now.Sub(at) > maxDelay: // at itself is too old: catch up on the first time within the last day
		next, _ = plan.Skip(at, now.Add(-maxDelay))
	}
	return next, missed
}

// setNext sets the next time of a schedule and enqueues the job for it. The zero time means that there is none.
func setNext(ctx context.Context, tx store.Tx, scheduleID store.ScheduleID, next time.Time) error {
	if next.IsZero() {
		return store.SetNextTime(ctx, tx, scheduleID, nil)
	}
	if err := store.SetNextTime(ctx, tx, scheduleID, &next); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.NextTick(scheduleID, next))
}

// stopUnreadable ends a schedule whose stored times cannot be read.
func (c *Clock) stopUnreadable(ctx context.Context, tx store.Tx, s store.Schedule, cause error) error {
	zerolog.Ctx(ctx).Error().Err(cause).Int64("schedule_id", int64(s.ID)).Msg("Cannot read a schedule")
	if err := store.SetNextTime(ctx, tx, s.ID, nil); err != nil {
		return err
	}
	return c.Messenger.NotifyUnreadable(ctx, tx, s)
}
