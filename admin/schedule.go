package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/clock"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/store"
)

// scheduleCommands sets, shows and changes schedules, which are called jobs in texts to people.
type scheduleCommands struct {
	base

	clock  *clock.Clock
	asker  Asker
	agents *agentCommands
}

// maxScheduleText is the maximum length of the text of a schedule, in characters.
const maxScheduleText = 2000

// mayChange reports whether the sender of a request may change a schedule.
func (sc *scheduleCommands) mayChange(r request, s store.Schedule) bool {
	return r.isOwner() || (s.CreatedBy != "" && s.CreatedBy == r.message.Sender)
}

// whichJob asks which job is meant. how is a format for what to type, with the number of a job.
func (sc *scheduleCommands) whichJob(ctx context.Context, how string) (answer, error) {
	all, err := store.ListSchedules(ctx, sc.store.DB(), false, 1)
	if err != nil {
		return answer{text: "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`."}, err
	}
	if len(all) == 0 {
		return answer{text: "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`."}, nil
	}
	return answer{text: "Which job? `/jobs` lists them. " + fmt.Sprintf(how, all[0].ID)}, nil
}

// line describes a schedule in one line.
func (sc *scheduleCommands) line(ctx context.Context, s store.Schedule) (string, error) {
	reply := fmt.Sprintf("%d · %s — %s", s.ID, sc.state(s), esc(text.Clip(s.Body, 100)))
	if s.Action == store.ActionAsk {
		reply += " · I work on it"
	}
	if s.ChatID != nil {
		chat, err := store.ChatByID(ctx, sc.store.DB(), *s.ChatID)
		if err != nil {
			return "", err
		}
		reply += " · to " + esc(chat.Label())
		if s.UnlessReply {
			reply += ", unless they write first"
		}
	}
	if s.FailingSince != nil {
		reply += " · ⚠️ failing since " + sc.room.shortTime(*s.FailingSince)
	}
	return reply, nil
}

// state returns the recurrence of a schedule and its next time, or that it is paused or over.
func (sc *scheduleCommands) state(s store.Schedule) string {
	text := ""
	if schedule.Kind(s.Kind) != schedule.At {
		text = recurrenceText(s) + ", "
	}
	switch {
	case s.PausedAt != nil:
		return text + "**paused**"
	case s.NextAt == nil:
		return text + "over"
	default:
		return text + "**" + sc.room.fullTime(*s.NextAt) + "**" + sc.zoneNote(s)
	}
}

// executionLine describes an execution in one line.
func (sc *scheduleCommands) executionLine(run store.Execution) string {
	reply := sc.room.fullTime(run.DueAt) + ": " + string(run.State)
	if late := run.StartedAt.Sub(run.DueAt); late >= schedule.MinLate && run.State != store.ExecutionSkipped {
		reply += ", " + text.Duration(late) + " late"
	}
	if run.Note != "" {
		reply += ", " + esc(text.Clip(run.Note, 200))
	}
	return reply
}

// changeSchedule returns a change that updates a schedule.
func changeSchedule(before, after store.Schedule) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error { return clock.Update(ctx, tx, before, after) }
}

// runNow carries out a schedule now, in addition to its times.
func (sc *scheduleCommands) runNow(s store.Schedule) answer {
	return answer{text: "Done now: " + scheduleTitle(s) + ".", change: func(ctx context.Context, tx store.Tx) error {
		return sc.clock.RunNow(ctx, tx, s)
	}}
}

// upcoming lists the next three times of a schedule.
func (sc *scheduleCommands) upcoming(s store.Schedule) (string, error) {
	if s.NextAt == nil {
		return "never", nil
	}
	plan, err := clock.TimesOf(s)
	if err != nil {
		return "", err
	}
	times := []string{"**" + sc.room.fullTime(*s.NextAt) + "**"}
	for _, t := range plan.Upcoming(*s.NextAt, 2) {
		times = append(times, sc.room.fullTime(t))
	}
	return strings.Join(times, " · "), nil
}

// recurrenceText shows the recurrence of a schedule as it is typed.
func recurrenceText(s store.Schedule) string {
	return "`" + schedule.Describe(schedule.Kind(s.Kind), s.Spec) + "`"
}

// zoneNote names the time zone of a schedule, with its next time there, if it is not the owner's.
func (sc *scheduleCommands) zoneNote(s store.Schedule) string {
	zone, err := schedule.ParseZone(s.Zone)
	switch {
	case err != nil || s.Zone == sc.settings.Zone.String():
		return ""
	case s.NextAt == nil:
		return " (" + esc(s.Zone) + ")"
	default:
		return " (" + schedule.FormatTime(*s.NextAt, sc.room.now(), zone) + " in " + esc(s.Zone) + ")"
	}
}

// scheduleTitle names a schedule in a notice.
func scheduleTitle(s store.Schedule) string {
	if s.CreatedBy == "" {
		return "Upkeep " + esc(systemScheduleName(s))
	}
	return fmt.Sprintf("%s (job %d)", quote(s.Body, 60), s.ID)
}

// systemScheduleName returns the name of one of multis' own schedules.
func systemScheduleName(s store.Schedule) string {
	if s.Action == store.ActionHeartbeat {
		return strings.TrimSpace("heartbeat " + s.Body)
	}
	return s.Body
}

// maxJobs is how many schedules are listed.
const maxJobs = 200
