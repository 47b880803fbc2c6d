package desk_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const operatorsRoom = id.RoomID("!operators:example.com")

// addOperatorsRoom makes a room for operators.
func (r *rig) addOperatorsRoom(room id.RoomID) {
	chat := r.chat("Customers", room, policy.KindAdmin)
	r.tx(func(tx store.Tx) error { return store.MarkOperatorsRoom(r.ctx, tx, chat.ID) })
}

func TestOperatorRoom_HasOnlyThreads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.OwnRoom = true
	ana, before := r.chat("Ana", anasRoom, policy.KindDM), id.RoomID("!ben:example.com")
	r.chat("Ben", before, policy.KindDM)
	early := r.escalate(before, "I want a refund")
	require.NotEmpty(t, r.card(early), "while there is no room for operators, the thread is in the admin room")

	r.addOperatorsRoom(operatorsRoom)
	admin, err := store.AdminChat(r.ctx, r.st.DB())
	require.NoError(t, err)
	require.True(t, admin.IsIn(deskRoom))
	card := r.escalate(anasRoom, "My parcel arrived broken")
	require.Empty(t, r.card(card), "it is not in the admin room")
	in := func(thread id.EventID) []string {
		return r.sender.view(operatorsRoom, func(e sentEvent) bool { return e.thread == thread && e.event != card })
	}
	require.Len(t, r.sender.view(operatorsRoom, func(e sentEvent) bool { return e.event == card }), 1)

	for _, line := range []string{"/pause all", "/mode off Ana", "/label Ana vip", "/config set name X", "/status", "/nothing"} {
		r.say(operatorsRoom, owner, line)
	}
	r.say(operatorsRoom, owner, "yes")
	r.say(operatorsRoom, owner, "What does delivery cost?")
	r.say(operatorsRoom, eva, "Shall I take Ana?")
	r.runAllJobs()
	var said int
	for _, text := range in("") {
		require.Contains(t, text, "All other commands ")
		said++
	}
	require.Equal(t, 6, said)
	var refused int
	require.NoError(t, r.st.DB().QueryRow(r.ctx,
		"select count(*) from audit_entries where kind = 'command' and outcome = 'refused'").Scan(&refused))
	require.Equal(t, 6, refused)
	paused, err := store.PausedAll(r.ctx, r.st.DB())
	require.NoError(t, err)
	require.False(t, paused)
	require.Nil(t, r.reload(ana).Mode)
	require.Empty(t, r.reload(ana).Labels)
	var asked int
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select count(*) from river.river_job where kind in ('ask', 'task')").Scan(&asked))
	require.Zero(t, asked, "no model is asked")

	r.say(operatorsRoom, bob, "/escalations")
	r.replyIn(operatorsRoom, card, eva, "Sorry! Which parcel?")
	r.replyIn(operatorsRoom, card, "@stranger:example.com", "I am the boss here")
	r.runAllJobs()
	require.Contains(t, in("")[6], "Ana · Demo")
	require.Equal(t, []string{"Sorry! Which parcel?"}, r.sender.view(anasRoom, anyEvent))
	require.Equal(t, "eva", r.escalation(ana.ID).ClaimedBy.Localpart())
}

// Operators, and the room in which they read, get chats of customers only.
func TestClaim_PrivateChatIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.OwnRoom = true
	r.addOperatorsRoom(operatorsRoom)
	mum := r.chat("Mum", anasRoom, policy.KindDM)
	r.chat("Ben", "!ben:example.com", policy.KindDM)
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, mum.ID, policy.ModeSilent) })
	r.say(anasRoom, contactOf(anasRoom), "The result is bad, call me")
	for _, line := range []string{"/handoff", "/handoff Mum", "/handoff mu", "/handoff #1", "/handoff #2", "/handoff #3"} {
		r.say(operatorsRoom, eva, line)
		r.runAllJobs()
	}
	r.say(operatorsRoom, owner, "/handoff")
	r.runAllJobs()
	said := strings.Join(r.sender.view(operatorsRoom, anyEvent), "\n")
	require.Contains(t, said, "Ben")
	require.NotContains(t, said, "result is bad")
	require.NotContains(t, strings.ReplaceAll(said, "“Mum”", ""), "Mum")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from escalations where chat_id = (select id from chats where name = 'Mum')"))
}
