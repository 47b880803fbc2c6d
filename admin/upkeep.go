package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/jobs"
	"multis/outbox"
	"multis/schedule"
	"multis/store"
)

// Upkeep is work on the house itself, done by the clock and again whenever somebody wants it.
type Upkeep struct {
	Name    string // one word, which never changes
	Summary string
	Cron    string
	// AtStart says that it is done when multis starts, too.
	AtStart bool
	// Run does it, and says in a few words what it did. Doing it again is harmless.
	Run func(ctx context.Context) (string, error)
}

// Heartbeat is somebody who looks around by himself, and when.
type Heartbeat struct {
	Agent string // the persona; empty for multis itself
	Cron  string
}

// Prepare writes multis' own schedules, before the jobs begin. Those that are not wanted any more end.
func (a *Admin) Prepare(ctx context.Context) error {
	var own []store.Schedule
	for _, u := range a.Upkeep {
		own = append(own, store.Schedule{Spec: u.Cron, Does: store.DoesUpkeep, Body: u.Name, CatchUp: store.CatchOnce})
	}
	for _, h := range a.Heartbeats { // what was missed is looked at the next time
		own = append(own, store.Schedule{Spec: h.Cron, Does: store.DoesHeartbeat, Body: h.Agent, CatchUp: store.CatchSkip})
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		for _, does := range []store.Does{store.DoesUpkeep, store.DoesHeartbeat} {
			names := []string{}
			for _, s := range own {
				if s.Does == does {
					names = append(names, s.Body)
				}
			}
			if err := store.DropOwnSchedules(ctx, tx, does, names); err != nil {
				return err
			}
		}
		for _, s := range own {
			s.Kind, s.Zone = string(schedule.Cron), a.Rules.Zone.String()
			if err := a.ensure(ctx, tx, s); err != nil {
				return err
			}
		}
		if err := a.stopOrphans(ctx, tx); err != nil {
			return err
		}
		return a.beginning(ctx, tx)
	})
}

// stopOrphans pauses what was set by people who are operators no more, hands it to the owner, and says so. What is paused is the
// owner's from then on, so it is told once.
func (a *Admin) stopOrphans(ctx context.Context, tx store.Tx) error {
	room, err := store.AdminChat(ctx, tx)
	if errors.Is(err, store.ErrNotFound) {
		return nil // nobody set anything
	}
	if err != nil {
		return err
	}
	stopped, err := store.TakeOver(ctx, tx, a.Rules.Owner, a.Rules.Operators, a.Now())
	if err != nil || len(stopped) == 0 {
		return err
	}
	lines := []string{"⏸ **" + count(len(stopped), "job") + " stopped**: set by somebody who is no operator any more. " +
		plural(len(stopped), "It is yours", "They are yours") + fmt.Sprintf(" now: `/jobs %[1]d resume` has one go on, `/cancel %[1]d` ends it.", stopped[0].ID)}
	for _, s := range stopped[:min(len(stopped), pageSize)] {
		lines = append(lines, fmt.Sprintf("%d — %s", s.ID, esc(clip(s.Body, 100))))
	}
	if more := len(stopped) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: `/jobs all`", more))
	}
	_, err = a.say(ctx, tx, room, outbox.Ring, strings.Join(lines, "\n"), nil)
	return err
}

// beginning asks for the upkeep that is done at the start.
func (a *Admin) beginning(ctx context.Context, tx store.Tx) error {
	own, err := store.ListSchedules(ctx, tx, true, maxJobs)
	if err != nil {
		return err
	}
	for _, s := range own {
		if slices.ContainsFunc(a.Upkeep, func(u Upkeep) bool { return u.AtStart && u.Name == s.Body }) {
			if err := a.due(ctx, tx, s, a.Now().Truncate(time.Microsecond), 0, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownName is what one of multis' own schedules is called.
func ownName(s store.Schedule) string {
	if s.Does == store.DoesHeartbeat {
		return strings.TrimSpace("heartbeat " + s.Body)
	}
	return s.Body
}

// ensure writes one of multis' own schedules. The jobs' start gives it its job.
func (a *Admin) ensure(ctx context.Context, tx store.Tx, s store.Schedule) error {
	plan, err := a.plan(s)
	if err != nil {
		return err
	}
	next := plan.Next(a.Now())
	s.NextAt = &next
	return store.EnsureSchedule(ctx, tx, s)
}

// upkeep does one of them.
func (a *Admin) upkeep(ctx context.Context, name string) (string, error) {
	i := slices.IndexFunc(a.Upkeep, func(u Upkeep) bool { return u.Name == name })
	if i < 0 {
		return "", jobs.Final(fmt.Errorf("there is no upkeep called %q any more", name))
	}
	return a.Upkeep[i].Run(ctx)
}

// showUpkeep lists the upkeep, or does one of it now.
func (a *Admin) showUpkeep(ctx context.Context, args string) (answer, error) {
	own, err := store.ListSchedules(ctx, a.Store.DB(), true, maxJobs)
	if err != nil {
		return answer{}, err
	}
	verb, name, _ := strings.Cut(strings.ToLower(args), " ")
	if verb == "run" {
		i := slices.IndexFunc(own, func(s store.Schedule) bool { return strings.EqualFold(ownName(s), strings.TrimSpace(name)) })
		if i < 0 {
			return answer{text: "There is no such upkeep. `/jobs upkeep` lists it."}, nil
		}
		return a.runNow(own[i]), nil
	}
	if len(own) == 0 {
		return answer{text: "There is no upkeep yet."}, nil
	}
	lines := []string{"**Upkeep**, done by itself:"}
	for _, s := range own {
		lines = append(lines, a.upkeepLine(ctx, s))
	}
	return answer{text: strings.Join(lines, "\n") + "\n`/jobs upkeep run " + ownName(own[0]) + "` does it now."}, nil
}

func (a *Admin) upkeepLine(ctx context.Context, s store.Schedule) string {
	text := "**" + esc(ownName(s)) + "**"
	if s.Does == store.DoesHeartbeat {
		text += " — looks whether something needs you"
	} else if i := slices.IndexFunc(a.Upkeep, func(u Upkeep) bool { return u.Name == s.Body }); i >= 0 {
		text += " — " + a.Upkeep[i].Summary
	}
	if runs, err := store.RunsOf(ctx, a.Store.DB(), s.ID, 1); err == nil && len(runs) > 0 {
		text += " · last " + a.runLine(runs[0])
	}
	if s.PausedAt != nil {
		return text + fmt.Sprintf(" · ⚠️ stopped: `/jobs %d resume`", s.ID)
	}
	if s.NextAt != nil {
		text += " · next " + a.clock(*s.NextAt)
	}
	return text
}
