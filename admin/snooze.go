package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/clock"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/store"
)

// snoozeWindow is how long after a reminder /snooze without a number means that reminder.
const snoozeWindow = 24 * time.Hour

// snooze postpones a reminder: the one that the message replies to, the one with the number, or the last one.
func (sc *scheduleCommands) snooze(ctx context.Context, r request, args string) (answer, error) {
	number, when := store.ScheduleID(0), strings.TrimSpace(args)
	if first, rest, _ := strings.Cut(when, " "); parseNumber(first) > 0 && parseNumber(strings.TrimSpace(rest)) == 0 {
		_, _, err := schedule.ParseTime(sc.readable(r, when), sc.room.writtenAt(r), schedule.English())
		if err != nil { // "/snooze 10 min" is a time
			number, when = store.ScheduleID(parseNumber(first)), strings.TrimSpace(rest)
		}
	}
	s, err := sc.findReminder(ctx, r, number)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: "Which one? Reply to the reminder, or write `/snooze 14 1h`. `/jobs` lists what is to come."}, nil
	}
	if err != nil {
		return answer{}, err
	}
	switch {
	case !sc.mayChange(r, s):
		return answer{text: "That reminder is not yours."}, nil
	case s.CreatedBy == "":
		return answer{text: "Upkeep keeps its times; `/jobs upkeep` shows them."}, nil
	}
	if when == "" {
		when = "10m"
	}
	at, rest, err := schedule.ParseTime(sc.readable(r, when), sc.room.writtenAt(r), schedule.English())
	if err == nil && rest != "" {
		return answer{text: "I don't know what to do with " + quote(rest, 60) + ". `/snooze 1h`, `/snooze tomorrow 9am`."}, nil
	}
	ans, err := timeErrorAnswer(err)
	if err != nil {
		return ans, err
	}
	if ans.text != "" {
		return ans, nil
	}
	return sc.postpone(ctx, s, at)
}

// findReminder returns the schedule of the reminder that is meant.
func (sc *scheduleCommands) findReminder(ctx context.Context, r request, number store.ScheduleID) (store.Schedule, error) {
	db := sc.store.DB()
	if number > 0 {
		return store.ScheduleByID(ctx, db, number)
	}
	run, err := store.ExecutionByEvent(ctx, db, r.room.ID, r.message.RelatesTo)
	if r.message.RelatesTo == "" {
		run, err = store.LastExecutionIn(ctx, db, r.room.ID, r.now.Add(-snoozeWindow))
	}
	if err != nil {
		return store.Schedule{}, err
	}
	return store.ScheduleByID(ctx, db, run.ScheduleID)
}

// postpone sets a reminder to another time. A recurring one keeps its times and gets one more.
func (sc *scheduleCommands) postpone(ctx context.Context, s store.Schedule, at time.Time) (answer, error) {
	reply := fmt.Sprintf("⏰ Again **%s** — %s", sc.room.fullTime(at), endSentence(esc(text.Clip(s.Body, 300))))
	if schedule.Kind(s.Kind) == schedule.At {
		changed := s
		changed.NextAt, changed.PausedAt = &at, nil
		return answer{text: reply, change: changeSchedule(s, changed)}, nil
	}
	once := s
	once.Kind = string(schedule.At)
	once.Spec = ""
	once.NextAt = &at
	once.PausedAt = nil
	once.Keep = false
	once.CatchUp = store.CatchOnce
	var err error
	if once.ID, err = store.NextScheduleID(ctx, sc.store.DB()); err != nil {
		return answer{}, err
	}
	return answer{text: reply, change: func(ctx context.Context, tx store.Tx) error { return clock.Add(ctx, tx, once) }}, nil
}

// handleReaction handles a reaction to a reminder. done is false if it is a reaction to another message, or has no meaning.
func (sc *scheduleCommands) handleReaction(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	at, ok := sc.room.reactionTime(r)
	if !ok {
		return answer{}, false, nil
	}
	s, err := sc.remindedBy(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{reason: "That reminder is not theirs."}, true, err
	}
	if !sc.mayChange(r, s) {
		return answer{reason: "That reminder is not theirs."}, true, nil
	}
	if at.IsZero() {
		return sc.done(s), true, nil
	}
	ans, err := sc.postpone(ctx, s, at)
	return ans, true, err
}

// remindedBy returns the schedule whose reminder was reacted to.
func (sc *scheduleCommands) remindedBy(ctx context.Context, r request) (store.Schedule, error) {
	run, err := store.ExecutionByEvent(ctx, sc.store.DB(), r.room.ID, r.message.RelatesTo)
	if err != nil {
		return store.Schedule{}, err
	}
	return store.ScheduleByID(ctx, sc.store.DB(), run.ScheduleID)
}

// done ends a reminder that was snoozed. It changes nothing for other reminders: one with a single time has ended, and a
// recurring one continues.
func (sc *scheduleCommands) done(s store.Schedule) answer {
	ans := answer{reason: "You are done with that reminder."}
	if schedule.Kind(s.Kind) == schedule.At && s.NextAt != nil {
		changed := s
		changed.NextAt = nil
		ans.change = changeSchedule(s, changed)
	}
	return ans
}
