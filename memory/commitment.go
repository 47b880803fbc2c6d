package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/internal/text"
	"multis/store"
)

const (
	// reminderHour is the hour of the reminder of a commitment, on the day on which it is due. reminderLead is the minimum time between the
	// reminder and the due time.
	reminderHour = 9
	reminderLead = time.Hour
	// maxReminderDelay is the time after the due time in which a missed reminder is still sent.
	maxReminderDelay = 24 * time.Hour
)

// HasDueCommitments reports whether DueCommitments may return any within a day.
func (m *Memory) HasDueCommitments(ctx context.Context) (bool, error) {
	now := m.Now()
	return store.HasDueReminders(ctx, m.Store.DB(), now.Add(-maxReminderDelay), now.Add(maxReminderDelay), now)
}

// DueCommitments returns the commitments of which the owner is to be reminded now: those whose reminder is due, and those
// whose snooze is over.
func (m *Memory) DueCommitments(ctx context.Context, tx store.Tx) ([]store.Commitment, error) {
	now := m.Now()
	due, err := store.DueReminders(ctx, tx, now.Add(-maxReminderDelay), now.Add(maxReminderDelay), now)
	return slices.DeleteFunc(due, func(c store.Commitment) bool {
		return c.SnoozedTo == nil && reminderTime(*c.DueAt, m.Zone).After(now)
	}), err
}

// reminderTime returns when to remind of a commitment: on the morning of its due date, or reminderLead before the due
// time if that is earlier.
func reminderTime(due time.Time, zone *time.Location) time.Time {
	y, m, d := due.In(zone).Date()
	morning := schedule.InZone(time.Date(y, m, d, reminderHour, 0, 0, 0, time.UTC), zone)
	if latest := due.Add(-reminderLead); latest.Before(morning) {
		return latest
	}
	return morning
}

// IsByOwner reports whether the owner made a commitment.
func IsByOwner(c store.Commitment) bool {
	return slices.Contains([]string{"owner", "the owner", "you", "me"}, strings.ToLower(text.OneLine(c.Who)))
}
