package clock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"multis/clock/schedule"
	"multis/jobs"
	"multis/store"
)

// maxSystemSchedules is the maximum number of schedules that multis itself creates.
const maxSystemSchedules = 200

// Upkeep is maintenance that multis does by a schedule of its own. The owner can also start it.
type Upkeep struct {
	Name    string // one word, which never changes
	Summary string // for the owner: a verb and its object, such as "deletes old messages"
	Cron    string
	AtStart bool // it is also done at each start of multis
	// Run does the work and returns a note for its history. It may be called again at any time.
	Run func(ctx context.Context) (note string, err error)
}

// Heartbeat says when an agent checks whether anything needs the owner.
type Heartbeat struct {
	Agent string // empty for multis itself
	Cron  string
}

// Prepare updates multis' own schedules to Upkeep and Heartbeats, pauses the schedules of former operators, and starts
// the upkeep with AtStart. It is called before the jobs run.
func (c *Clock) Prepare(ctx context.Context) error {
	return c.Store.InTx(ctx, func(tx store.Tx) error {
		for _, update := range []func(context.Context, store.Tx) error{c.updateUpkeep, c.updateHeartbeats, c.takeOver, c.startUpkeep} {
			if err := update(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// updateUpkeep updates the schedules of upkeep.
func (c *Clock) updateUpkeep(ctx context.Context, tx store.Tx) error {
	var own []store.Schedule
	for _, u := range c.Upkeep {
		own = append(own, store.Schedule{Spec: u.Cron, Action: store.ActionUpkeep, Body: u.Name, CatchUp: store.CatchOnce})
	}
	return c.updateSystemSchedules(ctx, tx, store.ActionUpkeep, own)
}

// updateHeartbeats updates the schedules of heartbeats.
func (c *Clock) updateHeartbeats(ctx context.Context, tx store.Tx) error {
	var own []store.Schedule
	for _, h := range c.Heartbeats { // a missed one is skipped, because the next one finds the same
		own = append(own, store.Schedule{Spec: h.Cron, Action: store.ActionHeartbeat, Body: h.Agent, CatchUp: store.CatchSkip})
	}
	return c.updateSystemSchedules(ctx, tx, store.ActionHeartbeat, own)
}

// updateSystemSchedules writes multis' own schedules of one action and deletes all others of that action. The jobs for
// them are enqueued when the jobs start.
func (c *Clock) updateSystemSchedules(ctx context.Context, tx store.Tx, action store.ScheduleAction, own []store.Schedule) error {
	names := make([]string, len(own))
	for i, s := range own {
		names[i] = s.Body
	}
	if err := store.DeleteOwnSchedules(ctx, tx, action, names); err != nil {
		return err
	}
	for _, s := range own {
		s.Kind, s.Zone = string(schedule.Cron), c.Zone.String()
		plan, err := TimesOf(s)
		if err != nil {
			return err
		}
		next := plan.Next(c.Now())
		s.NextAt = &next
		if err := store.EnsureSchedule(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}

// takeOver pauses the schedules of former operators, makes the owner their creator, and notifies the owner. It action so
// once for each schedule, because then the owner is its creator.
func (c *Clock) takeOver(ctx context.Context, tx store.Tx) error {
	if _, err := store.AdminChat(ctx, tx); errors.Is(err, store.ErrNotFound) {
		return nil // without an admin room nobody has set any schedule
	} else if err != nil {
		return err
	}
	paused, err := store.TakeOverSchedules(ctx, tx, c.Owner, c.Operators, c.Now())
	if err != nil {
		return err
	}
	if len(paused) == 0 {
		return nil
	}
	return c.Messenger.NotifyTakenOver(ctx, tx, paused)
}

// startUpkeep starts the upkeep with AtStart.
func (c *Clock) startUpkeep(ctx context.Context, tx store.Tx) error {
	own, err := store.ListSchedules(ctx, tx, true, maxSystemSchedules)
	if err != nil {
		return err
	}
	for _, s := range own {
		if u, found := c.upkeepNamed(s.Body); !found || !u.AtStart {
			continue
		}
		if err := c.RunNow(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}

// UpkeepSummary returns the summary of an upkeep; empty if there is none of that name.
func (c *Clock) UpkeepSummary(name string) string {
	u, _ := c.upkeepNamed(name)
	return u.Summary
}

func (c *Clock) upkeepNamed(name string) (u Upkeep, found bool) {
	i := slices.IndexFunc(c.Upkeep, func(u Upkeep) bool { return u.Name == name })
	if i < 0 {
		return Upkeep{}, false
	}
	return c.Upkeep[i], true
}

// doUpkeep carries out the upkeep with a name and returns its note.
func (c *Clock) doUpkeep(ctx context.Context, name string) (note string, err error) {
	u, found := c.upkeepNamed(name)
	if !found {
		return "", jobs.Permanent(fmt.Errorf("there is no upkeep called %q any more", name))
	}
	return u.Run(ctx)
}
