package desk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/desk"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// People react to what they read in a thread. Only the card is signed.
func TestReaction_OnLineIsNotOnCard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?", func(c *desk.Case) { c.Proposals = proposals("We ship to Italy.") })
	r.say(anasRoom, contactOf(anasRoom), "I found it, never mind")
	r.runAllJobs()
	var line sentEvent
	for _, e := range r.sender.sent {
		if e.thread == card {
			line = e
		}
	}
	require.Contains(t, line.body, "never mind")
	for _, sign := range []string{"👍", "✋", "⏸", "✅"} {
		r.react(eva, line.event, sign)
	}
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))
	e := r.escalation(ana.ID)
	require.True(t, e.IsWaiting())
	require.Empty(t, e.ClaimedBy)
	require.Equal(t, "We ship to Italy.", e.Proposals[0].Text)
	require.Zero(t, e.Picked)
	require.Nil(t, r.reload(ana).PausedUntil)
}

func TestOperator_WritingInContactRoomSilences(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?")
	_, err := r.st.Pool().Exec(r.ctx, "update escalations set opened_at = $1", r.now) // the rig's clock is behind that of the database
	require.NoError(t, err)
	r.say(anasRoom, eva, "Hi Ana, I look after it")
	require.NotNil(t, r.reload(ana).OwnerWroteAt)
	require.WithinDuration(t, r.now, *r.reload(ana).OwnerWroteAt, 0)
	r.runAllJobs()
	e := r.escalation(ana.ID)
	require.False(t, e.IsWaiting(), "a person answered")
	require.Equal(t, eva, e.ClaimedBy)
	require.Contains(t, r.inThread(card), "**eva**: Hi Ana, I look after it")
	asked := r.say(anasRoom, contactOf(anasRoom), "And to Milan?")
	m, err := store.MessageByEvent(r.ctx, r.st.DB(), ana.ID, asked)
	require.NoError(t, err)
	require.Equal(t, policy.ActionArchive, m.Action, m.Reason)
}

// A reply is what its author says when it is sent. After an outage, messages and their edits come at once, so that an
// edit may come while multis handles the message.
func TestReply_EditedMeanwhileIsSentEdited(t *testing.T) {
	t.Parallel()
	for edited, want := range map[string][]string{"note We never ship to her.": nil, "We ship on Tuesday.": {"We ship on Tuesday."}} {
		r := newRig(t)
		r.chat("Ana", anasRoom, policy.KindDM)
		card := r.escalate(anasRoom, "Do you ship to Rome?")
		reply := r.reply(card, eva, "We never ship to her.")
		r.onRead = func() {
			r.onRead = nil
			r.edit(deskRoom, eva, reply, edited)
			for _, q := range r.dueJobs() { // the job of the edit finds no reply yet
				if q.kind == (jobs.ChangeReplyArgs{}).Kind() {
					require.NoError(t, r.runJob(q))
					r.deleteJob(q)
				}
			}
		}
		r.runAllJobs()
		require.Nil(t, r.onRead)
		require.Equal(t, want, r.sender.view(anasRoom, anyEvent))
	}
}

// A 📝 that comes while a reply is being stored finds it.
func TestReply_IsLockedWhileStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?")
	reply := r.reply(card, eva, "We never ship to her.")
	reads := 0
	r.onRead = func() {
		if reads++; reads == 2 { // the desk notes when the person wrote
			_, err := r.st.Pool().Exec(r.ctx, "select from messages where event_id = $1 for update nowait", reply)
			require.ErrorContains(t, err, "55P03")
		}
	}
	r.runAllJobs()
	require.Greater(t, reads, 1)
}
