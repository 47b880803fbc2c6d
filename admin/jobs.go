package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"multis/clock"
	"multis/clock/schedule"
	"multis/internal/language/phrase"
	"multis/internal/text"
	"multis/knowledge/search"
	"multis/store"
)

// commands returns the commands about schedules.
func (sc *scheduleCommands) commands() []command {
	return []command{
		{
			name:      "remind",
			args:      "WHEN TEXT",
			group:     groupTime,
			run:       sc.remind,
			operators: true,
			summary:   "remind you once",
			help: "`2h`, `in 45 min`, `tomorrow 9am`, `fri 14:30`, `24.12. 18:00`, `2026-12-24 18:00`, and then what it is about. When it comes, react with ✅, ➕, 🕐 or 🌅. " +
				"`--agent`: I work on it at that time, with the tools I have now, and tell you what came of it (`--session main`: knowing what was said here). " +
				"`--to Ana`: your words go to that chat, as you (`--tell` shows it here, `--best-effort`: it need not arrive, `--unless-reply`: not if they write first). " +
				"`--late skip`: not when I am late with it (`once`, within a day, is usual). `--keep`: it stays in `/jobs` when it has ended. " +
				"`--tz Europe/Lisbon`: the times of that zone.",
		},
		{
			name:      "cron",
			args:      "WHEN TEXT",
			group:     groupTime,
			run:       sc.cron,
			operators: true,
			summary:   "remind you again and again: every monday 9am",
			help: "`0 9 * * 1-5` (minute, hour, day, month, day of the week), `@daily`, `every 2h`, `every monday 9am`, `every first monday 9am`, `last day of the month 18:00`, `every other week on monday 9am`. The options are those of `/remind`; `--late all` makes up for every time that was missed. " +
				"A time that the clock skips in spring comes right after; one that it shows twice in autumn comes once.",
		},
		{
			name:      "jobs",
			args:      "[number] [change]",
			group:     groupTime,
			run:       sc.jobs,
			operators: true,
			summary:   "list or change reminders",
			alone:     true,
			help:      "`/jobs 14` shows one, `/jobs 14 edit tomorrow 9am` gives it another time, `/jobs 14 text ...` other words; `pause`, `resume`, `run`, `history` and `cancel` go there as well. `/jobs upkeep` shows what I do for myself, `/jobs upkeep run history` does it now.",
		},
		{
			name:      "cancel",
			args:      "NUMBER",
			group:     groupTime,
			run:       sc.cancel,
			operators: true,
			summary:   "delete a reminder",
		},
		{
			name:      "snooze",
			args:      "[number] [when]",
			group:     groupTime,
			run:       sc.snooze,
			operators: true,
			summary:   "postpone a reminder",
			help:      "The last one, the one you reply to, or the one you name; by 10 minutes unless you say otherwise: `/snooze 1h`, `/snooze tomorrow 9am`.",
		},
	}
}

// jobs lists the schedules, or shows or changes one.
func (sc *scheduleCommands) jobs(ctx context.Context, r request, args string) (answer, error) {
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return sc.list(ctx, pageSize)
	case strings.EqualFold(words[0], "all"):
		return sc.list(ctx, maxJobs)
	case strings.EqualFold(words[0], "upkeep"):
		if len(words) > 1 && !r.isOwner() {
			return answer{text: "Upkeep is the owner's to start."}, nil
		}
		return sc.showUpkeep(ctx, strings.Join(words[1:], " "))
	}
	number, verb, rest := parseJobArgs(args)
	if number == 0 {
		return sc.whichJob(ctx,
			"`/jobs %[1]d` shows one; after the number write `edit tomorrow 9am`, `text ...`, `pause`, `resume`, `run`, `history` or `cancel`.")
	}
	s, err := store.ScheduleByID(ctx, sc.store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return unknownJobAnswer(number), nil
	}
	if err != nil {
		return answer{}, err
	}
	if s.Action == store.ActionUpkeep && verb != "" && verb != "history" {
		return answer{text: fmt.Sprintf("Job %d is upkeep of mine, not one of yours. `/jobs upkeep` lists it, %s does it now.", s.ID,
			code("/jobs upkeep run "+s.Body))}, nil
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

// parseJobArgs reads the number of a job and an action, in either order.
func parseJobArgs(args string) (number store.ScheduleID, verb, rest string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	second, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if n := store.ScheduleID(parseNumber(first)); n > 0 {
		return n, strings.ToLower(second), strings.TrimSpace(after)
	}
	return store.ScheduleID(parseNumber(second)), strings.ToLower(first), strings.TrimSpace(after)
}

// unknownJobAnswer says that no job has a number.
func unknownJobAnswer(n store.ScheduleID) answer {
	return answer{text: fmt.Sprintf("There is no job %d. `/jobs` lists them.", n)}
}

// list lists the schedules, the next first.
func (sc *scheduleCommands) list(ctx context.Context, shown int) (answer, error) {
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
	return answer{text: strings.Join(lines, "\n") +
		fmt.Sprintf("\n`/jobs %[1]d` shows one, `/cancel %[1]d` ends it. `/jobs upkeep` shows what I do for myself.", all[0].ID)}, nil
}

// show shows one schedule.
func (sc *scheduleCommands) show(ctx context.Context, s store.Schedule) (answer, error) {
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
	lines = append(lines, fmt.Sprintf("%s, %s. %s Times are %s.", by, sc.room.fullTime(s.CreatedAt), catchUpText(s.CatchUp), esc(s.Zone)))
	runs, err := store.ExecutionsOf(ctx, sc.store.DB(), s.ID, 1)
	if err != nil {
		return answer{}, err
	}
	if len(runs) > 0 {
		lines = append(lines, "Last: "+sc.executionLine(runs[0]))
	}
	lines = append(lines, fmt.Sprintf("`/jobs %d edit tomorrow 9am` · `text ...` · `pause` · `run` · `history` · `/cancel %d`", s.ID, s.ID))
	return answer{text: strings.Join(lines, "\n")}, nil
}

// catchUpText says what happens to missed times.
func catchUpText(c store.CatchUp) string {
	switch c {
	case store.CatchSkip:
		return "A time that is missed is left out."
	case store.CatchAll:
		return "Every time that is missed is made up for."
	default:
		return "What is missed is done once, within a day."
	}
}

// history lists the last executions of a schedule.
func (sc *scheduleCommands) history(ctx context.Context, s store.Schedule) (answer, error) {
	runs, err := store.ExecutionsOf(ctx, sc.store.DB(), s.ID, 2*pageSize)
	if err != nil {
		return answer{}, err
	}
	if len(runs) == 0 {
		return answer{text: fmt.Sprintf("Job %d has not come yet.", s.ID)}, nil
	}
	lines := []string{fmt.Sprintf("**Job %d**, the newest first (%s are kept)", s.ID, text.Duration(store.ExecutionRetention))}
	for _, run := range runs {
		lines = append(lines, sc.executionLine(run))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// edit changes the time or the text of a schedule.
func (sc *scheduleCommands) edit(r request, s store.Schedule, verb, rest string) (answer, error) {
	if s.CreatedBy == "" {
		return answer{text: "Upkeep keeps its times; `/jobs upkeep run` does it now."}, nil
	}
	changed := s
	if verb == "text" {
		changed.Body = rest
	} else {
		what, ans, err := sc.reschedule(r, &changed, rest)
		if err != nil {
			return ans, err
		}
		if ans.text != "" {
			return ans, nil
		}
		if what != "" {
			changed.Body = what
		}
		if changed.UnlessReply {
			changed.CreatedAt = r.now // who sets another time has seen what they wrote before
		}
	}
	if changed.Body == "" || utf8.RuneCountInString(changed.Body) > maxScheduleText {
		return answer{text: fmt.Sprintf("What is it to say? `/jobs %d text call Ana` (at most %d characters).", s.ID, maxScheduleText)}, nil
	}
	return answer{
		text:   fmt.Sprintf("Changed: %s — %s", sc.state(changed), endSentence(esc(text.Clip(changed.Body, 300)))),
		change: changeSchedule(s, changed),
	}, nil
}

// reschedule reads a new time or recurrence for a schedule. It returns the text after it.
func (sc *scheduleCommands) reschedule(r request, s *store.Schedule, text string) (what string, ans answer, err error) {
	zone, err := schedule.ParseZone(s.Zone)
	if err != nil {
		zone = sc.settings.Zone // as it is not known any more
	}
	text = sc.readable(r, text)
	at, what, onceErr := schedule.ParseTime(text, sc.room.writtenAt(r).In(zone), schedule.English())
	if onceErr == nil && schedule.Kind(s.Kind) == schedule.At {
		s.NextAt, s.PausedAt = &at, nil
		return what, answer{}, nil
	}
	kind, spec, what, err := schedule.ParseRecurrence(text, r.now.In(zone), schedule.English())
	if err != nil {
		if schedule.Kind(s.Kind) == schedule.At {
			err = onceErr
		}
		ans, err = timeErrorAnswer(err)
		return "", ans, err
	}
	s.Kind = string(kind)
	s.Spec = spec
	s.Zone = zone.String()
	plan, err := clock.TimesOf(*s)
	if err != nil {
		return "", answer{}, err
	}
	next := plan.Next(r.now.Truncate(time.Second))
	s.NextAt = &next
	return what, answer{}, nil
}

func (sc *scheduleCommands) pause(s store.Schedule) answer {
	if !s.Waits() {
		return answer{text: fmt.Sprintf("Job %d does not wait for anything.", s.ID)}
	}
	changed, now := s, sc.room.now()
	changed.PausedAt = &now
	return answer{text: fmt.Sprintf("Job %d is **paused**: %s `/jobs %d resume` continues it.", s.ID,
		endSentence(esc(text.Clip(s.Body, 100))), s.ID), change: changeSchedule(s, changed)}
}

// resume continues a paused schedule. It does not catch up on missed times.
func (sc *scheduleCommands) resume(r request, s store.Schedule) (answer, error) {
	if s.PausedAt == nil {
		return answer{text: fmt.Sprintf("Job %d was not paused.", s.ID)}, nil
	}
	changed := s
	changed.PausedAt = nil
	if s.NextAt != nil && !s.NextAt.After(r.now) {
		plan, err := clock.TimesOf(s)
		if err != nil {
			return answer{}, err
		}
		next, _ := plan.Skip(*s.NextAt, r.now)
		if next.IsZero() {
			return answer{text: fmt.Sprintf("Its time was %s. `/jobs %d edit tomorrow 9am` gives it another, `/jobs %d run` does it now.",
				sc.room.fullTime(*s.NextAt), s.ID, s.ID)}, nil
		}
		changed.NextAt = &next
	}
	return answer{text: fmt.Sprintf("Job %d continues: %s", s.ID, sc.state(changed)), change: changeSchedule(s, changed)}, nil
}

// cancel deletes the schedule with a number.
func (sc *scheduleCommands) cancel(ctx context.Context, r request, args string) (answer, error) {
	n := parseNumber(strings.TrimSpace(args))
	switch {
	case n == 0 && strings.TrimSpace(args) != "":
		return sc.cancelAbout(ctx, args)
	case n == 0:
		return sc.whichJob(ctx, "`/cancel %[1]d` ends one.")
	}
	return sc.jobs(ctx, r, fmt.Sprintf("%d cancel", n))
}

// cancelAbout says which jobs are about something, and how each is ended.
func (sc *scheduleCommands) cancelAbout(ctx context.Context, about string) (answer, error) {
	jobs, err := sc.jobsAbout(ctx, about)
	if err != nil {
		return answer{}, err
	}
	all, err := store.ListSchedules(ctx, sc.store.DB(), false, 1)
	if err != nil {
		return answer{}, err
	}
	if len(all) == 0 {
		return sc.whichJob(ctx, "`/cancel %[1]d` ends one.")
	}
	if len(jobs) == 0 {
		return answer{text: "No reminder is about " + quote(about, 60) + ". `/jobs` lists them."}, nil
	}
	var lines []string
	for _, s := range jobs {
		line, err := sc.line(ctx, s)
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, line)
	}
	ans := answer{text: strings.Join(lines, "\n") + fmt.Sprintf("\n`/cancel %d` ends it.", jobs[0].ID)}
	if len(jobs) > 1 {
		ans.text = "Which one? `/cancel NUMBER` ends it.\n" + strings.Join(lines, "\n")
	}
	return ans, nil
}

// jobsAbout returns the jobs of people whose texts have one of the words, without those that are common.
func (sc *scheduleCommands) jobsAbout(ctx context.Context, about string) ([]store.Schedule, error) {
	all, err := store.ListSchedules(ctx, sc.store.DB(), false, maxChats)
	if err != nil {
		return nil, err
	}
	words := slices.DeleteFunc(phrase.Words(about), func(word string) bool { return len(word) < 3 || search.IsCommonWord(word) })
	return slices.DeleteFunc(all, func(s store.Schedule) bool {
		body := phrase.Words(s.Body)
		return !slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(body, func(other string) bool { return isSameWord(word, other) })
		})
	}), nil
}

// minSharedWord is the minimum length of a word that may have an ending, such as "dentist" in "dentista", in bytes.
const minSharedWord = 6

// isSameWord reports whether two words are the same, or one with an ending of up to two letters.
func isSameWord(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= minSharedWord && len(b)-len(a) <= 2 && strings.HasPrefix(b, a)
}

func (sc *scheduleCommands) delete(s store.Schedule) answer {
	if s.CreatedBy == "" {
		return answer{text: "Upkeep cannot be cancelled."}
	}
	return answer{text: "Cancelled: " + endSentence(esc(text.Clip(s.Body, 300))), change: func(ctx context.Context, tx store.Tx) error {
		return store.DeleteSchedule(ctx, tx, s.ID)
	}}
}
