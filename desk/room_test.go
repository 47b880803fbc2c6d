package desk_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

const operatorsRoom = id.RoomID("!operators:example.com")

func TestTheRoomForOperatorsHasThreadsAndNothingElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.OwnRoom = true
	ana, before := r.chat("Ana", anasRoom, policy.KindDM), id.RoomID("!ben:example.com")
	r.chat("Ben", before, policy.KindDM)
	early := r.escalate(before, "I want a refund")
	require.NotEmpty(t, r.card(early), "while there is no room for operators, the thread is in the admin room")

	room := r.chat("Customers", operatorsRoom, policy.KindAdmin)
	r.tx(func(tx store.Tx) error { return store.SetForOperators(r.ctx, tx, room.ID) })
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
	r.pump()
	var said int
	for _, text := range in("") {
		require.Contains(t, text, "All other commands belong into the admin room")
		said++
	}
	require.Equal(t, 6, said)
	var refused int
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select count(*) from audit_entries where kind = 'command' and outcome = 'refused'").Scan(&refused))
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
	r.pump()
	require.Contains(t, in("")[6], "Ana · Demo")
	require.Equal(t, []string{"Sorry! Which parcel?"}, r.sender.view(anasRoom, everything))
	require.Equal(t, "eva", r.escalation(ana.ID).ClaimedBy.Localpart())
}
