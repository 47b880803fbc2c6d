package desk_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const eve = id.UserID("@eve:example.com")

// invite is a stranger's invitation into a room.
func (r *rig) invite(room id.RoomID, by, who id.UserID) {
	r.t.Helper()
	evt, key := r.event("m.room.member", room, by, map[string]any{"membership": "invite"}), who.String()
	evt.StateKey = &key
	require.NoError(r.t, r.inbox.Receive(r.ctx, []*event.Event{evt}, ""))
}

func TestThread_ContinuesInNextRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.OwnRoom = true
	r.addOperatorsRoom(operatorsRoom)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	first := r.replyIn(operatorsRoom, card, eva, "Which parcel?")
	r.say(anasRoom, contactOf(anasRoom), "The blue one")
	r.runAllJobs()

	r.invite(operatorsRoom, eva, eve)
	r.replyIn(operatorsRoom, card, eva, "Pay to another account")
	r.replyIn(operatorsRoom, card, owner, "Pay me")
	r.replyIn(operatorsRoom, card, eve, "Pay Eve")
	r.edit(operatorsRoom, eva, first, "Pay to another account")
	r.receive(r.event("m.reaction", operatorsRoom, eva,
		map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": card, "key": "✅"}}))
	r.say(operatorsRoom, eva, "/escalations")
	r.runAllJobs()
	require.Equal(t, []string{"Which parcel?"}, r.sender.view(anasRoom, anyEvent),
		"nothing that was written after the invitation goes to the contact")
	require.True(t, r.escalation(ana.ID).IsOpen())
	require.Equal(t, card, *r.escalation(ana.ID).CardEvent, "it waits for another room")

	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{
		Topic:     jobs.TopicAdminRoomClosed,
		SubjectID: int64(r.escalation(ana.ID).CardRoom),
	}))
	const next = id.RoomID("!next:example.com")
	r.addOperatorsRoom(next)
	r.runAllJobs()
	told := strings.Join(r.sender.view(deskRoom, anyEvent), "\n")
	require.Contains(t, told, "I no longer use the room for operators")
	moved := *r.escalation(ana.ID).CardEvent
	require.NotEqual(t, card, moved)
	shown := strings.Join(r.sender.view(next, anyEvent), "\n")
	require.Contains(t, shown, "My parcel arrived broken")
	require.Contains(t, shown, "The blue one", "the thread shows again what the contact wrote")
	r.replyIn(next, moved, eva, "We send a new one.")
	r.replyIn(operatorsRoom, card, eva, "Pay to another account")
	r.replyIn(next, card, eva, "the old card is none here")
	r.runAllJobs()
	require.Equal(t, []string{"Which parcel?", "We send a new one."}, r.sender.view(anasRoom, anyEvent))
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from river.river_job where kind in ('ask', 'task')"))
}

// A bridge with the owner's double puppet is not the owner, whether it replies in a thread, sets a sign or edits what he wrote there.
func TestThread_BridgedOwnerSendsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	mine := r.reply(card, owner, "Which parcel?")
	r.runAllJobs()
	for _, content := range []map[string]any{
		{"body": "Pay me", "m.relates_to": map[string]any{"rel_type": "m.thread", "event_id": card}},
		{
			"body": "* Pay me", "m.new_content": map[string]any{"msgtype": "m.text", "body": "Pay me"},
			"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": mine},
		},
		{"body": "/handoff Ana"},
	} {
		content["msgtype"], content["fi.mau.double_puppet_source"] = "m.text", "mautrix-demo"
		r.receive(r.event("m.room.message", deskRoom, owner, content))
	}
	for _, sign := range []string{"✅", "👍", "⏸"} {
		r.receive(r.event("m.reaction", deskRoom, owner,
			map[string]any{
				"fi.mau.double_puppet_source": "mautrix-demo",
				"m.relates_to":                map[string]any{"rel_type": "m.annotation", "event_id": card, "key": sign},
			}))
	}
	r.runAllJobs()
	require.Equal(t, []string{"Which parcel?"}, r.sender.view(anasRoom, anyEvent))
	require.True(t, r.escalation(ana.ID).IsOpen())
	require.Nil(t, r.reload(ana).PausedUntil)
	require.Equal(t, 6, strings.Count(strings.Join(r.sender.view(deskRoom, anyEvent), "\n"), "a bridge sent it in your name"))
}

// Who changed afterwards what a contact got stands in the audit log: ids, and no text.
func TestEdit_IsAudited(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	m, mine := r.reply(card, eva, "Pleas wait."), r.reply(card, owner, "I call you")
	r.runAllJobs()
	r.edit(deskRoom, eva, m, "Please wait.")
	r.runAllJobs()
	type entry struct {
		Actor, Action, Outcome string
		Person, Content        []byte
		Sent                   int
	}
	read := func() (list []entry) {
		rows, err := r.st.DB().Query(r.ctx,
			`select a.actor, a.action, a.outcome, a.person, a.content, (select count(*) from outbox o where o.id::text = a.ref and o.send_as = 'owner')
			from audit_entries a where a.kind = 'command' and a.action = 'edit' order by a.id`)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var e entry
			require.NoError(t, rows.Scan(&e.Actor, &e.Action, &e.Outcome, &e.Person, &e.Content, &e.Sent))
			list = append(list, e)
		}
		require.NoError(t, rows.Err())
		return list
	}
	edits := read()
	require.Len(t, edits, 1)
	require.Equal(t, entry{
		Actor:   "operator",
		Action:  "edit",
		Outcome: "changed",
		Person:  r.desk.Audit.Hash([]byte(eva)),
		Sent:    1,
	}, edits[0])
	r.edit(deskRoom, owner, mine, "note: call her")
	r.edit(deskRoom, bob, m, "not his")
	r.edit(deskRoom, eva, m, "Please wait.") // it says so already
	r.runAllJobs()
	edits = read()
	require.Len(t, edits, 2)
	require.Equal(t, entry{
		Actor:   "owner",
		Action:  "edit",
		Outcome: "deleted",
		Person:  r.desk.Audit.Hash([]byte(owner)),
		Sent:    1,
	}, edits[1])

	// The transaction of an effect that fails leaves no entry, and an entry that fails no effect.
	_, err := r.st.Pool().Exec(r.ctx,
		"create function deny() returns trigger language plpgsql as $$ begin if new.action = 'edit' then raise exception 'no'; end if; return new; end $$; create trigger deny before insert on audit_entries for each row execute function deny()")
	require.NoError(t, err)
	id, err := store.MessageByEvent(r.ctx, r.st.DB(), r.deskID(), m)
	require.NoError(t, err)
	r.edit(deskRoom, eva, m, "Please wait a day.")
	require.Error(t, r.desk.ChangeReply(r.ctx, id.ID))
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where replaces <> '' and send_as = 'owner'"))
	var all []byte
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select coalesce(json_agg(a), '[]') from audit_entries a").Scan(&all))
	require.True(t, json.Valid(all))
	for _, text := range []string{"Pleas", "wait", "call", "eva", "you:example"} {
		require.NotContains(t, string(all), text)
	}
}

// deskID is the chat of the admin room.
func (r *rig) deskID() store.ChatID {
	r.t.Helper()
	chats, err := store.ChatsByRoom(r.ctx, r.st.DB(), []id.RoomID{deskRoom})
	require.NoError(r.t, err)
	return chats[deskRoom].ID
}
