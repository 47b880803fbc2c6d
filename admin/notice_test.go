package admin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

func TestNotice_ListsLateMessagesOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.admin.Notices.NotifyOfLateMessages(r.ctx))
	require.Empty(t, r.sendQueued(), "nothing came late")
	ana, signal, _ := r.addChats()
	for i := range 3 {
		r.addMessage(ana, "late", 5*time.Hour-time.Duration(i)*time.Hour, policy.ActionArchive, policy.CodeStale, "too old")
	}
	r.addMessage(signal, "late", 26*time.Hour, policy.ActionArchive, policy.CodeStale, "too old")
	r.exec("update messages set received_at = $1 where code = 'stale'", noon.Add(-4*time.Second))
	err := r.admin.Notices.NotifyOfLateMessages(r.ctx)
	require.True(t, jobs.IsSnooze(err), "more may be coming in")
	require.Empty(t, r.sendQueued())

	r.now = r.now.Add(jobs.LateMessagesDelay)
	require.NoError(t, r.admin.Notices.NotifyOfLateMessages(r.ctx))
	require.Equal(t, text(
		"**While I was away** (Thu 19 Nov, 16:00 to 15:00): 4 messages in 2 chats came too late for an answer. I stored them and wrote to nobody.",
		"Ana · WhatsApp — 3",
		"Ana · Signal — 1",
	), bodies(r.sendQueued()))
	require.NoError(t, r.admin.Notices.NotifyOfLateMessages(r.ctx))
	require.Empty(t, r.sendQueued())
}

func TestNotice_LateMessagesAreShort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 12 {
		r.addMessage(r.chat("Guest", "whatsapp"), "late", time.Hour, policy.ActionArchive, policy.CodeStale, "too old")
	}
	require.NoError(t, r.admin.Notices.NotifyOfLateMessages(r.ctx))
	got := bodies(r.sendQueued())
	require.Contains(t, got, "**While I was away** (17:00): 12 messages in 12 chats")
	require.Contains(t, got, "\nand 2 chats more")
}

func TestNotice_UndeliveredNamesReason(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	m := r.addMessage(ana, "a human please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	out := r.addAnswer(ana, m, policy.PurposeEscalation, "Let me check.", "escalated")
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, out))
	r.sendQueued()
	r.homeserver.sent = nil
	require.Empty(t, r.sendQueued(), "it did arrive")
	fail := func(why string) {
		r.exec("update outbox set state = 'sent' where id = $1", out)
		r.tx(func(tx store.Tx) error {
			_, err := store.MarkFailed(r.ctx, tx, out, why)
			return err
		})
	}
	fail("WhatsApp says **logged out**.")
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, out))
	ref := out.String()[32:]
	require.Equal(t, "⚠️ **Not sent to Ana · WhatsApp**: WhatsApp says **logged out**. It was “[Nora] Let me check.”. "+
		"I don't try again: write there yourself, or fix the bridge first. (#"+ref+")", bodies(r.sendQueued()))
	fail("")
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, out))
	require.Contains(t, bodies(r.sendQueued()), "**Not sent to Ana · WhatsApp**: the bridge gave no reason.")
}

func TestNotice_RefusedIsReplacedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	room := r.room
	var out, edit uuid.UUID
	r.tx(func(tx store.Tx) (err error) {
		if out, _, err = r.box.Queue(r.ctx, tx, outbox.NewNotice(room, "Ana needs a person\n\nand much more", outbox.Quiet)); err != nil {
			return err
		}
		l := outbox.NewNotice(room, "Prices: 5 euro", outbox.Answer)
		l.Replaces = "$shown"
		if edit, _, err = r.box.Queue(r.ctx, tx, l); err != nil {
			return err
		}
		_, _, err = r.box.Queue(r.ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: "👀", ReactTo: "$x"})
		return err
	})
	alarms := func() int { return r.count("select count(*) from river.river_job where kind = 'undelivered'") }
	r.homeserver.sendErr = jobs.Permanent(errors.New("send: M_TOO_LARGE (HTTP 413): event too large"))
	require.Empty(t, r.sendQueued())
	require.Equal(t, 2, alarms(), "nobody misses a reaction")
	for i, gone := range []uuid.UUID{out, edit} {
		r.homeserver.sendErr = nil
		require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, gone))
		got := r.sendQueued()
		require.Equal(t, "⚠️ **Not sent to you**: send: M_TOO_LARGE (HTTP 413): event too large. It began “"+
			[]string{"Ana needs a person", "Prices: 5 euro"}[i]+"”. "+
			"I don't try again. (#"+gone.String()[32:]+" in the log)", bodies(got))
		require.NotEmpty(t, got[0].Mentions)
	}

	r.homeserver.sendErr = jobs.Permanent(errors.New("send: M_FORBIDDEN (HTTP 403)"))
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, out))
	require.Empty(t, r.sendQueued())
	require.Equal(t, 2, alarms(), "what tells of a notice is not told of itself")
}

func TestWelcome_IsSaidOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 3 {
		r.chat("Ana", "whatsapp")
	}
	r.chat("Ben", "signal")
	require.NoError(t, r.admin.Notices.Welcome(r.ctx))
	require.Equal(t, text(
		"**multis is ready.** 3 chats on WhatsApp and 1 on Signal, all **silent**: I remember, I never write.",
		"I write to nobody until you switch a chat to business or personal.",
		"Try: `/index` (send me a document) · `/ask when do we deliver?` · `/mode` · `/help`",
	), bodies(r.sendQueued()))
	r.restart()
	require.NoError(t, r.admin.Notices.Welcome(r.ctx))
	require.Empty(t, r.sendQueued())
}

func TestWelcome_NamesProfileAndLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Defaults.Profile = policy.ProfileBusiness
	r.restart()
	r.addChats()
	r.addUnreadable("Dr. Weber")
	require.NoError(t, r.admin.Notices.Welcome(r.ctx))
	require.Equal(t, text(
		"**multis is ready.** 3 chats on WhatsApp, 2 on Signal and 1 on Telegram: 4 business, 1 silent, 1 off.",
		"New direct chats are **business**: I answer what the public documents say, and I show you each answer here before it is sent (`/delivery auto` and a name sends them at once); the rest is yours. `/pause all` stops everything at once.",
		"Try: `/index` (send me a document) · `/ask when do we deliver?` · `/mode` · `/help`",
		"🔒 2 chats cannot be read yet: `/mode` says why.",
	), bodies(r.sendQueued()))
}

func TestNotice_WithoutChatReachesOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicEditIgnored}))
	require.Equal(t, "I don't act on edits: write it again.", bodies(r.sendQueued()))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicSessionReplaced}))
	require.Contains(t, bodies(r.sendQueued()), "**My session was ended**")
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicUndecryptable}))
	require.Contains(t, bodies(r.sendQueued()), "I cannot read what you wrote")
	require.True(t, jobs.IsPermanent(r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: "weather"})))
}

func TestNotice_WaitsForAdminRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.exec("update chats set closed_reason = 'you left the room' where id = $1", r.room.ID)
	require.NoError(t, r.admin.Notices.Welcome(r.ctx))
	require.Zero(t, r.count("select count(*) from settings"), "it is said when there is a room")
	r.addMessage(ana, "late", time.Hour, policy.ActionArchive, policy.CodeStale, "too old")
	require.True(t, jobs.IsSnooze(r.admin.Notices.NotifyOfLateMessages(r.ctx)))
	require.Equal(t, 1, r.count("select count(*) from messages where notified_at is null"))
}

func TestNotice_PageNoLongerQuoted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{
		Topic: jobs.TopicPageUnread,
		Site:  "https://shop.example/",
		Page:  "https://shop.example/price_list_1",
	}))
	require.Contains(t, bodies(r.sendQueued()),
		"**I no longer quote https://shop.example/price_list_1 to customers**: it does not answer, and I read it last more than 3 days ago.")
}
