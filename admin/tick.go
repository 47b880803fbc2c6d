package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/schedule"
	"multis/store"
)

const (
	// skipLate is the delay from which on a run may be skipped.
	skipLate = 5 * time.Minute
	// lateMost is how late what was missed is still done once.
	lateMost = 24 * time.Hour
	// longestNap bounds the wait for a time that the queue thinks has come: clocks are put back as well.
	longestNap = time.Minute
)

// Tick does what is due of a schedule at a time, and asks for its next time, all in one transaction. When the schedule has
// another time by now, the job is an old one and does nothing: that is what makes each time come once.
func (a *Admin) Tick(ctx context.Context, id int64, at time.Time) error {
	if wait := at.Sub(a.Now()); wait > 0 {
		return jobs.Later(min(wait, longestNap))
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		s, err := store.LockSchedule(ctx, tx, id)
		if errors.Is(err, store.ErrNotFound) || (err == nil && (!s.Waits() || !s.NextAt.Equal(at))) {
			return nil
		}
		if err != nil {
			return err
		}
		plan, err := a.plan(s)
		if err != nil {
			return a.broken(ctx, tx, s, err)
		}
		now := a.Now()
		next, missed := plan.Skip(at, now)
		switch {
		case s.CatchUp == store.CatchAll:
			next, missed = plan.Next(at), 0
		case s.CatchUp == store.CatchOnce && now.Sub(at) > lateMost: // too long ago; the first one since a day is made up for
			next, _ = plan.Skip(at, now.Add(-lateMost))
		}
		if err := a.due(ctx, tx, s, at, now.Sub(at), missed); err != nil {
			return err
		}
		return a.arm(ctx, tx, s.ID, next)
	})
}

// arm sets the next time of a schedule together with its job; zero: there is none.
func (a *Admin) arm(ctx context.Context, tx store.Tx, id int64, next time.Time) error {
	if next.IsZero() {
		return store.MoveSchedule(ctx, tx, id, nil)
	}
	if err := store.MoveSchedule(ctx, tx, id, &next); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.Tick(id, next))
}

// due does what is due, once for each time.
func (a *Admin) due(ctx context.Context, tx store.Tx, s store.Schedule, at time.Time, late time.Duration, missed int) error {
	run, first, err := store.StartRun(ctx, tx, s.ID, at, a.Now())
	if err != nil || !first {
		return err
	}
	if why := tooLate(s, late); why != "" {
		return a.skip(ctx, tx, s, run, at, why)
	}
	switch s.Does {
	case store.DoesSay:
		return a.tell(ctx, tx, s, run, schedule.Late(at, at.Add(late), missed, a.Rules.Zone))
	default:
		return jobs.Enqueue(ctx, tx, jobs.RunArgs{Run: run})
	}
}

// tooLate says why a time that was missed is not made up for; empty: it is.
func tooLate(s store.Schedule, late time.Duration) string {
	switch {
	case s.CatchUp == store.CatchAll:
		return ""
	case s.CatchUp == store.CatchSkip && late > skipLate, late > lateMost:
		return "it was " + schedule.Short(late) + " late"
	default:
		return ""
	}
}

// tell says what a schedule says. What goes to a chat goes word for word, so that it is late stands in the admin room.
func (a *Admin) tell(ctx context.Context, tx store.Tx, s store.Schedule, run int64, late string) error {
	letter := outbox.Letter{Purpose: policy.PurposeOperator, Text: s.Body}
	if s.ChatID == nil {
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		letter = outbox.Notice(room, a.reminder(s, late), outbox.Ring)
		letter.Mention = s.CreatedBy
	} else {
		chat, err := store.ChatByID(ctx, tx, *s.ChatID)
		if err != nil {
			return err
		}
		letter.Chat = chat
	}
	out, decision, err := a.Box.Queue(ctx, tx, letter)
	if err != nil {
		return err
	}
	if !decision.Allow {
		if s.BestEffort {
			return a.ended(ctx, tx, s, run, store.RunDone, "not sent: "+decision.Why, &out)
		}
		return a.ended(ctx, tx, s, run, store.RunFailed, decision.Why, &out)
	}
	if s.ChatID != nil && letter.Chat.DeliveryIn(a.Rules.Defaults).Holds(letter.Purpose) {
		return a.ended(ctx, tx, s, run, store.RunDone, "a draft of it waits for you", &out)
	}
	if s.ChatID != nil && (s.Tell || late != "") {
		text := fmt.Sprintf("✉️ To **%s** goes: %s %s", esc(label(letter.Chat)), quote(s.Body, 300), late)
		if err := a.notice(ctx, tx, outbox.Quiet, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return a.ended(ctx, tx, s, run, store.RunDone, "", &out)
}

// reminder is what a reminder says in the admin room.
func (a *Admin) reminder(s store.Schedule, late string) string {
	since := "set " + a.day(s.CreatedAt)
	if schedule.Kind(s.Kind) != schedule.At {
		since = fmt.Sprintf("%s, `/jobs %d`", rhythm(s), s.ID)
	}
	text := fmt.Sprintf("⏰ **%s** (%s) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", esc(clip(s.Body, maxWhat)), since)
	if late != "" {
		text += "\n" + late
	}
	return text
}

// day says on which day something was, the way one says it.
func (a *Admin) day(t time.Time) string {
	local, today := t.In(a.Rules.Zone), a.Now().In(a.Rules.Zone)
	switch {
	case local.YearDay() == today.YearDay() && local.Year() == today.Year():
		return "today"
	case today.Sub(local) < 6*24*time.Hour:
		return local.Format("Mon")
	case local.Year() == today.Year():
		return local.Format("2 Jan")
	default:
		return local.Format("2 Jan 2006")
	}
}

// skip leaves out a time that is too long ago. What happens once is told, because it will not come again.
func (a *Admin) skip(ctx context.Context, tx store.Tx, s store.Schedule, run int64, at time.Time, why string) error {
	if _, err := store.EndRun(ctx, tx, run, store.RunSkipped, why, nil); err != nil {
		return err
	}
	if schedule.Kind(s.Kind) != schedule.At {
		return nil
	}
	return a.notice(ctx, tx, outbox.Ring, fmt.Sprintf("⏰ **Missed**: %s It was due %s, and %s. `/jobs %d run` does it now, `/jobs %d edit tomorrow 9am` later.",
		sentence(esc(clip(s.Body, 300))), a.clock(at), why, s.ID, s.ID))
}

// ended writes how a run ended. A failure is told once, until it works again.
func (a *Admin) ended(ctx context.Context, tx store.Tx, s store.Schedule, run int64, state store.RunState, note string, out *uuid.UUID) error {
	first, err := store.EndRun(ctx, tx, run, state, note, out)
	if err != nil || !first {
		return err
	}
	if state != store.RunFailed {
		return store.WorkingSchedule(ctx, tx, s.ID)
	}
	if err := store.GiveUpTask(ctx, tx, runKey(run), note); err != nil {
		return err
	}
	if err := jobs.Emit(ctx, tx, store.HookCronFail, strconv.FormatInt(run, 10)); err != nil {
		return err
	}
	news, err := store.FailSchedule(ctx, tx, s.ID)
	if err != nil {
		return err
	}
	if s.Does == store.DoesHeartbeat {
		return a.tired(ctx, tx, s, note)
	}
	if !news {
		return nil
	}
	text := fmt.Sprintf("⚠️ **%s did not work**: %s `/jobs %d history` shows more", a.title(s), sentence(esc(clip(note, 300))), s.ID)
	if schedule.Kind(s.Kind) == schedule.At {
		return a.notice(ctx, tx, outbox.Ring, text+fmt.Sprintf(", `/jobs %d run` tries again.", s.ID))
	}
	return a.notice(ctx, tx, outbox.Ring, text+". I go on trying at its times, and tell you no more of it until it works again.")
}

// tiredAfter is how many failures in a row end a heartbeat.
const tiredAfter = 3

// tired ends a heartbeat that fails over and over: it is there to spare attention, and what fails may cost money each time.
func (a *Admin) tired(ctx context.Context, tx store.Tx, s store.Schedule, note string) error {
	failed, err := store.Failures(ctx, tx, s.ID)
	if err != nil || failed < tiredAfter || s.PausedAt != nil {
		return err
	}
	if err := store.PauseSchedule(ctx, tx, s.ID, a.Now()); err != nil {
		return err
	}
	return a.notice(ctx, tx, outbox.Ring, fmt.Sprintf("⚠️ **I stopped looking around by myself**: it failed %d times in a row, the last time because %s `/jobs %d resume` starts it again.",
		tiredAfter, sentence(esc(clip(note, 300))), s.ID))
}

// notArrived has a run fail whose words did not arrive. That they did not is told by who calls.
func (a *Admin) notArrived(ctx context.Context, tx store.Tx, o store.Out) error {
	run, err := store.NotArrived(ctx, tx, o.ID, cmp.Or(o.Error, "it did not arrive"))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := jobs.Emit(ctx, tx, store.HookCronFail, strconv.FormatInt(run.ID, 10)); err != nil {
		return err
	}
	_, err = store.FailSchedule(ctx, tx, run.ScheduleID)
	return err
}

// broken ends a schedule that cannot be read any more.
func (a *Admin) broken(ctx context.Context, tx store.Tx, s store.Schedule, cause error) error {
	zerolog.Ctx(ctx).Error().Err(cause).Int64("schedule", s.ID).Msg("Cannot read a schedule")
	if err := store.MoveSchedule(ctx, tx, s.ID, nil); err != nil {
		return err
	}
	return a.notice(ctx, tx, outbox.Ring, fmt.Sprintf("⚠️ **%s** has a time that I cannot read any more, so it stopped. `/jobs %d edit` sets another.", a.title(s), s.ID))
}

// title names a schedule in one short line.
func (a *Admin) title(s store.Schedule) string {
	if s.CreatedBy == "" {
		return "Upkeep " + esc(ownName(s))
	}
	return fmt.Sprintf("%s (job %d)", quote(s.Body, 60), s.ID)
}

// notice says something in the admin room, or comes back when there is one.
func (a *Admin) notice(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, text string) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, err = a.say(ctx, tx, room, kind, text, nil)
	return err
}

// executeTime bounds what is written after the time of a run is over.
const executeTime = 10 * time.Second

// Execute carries out a run that takes its time. last says that no other attempt follows.
func (a *Admin) Execute(ctx context.Context, id int64, last bool) error {
	run, err := store.RunByID(ctx, a.Store.DB(), id)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || run.State != store.RunRunning {
		return err
	}
	s, err := store.ScheduleByID(ctx, a.Store.DB(), run.ScheduleID)
	if err != nil {
		return err
	}
	note, err := a.workInTime(ctx, s, run)
	if err != nil && !jobs.IsFinal(err) && (!last || jobs.IsLater(err)) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), executeTime)
	defer cancel()
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Int64("schedule", s.ID).Msg("A scheduled run failed")
			return a.ended(ctx, tx, s, id, store.RunFailed, jobs.Plain(err).Error(), nil)
		}
		return a.ended(ctx, tx, s, id, store.RunDone, note, nil)
	})
}

// workInTime is work within the time that is left of the run's, which is one for all its attempts. When it is over, no other follows.
func (a *Admin) workInTime(ctx context.Context, s store.Schedule, run store.Run) (string, error) {
	most := jobs.RunTime
	if s.Does == store.DoesUpkeep {
		most = jobs.UpkeepTime
	}
	began := time.Now()
	working, cancel := context.WithTimeout(ctx, most-run.Worked)
	defer cancel()
	note, err := a.work(working, s, run)
	if err == nil || ctx.Err() != nil {
		return note, err
	}
	if working.Err() != nil {
		return "", jobs.Final(fmt.Errorf("it took longer than %s", schedule.Short(most)))
	}
	return "", errors.Join(err, store.WorkedRun(ctx, a.Store.DB(), run.ID, time.Since(began)))
}

// work does what a run is about, and says in a few words for its history what it did.
func (a *Admin) work(ctx context.Context, s store.Schedule, run store.Run) (note string, err error) {
	switch s.Does {
	case store.DoesAsk:
		return "", a.alone(ctx, func(room store.Chat) error { return a.Worker.Unattended(ctx, room, runKey(run.ID), s.Body) })
	case store.DoesUpkeep:
		return a.upkeep(ctx, s.Body)
	case store.DoesHeartbeat:
		err = a.alone(ctx, func(room store.Chat) error {
			note, err = a.Worker.Heartbeat(ctx, room, runKey(run.ID), s.Body)
			return err
		})
		return note, err
	default:
		return "", jobs.Final(fmt.Errorf("nothing is known of %q", s.Does))
	}
}

// runKey names the task that a run is worked on in.
func runKey(run int64) string { return fmt.Sprintf("run:%d", run) }

// alone has the assistant work on what the clock asks for, one at a time.
func (a *Admin) alone(ctx context.Context, work func(room store.Chat) error) error {
	lock, ok, err := a.Store.TryLock(ctx, store.LockUnattended, 0)
	if err != nil {
		return err
	}
	if !ok {
		return jobs.Later(runWait)
	}
	defer lock.Release(ctx)
	room, err := outbox.AdminRoom(ctx, a.Store.DB())
	if err != nil {
		return err
	}
	return work(room)
}

// runWait is how long an unattended run waits for another one.
const runWait = time.Second
