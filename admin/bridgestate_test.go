package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestBridgeState_NoticeIsSentAndCleared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	var state int64
	at := time.Date(2026, 11, 20, 12, 40, 0, 0, time.UTC)
	r.tx(func(tx store.Tx) (err error) {
		state, _, err = store.MarkBridgeDown(r.ctx, tx, store.BridgeState{
			Bot:       ana.BridgeBot,
			Login:     ana.Login,
			Protocol:  "whatsapp",
			Reason:    "logged out",
			ChangedAt: at,
		})
		return err
	})
	down, up := jobs.NoticeArgs{Topic: jobs.TopicBridgeDown, SubjectID: state}, jobs.NoticeArgs{Topic: jobs.TopicBridgeUp, SubjectID: state}
	require.NoError(t, r.admin.Notices.Notify(r.ctx, down))
	require.Equal(t,
		"⚠️ **WhatsApp says “logged out”** (since 13:40). What I say there does not arrive, and I may not hear what is said to you. "+
			"Log in again with the bridge: write `login` to @bot:example.com.", bodies(r.sendQueued()))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, up))
	require.Empty(t, bodies(r.sendQueued()), "it is not over yet")
	require.Contains(t, r.asOwner("/status"), "⚠️ **WhatsApp says “logged out”** (since 13:40).")

	m := r.addMessage(ana, "a human please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	out := r.addAnswer(ana, m, policy.PurposeEscalation, "Let me check.", "escalated")
	r.sendQueued()
	r.exec("update outbox set state = 'failed', error = 'not logged in' where id = $1", out)
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, out))
	require.Equal(t,
		"⚠️ **Not sent to Ana · WhatsApp**: WhatsApp says “logged out” (since 13:40). Log in again with the bridge: write `login` to @bot:example.com. "+
			"I don't send it again: write there yourself then. It was “[Nora] Let me check.”. (#"+out.String()[32:]+")", bodies(r.sendQueued()))

	r.tx(func(tx store.Tx) error {
		_, err := store.MarkBridgeUp(r.ctx, tx, ana.BridgeBot, ana.Login, at.Add(22*time.Minute))
		return err
	})
	require.NoError(t, r.admin.Notices.Notify(r.ctx, down))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, up))
	require.Equal(t, "✅ **WhatsApp works again**, since 14:02 (down from 13:40).", bodies(r.sendQueued()))
	require.NotContains(t, r.asOwner("/status"), "logged out")

	r.tx(func(tx store.Tx) (err error) {
		state, _, err = store.MarkBridgeDown(r.ctx, tx, store.BridgeState{
			Bot:       ana.BridgeBot,
			Login:     ana.Login,
			Protocol:  "whatsapp",
			Reason:    bridgebridge.NotConnected,
			ChangedAt: at.Add(time.Hour),
		})
		return err
	})
	require.NoError(t, r.admin.Notices.Notify(r.ctx, down))
	text := bodies(r.sendQueued())
	require.Contains(t, text, "It tries again automatically")
	require.NotContains(t, text, "login", "there is nothing to log in to again")
}
