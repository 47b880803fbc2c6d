package desk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/desk"
	"multis/policy"
	"multis/store"
)

// People react to what they read in a thread. Only the card is signed.
func TestASignOnALineOfAThreadIsNoSignOnTheCard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?", func(c *desk.Case) { c.Proposal = "We ship to Italy." })
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
	require.Equal(t, "We ship to Italy.", e.Proposal)
	require.Nil(t, r.reload(ana).PausedUntil)
}

func TestAnOperatorWhoWritesInTheContactsRoomKeepsTheAssistantQuiet(t *testing.T) {
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

// A reply is what its author says when it is sent: between the reading of the message and the transaction that sends it, it may be edited into a note.
func TestAReplyThatBecomesANoteWhileItIsHandledStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?")
	reply := r.reply(card, eva, "We never ship to her.")
	read, err := store.MessageByEvent(r.ctx, r.st.DB(), r.deskID(), reply)
	require.NoError(t, err)
	r.edit(deskRoom, eva, reply, "note We never ship to her.")
	handle := func(read store.Message) {
		r.tx(func(tx store.Tx) error {
			_, err := r.desk.Reply(r.ctx, tx, r.escalation(ana.ID).ID, read, nil)
			require.NoError(t, err)
			_, err = r.st.Pool().Exec(r.ctx, "select from messages where id = $1 for update nowait", read.ID)
			require.ErrorContains(t, err, "55P03", "a change that comes now waits, and finds what was sent")
			_, err = store.MarkAnswered(r.ctx, tx, []store.MessageID{read.ID}, nil, policy.CodeCommand, "")
			return err
		})
	}
	handle(read)
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))

	second := r.reply(card, eva, "We ship on Monday.")
	read, err = store.MessageByEvent(r.ctx, r.st.DB(), r.deskID(), second)
	require.NoError(t, err)
	r.edit(deskRoom, eva, second, "We ship on Tuesday.")
	handle(read)
	r.runAllJobs()
	require.Equal(t, []string{"We ship on Tuesday."}, r.sender.view(anasRoom, anyEvent))
}
