package admin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock"
	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// runUntil lets time pass, and runs all that becomes due meanwhile, as the queue does.
func (r *rig) runUntil(d time.Duration) []sentEvent {
	r.t.Helper()
	before, end := len(r.homeserver.sent), r.now.Add(d)
	for {
		next, ok := r.nextTick(end)
		if !ok {
			break
		}
		r.now = later(r.now, next.at)
		require.NoError(r.t, r.clock.Tick(r.ctx, next.schedule, next.at))
		r.exec("delete from river.river_job where id = $1", next.job)
		r.runExecutions()
		r.sendQueued()
	}
	r.now = end
	return r.homeserver.sent[before:]
}

type tick struct {
	job      int64
	schedule store.ScheduleID
	at       time.Time
}

func (r *rig) nextTick(until time.Time) (tick, bool) {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx,
		`select id, (args->>'schedule')::bigint, (args->>'at')::timestamptz from river.river_job where kind = 'tick' order by 3, 1 limit 1`)
	require.NoError(r.t, err)
	defer rows.Close()
	var next tick
	found := rows.Next()
	if found {
		require.NoError(r.t, rows.Scan(&next.job, &next.schedule, &next.at))
	}
	return next, found && !next.at.After(until)
}

// runExecutions runs the executions that take their time, up to their last attempt.
func (r *rig) runExecutions() {
	r.t.Helper()
	for r.count("select count(*) from river.river_job where kind = 'execution'") > 0 {
		var job int64
		var run store.ExecutionID
		require.NoError(r.t, r.st.DB().QueryRow(r.ctx,
			"select id, (args->>'execution')::bigint from river.river_job where kind = 'execution' order by id limit 1").Scan(&job, &run))
		err := r.clock.Execute(r.ctx, run, false)
		if err != nil && !jobs.IsSnooze(err) {
			err = r.clock.Execute(r.ctx, run, true)
		}
		if jobs.IsSnooze(err) {
			continue // the one before is only just done
		}
		require.NoError(r.t, err)
		r.exec("delete from river.river_job where id = $1", job)
	}
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

func TestReminder_ComesOnceAndRings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "⏰ **Sat 21 Nov, 09:00** — call the plumber. Set. (`/jobs 1` to change)",
		r.asOwner("/remind tomorrow 9am call the plumber"))
	require.Empty(t, r.runUntil(14*time.Hour+59*time.Minute))
	came := r.runUntil(2 * time.Minute)
	require.Equal(t, "⏰ **call the plumber** (set Fri) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", bodies(came))
	require.Equal(t, "m.text", came[0].Type)
	require.Contains(t, came[0].Mentions, owner, "it rings")
	require.Empty(t, r.runUntil(48*time.Hour))
	require.Equal(t, 1, r.count("select count(*) from schedule_executions where state = 'done'"))
	require.Equal(t, "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`.", r.asOwner("/jobs"))
}

func TestRemind_InvalidTimeShowsExamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for line, want := range map[string]string{
		"/remind at noonish call Ana": "I don't know _noonish_. Try `2h`, `tomorrow 9am`, `fri 14:30`, `2026-12-24 18:00`.",
		"/remind":                     "There is no time in it. Try `2h`, `tomorrow 9am`, `fri 14:30`, `2026-12-24 18:00`.",
		"/remind 2h":                  "Remind you of what? Put it after the time: `/remind 2h call Ana`.",
		"/cron 0 9 30 2 * x":          "That never happens. Try `0 9 * * 1-5`, `@daily`, `every 2h`, `every monday 9am`, `every weekday 8:30`.",
		"/cron tomorrow x":            "I don't know _tomorrow_. Try `0 9 * * 1-5`, `@daily`, `every 2h`, `every monday 9am`, `every weekday 8:30`.",
		"/remind 2h --late never x":   "`--late` is `once` (late, within a day), `skip` or `all`.",
		"/jobs 7":                     "There is no job 7. `/jobs` lists them.",
		"/cancel it":                  "Nothing is set. `/remind 2h call Ana`, `/cron every monday 9am plan the week`.",
		"/snooze":                     "Which one? Reply to the reminder, or write `/snooze 14 1h`. `/jobs` lists what is to come.",
	} {
		require.Equal(t, want, r.asOwner(line), line)
	}
	require.Zero(t, r.count("select count(*) from schedules"))
}

func TestCron_ShowsNextThreeTimes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t,
		"🔁 `0 9 * * 1-5` — Stand up! Set. Next: **Mon 23 Nov, 09:00** · Tue 24 Nov, 09:00 · Wed 25 Nov, 09:00. (`/jobs 1` to change)",
		r.asOwner("/cron 0 9 * * 1-5 Stand up!"))
	require.Equal(t, "🔁 `every 2h` — drink. Set. Next: **Fri 20 Nov, 20:00** · Fri 20 Nov, 22:00 · Sat 21 Nov, 00:00. (`/jobs 2` to change)",
		r.asOwner("/cron every 2h drink"))
	require.Equal(t, "Cancelled: drink.", r.asOwner("/cancel 2"))
	require.Equal(t, text(
		"⏰ **Stand up!** (`0 9 * * 1-5`, `/jobs 1`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow",
		"⏰ **Stand up!** (`0 9 * * 1-5`, `/jobs 1`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow",
	), bodies(r.runUntil(4*24*time.Hour)))
}

func TestSchedule_FullLifecycle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind tomorrow 9am call the plumber")
	r.asOwner("/cron every day 18:00 close up")
	require.Equal(t, text(
		"**2 jobs**, the next first",
		"1 · **Sat 21 Nov, 09:00** — call the plumber",
		"2 · `0 18 * * *`, **Sat 21 Nov, 18:00** — close up",
		"`/jobs 1` shows one, `/cancel 1` ends it. `/jobs upkeep` shows what I do for myself.",
	), r.asOwner("/jobs"))
	require.Contains(t, r.asOwner("/jobs 2"), "Next: **Sat 21 Nov, 18:00** · Sun 22 Nov, 18:00 · Mon 23 Nov, 18:00\nSet by @you:example.com")
	require.Equal(t, "Changed: **Sun 22 Nov, 10:00** — call the plumber.", r.asOwner("/jobs 1 edit sun 10:00"))
	require.Equal(t, "Changed: **Sun 22 Nov, 11:00** — call Ana.", r.asOwner("/jobs edit 1 sun 11:00 call Ana"))
	require.Equal(t, "Changed: **Sun 22 Nov, 11:00** — call Bo.", r.asOwner("/jobs 1 text call Bo"))
	require.Contains(t, r.asOwner("/jobs 1 edit noonish"), "I don't know _noonish_.")
	require.Equal(t, "Changed: `30 8 * * 1-5`, **Mon 23 Nov, 08:30** — close up.", r.asOwner("/jobs 2 edit every weekday 8:30"))
	require.Equal(t, "Job 2 is **paused**: close up. `/jobs 2 resume` continues it.", r.asOwner("/jobs 2 pause"))
	require.Equal(t, "⏰ **call Bo** (set Fri) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", bodies(r.runUntil(5*24*time.Hour)),
		"the times before the edits are gone, and what is paused is silent")
	require.Equal(t, "Job 2 continues: `30 8 * * 1-5`, **Thu 26 Nov, 08:30**", r.asOwner("/jobs 2 resume"))
	require.Equal(t, text("⏰ **close up** (`30 8 * * 1-5`, `/jobs 2`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow",
		"Done now: “close up” (job 2)."), r.asOwner("/jobs 2 run"))
	require.Equal(t, text("**Job 2**, the newest first (30 days are kept)", "Wed 25 Nov, 18:00: done"), r.asOwner("/jobs 2 history"))
	require.Equal(t, "Cancelled: close up.", r.asOwner("/jobs cancel 2"))
	require.Empty(t, r.runUntil(7*24*time.Hour))
}

func TestReminder_SnoozeByReaction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind 1h call the plumber")
	event := r.runUntil(time.Hour)[0].Event
	require.Equal(t, "⏰ Again **Fri 20 Nov, 19:10** — call the plumber.", r.react(event, "➕"))
	again := r.runUntil(10 * time.Minute)
	require.Len(t, again, 1)
	require.Equal(t, "⏰ Again **Fri 20 Nov, 20:10** — call the plumber.", r.react(again[0].Event, "🕐"))
	require.Equal(t, "⏰ Again **Sat 21 Nov, 09:00** — call the plumber.", r.react(again[0].Event, "🌅\ufe0f"))
	require.Equal(t, "⏰ Again **Sat 21 Nov, 10:00** — call the plumber.", r.asOwner("/snooze tomorrow 10:00"))
	require.Equal(t, "⏰ Again **Fri 20 Nov, 19:40** — call the plumber.",
		bodies(r.handle(store.Message{Body: "/snooze 30 min", RelatesTo: event})))
	require.Empty(t, r.react(event, "✅"))
	require.Empty(t, r.runUntil(48*time.Hour), "done is done")
	require.Equal(t, "⏰ Again **Sun 22 Nov, 20:10** — call the plumber.", r.asOwner("/snooze 1 1h"))
	require.Contains(t, r.asOwner("/snooze 1 1h or so"), "after the time means")
	require.Empty(t, r.react(event, "🐈"))

	r.asOwner("/cron every day 21:00 lock the door")
	event = r.runUntil(3 * time.Hour)[1].Event
	require.Equal(t, "⏰ Again **Sun 22 Nov, 22:20** — lock the door.", r.react(event, "➕"))
	require.Len(t, r.runUntil(20*time.Minute), 1)
	require.Len(t, r.runUntil(24*time.Hour), 1, "its own times stay")
}

func TestReminder_MissedIsSentOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind 1h call the plumber")
	r.asOwner("/cron every hour drink")
	r.asOwner("/cron --late=all every hour count")
	r.asOwner("/cron every hour skip --late skip")
	r.now = r.now.Add(3*time.Hour + 40*time.Minute) // nobody was there
	require.Equal(t, text(
		"⏰ **call the plumber** (set today) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", "(2 h late: it was due Fri 20 Nov, 19:00)",
		"⏰ **drink** (`every 1h`, `/jobs 2`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow",
		"(2 h late: it was due Fri 20 Nov, 19:00, and 2 times after that)",
		"⏰ **count** (`every 1h`, `/jobs 3`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", "(2 h late: it was due Fri 20 Nov, 19:00)",
		"⏰ **count** (`every 1h`, `/jobs 3`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", "(100 min late: it was due Fri 20 Nov, 20:00)",
		"⏰ **count** (`every 1h`, `/jobs 3`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", "(40 min late: it was due Fri 20 Nov, 21:00)",
	), bodies(r.runUntil(0)))
	require.Len(t, r.runUntil(20*time.Minute), 3, "then all go on at their times")

	r.asOwner("/remind 1h too late")
	r.now = r.now.Add(26 * time.Hour)
	require.Contains(t, bodies(r.runUntil(0)),
		"⏰ **Missed**: too late. It was due Fri 20 Nov, 23:00, and it was 25 h late. `/jobs 5 run` does it now, `/jobs 5 edit tomorrow 9am` later.")
}

func TestSchedule_MakesUpOneMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/cron every day 19:00 water")
	r.asOwner("/cron every day 19:00 skip --late skip")
	r.now = r.now.Add(3*24*time.Hour - time.Hour)
	require.Equal(t, text(
		"⏰ **water** (`0 19 * * *`, `/jobs 1`) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", "(22 h late: it was due Sun 22 Nov, 19:00)",
	), bodies(r.runUntil(0)))
	require.Equal(t, 1, r.count("select count(*) from schedule_executions where schedule_id = 1 and state = 'skipped'"))
	require.Len(t, r.runUntil(2*time.Hour), 2, "then both go on at their times")
}

func TestRemind_EchoesDuration(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for written, echoed := range map[string]string{
		"1h": "1h", "10h": "10h", "90m": "1h30m", "1h10m": "1h10m", "10m": "10m", "90s": "1m30s", "20m30s": "20m30s", "1h 30s": "1h0m30s",
	} {
		require.Contains(t, r.asOwner("/cron every "+written+" x"), "🔁 `every "+echoed+"` — x.")
	}
}

func TestSchedule_FailureReportedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/cron --agent every hour sum up the day"), "I'll work on it and tell you here. Set.")
	r.tx(func(tx store.Tx) error {
		return store.ReplaceHooks(r.ctx, tx, []store.Hook{{Name: "desk", Events: []string{string(policy.HookCronFail)}}})
	})
	r.agent.err = errors.New("the model is away")
	require.Equal(t,
		"⚠️ **“sum up the day” (job 1) did not work**: the model is away. `/jobs 1 history` shows more. I'll keep trying on schedule and won't report it again until it has worked.", bodies(r.runUntil(5*time.Hour)))
	require.Contains(t, r.asOwner("/jobs"), "⚠️ failing since")
	r.agent.err = nil
	require.Contains(t, bodies(r.runUntil(time.Hour)), "I worked on **sum up the day**.")
	require.NotContains(t, r.asOwner("/jobs"), "failing")
	r.agent.err = errors.New("the model is away")
	require.Contains(t, bodies(r.runUntil(2*time.Hour)), "did not work")
	require.Equal(t, 7, r.count("select count(*) from schedule_executions where state = 'failed'"))
	require.Equal(t, 7, r.count("select count(*) from hook_deliveries where event = 'cron:fail'"), "a hook hears of each")
}

func TestSchedule_MessagePassesGate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.chat("Ana", "signal")
	bo := r.chat("Bo", "whatsapp", func(c *store.Chat) { c.Encryption = policy.EncryptionUnknown })
	require.Contains(t, r.asOwner("/remind 2h --to Ana are you there?"), "Which one? **Ana · WhatsApp** and **Ana · Signal**")
	require.Contains(t, r.asOwner(`/remind 2h --to "Ana · WhatsApp" are you there?`),
		"are you there? I'll send it to **Ana · WhatsApp** in your name. Set.")
	require.Contains(t, r.asOwner("/remind 2h --to Bo hello"), "Set.")
	require.Contains(t, r.asOwner("/remind 2h --agent --to Bo hello"), "leave `--to` out")
	came := r.runUntil(2 * time.Hour)
	require.Equal(t, "are you there?", came[0].Body, "word for word: a person wrote it")
	require.Equal(t, *ana.RoomID, came[0].Room)
	require.Contains(t, bodies(came[1:]), "⚠️ **“hello” (job 2) did not work**")
	require.Len(t, came, 2)
	require.Zero(t, r.count("select count(*) from outbox where chat_id = $1 and state = 'sent'", bo.ID))

	r.asOwner(`/remind 1h --to "Ana · WhatsApp" see you tomorrow`)
	r.now = r.now.Add(4 * time.Hour)
	came = r.runUntil(0)
	require.Equal(t, "see you tomorrow", came[0].Body, "what was missed for less than a day comes, word for word")
	require.Equal(t, *ana.RoomID, came[0].Room)
	require.Contains(t, bodies(came[1:]), "✉️ To **Ana · WhatsApp** goes: “see you tomorrow” (3 h late: it was due Fri 20 Nov, 21:00)")

	r.asOwner(`/remind 1h --to "Ana · WhatsApp" see you in an hour`)
	r.now = r.now.Add(26 * time.Hour)
	require.Contains(t, bodies(r.runUntil(0)), "⏰ **Missed**: see you in an hour.")
	r.asOwner(`/remind 1h --late skip --to "Ana · WhatsApp" only in time`)
	r.now = r.now.Add(2 * time.Hour)
	require.Contains(t, bodies(r.runUntil(0)), "⏰ **Missed**: only in time.", "as it was wished")
}

func TestOperators_OwnRemindersOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.asOwner("/remind 2h mine")
	require.Contains(t, r.asOperator("/remind 1h feed the cat"), "Set.")
	require.Contains(t, r.asOperator("/remind 1h --to Ana hello"), "Only the owner")
	require.Contains(t, r.asOperator("/remind 1h --agent hello"), "Only the owner")
	require.Contains(t, r.asOperator("/cancel 1"), "not yours to change")
	require.Contains(t, r.asOperator("/jobs upkeep run history"), "owner's to start")
	require.Contains(t, r.asOperator("/jobs 2 edit 3h"), "Changed")
	require.Contains(t, r.asOperator("/cancel 2"), "Cancelled")
	require.Equal(t, 1, r.count("select count(*) from schedules"))
}

func TestClock_OldTickDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind 1h call")
	at := noon.Add(time.Hour)
	require.True(t, jobs.IsSnooze(r.clock.Tick(r.ctx, 1, at)), "its time has not come")
	r.now = at
	for range 3 { // a process that died after its commit
		require.NoError(t, r.clock.Tick(r.ctx, 1, at))
	}
	require.NoError(t, r.clock.Tick(r.ctx, 1, at.Add(-time.Minute)))
	require.NoError(t, r.clock.Tick(r.ctx, 99, at))
	require.Len(t, r.sendQueued(), 1)

	// The job was cancelled, moved or paused while it was due.
	for _, line := range []string{"/cancel 2", "/jobs 3 edit 2h", "/jobs 4 pause"} {
		r.asOwner("/remind 1h call")
		due := r.now.Add(time.Hour)
		r.asOwner(line)
		r.now = due
		require.NoError(t, r.clock.Tick(r.ctx, store.ScheduleID(line[len("/jobs ")]-'0'), due))
		require.Empty(t, r.sendQueued(), line)
	}
}

func TestClock_JumpLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/cron every 10m beat")
	require.Len(t, r.runUntil(time.Hour), 6)
	r.now = r.now.Add(-30 * time.Minute) // put back: what came does not come again
	require.Empty(t, r.runUntil(39*time.Minute))
	require.Len(t, r.runUntil(time.Minute), 1)
	r.now = r.now.Add(65 * time.Minute) // put forward: once, and then on
	require.Len(t, r.runUntil(0), 1)
	require.Len(t, r.runUntil(10*time.Minute), 1)
	require.Equal(t, r.count("select count(*) from schedule_executions"), r.count("select count(distinct due_at) from schedule_executions"))
}

func TestUpkeep_ListAndRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	runs := 0
	r.upkeep = []clock.Upkeep{{Name: "history", Summary: "forgets", Cron: "0 4 * * *", Run: func(context.Context) (string, error) {
		runs++
		return fmt.Sprintf("%d forgotten", runs), nil
	}}}
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	require.Empty(t, r.runUntil(48*time.Hour), "it says nothing by itself")
	require.Equal(t, 2, runs)
	require.Contains(t, r.asOwner("/jobs upkeep"),
		"**history** — forgets · last Sun 22 Nov, 04:00: done, 2 forgotten · next Mon 23 Nov, 04:00")
	require.Contains(t, r.asOwner("/jobs upkeep run history"), "Done now: Upkeep history.")
	r.runExecutions()
	require.Equal(t, 3, runs)
	require.Contains(t, r.asOwner("/jobs upkeep run mischief"), "no such upkeep")
	require.Contains(t, r.asOwner("/cancel 1"), "Job 1 is upkeep of mine, not one of yours.")
	require.Equal(t, "Upkeep keeps its times; `/jobs upkeep` shows them.", r.asOwner("/snooze 1 1h"))
	require.NotContains(t, r.asOwner("/jobs"), "history —")
}

func TestUpkeep_RunsAtStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	runs := 0
	r.upkeep = []clock.Upkeep{{Name: "retention", Cron: "0 4 * * *", AtStart: true, Run: func(context.Context) (string, error) {
		runs++
		return "", nil
	}}, {Name: "other", Cron: "0 4 * * *", Run: func(context.Context) (string, error) {
		runs += 100
		return "", nil
	}}}
	for start := 1; start <= 2; start++ {
		r.now = r.now.Add(time.Minute)
		r.restart()
		require.NoError(t, r.clock.Prepare(r.ctx))
		r.runExecutions()
		require.Equal(t, start, runs)
	}
}

func TestSchedule_HistoryIsPruned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind 1h once")
	r.asOwner("/remind --keep 1h kept")
	r.asOwner("/cron every day 9am water")
	r.runUntil(40 * 24 * time.Hour)
	r.tx(func(tx store.Tx) error {
		deleted, err := store.PruneExecutions(r.ctx, tx, r.now.Add(-30*24*time.Hour))
		require.Equal(t, 12+1, deleted, "executions and the schedule that is over")
		return err
	})
	require.Contains(t, r.asOwner("/jobs"), "over — kept")
	require.Equal(t, 2, strings.Count(r.asOwner("/jobs"), " — "))
}

func TestSchedule_FormerOperatorStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOperator("/remind 2h close the shop")
	r.asOperator("/cron every day 9am open the shop")
	r.asOwner("/remind 2h water the plants")
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.Empty(t, r.sendQueued(), "she still is one")
	r.operators = nil
	for range 2 {
		r.restart()
		require.NoError(t, r.clock.Prepare(r.ctx))
	}
	require.Equal(t,
		text("⏸ **2 jobs stopped**: whoever set them is no longer an operator. They are yours now: `/jobs 1 resume` continues one, `/cancel 1` ends it.",
			"1 — close the shop", "2 — open the shop"), bodies(r.sendQueued()))
	came := bodies(r.runUntil(24 * time.Hour))
	require.NotContains(t, came, "shop")
	require.Contains(t, came, "water the plants")
	require.Contains(t, r.asOwner("/jobs 2 resume"), "Job 2 continues")
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.Contains(t, bodies(r.runUntil(24*time.Hour)), "open the shop", "it is the owner's now")
}

func TestReminder_OfCalendar(t *testing.T) {
	t.Parallel()
	r := newRig(t) // on Friday 20 November
	for line, want := range map[string]string{
		"/remind every first monday 9am pay rent":           "🔁 `every month on the first monday at 09:00` — pay rent. Set. Next: **Mon 7 Dec, 09:00**",
		"/remind me every other week on monday to water":    "🔁 `every other week on monday at 09:00` — water. Set. Next: **Mon 23 Nov, 09:00** · Mon 7 Dec, 09:00",
		"/remind pay rent on the last day of every month":   "🔁 `every month on the last day at 09:00` — pay rent. Set. Next: **Mon 30 Nov, 09:00** · Thu 31 Dec, 09:00",
		"/cron last day of the month 18:00 close the books": "🔁 `every month on the last day at 18:00` — close the books. Set. Next: **Mon 30 Nov, 18:00**",
		"/cron every 2 weeks on friday 8:30 plan":           "🔁 `every other week on friday at 08:30` — plan. Set. Next: **Fri 27 Nov, 08:30** · Fri 11 Dec, 08:30",
		"/remind last day of the month 18:00 close":         "⏰ **Mon 30 Nov, 18:00** — close. Set.",
		"/remind first monday of december pay rent":         "⏰ **Mon 7 Dec, 09:00** — pay rent. Set.",
		"/cron every second monday 9am plan":                "By weeks or by months?",
	} {
		require.Contains(t, r.asOwner(line), want, line)
	}
	require.Contains(t, r.asOwner("/jobs 1 edit every other friday 10:00"), "Changed: `every other week on friday at 10:00`")
}

func TestReminder_InZoneOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t) // in Berlin, an hour ahead of Lisbon
	require.Contains(t, r.asOwner("/remind tomorrow 9am --tz Europe/Lisbon call Rui"),
		"⏰ **Sat 21 Nov, 10:00** (Sat 21 Nov, 09:00 in Europe/Lisbon) — call Rui. Set.")
	require.Contains(t, r.asOwner("/cron every monday 9am stand up --tz Europe/Lisbon"), "Next: **Mon 23 Nov, 10:00** · Mon 30 Nov, 10:00")
	require.Contains(t, r.asOwner("/remind every monday 9am --tz America/New_York write"), "Next: **Mon 23 Nov, 15:00**")
	require.Contains(t, r.asOwner("/jobs 2"), "(Mon 23 Nov, 09:00 in Europe/Lisbon)")
	require.Contains(t, r.asOwner("/jobs 1 edit tomorrow 8am"), "**Sat 21 Nov, 09:00**", "it stays in its zone")
	require.Contains(t, r.asOwner("/remind 2h --tz Lisboa call"), "I don't know the time zone `Lisboa`")
	require.Contains(t, r.asOwner("/remind 2h --tz Local call"), "I don't know the time zone")
}

func TestReminder_UnknownOptionIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/remind 2h --timezone Europe/Lisbon call Rui"), "There is no option `--timezone`")
	require.Contains(t, r.asOwner("/cron every 2h --silent drink"), "There is no option `--silent`")
	require.Contains(t, r.asOwner("/remind 2h run `make --all`"), "run `make --all` Set.")
	require.Contains(t, r.asOwner("/remind 2h call Bob -- he is late"), "Set.")
}

// TestReminder_GoesWithItsMessage: what was deleted is neither said nor kept.
func TestReminder_GoesWithItsMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.runJobs(r.storeCommand(store.Message{Body: "/remind in 2m the door code is zanzibar", EventID: "$remind"}), false))
	require.Contains(t, bodies(r.sendQueued()), "Set.")
	r.tx(func(tx store.Tx) error {
		gone, err := store.SchedulesOfMessage(r.ctx, tx, r.room.ID, "$remind")
		require.NoError(t, err)
		require.Len(t, gone, 1)
		_, err = store.RedactMessage(r.ctx, tx, r.room.ID, "$remind", r.now)
		return err
	})
	require.NotContains(t, storetest.ColumnsContaining(t, r.st, "zanzibar"), "schedules.body")
	for _, e := range r.runUntil(5 * time.Minute) {
		require.NotContains(t, e.Body, "zanzibar")
	}
}
