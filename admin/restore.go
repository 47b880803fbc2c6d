package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/clock"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// restoreCommands asks the owner whether to send or drop what a restored backup has on hold.
type restoreCommands struct {
	base

	clock     *clock.Clock
	drafts    *DraftCommands
	startedAt time.Time // when this process began
}

// commands returns the commands about a restored backup.
func (rs *restoreCommands) commands() []command {
	return []command{
		{
			name: "restored", group: groupHealth, run: rs.show,
			summary: "what is on hold after a restore",
			help: "A restored backup is the past: what it would send may have been sent since. So nothing is sent, no schedule runs and no webhook is called until you have seen the list " +
				"and say yes (send it) or no (drop it). What was said in the meantime is read and stays unanswered.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (rs *restoreCommands) questions() []func() question {
	return []func() question{
		func() question { return &decideRestored{restores: rs} },
	}
}

const (
	// catchUpWait is the time between two checks whether the sync has caught up.
	catchUpWait = 2 * time.Second
	// maxCatchUp is the longest wait, from the start, for the sync to catch up before the owner is asked.
	maxCatchUp = 5 * time.Minute
)

// ask asks the owner about held messages, after the sync has caught up; messages that turn out to be sent are left out.
func (rs *restoreCommands) ask(ctx context.Context) error {
	restore, err := rs.store.RestoreState(ctx, rs.store.DB())
	if err != nil {
		return err
	}
	if !restore.OnHold() {
		return nil
	}
	synced, complete, err := store.RestoreCatchUp(ctx, rs.store.DB(), restore)
	if err != nil {
		return err
	}
	if !synced || (!complete && rs.room.now().Sub(rs.startedAt) < maxCatchUp) {
		return jobs.Snooze(catchUpWait)
	}
	return rs.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		text, quotes, err := quoteLocked(ctx, tx, func() (string, []store.MessageID, error) { return rs.list(ctx, tx, restore) })
		if err != nil {
			return err
		}
		_, err = rs.room.notify(ctx, tx, room, outbox.Alert, text, &decideRestored{restores: rs}, quotes...)
		return err
	})
}

// show asks again.
func (rs *restoreCommands) show(ctx context.Context, _ request, _ string) (answer, error) {
	restore, err := rs.store.RestoreState(ctx, rs.store.DB())
	switch {
	case err != nil:
		return answer{}, err
	case restore.RestoredAt.IsZero():
		return answer{text: "No backup was restored here."}, nil
	case !restore.OnHold():
		return answer{text: fmt.Sprintf("The backup of %s was restored %s, and you said %s that I may continue.",
			rs.room.fullTime(restore.BackupAt), rs.room.ago(restore.RestoredAt), rs.room.ago(restore.ReleasedAt))}, nil
	}
	text, quotes, err := rs.list(ctx, rs.store.DB(), restore)
	return answer{text: text, quotes: quotes, question: &decideRestored{restores: rs, Requested: true}}, err
}

// maxListedOnHold is how many messages on hold are listed.
const maxListedOnHold = 20

// list says what a yes would send, and what will not be done, whatever the answer.
func (rs *restoreCommands) list(ctx context.Context, db store.DB, restore policy.Restore) (string, []store.MessageID, error) {
	held, err := store.WorkOnHold(ctx, db, restore)
	if err != nil {
		return "", nil, err
	}
	overdue, err := store.OverdueSchedules(ctx, db, rs.room.now())
	if err != nil {
		return "", nil, err
	}
	lines := []string{fmt.Sprintf("⏪ **The backup of %s was restored** (%s). Nothing is sent until you say so: it may have been sent since.",
		rs.room.fullTime(restore.BackupAt), rs.room.ago(restore.RestoredAt))}
	going, quotes, err := rs.outgoing(ctx, db, held)
	if err != nil {
		return "", nil, err
	}
	choice := "\n1 continue, and send it (or yes)\n2 continue, and drop it (or no)\n"
	if len(going) == 0 {
		lines, choice = append(lines, "\nNothing waits to be sent."), "\n1 continue (or yes)\n"
	} else {
		lines = append(lines, append([]string{"\n**With a yes this is sent:**"}, going...)...)
	}
	if skipped := rs.skipped(held, overdue); skipped != "" {
		lines = append(lines, "\nNot done again, with a yes or a no: "+skipped+".")
	}
	lines = append(lines,
		"\nI've read the messages since then; nothing from before your yes is answered. I have a new session, because the keys of the old one were used since: "+
			"run `multis verify` if your chats are encrypted.", choice)
	return strings.Join(lines, "\n"), quotes, nil
}

// outgoing lists what a yes sends.
func (rs *restoreCommands) outgoing(ctx context.Context, db store.DB,
	held store.OnHold,
) (lines []string, quotes []store.MessageID, err error) {
	for _, o := range held.Outbox[:min(len(held.Outbox), maxListedOnHold)] {
		to, err := rs.drafts.recipient(ctx, db, o.ID)
		if err != nil {
			return nil, nil, err
		}
		if o.Purpose == policy.PurposeNotice {
			to = "this room"
		}
		lines = append(lines, fmt.Sprintf("- to %s, written %s: %s", to, rs.room.shortTime(o.CreatedAt), quote(o.Text(), 100)))
		quotes = slices.Concat(quotes, o.Quotes, o.Sources)
	}
	if more := len(held.Outbox) - maxListedOnHold; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %s more", text.Count(more, "message")))
	}
	if held.Deliveries > 0 {
		lines = append(lines, fmt.Sprintf("- %s to webhooks, with the ids that they had", text.Count(held.Deliveries, "call")))
	}
	if held.Drafts > 0 {
		lines = append(lines, fmt.Sprintf("- %s that %s for your approval (`/drafts`) can be sent again", text.Count(held.Drafts, "draft"),
			text.Plural(held.Drafts, "waits", "wait")))
	}
	return lines, quotes, nil
}

// skipped lists what was due or waiting and will not be done.
func (rs *restoreCommands) skipped(held store.OnHold, overdue []store.Schedule) string {
	var parts []string
	if held.Messages > 0 {
		parts = append(parts, text.Count(held.Messages, "message")+" that waited for an answer")
	}
	if len(overdue) > 0 {
		var names []string
		for _, s := range overdue[:min(len(overdue), pageSize)] {
			names = append(names, quote(s.Body, 40)+" "+rs.room.shortTime(*s.NextAt))
		}
		parts = append(parts, text.Count(len(overdue), "schedule")+" that "+text.Plural(len(overdue), "was", "were")+" due ("+
			strings.Join(names, ", ")+"); what repeats continues at its next time")
	}
	return strings.Join(parts, "; ")
}

// statusLine says that a restored backup is on hold.
func (rs *restoreCommands) statusLine(ctx context.Context, _ request) (string, error) {
	restore, err := rs.store.RestoreState(ctx, rs.store.DB())
	if err != nil {
		return "", err
	}
	if !restore.OnHold() {
		return "", nil
	}
	return "⏪ **Nothing is sent:** the backup of " + rs.room.fullTime(restore.BackupAt) +
		" was restored. `/restored` lists what waits and asks you.", nil
}

// backupLine says how old the last backup is.
func (rs *restoreCommands) backupLine(ctx context.Context, r request) (string, error) {
	if !r.isOwner() {
		return "", nil
	}
	last, err := store.LastBackup(ctx, rs.store.DB())
	if err != nil {
		return "", err
	}
	line := "Backup: none yet (`multis backup create`)."
	if !last.At.IsZero() {
		line = fmt.Sprintf("Backup: %s, %s.", rs.room.ago(last.At), text.Bytes(last.SizeBytes))
	}
	if last.Problem != "" {
		line += " ⚠️ The last try failed: " + esc(last.Problem)
	}
	return line, nil
}

// warnNoBackup tells the owner that no backup was made, unless one was made meanwhile.
func (rs *restoreCommands) warnNoBackup(ctx context.Context, topic jobs.NoticeTopic) error {
	last, err := store.LastBackup(ctx, rs.store.DB())
	if err != nil {
		return err
	}
	text := "⚠️ **There is no backup of multis yet.**"
	switch {
	case topic == jobs.TopicBackupFailed && last.Problem == "":
		return nil
	case topic == jobs.TopicBackupFailed:
		text = "⚠️ **A backup could not be made:** " + esc(last.Problem) + "."
	case !last.At.IsZero():
		text = "⚠️ **The last backup is from " + rs.room.shortTime(last.At) + ".**"
	}
	return rs.room.completeWithNotice(ctx, outbox.Alert,
		text+" `multis backup create` makes one; `backup.every` in config.yaml has me make them. `/status` shows how old the last one is.")
}

// decideRestored asks whether to send what a restored backup has on hold. The question is never closed, because the
// settings say whether the hold lasts.
type decideRestored struct {
	yesOrNo

	restores *restoreCommands

	Requested bool // by /restored
}

func (q decideRestored) traits() traits {
	return traits{
		kind:        "restored",
		command:     "restored",
		lifetime:    30 * 24 * time.Hour,
		unrequested: !q.Requested,
		repeats:     true,
	}
}

func (q decideRestored) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	if r.message.Kind == string(bridgebridge.Reaction) {
		return answer{text: "Please type it: what is sent after a restore is not decided by a reaction, which travels in plain text."}, false,
			nil
	}
	switch {
	case c.word == wordYes, c.number == 1:
		return q.restores.release(true), true, nil
	case c.word == wordNo, c.number == 2:
		return q.restores.release(false), true, nil
	default:
		return answer{text: "1 or 2, please: yes or no."}, false, nil
	}
}

// release ends the hold and sends or drops what it held back.
func (rs *restoreCommands) release(send bool) answer {
	return answer{reason: "You decided about a restored backup.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		restore, err := rs.store.RestoreState(ctx, tx)
		if err != nil {
			return "", err
		}
		first, err := store.EndHold(ctx, tx)
		if err != nil {
			return "Nothing is on hold any more.", err
		}
		if !first {
			return "Nothing is on hold any more.", nil
		}
		if err := rs.clock.SkipOverdue(ctx, tx, "a backup was restored, and it may have been done before"); err != nil {
			return "", err
		}
		if !send {
			return "Dropped. I answer again: what is written from now on is answered as before.", store.DropOnHold(ctx, tx)
		}
		released, err := store.ReleaseOutbox(ctx, tx, restore)
		if err != nil {
			return "", err
		}
		for _, out := range released {
			if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: out}); err != nil {
				return "", err
			}
		}
		if len(released) == 0 {
			return "I answer again. What is written from now on is answered as before.", nil
		}
		return "I answer again: " + text.Count(len(released), "message") + " sent now, and what is written from now on is answered as before.", nil
	}}
}
