package desk_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// What a former operator wrote stays as it is at the contact.
func TestAnEditByAFormerOperatorChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	m := r.reply(card, eva, "Please wait.")
	r.pump()
	r.desk.Operators = nil
	r.edit(deskRoom, eva, m, "Pay to another account instead")
	r.pump()
	require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, everything))
	require.Contains(t, r.inThread(card), "may not answer here")
}

// An edit of an old reply leaves a draft that answers a newer question.
func TestAnEditOfAReplyWithdrawsNoDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	m := r.reply(card, eva, "Pleas wait.")
	r.pump()
	r.react(owner, card, "✅")
	r.pump()
	asked, err := store.MessageByEvent(r.ctx, r.st.DB(), ana.ID, r.say(anasRoom, contactOf(anasRoom), "What does delivery cost?"))
	require.NoError(t, err)
	_, err = r.st.Pool().Exec(r.ctx, `insert into outbox (id, chat_id, purpose, send_as, event_type, content, state, seen_id, code, reason)
		values (gen_random_uuid(), $1, 'reply', 'owner', 'm.room.message', '{}', 'draft', $2, '', '')`, ana.ID, asked.ID)
	require.NoError(t, err)
	r.edit(deskRoom, eva, m, "Please wait.")
	r.pump()
	require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, everything))
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where purpose = 'reply' and state = 'draft'"))
}

// Operators, and the room in which they read, get chats of customers only.
func TestOperatorsGetNoPrivateChatByHandoff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.OwnRoom = true
	room := r.chat("Customers", operatorsRoom, policy.KindAdmin)
	r.tx(func(tx store.Tx) error { return store.SetForOperators(r.ctx, tx, room.ID) })
	mum := r.chat("Mum", anasRoom, policy.KindDM)
	r.chat("Ben", "!ben:example.com", policy.KindDM)
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, mum.ID, policy.ModeSilent) })
	r.say(anasRoom, contactOf(anasRoom), "The result is bad, call me")
	for _, line := range []string{"/handoff", "/handoff Mum", "/handoff mu", "/handoff #1", "/handoff #2", "/handoff #3"} {
		r.say(operatorsRoom, eva, line)
		r.pump()
	}
	r.say(operatorsRoom, owner, "/handoff")
	r.pump()
	said := strings.Join(r.sender.view(operatorsRoom, everything), "\n")
	require.Contains(t, said, "Ben")
	require.NotContains(t, said, "result is bad")
	require.NotContains(t, strings.ReplaceAll(said, "“Mum”", ""), "Mum")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from escalations where chat_id = (select id from chats where name = 'Mum')"))
}
