package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"multis/clock"
	"multis/jobs"
	"multis/schedule"
	"multis/store"
	"multis/text"
)

// schedules sets, shows and changes schedules: reminders, and what comes again.
type schedules struct {
	store  *store.Store
	clock  *clock.Clock
	asker  Asker
	agents *agents
	chats  *chatPicker
	room   *room
	rules  Rules
}

// commands are those about schedules.
func (sc *schedules) commands() []command {
	return []command{
		{
			name: "remind", args: "when what", group: groupTime, run: sc.remind, operators: true,
			summary: "say something at a time",
			help: "`2h`, `in 45 min`, `tomorrow 9am`, `fri 14:30`, `24.12. 18:00`, `2026-12-24 18:00`, and what it is about behind it. When it comes, react with ✅, ➕, 🕐 or 🌅. " +
				"`--agent`: I work on it at that time, with the tools I have now, and tell you what came of it (`--session main`: knowing what was said here). " +
				"`--to Ana`: your words go to that chat, as you (`--tell` shows it here, `--best-effort`: it need not arrive). " +
				"`--late skip`: not when I am late with it (`once`, within a day, is usual). `--keep`: it stays in `/jobs` when it is over.",
		},
		{
			name: "cron", args: "rhythm what", group: groupTime, run: sc.cron, operators: true,
			summary: "the same again and again",
			help: "`0 9 * * 1-5` (minute, hour, day, month, day of the week), `@daily`, `every 2h`, `every monday 9am`. The options are those of `/remind`; `--late all` makes up for every time that was missed. " +
				"A time that the clock skips in spring comes right after; one that it shows twice in autumn comes once.",
		},
		{
			name: "jobs", args: "[number] [change]", group: groupTime, run: sc.jobs, operators: true,
			summary: "what is to come",
			help:    "`/jobs 14` shows one, `/jobs 14 edit tomorrow 9am` gives it another time, `/jobs 14 text ...` other words; `pause`, `resume`, `run`, `history` and `cancel` go there as well. `/jobs upkeep` shows what I do for myself, `/jobs upkeep run history` does it now.",
		},
		{
			name: "cancel", args: "number", group: groupTime, run: sc.cancel, operators: true,
			summary: "end a job",
		},
		{
			name: "snooze", args: "[number] [when]", group: groupTime, run: sc.snooze, operators: true,
			summary: "put a reminder off",
			help:    "The last one, the one you reply to, or the one you name; by 10 minutes unless you say otherwise: `/snooze 1h`, `/snooze tomorrow 9am`.",
		},
	}
}

// maxJobs is how many jobs are listed at most.
const maxJobs = 200

// jobs lists what happens by the clock, or shows and changes one of it.
func (sc *schedules) jobs(ctx context.Context, r request, args string) (answer, error) {
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return sc.list(ctx, pageSize)
	case strings.EqualFold(words[0], "all"):
		return sc.list(ctx, maxJobs)
	case strings.EqualFold(words[0], "upkeep"):
		if len(words) > 1 && !r.byOwner() {
			return answer{text: "Upkeep is the owner's to start."}, nil
		}
		return sc.showUpkeep(ctx, strings.Join(words[1:], " "))
	}
	number, verb, rest := jobWords(args)
	if number == 0 {
		return sc.whichJob(ctx, "`/jobs %[1]d` shows one; behind the number stand `edit tomorrow 9am`, `text ...`, `pause`, `resume`, `run`, `history` or `cancel`.")
	}
	s, err := store.ScheduleByID(ctx, sc.store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return noJob(number), nil
	}
	if err != nil {
		return answer{}, err
	}
	if s.Does == store.DoesUpkeep && verb != "" && verb != "history" {
		return answer{text: fmt.Sprintf("Job %d is upkeep of mine, not one of yours. `/jobs upkeep` lists it, %s does it now.", s.ID, code("/jobs upkeep run "+s.Body))}, nil
	}
	if verb != "" && verb != "history" && !sc.mayChange(r, s) {
		return answer{text: "That job is not yours to change: operators change their own, the owner all."}, nil
	}
	switch verb {
	case "":
		return sc.show(ctx, s)
	case "history":
		return sc.history(ctx, s)
	case "edit", "text":
		return sc.edit(r, s, verb, rest)
	case "pause":
		return sc.pause(s), nil
	case "resume":
		return sc.resume(r, s)
	case "run":
		return sc.runNow(s), nil
	case "cancel", "delete", "remove":
		return sc.delete(s), nil
	default:
		return answer{text: "I can `edit`, `text`, `pause`, `resume`, `run`, `cancel` a job, and show its `history`."}, nil
	}
}

// jobWords reads a job's number and what is to be done, in either order.
func jobWords(args string) (number int64, verb, rest string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	second, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if n := jobNumber(first); n > 0 {
		return n, strings.ToLower(second), strings.TrimSpace(after)
	}
	return jobNumber(second), strings.ToLower(first), strings.TrimSpace(after)
}

// jobNumber reads a job's number; zero: it is none.
func jobNumber(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

func noJob(n int64) answer {
	return answer{text: fmt.Sprintf("There is no job %d. `/jobs` lists them.", n)}
}

// mayChange tells whether the one who wrote may change a job.
func (sc *schedules) mayChange(r request, s store.Schedule) bool {
	return r.byOwner() || (s.CreatedBy != "" && s.CreatedBy == r.message.Sender)
}

func (sc *schedules) list(ctx context.Context, shown int) (answer, error) {
	all, err := store.ListSchedules(ctx, sc.store.DB(), false, maxJobs)
	if err != nil {
		return answer{}, err
	}
	if len(all) == 0 {
		return answer{text: "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`."}, nil
	}
	lines := []string{fmt.Sprintf("**%s**, the next first", text.Count(len(all), "job"))}
	for _, s := range all[:min(len(all), shown)] {
		reply, err := sc.line(ctx, s)
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, reply)
	}
	if more := len(all) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: `/jobs all`", more))
	}
	return answer{text: strings.Join(lines, "\n") + fmt.Sprintf("\n`/jobs %[1]d` shows one, `/cancel %[1]d` ends it. `/jobs upkeep` shows what I do for myself.", all[0].ID)}, nil
}

// whichJob says what to write with the number of a job that there is.
func (sc *schedules) whichJob(ctx context.Context, how string) (answer, error) {
	all, err := store.ListSchedules(ctx, sc.store.DB(), false, 1)
	if err != nil || len(all) == 0 {
		return answer{text: "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`."}, err
	}
	return answer{text: "Which job? `/jobs` lists them. " + fmt.Sprintf(how, all[0].ID)}, nil
}

// line shows a job in a line.
func (sc *schedules) line(ctx context.Context, s store.Schedule) (string, error) {
	reply := fmt.Sprintf("%d · %s — %s", s.ID, sc.state(s), esc(text.Clip(s.Body, 100)))
	if s.Does == store.DoesAsk {
		reply += " · I work on it"
	}
	if s.ChatID != nil {
		chat, err := store.ChatByID(ctx, sc.store.DB(), *s.ChatID)
		if err != nil {
			return "", err
		}
		reply += " · to " + esc(label(chat))
	}
	if s.FailingSince != nil {
		reply += " · ⚠️ failing since " + sc.room.moment(*s.FailingSince)
	}
	return reply, nil
}

// state says when a job comes next.
func (sc *schedules) state(s store.Schedule) string {
	text := ""
	if schedule.Kind(s.Kind) != schedule.At {
		text = rhythm(s) + ", "
	}
	switch {
	case s.PausedAt != nil:
		return text + "**paused**"
	case s.NextAt == nil:
		return text + "over"
	default:
		return text + "**" + sc.room.clock(*s.NextAt) + "**"
	}
}

func (sc *schedules) show(ctx context.Context, s store.Schedule) (answer, error) {
	first, err := sc.line(ctx, s)
	if err != nil {
		return answer{}, err
	}
	lines := []string{first}
	if schedule.Kind(s.Kind) != schedule.At && s.Waits() {
		upcoming, err := sc.upcoming(s)
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, "Next: "+upcoming)
	}
	by := "Set by me"
	if s.CreatedBy != "" {
		by = "Set by " + esc(s.CreatedBy.String())
	}
	lines = append(lines, fmt.Sprintf("%s, %s. %s Times are %s.", by, sc.room.clock(s.CreatedAt), lateRule(s.CatchUp), esc(s.Zone)))
	runs, err := store.RunsOf(ctx, sc.store.DB(), s.ID, 1)
	if err != nil {
		return answer{}, err
	}
	if len(runs) > 0 {
		lines = append(lines, "Last: "+sc.executionLine(runs[0]))
	}
	lines = append(lines, fmt.Sprintf("`/jobs %d edit tomorrow 9am` · `text ...` · `pause` · `run` · `history` · `/cancel %d`", s.ID, s.ID))
	return answer{text: strings.Join(lines, "\n")}, nil
}

// lateRule says what becomes of times that are missed.
func lateRule(c store.CatchUp) string {
	switch c {
	case store.CatchSkip:
		return "A time that is missed is left out."
	case store.CatchAll:
		return "Every time that is missed is made up for."
	default:
		return "What is missed is done once, within a day."
	}
}

func (sc *schedules) history(ctx context.Context, s store.Schedule) (answer, error) {
	runs, err := store.RunsOf(ctx, sc.store.DB(), s.ID, 2*pageSize)
	if err != nil {
		return answer{}, err
	}
	if len(runs) == 0 {
		return answer{text: fmt.Sprintf("Job %d has not come yet.", s.ID)}, nil
	}
	lines := []string{fmt.Sprintf("**Job %d**, the newest first (30 days are kept)", s.ID)}
	for _, run := range runs {
		lines = append(lines, sc.executionLine(run))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// executionLine shows a run in a line.
func (sc *schedules) executionLine(run store.Run) string {
	reply := sc.room.clock(run.DueAt) + ": " + string(run.State)
	if late := run.StartedAt.Sub(run.DueAt); late >= schedule.LateNote && run.State != store.RunSkipped {
		reply += ", " + text.Duration(late) + " late"
	}
	if run.Note != "" {
		reply += ", " + esc(text.Clip(run.Note, 200))
	}
	return reply
}

// edit gives a job another time, another text, or both.
func (sc *schedules) edit(r request, s store.Schedule, verb, rest string) (answer, error) {
	if s.CreatedBy == "" {
		return answer{text: "Upkeep keeps its times; `/jobs upkeep run` does it now."}, nil
	}
	changed := s
	if verb == "text" {
		changed.Body = rest
	} else {
		what, ans, err := sc.retime(r, &changed, rest)
		if err != nil || ans.text != "" {
			return ans, err
		}
		if what != "" {
			changed.Body = what
		}
	}
	if changed.Body == "" || utf8.RuneCountInString(changed.Body) > maxWhat {
		return answer{text: fmt.Sprintf("What is it to say? `/jobs %d text call Ana` (at most %d characters).", s.ID, maxWhat)}, nil
	}
	return answer{
		text: fmt.Sprintf("Changed: %s — %s", sc.state(changed), sentence(esc(text.Clip(changed.Body, 300)))),
		do:   sc.update(s, changed),
	}, nil
}

// retime reads another time for a job, in the form that it has or in the other.
func (sc *schedules) retime(r request, s *store.Schedule, text string) (what string, ans answer, err error) {
	at, what, onceErr := schedule.When(text, sc.room.written(r), schedule.English())
	if onceErr == nil && schedule.Kind(s.Kind) == schedule.At {
		s.NextAt, s.PausedAt = &at, nil
		return what, answer{}, nil
	}
	kind, spec, what, err := schedule.Repeat(text, sc.rules.Zone, schedule.English())
	if err != nil {
		if schedule.Kind(s.Kind) == schedule.At {
			err = onceErr
		}
		ans, err = refusedTime(err)
		return "", ans, err
	}
	s.Kind, s.Spec, s.Zone = string(kind), spec, sc.rules.Zone.String()
	plan, err := clock.Plan(*s)
	if err != nil {
		return "", answer{}, err
	}
	next := plan.Next(r.now.Truncate(time.Second))
	s.NextAt = &next
	return what, answer{}, nil
}

// update writes a changed job, unless it came or was changed meanwhile: then the command is looked at again.
func (sc *schedules) update(was, changed store.Schedule) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		now, err := store.LockSchedule(ctx, tx, was.ID)
		if errors.Is(err, store.ErrNotFound) {
			return jobs.Later(0)
		}
		if err != nil {
			return err
		}
		if !sameTime(now.NextAt, was.NextAt) || !sameTime(now.PausedAt, was.PausedAt) || now.Body != was.Body || now.Kind != was.Kind || now.Spec != was.Spec {
			return jobs.Later(0)
		}
		if err := store.UpdateSchedule(ctx, tx, changed); err != nil || !changed.Waits() {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NextTick(changed.ID, *changed.NextAt))
	}
}

func sameTime(x, y *time.Time) bool {
	return (x == nil) == (y == nil) && (x == nil || x.Equal(*y))
}

func (sc *schedules) pause(s store.Schedule) answer {
	if !s.Waits() {
		return answer{text: fmt.Sprintf("Job %d does not wait for anything.", s.ID)}
	}
	changed, now := s, sc.room.now()
	changed.PausedAt = &now
	return answer{text: fmt.Sprintf("Job %d is **paused**: %s `/jobs %d resume` goes on with it.", s.ID, sentence(esc(text.Clip(s.Body, 100))), s.ID), do: sc.update(s, changed)}
}

// resume lets a job come again. What it missed while it was paused is not made up for.
func (sc *schedules) resume(r request, s store.Schedule) (answer, error) {
	if s.PausedAt == nil {
		return answer{text: fmt.Sprintf("Job %d was not paused.", s.ID)}, nil
	}
	changed := s
	changed.PausedAt = nil
	if s.NextAt != nil && !s.NextAt.After(r.now) {
		plan, err := clock.Plan(s)
		if err != nil {
			return answer{}, err
		}
		next, _ := plan.Skip(*s.NextAt, r.now)
		if next.IsZero() {
			return answer{text: fmt.Sprintf("Its time was %s. `/jobs %d edit tomorrow 9am` gives it another, `/jobs %d run` does it now.", sc.room.clock(*s.NextAt), s.ID, s.ID)}, nil
		}
		changed.NextAt = &next
	}
	return answer{text: fmt.Sprintf("Job %d goes on: %s", s.ID, sc.state(changed)), do: sc.update(s, changed)}, nil
}

// runNow does a job once more, beside its times.
func (sc *schedules) runNow(s store.Schedule) answer {
	return answer{text: "Done now: " + title(s) + ".", do: func(ctx context.Context, tx store.Tx) error {
		return sc.clock.RunNow(ctx, tx, s)
	}}
}

// cancel ends a job.
func (sc *schedules) cancel(ctx context.Context, r request, args string) (answer, error) {
	n := jobNumber(strings.TrimSpace(args))
	if n == 0 {
		return sc.whichJob(ctx, "`/cancel %[1]d` ends one.")
	}
	return sc.jobs(ctx, r, fmt.Sprintf("%d cancel", n))
}

func (sc *schedules) delete(s store.Schedule) answer {
	if s.CreatedBy == "" {
		return answer{text: "Upkeep cannot be cancelled."}
	}
	return answer{text: "Cancelled: " + sentence(esc(text.Clip(s.Body, 300))), do: func(ctx context.Context, tx store.Tx) error {
		return store.DeleteSchedule(ctx, tx, s.ID)
	}}
}
