package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"maunium.net/go/mautrix/id"

	"multis/clock"
	"multis/clock/schedule"
	"multis/policy/rules"
	"multis/store"
)

//go:embed schedule.md
var scheduleText string

// Schedule is the tool that sets, lists and cancels schedules, like the owner's commands.
type Schedule struct {
	Store *store.Store
	// Registry has the tools. A schedule that makes an agent work may only use those that the caller has.
	Registry *Registry
	Owner    id.UserID
	Zone     *time.Location
	// Now defaults to time.Now.
	Now func() time.Time
}

type scheduleArgs struct {
	Do   string           `json:"do" jsonschema:"set, list or cancel"`
	At   string           `json:"at,omitempty" jsonschema:"to set what happens once: the time in RFC 3339 with its offset, such as 2026-12-24T18:00:00+01:00"`
	Cron string           `json:"cron,omitempty" jsonschema:"to set what comes again: the five fields of cron, in the owner's time zone, such as 0 9 * * 1-5"`
	What string           `json:"what,omitempty" jsonschema:"to set: the words of the reminder, or what is to be done"`
	Work bool             `json:"work,omitempty" jsonschema:"to set: true when you are to work on it then, instead of a reminder in those words"`
	Job  store.ScheduleID `json:"job,omitempty" jsonschema:"to cancel: the number of the job"`
}

const (
	scheduleSet, scheduleList, scheduleCancel = "set", "list", "cancel"

	// maxTextRunes is the maximum length of a schedule's text, in characters, and maxListed how many schedules are listed.
	maxTextRunes, maxListed = 2000, 50
	// earlyHour is the hour until which a time is said to be at night.
	earlyHour = 6
	// maxAhead is how far ahead a schedule can be set.
	maxAhead = 5 * 366 * 24 * time.Hour
)

// Spec describes the tool.
func (Schedule) Spec() Spec {
	return Spec{
		Name:        "schedule",
		Description: scheduleText,
		Schema:      Schema[scheduleArgs](),
		Tier:        Confirm,
		Class:       rules.ClassSchedule,
		HasEffect:   true,
	}
}

// TierOf returns Read for a list, else Confirm.
func (Schedule) TierOf(c Call) Tier {
	if args, err := Decode[scheduleArgs](c); err == nil && args.Do == scheduleList {
		return Read
	}
	return Confirm
}

// ClassOf returns the class of reading for a list, so that it needs no approval in any turn.
func (t Schedule) ClassOf(c Call) rules.Class {
	if t.TierOf(c) == Read {
		return rules.ClassRead
	}
	return rules.ClassSchedule
}

// Refusal returns why a call is never made: its arguments do not fit, or say nothing that can be set.
func (t Schedule) Refusal(c Call) string {
	args, err := Decode[scheduleArgs](c)
	if err == nil && args != (scheduleArgs{}) {
		err = t.check(args)
	}
	return refusalOfArguments(err)
}

// check returns what is wrong with the arguments of a call; nil if they can be carried out.
func (t Schedule) check(args scheduleArgs) error {
	switch args.Do {
	case scheduleList, scheduleCancel:
		return nil
	case scheduleSet:
		if t.Zone == nil { // the tool only explains what it may do
			t.Zone = time.UTC
		}
		_, err := t.parse(args, t.now())
		return err
	default:
		return errors.New("do is set, list or cancel")
	}
}

// Describe says when what is to be set happens: a model may mean another time than it says.
func (t Schedule) Describe(c Call) string {
	args, err := Decode[scheduleArgs](c)
	if err != nil {
		return ""
	}
	if args.Do != scheduleSet || t.Zone == nil {
		return ""
	}
	s, err := t.parse(args, t.now())
	if err != nil {
		return ""
	}
	return "⏰ " + t.timeText(*s.NextAt, s.Spec != "") + ": " + Clip(s.Body, 200)
}

// timeText formats the time of a schedule for the owner. isFirst says that more times follow.
func (t Schedule) timeText(at time.Time, isFirst bool) string {
	when := schedule.FormatTime(at, t.now(), t.Zone)
	if at.In(t.Zone).Hour() < earlyHour {
		when += " at night"
	}
	if isFirst {
		return "first on " + when
	}
	return when
}

// Run sets, lists or cancels schedules.
func (t Schedule) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[scheduleArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	switch args.Do {
	case scheduleSet:
		return t.set(ctx, c, args)
	case scheduleList:
		return t.list(ctx)
	case scheduleCancel:
		return t.cancel(ctx, args.Job)
	default:
		return BadArguments(t.check(args)), nil
	}
}

func (t Schedule) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

// parse returns the schedule to set. Its error is for the model.
func (t Schedule) parse(args scheduleArgs, now time.Time) (store.Schedule, error) {
	s := store.Schedule{
		Zone:      t.Zone.String(),
		Action:    store.ActionSay,
		Body:      strings.TrimSpace(args.What),
		CatchUp:   store.CatchOnce,
		CreatedBy: t.Owner,
		CreatedAt: now,
		Session:   store.SessionIsolated,
	}
	switch {
	case s.Body == "":
		return s, errors.New("what is missing")
	case utf8.RuneCountInString(s.Body) > maxTextRunes:
		return s, fmt.Errorf("what is longer than %d characters", maxTextRunes)
	case (args.At == "") == (args.Cron == ""):
		return s, errors.New("give either at or cron")
	case args.At != "":
		at, err := time.Parse(time.RFC3339, args.At)
		if err != nil {
			return s, errors.New("at is no time in RFC 3339, such as 2026-12-24T18:00:00+01:00")
		}
		if !at.After(now) || at.Sub(now) > maxAhead {
			return s, fmt.Errorf("%s is not ahead, or too far: it is %s now", args.At, now.In(t.Zone).Format(time.RFC3339))
		}
		s.Kind, s.NextAt = string(schedule.At), &at
		return s, nil
	}
	plan, err := schedule.Open(schedule.Cron, args.Cron, t.Zone)
	if err != nil {
		return s, fmt.Errorf("cron cannot be read: %w", err)
	}
	next := plan.Next(now)
	if next.IsZero() {
		return s, errors.New("that never happens")
	}
	s.Kind = string(schedule.Cron)
	s.Spec = args.Cron
	s.NextAt = &next
	return s, nil
}

func (t Schedule) set(ctx context.Context, c Call, args scheduleArgs) (Result, error) {
	now := t.now().Truncate(time.Second)
	s, err := t.parse(args, now)
	if err != nil {
		return BadArguments(err), nil //nolint:nilerr // the model reads it
	}
	if args.Work {
		s.Action = store.ActionAsk
		if c.Agent != "" {
			s.Body = "@" + c.Agent + " " + s.Body // the agent that sets it works on it
		}
		offered, err := t.Registry.Offered(ctx, c.Caller)
		if err != nil {
			return Result{}, err
		}
		for _, o := range offered {
			if o.Tier != Pin {
				s.Tools = append(s.Tools, o.Name)
			}
		}
	}
	err = t.Store.InTx(ctx, func(tx store.Tx) error {
		if s.ID, err = store.NextScheduleID(ctx, tx); err != nil {
			return err
		}
		return clock.Add(ctx, tx, s)
	})
	if err != nil {
		return Result{}, err
	}
	return Result{
		ForLLM: fmt.Sprintf("Set as job %d; next on %s.", s.ID, schedule.FormatTime(*s.NextAt, now, t.Zone)),
		ForUser: fmt.Sprintf("⏰ %s: %s (job %d)", t.timeText(*s.NextAt, s.Spec != ""), Clip(strings.Join(strings.Fields(args.What), " "), 200),
			s.ID),
		Ref: fmt.Sprintf("job %d", s.ID),
	}, nil
}

func (t Schedule) list(ctx context.Context) (Result, error) {
	all, err := store.ListSchedules(ctx, t.Store.DB(), false, maxListed)
	if err != nil {
		return Result{}, err
	}
	lines := []string{fmt.Sprintf("It is %s now.", t.now().In(t.Zone).Format("Mon 2 Jan 2006, 15:04 -07:00"))}
	for _, s := range all {
		when := "over"
		switch {
		case s.PausedAt != nil:
			when = "paused"
		case s.NextAt != nil:
			when = s.NextAt.In(t.Zone).Format(time.RFC3339)
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("job %d, %s, %s %s: %s", s.ID, when, s.Kind, s.Spec,
			Clip(strings.Join(strings.Fields(s.Body), " "), 200))))
	}
	return Result{ForLLM: strings.Join(lines, "\n"), ForUser: "looked at the jobs"}, nil
}

func (t Schedule) cancel(ctx context.Context, job store.ScheduleID) (Result, error) {
	var found bool
	err := t.Store.InTx(ctx, func(tx store.Tx) error {
		s, err := store.LockSchedule(ctx, tx, job)
		if errors.Is(err, store.ErrNotFound) || (err == nil && s.CreatedBy == "") { // multis' own schedules cannot be cancelled by a model
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		return store.DeleteSchedule(ctx, tx, job)
	})
	switch {
	case err != nil:
		return Result{}, err
	case !found:
		return Refused(CodeNotFound, fmt.Sprintf("There is no job %d.", job)), nil
	}
	return Result{ForLLM: fmt.Sprintf("Job %d is cancelled.", job), ForUser: fmt.Sprintf("cancelled job %d", job)}, nil
}
