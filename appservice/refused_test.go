package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

const (
	adminRoom = id.RoomID("!admin:x")
	operator  = id.UserID("@op:example.com")
	eve       = id.UserID("@eve:example.com")
)

// adminChat makes an admin room.
func (b *fixture) adminChat(room id.RoomID, change ...func(*Settings)) store.Chat {
	b.t.Helper()
	b.inbox.settings.Operators = []id.UserID{operator}
	for _, f := range change {
		f(&b.inbox.settings)
	}
	var chat store.Chat
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(context.Background(), tx, adminChat(room, policy.EncryptionNo))
		return err
	}))
	return chat
}

// member is a change of who is in a room.
func (b *fixture) member(room id.RoomID, by, who id.UserID, membership event.Membership) *event.Event {
	evt, key := b.event("m.room.member", room, by, fmt.Sprintf(`{"membership":%q}`, membership)), who.String()
	evt.StateKey = &key
	return evt
}

// A bridge with the owner's double puppet can send whatever the owner can. It is marked, and in an admin room it is not the owner.
func TestAdminRoom_BridgedOwnerIsNoCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.adminChat(adminRoom, func(s *Settings) { s.CanTranscribe = true })
	const mark = `"fi.mau.double_puppet_source":"mautrix-demo"`
	mine := b.text(adminRoom, owner, "remind me tomorrow")
	b.receive(mine)
	before := b.jobs("command")
	sent := []*event.Event{
		b.event("m.room.message", adminRoom, owner, `{"msgtype":"m.text","body":"/pause all",`+mark+`}`),
		b.event("m.room.message", adminRoom, owner, `{"msgtype":"m.text","body":"yes",`+mark+
			`,"m.relates_to":{"m.in_reply_to":{"event_id":"$card"}}}`),
		b.event("m.room.message", adminRoom, owner, `{"msgtype":"m.text","body":"hello Ana",`+mark+
			`,"m.relates_to":{"rel_type":"m.thread","event_id":"$card"}}`),
		b.event("m.room.message", adminRoom, owner, `{"msgtype":"m.audio","body":"voice.ogg","url":"mxc://x/y","org.matrix.msc3245.voice":{},`+
			mark+`}`),
		b.event("m.room.message", adminRoom, owner,
			fmt.Sprintf(`{"msgtype":"m.text","body":"* /erase","m.new_content":{"msgtype":"m.text","body":"/erase"},%s,"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, mark, mine.ID)),
		b.event("m.reaction", adminRoom, owner, `{`+mark+`,"m.relates_to":{"rel_type":"m.annotation","event_id":"$card","key":"👍"}}`),
		b.event("m.room.encrypted", adminRoom, owner, `{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x","session_id":"s",`+mark+`}`),
	}
	b.receive(sent...)
	b.receive(sent...)
	for _, evt := range sent {
		m := b.message(evt)
		require.Equal(t, policy.CodeBridged, m.Code, evt.Content.Raw)
		require.Equal(t, policy.AuthorOwnerPhone, m.Author)
		require.Empty(t, m.Body+m.Thread.String()+m.RelatesTo.String())
		require.Nil(t, m.Attachment)
		require.Nil(t, m.Parked)
	}
	require.Equal(t, "remind me tomorrow", b.message(mine).Body, "an edit changes nothing")
	require.Equal(t, before+len(sent), b.jobs("command"), "each is answered with the reason, once")
	require.Zero(t, b.jobs("transcribe")+b.jobs("decrypt")+b.jobs("change_reply"))
}

func TestAdminRoom_ClosedIgnoresAll(t *testing.T) {
	t.Parallel()
	for name, closing := range map[string]func(b *fixture) *event.Event{
		"an operator invites somebody": func(b *fixture) *event.Event { return b.member(adminRoom, operator, eve, event.MembershipInvite) },
		"somebody comes in":            func(b *fixture) *event.Event { return b.member(adminRoom, eve, eve, event.MembershipJoin) },
		"the owner leaves":             func(b *fixture) *event.Event { return b.member(adminRoom, owner, owner, event.MembershipLeave) },
		"it is replaced": func(b *fixture) *event.Event {
			evt, key := b.event("m.room.tombstone", adminRoom, owner, `{"replacement_room":"!new:x"}`), ""
			evt.StateKey = &key
			return evt
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.adminChat(adminRoom)
			early := b.text(adminRoom, owner, "/status")
			said := []*event.Event{
				b.text(adminRoom, owner, "/pause all"), b.text(adminRoom, operator, "/escalations"),
				b.event("m.room.message", adminRoom, operator,
					`{"msgtype":"m.text","body":"hello Ana","m.relates_to":{"rel_type":"m.thread","event_id":"$card"}}`),
				b.event("m.reaction", adminRoom, owner, `{"m.relates_to":{"rel_type":"m.annotation","event_id":"$card","key":"👍"}}`),
				b.event("m.room.message", adminRoom, owner,
					fmt.Sprintf(`{"msgtype":"m.text","body":"* /erase","m.new_content":{"msgtype":"m.text","body":"/erase"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, early.ID)),
			}
			b.receive(append([]*event.Event{early, closing(b)}, said...)...) // one transaction
			b.receive(b.text(adminRoom, eve, "/pause all"), b.member(adminRoom, eve, "@mallory:example.com", event.MembershipInvite))
			require.Equal(t, policy.ActionCommand, b.message(early).Action, "it came before")
			require.Equal(t, "/status", b.message(early).Body)
			for _, evt := range said {
				m := b.message(evt)
				require.Equal(t, policy.CodeRoomClosed, m.Code)
				require.Equal(t, policy.ActionArchive, m.Action)
				require.Empty(t, m.Body)
			}
			require.Equal(t, 1+len(said), b.count("messages"), "nothing of a stranger's")
			require.Equal(t, 1, b.jobs("command"))
			require.Equal(t, 1, b.countNotices("admin_room_closed"), "the owner is told once")
			require.Equal(t, 1, b.jobs("admin_room"))
		})
	}
}

// An operator who is taken out of the configuration may still be in the room.
func TestEdit_FormerOperatorIsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.adminChat(adminRoom)
	note := b.text(adminRoom, operator, "note: she is a regular")
	b.receive(note)
	b.inbox.settings.Operators = nil
	edit := fmt.Sprintf(`{"msgtype":"m.text","body":"* x","m.new_content":{"msgtype":"m.text","body":"she owes me money"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, note.ID)
	early := fmt.Sprintf(`{"msgtype":"m.text","body":"* x","m.new_content":{"msgtype":"m.text","body":"early"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, "$later")
	b.receive(b.event("m.room.message", adminRoom, operator, edit), b.event("m.room.message", adminRoom, operator, early),
		b.event("m.room.message", adminRoom, eve, edit))
	require.Equal(t, "note: she is a regular", b.message(note).Body)
	require.Equal(t, 1, b.count("messages"))
	require.Zero(t, b.jobs("change_reply"))
}

// What was decided before a backup was restored is not decided again when the sync brings it once more.
func TestRestore_OldReactionHasNoEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	b.adminChat(adminRoom)
	const yes = `{"m.relates_to":{"rel_type":"m.annotation","event_id":"$card","key":"👍"}}`
	old := b.event("m.reaction", adminRoom, owner, yes)
	old.Timestamp = time.Now().Add(-time.Hour).UnixMilli()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		return store.PutSetting(ctx, tx, store.SettingRestore,
			policy.Restore{BackupAt: time.Now().Add(-2 * time.Hour), RestoredAt: time.Now().Add(-time.Minute)})
	}))
	again := b.event("m.reaction", adminRoom, owner, yes)
	b.receive(old, again, b.event("m.reaction", adminRoom, bot, yes), b.event("m.reaction", adminRoom, eve, yes))
	require.Equal(t, policy.CodeRestored, b.message(old).Code)
	require.Equal(t, policy.ActionArchive, b.message(old).Action)
	require.Equal(t, policy.ActionCommand, b.message(again).Action)
	require.Equal(t, 1, b.jobs("command"))
	require.Equal(t, 2, b.count("messages"), "nothing of others' reactions is stored")
}

func TestOperatorRoom_SurvivesUpgrade(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	ctx := context.Background()
	old := h.adminChat(adminRoom)
	require.NoError(t, h.store.InTx(ctx, func(tx store.Tx) error { return store.MarkOperatorsRoom(ctx, tx, old.ID) }))
	described := func(room id.RoomID, create string, more ...func()) store.Chat {
		h.setState(room, "m.room.create", "", owner, create)
		for _, who := range []id.UserID{owner, bot, operator} {
			h.setState(room, "m.room.member", who.String(), who, `{"membership":"join"}`)
		}
		for _, f := range more {
			f()
		}
		require.NoError(t, h.d.Describe(ctx, room))
		chats, err := store.ChatsByRoom(ctx, h.store.DB(), []id.RoomID{room})
		require.NoError(t, err)
		require.Equal(t, policy.KindAdmin, chats[room].Kind)
		return chats[room]
	}
	const second, third = id.RoomID("!second:x"), id.RoomID("!third:x")
	require.True(t, described(second, `{"predecessor":{"room_id":"!admin:x","event_id":"$t"}}`).IsOperatorsRoom)
	require.True(t, described(third, `{"predecessor":{"room_id":"!second:x","event_id":"$t"}}`).IsOperatorsRoom)
	require.True(t, described("!marked:x", `{}`, func() {
		h.setState("!marked:x", "ai.multis.admin", "", bot, `{"owner":"@owner:example.com","for_operators":true}`)
	}).IsOperatorsRoom)
	require.False(t, described("!new:x", `{}`).IsOperatorsRoom)
	require.False(t, described("!claimed:x", `{}`, func() {
		h.setState("!claimed:x", "ai.multis.admin", "", operator, `{"for_operators":true}`)
	}).IsOperatorsRoom)
	require.False(t, described("!other:x", `{"predecessor":{"room_id":"!new:x","event_id":"$t"}}`).IsOperatorsRoom)
	require.True(t, described(second, `{}`).IsOperatorsRoom, "there is no way back")
}

// The room that was closed because somebody was invited is not taken for the new one.
func TestAdminRoom_InvitedStrangerExcludes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	members := map[string]string{owner.String(): "join", bot.String(): "join", operator.String(): "invite"}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }
	mux.HandleFunc("GET /_matrix/client/v3/joined_rooms", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"joined_rooms": []string{"!admin:x"}})
	})
	const state = "GET /_matrix/client/v3/rooms/{room}/state"
	mux.HandleFunc(state+"/ai.multis.admin/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, adminMarker{Owner: owner, ForOperators: true})
	})
	mux.HandleFunc(state+"/m.room.tombstone/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		answer(w, map[string]string{"errcode": "M_NOT_FOUND", "error": "none"})
	})
	mux.HandleFunc(state+"/m.room.member/{who}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"membership": "join"})
	})
	mux.HandleFunc("GET /_matrix/client/v3/rooms/{room}/joined_members", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"joined": map[string]any{owner.String(): map[string]any{}}})
	})
	mux.HandleFunc(state, func(w http.ResponseWriter, _ *http.Request) {
		var all []map[string]any
		for who, membership := range members {
			all = append(all, map[string]any{
				"type": "m.room.member", "state_key": who, "sender": owner, "event_id": "$" + who,
				"content": map[string]string{"membership": membership},
			})
		}
		answer(w, all)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot, Operators: []id.UserID{operator}})
	require.NoError(t, err)
	for _, c := range []struct {
		who, membership string
		found           id.RoomID
	}{{eve.String(), "leave", adminRoom}, {eve.String(), "invite", ""}, {eve.String(), "join", ""}, {eve.String(), "ban", adminRoom}} {
		members[c.who] = c.membership
		room, err := hs.findAdminRoom(context.Background(), adminMarker{Owner: owner, ForOperators: true})
		require.NoError(t, err)
		require.Equal(t, c.found, room, c.membership)
	}
}
