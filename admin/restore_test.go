package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// makeRestored turns the room's database into one that was restored an hour ago from a backup of three days before. It
// has a queued message, a message that waited for an answer, a draft and an overdue schedule.
func makeRestored(t *testing.T) (r *rig, ana store.Chat, out uuid.UUID) {
	t.Helper()
	r = newRig(t)
	ana, out = r.chat("Ana", "whatsapp"), uuid.New()
	r.exec("update chats set mode = 'business' where id = $1", ana.ID)
	require.Contains(t, r.asOwner("/remind tomorrow 9am call the plumber"), "Set")
	const insertSQL = `insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at, citations)
		values ($1, $2, 'owner', $3, 'm.room.message', '{"msgtype": "m.text", "body": "We deliver on Monday."}', '', '', $4, $5, '[{"source": "a", "quote": "b"}]')`
	r.exec(insertSQL, out, ana.ID, "operator", "queued", r.now.Add(-time.Hour))
	r.exec(insertSQL, uuid.New(), ana.ID, "reply", "draft", r.now.Add(-time.Hour))
	r.exec("insert into hook_deliveries (hook, event, ref) values ('crm', 'escalation', '1')")
	r.tx(func(tx store.Tx) error {
		_, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  ana.ID,
			EventID: r.event(),
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    "When?",
			At:      r.now,
			Action:  policy.ActionAnswer,
			Code:    policy.CodeAnswer,
		})
		return err
	})
	r.tx(func(tx store.Tx) error { return store.HoldRestored(r.ctx, tx, r.now.Add(-time.Minute)) })
	r.exec(`update settings set value = value || '{"restored_at": "2026-11-23T17:00:00Z"}' where key = 'restore'`)
	r.exec("update outbox set created_at = $1", r.now.Add(-time.Hour))
	r.exec("update messages set received_at = $1, answered_at = '2026-11-23T17:00:00Z'", r.now.Add(-time.Hour))
	r.exec(`insert into settings (key, value, updated_at) values ('sync_token', '"s1"', '2026-11-23T17:30:00Z')`)
	r.now = noon.AddDate(0, 0, 3).Add(time.Hour)
	r.restart()
	return r, ana, out
}

func TestRestore_OwnerDecides(t *testing.T) {
	t.Parallel()
	r, ana, out := makeRestored(t)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored}))
	shown := r.sendQueued()[0]
	asked := bodies([]sentEvent{shown})
	require.Contains(t, asked, "⏪ **The backup of Fri 20 Nov, 17:59 was restored** (1 h ago). Nothing is sent until you say so")
	for _, part := range []string{
		"to Ana · WhatsApp", "We deliver on Monday.", "1 call to webhooks", "1 draft",
		"1 message that waited for an answer", "call the plumber", "multis verify",
	} {
		require.Contains(t, asked, part)
	}
	require.Contains(t, r.asOwner("/status"), "Nothing is sent")
	require.Zero(t, r.count("select count(*) from outbox where send_as = 'owner' and state = 'queued'"))
	gate, err := r.box.Gate(r.ctx, ana)
	require.NoError(t, err)
	require.Equal(t, policy.CodeRestored, gate.Decide(policy.PurposeReply, true).Code)

	question := r.count("select count(*) from dialogs where kind = 'restored'")
	require.Equal(t, 1, question)
	r.react(shown.Event, "👍")
	require.True(t, r.holdState().OnHold(), "a reaction decides nothing")
	require.Contains(t, bodies(r.handle(store.Message{Body: "/restored", EventID: "$asked"})), "We deliver on Monday.")
	for _, other := range []id.EventID{r.handle(store.Message{Body: "/mode"})[0].Event, "$unknown"} {
		r.handle(store.Message{Body: "yes", RelatesTo: other})
		require.True(t, r.holdState().OnHold(), "a reply to anything but the question decides nothing")
	}
	require.Contains(t, bodies(r.handle(store.Message{Body: "yes", RelatesTo: "$asked"})), "1 message sent now",
		"a reply to the command that asked")
	require.False(t, r.holdState().OnHold())
	require.Equal(t, 1, r.count("select count(*) from outbox where id = $1 and state = 'sent'", out))
	require.Equal(t, 1, r.count("select count(*) from schedule_executions where state = 'skipped'"))
	require.Zero(t, r.count("select count(*) from schedules where body = 'call the plumber' and next_at is not null"))
	require.Equal(t, 1, r.count("select count(*) from hook_deliveries where state = 'queued'"))
	require.Contains(t, r.asOwner("/restored"), "you said")
	require.NotContains(t, r.asOwner("/status"), "Nothing is sent")
}

// holdState reads from the database whether it is on hold after a restore.
func (r *rig) holdState() policy.Restore {
	r.t.Helper()
	restore, err := r.st.RestoreState(context.Background(), r.st.DB())
	require.NoError(r.t, err)
	return restore
}

func TestRestore_NoDropsMessages(t *testing.T) {
	t.Parallel()
	r, _, _ := makeRestored(t)
	r.askAboutNewBridge()
	require.Contains(t, r.asOwner("/restored"), "We deliver on Monday.")
	require.Contains(t, r.asOwner("/restored"), "We deliver on Monday.", "the same question again")
	require.Contains(t, r.asOwner("no"), "Dropped.")
	require.False(t, r.holdState().OnHold())
	require.Zero(t, r.count("select count(*) from outbox where send_as = 'owner' and state <> 'dropped'"))
	require.Zero(t, r.count("select count(*) from hook_deliveries where state <> 'dropped'"))
}

func TestRestore_NothingToSendAsksOnce(t *testing.T) {
	t.Parallel()
	r, _, _ := makeRestored(t)
	r.exec("delete from outbox where send_as = 'owner'; delete from hook_deliveries")
	asked := r.asOwner("/restored")
	require.Contains(t, asked, "Nothing waits to be sent.")
	require.Contains(t, asked, "\n1 continue (or yes)\nOpen until ")
	require.NotContains(t, asked, "send it")
	require.Equal(t, "I answer again. What is written from now on is answered as before.", r.asOwner("1"))
	require.False(t, r.holdState().OnHold())
}

func TestRestore_AsksAfterMissedMessages(t *testing.T) {
	t.Parallel()
	r, _, _ := makeRestored(t)
	r.exec("update settings set updated_at = '2026-11-23T16:00:00Z' where key = 'sync_token'")
	require.True(t, jobs.IsSnooze(r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored})))
	r.exec("update settings set updated_at = '2026-11-23T17:30:00Z' where key = 'sync_token'")
	r.exec("insert into pending_gaps (room_id, from_pos, to_pos) values ('!a:x', '1', '2')")
	require.True(t, jobs.IsSnooze(r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored})))
	r.now = r.now.Add(10 * time.Minute)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored}),
		"a room that cannot be read does not keep the owner waiting")
	require.Contains(t, bodies(r.sendQueued()), "was restored")
}

func TestRestore_NothingToDecide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "No backup was restored here.", r.asOwner("/restored"))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored}))
	require.Empty(t, r.sendQueued())
}

func TestBackup_NotifiesOldAndFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicBackupOld}))
	require.Contains(t, bodies(r.sendQueued()), "There is no backup of multis yet.")
	require.NoError(t, store.PutSetting(r.ctx, r.st.Writer(), store.SettingBackup, store.Backup{
		At:        noon.Add(-8 * 24 * time.Hour),
		SizeBytes: 12_300_000,
		Problem:   "the disk is full",
	}))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicBackupFailed}))
	require.Contains(t, bodies(r.sendQueued()), "**A backup could not be made:** the disk is full.")
	require.Contains(t, r.asOwner("/status"), "12.3 MB. ⚠️ The last try failed: the disk is full")
}
