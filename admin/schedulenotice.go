package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/clock"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// ScheduleMessenger sends the messages of schedules and the notices about them. It implements clock.Messenger.
type ScheduleMessenger struct {
	Box      *outbox.Box
	Defaults policy.Defaults
	Zone     *time.Location
	Now      func() time.Time // nil means time.Now
}

var _ clock.Messenger = ScheduleMessenger{}

// Send sends the text of a schedule. A chat gets the text unchanged; the admin room gets a notice if it is late.
func (m ScheduleMessenger) Send(ctx context.Context, tx store.Tx, s store.Schedule, late string) (clock.Sent, error) {
	if s.ChatID == nil {
		return m.remind(ctx, tx, s, late)
	}
	chat, err := store.ChatByID(ctx, tx, *s.ChatID)
	if err != nil {
		return clock.Sent{}, err
	}
	out, decision, err := m.Box.Queue(ctx, tx, outbox.Message{Chat: chat, Purpose: policy.PurposeOperator, Text: s.Body})
	sent := clock.Sent{OutboxID: out, Decision: decision}
	if err != nil {
		return sent, err
	}
	if !decision.Allow {
		return sent, nil
	}
	if sent.IsDraft = chat.DeliveryIn(m.Defaults).NeedsApproval(policy.PurposeOperator); sent.IsDraft {
		return sent, nil
	}
	if s.Tell || late != "" {
		text := fmt.Sprintf("✉️ To **%s** goes: %s %s", esc(chat.Label()), quote(s.Body, 300), late)
		err = m.notify(ctx, tx, outbox.Quiet, strings.TrimSpace(text))
	}
	return sent, err
}

// remind sends a reminder to the admin room.
func (m ScheduleMessenger) remind(ctx context.Context, tx store.Tx, s store.Schedule, late string) (clock.Sent, error) {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return clock.Sent{}, err
	}
	message := outbox.NewNotice(room, m.reminder(s, late), outbox.Alert)
	if s.CreatedBy != "" {
		message.Mention = []id.UserID{s.CreatedBy}
	}
	out, decision, err := m.Box.Queue(ctx, tx, message)
	return clock.Sent{OutboxID: out, Decision: decision}, err
}

// reminder returns the text of a reminder.
func (m ScheduleMessenger) reminder(s store.Schedule, late string) string {
	since := "set " + m.day(s.CreatedAt)
	if schedule.Kind(s.Kind) != schedule.At {
		since = fmt.Sprintf("%s, `/jobs %d`", recurrenceText(s), s.ID)
	}
	reply := fmt.Sprintf("⏰ **%s** (%s) · ✅ done · ➕ 10 min · 🕐 1 h · 🌅 tomorrow", esc(text.Clip(s.Body, maxScheduleText)), since)
	if late != "" {
		reply += "\n" + late
	}
	return reply
}

// day formats the day of a time: "today", "Mon", "2 Jan".
func (m ScheduleMessenger) day(t time.Time) string {
	local, today := t.In(m.Zone), m.now().In(m.Zone)
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

// NotifySkipped implements clock.Messenger.
func (m ScheduleMessenger) NotifySkipped(ctx context.Context, tx store.Tx, s store.Schedule, at time.Time, reason string) error {
	return m.notify(ctx, tx, outbox.Alert,
		fmt.Sprintf("⏰ **Missed**: %s It was due %s, and %s. `/jobs %d run` does it now, `/jobs %d edit tomorrow 9am` later.",
			endSentence(esc(text.Clip(s.Body, 300))), schedule.FormatTime(at, m.now(), m.Zone), reason, s.ID, s.ID))
}

// NotifyReplied implements clock.Messenger.
func (m ScheduleMessenger) NotifyReplied(ctx context.Context, tx store.Tx, s store.Schedule, reply store.Message) error {
	chat, err := store.ChatByID(ctx, tx, *s.ChatID)
	if err != nil {
		return err
	}
	return m.notify(ctx, tx, outbox.Quiet, fmt.Sprintf("✉️ **Not sent to %s**: they wrote first, %s. It was %s `/jobs %d run` sends it anyway.",
		esc(chat.Label()), schedule.FormatTime(reply.At, m.now(), m.Zone), quote(s.Body, maxShortText), s.ID))
}

// NotifyFailed tells the owner that a schedule failed.
func (m ScheduleMessenger) NotifyFailed(ctx context.Context, tx store.Tx, s store.Schedule, reason string) error {
	reply := fmt.Sprintf("⚠️ **%s did not work**: %s `/jobs %d history` shows more", scheduleTitle(s),
		endSentence(esc(text.Clip(reason, 300))), s.ID)
	if schedule.Kind(s.Kind) == schedule.At {
		return m.notify(ctx, tx, outbox.Alert, reply+fmt.Sprintf(", `/jobs %d run` tries again.", s.ID))
	}
	return m.notify(ctx, tx, outbox.Alert, reply+". I'll keep trying on schedule and won't report it again until it has worked.")
}

// NotifyUnreadable tells the owner that a schedule stopped because its times cannot be read.
func (m ScheduleMessenger) NotifyUnreadable(ctx context.Context, tx store.Tx, s store.Schedule) error {
	return m.notify(ctx, tx, outbox.Alert,
		fmt.Sprintf("⚠️ **%s** has a time that I cannot read any more, so it stopped. `/jobs %d edit` sets another.", scheduleTitle(s), s.ID))
}

// NotifyHeartbeatStopped tells the owner that a heartbeat is paused because it failed too often.
func (m ScheduleMessenger) NotifyHeartbeatStopped(ctx context.Context, tx store.Tx, s store.Schedule, failures int, reason string) error {
	return m.notify(ctx, tx, outbox.Alert,
		fmt.Sprintf("⚠️ **I stopped looking around by myself**: it failed %d times in a row, the last time because %s `/jobs %d resume` starts it again.",
			failures, endSentence(esc(text.Clip(reason, 300))), s.ID))
}

// NotifyTakenOver tells the owner which schedules of former operators were paused and are the owner's from now on.
func (m ScheduleMessenger) NotifyTakenOver(ctx context.Context, tx store.Tx, paused []store.Schedule) error {
	lines := []string{"⏸ **" + text.Count(len(paused), "job") + " stopped**: whoever set them is no longer an operator. " +
		text.Plural(len(paused), "It is yours", "They are yours") +
		fmt.Sprintf(" now: `/jobs %[1]d resume` continues one, `/cancel %[1]d` ends it.", paused[0].ID)}
	for _, s := range paused[:min(len(paused), pageSize)] {
		lines = append(lines, fmt.Sprintf("%d — %s", s.ID, esc(text.Clip(s.Body, 100))))
	}
	if more := len(paused) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: `/jobs all`", more))
	}
	return m.notify(ctx, tx, outbox.Alert, strings.Join(lines, "\n"))
}

// notify writes a notice to the admin room. While there is none, the job is tried again later.
func (m ScheduleMessenger) notify(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, text string) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, _, err = m.Box.Queue(ctx, tx, noticeMessage(room, text, kind, false))
	return err
}

func (m ScheduleMessenger) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}
