package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestBatch_BadEventBlocksNoOther(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a reply to an id with a zero":   `{"msgtype":"m.text","body":"a","m.relates_to":{"m.in_reply_to":{"event_id":"$a\u0000b"}}}`,
		"an edit of an id with a zero":   `{"msgtype":"m.text","body":"a","m.new_content":{"msgtype":"m.text","body":"b"},"m.relates_to":{"rel_type":"m.replace","event_id":"$a\u0000b"}}`,
		"a picture at a zero":            `{"msgtype":"m.image","body":"a","url":"mxc://x/\u0000"}`,
		"half a character in a picture":  `{"msgtype":"m.image","body":"a","url":"mxc://x/\ud800"}`,
		"a zero in the body":             `{"msgtype":"m.text","body":"a\u0000b"}`,
		"a redaction of an id of a zero": `{"redacts":"$a\u0000b"}`,
		"a status about a zero":          `{"m.relates_to":{"rel_type":"m.reference","event_id":"$a\u0000b"},"status":"SUCCESS"}`,
		"a zero in ciphertext":           `{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"a\u0000b"}`,
		"half a character in ciphertext": `{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"\ud800"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.chat("!a:x", policy.ModeBusiness)
			var events []*event.Event
			for _, kind := range []string{"m.room.message", "m.room.encrypted", "m.room.redaction", "com.beeper.message_send_status", "m.reaction"} {
				sender := ana
				if kind == "com.beeper.message_send_status" {
					sender = bridgeBot
				}
				events = append(events, b.event(kind, "!a:x", sender, content))
			}
			before, after := b.text("!a:x", ana, "before"), b.text("!a:x", ana, "after")
			after.Timestamp = -9007199254740991
			all := append(append([]*event.Event{before}, events...), after)
			require.NoError(t, b.inbox.Receive(context.Background(), all, "s1"))
			b.message(before)
			require.False(t, b.message(after).At.Before(time.Unix(0, 0)))
			var since string
			known, err := store.GetSetting(context.Background(), b.store.DB(), store.SettingSyncToken, &since)
			require.NoError(t, err)
			require.True(t, known)
		})
	}
}

func TestEdit_WaitingQuestionIsJudgedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.settings.EscalationKeywords = []string{"refund"}
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "what does delivery cost?")
	b.receive(evt)
	b.receive(b.event("m.room.message", "!a:x", ana, fmt.Sprintf(
		`{"msgtype":"m.text","body":"* x","m.new_content":{"msgtype":"m.text","body":"I want a refund for delivery"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, evt.ID)))
	require.Equal(t, policy.ActionEscalate, b.message(evt).Action)
	b.receive(b.event("m.room.message", "!a:x", ana, fmt.Sprintf(
		`{"msgtype":"m.text","body":"* x","m.new_content":{"msgtype":"m.text","body":"stop"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, evt.ID)))
	waiting, err := store.WaitingMessages(context.Background(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.Empty(t, waiting)
}

func TestEdit_CommandIsNotRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, room := context.Background(), id.RoomID("!admin:x")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, store.Chat{
			ChannelID:  "admin",
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
	command := b.text(room, owner, "/mode off Ben")
	edit := func(body string) { b.receive(b.edit(command, owner, body)) }
	b.receive(command)
	edit("/mode off Ana")
	require.Equal(t, 1, b.jobs("command"))
	require.Zero(t, b.jobs("notice"), "it waits still, and what it says now is carried out")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.MarkAnswered(ctx, tx, []store.MessageID{b.message(command).ID}, nil, policy.CodeCommand, "done")
		return err
	}))
	edit("/mode off Ana")
	require.Zero(t, b.jobs("notice"), "the same words again")
	edit("/mode silent Ana")
	require.Equal(t, 1, b.jobs("notice"))
	require.Equal(t, 1, b.jobs("command"))

	command = b.text(room, owner, "remind me at eight")
	b.receive(command)
	asked := b.message(command).ID
	_, err := store.InsertTask(ctx, b.store.Writer(), store.Task{
		Key:       "ask:1",
		Kind:      store.TaskAsk,
		ChatID:    b.message(command).ChatID,
		MessageID: &asked,
		Input:     "remind me at eight",
	})
	require.NoError(t, err)
	_, err = b.store.Pool().Exec(ctx, "delete from river.river_job where kind = 'notice'")
	require.NoError(t, err)
	edit("remind me at nine")
	require.Equal(t, 1, b.jobs("notice"), "a model works on what it said before")
}

func TestOwnerMessage_OldKeepsNewerEscalation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "help")
	b.receive(evt)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.OpenEscalation(ctx, tx, chat.ID, b.message(evt).ID, "test", nil)
		return err
	}))
	old := b.text("!a:x", owner, "a year ago")
	old.Timestamp = time.Now().AddDate(-1, 0, 0).UnixMilli()
	b.receive(old)
	open, err := store.WaitingEscalations(ctx, b.store.DB())
	require.NoError(t, err)
	require.Len(t, open, 1)
}

func TestFlood_CountsByContact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeSilent)
	for i := range 26 {
		for j := range 4 {
			b.receive(b.text("!a:x", id.UserID(fmt.Sprintf("@demo_p%d:example.com", i)), fmt.Sprintf("message %d", j)))
		}
	}
	require.Equal(t, 104, b.count("messages where chat_id = $1 and code = 'silent'", chat.ID), "many people are no flood")
	for range 100 {
		b.receive(b.text("!a:x", ana, "again"))
	}
	require.Equal(t, 60, b.count("messages where sender = $1 and body = 'again'", ana))
	require.Equal(t, 1, b.count("messages where sender = $1 and code = 'flood' and body = ''", ana), "the flood has one row with its reason")
}

func TestSuccession_ReplacedRoomStaysReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	before, after := id.RoomID("!old:x"), id.RoomID("!new:x")
	row := store.Chat{
		Protocol:   "demo",
		ChannelID:  "ana",
		Kind:       policy.KindDM,
		Name:       "Ana",
		BridgeBot:  bridgeBot,
		Encryption: policy.EncryptionNo,
	}
	describe := func(room id.RoomID, closed string) error {
		r := row
		r.RoomID, r.ClosedReason = &room, closed
		return b.store.InTx(ctx, func(tx store.Tx) error {
			_, err := store.UpsertChat(ctx, tx, r)
			return err
		})
	}
	require.NoError(t, describe(before, ""))
	require.NoError(t, describe(before, store.ClosedTombstone))
	require.NoError(t, describe(after, ""))
	require.ErrorIs(t, describe(before, store.ClosedTombstone), store.ErrOtherRoom)
	chats, err := store.ChatsByRoom(ctx, b.store.DB(), []id.RoomID{before, after})
	require.NoError(t, err)
	require.True(t, chats[after].HasRoom())
	require.NotContains(t, chats, before)

	row.BridgeBot = "@evil:example.com"
	require.ErrorIs(t, describe("!evil:x", ""), store.ErrOtherRoom, "anybody can claim a channel")
}

func TestDescribe_OvertakenIsRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := closedHomeserver(b)
	b.inbox.ignored.startWatching("!a:x")
	join := b.event("m.room.member", "!a:x", owner, `{"membership":"join"}`)
	key := owner.String()
	join.StateKey = &key
	b.receive(join)
	require.True(t, jobs.IsSnooze(d.closeRoom(context.Background(), "!a:x", nil, store.ClosedLeft)))
	require.False(t, b.inbox.ignored.has("!a:x"), "what comes after the join is not dropped")
}

func TestDescribe_OneAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	lock, ok, err := b.store.TryLock(ctx, store.LockRoom, store.LockNumber("!a:x"))
	require.NoError(t, err)
	require.True(t, ok)
	defer lock.Release(ctx)
	require.True(t, jobs.IsSnooze(closedHomeserver(b).Describe(ctx, "!a:x")))
}

func TestStatus_OfOtherChatIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	b.chat("!b:x", policy.ModeBusiness)
	key := b.insertOutboxRow(chat)
	sent := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key))
	b.receive(sent)
	b.receive(b.event("com.beeper.message_send_status", "!b:x", bridgeBot,
		fmt.Sprintf(`{"m.relates_to":{"rel_type":"m.reference","event_id":%q},"status":"FAIL_PERMANENT"}`, sent.ID)))
	o, err := store.OutboxMessageByID(context.Background(), b.store.DB(), key)
	require.NoError(t, err)
	require.Equal(t, store.OutboxSent, o.State)
}

func TestTombstone_ClosesChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	state := func(kind, content string) *event.Event {
		evt, key := b.event(kind, "!a:x", bridgeBot, content), ""
		evt.StateKey = &key
		return evt
	}
	b.receive(state("m.room.name", `{"name":"Anna"}`))
	require.Equal(t, 1, b.jobs("describe"))
	b.receive(state("m.room.encryption", `{"algorithm":"m.megolm.v1.aes-sha2"}`), state("m.room.tombstone", `{"replacement_room":"!b:x"}`))
	now, err := store.ChatByID(context.Background(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.False(t, now.HasRoom())
	require.Equal(t, policy.EncryptionYes, now.Encryption)
}

func TestAdminRoom_StrangerMakesBotLeave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat("!admin:x", policy.EncryptionNo))
		return err
	}))
	member := func(who id.UserID, membership string) {
		evt, key := b.event("m.room.member", "!admin:x", who, `{"membership":"`+membership+`"}`), who.String()
		evt.StateKey = &key
		b.receive(evt)
	}
	member(owner, "join")
	member("@eve:example.com", "knock")
	_, err := store.AdminChat(ctx, b.store.DB())
	require.NoError(t, err)
	member("@eve:example.com", "join")
	_, err = store.AdminChat(ctx, b.store.DB())
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, 1, b.jobs("admin_room"))
}

func TestAdminRoom_PublicMakesBotLeave(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for content, stays := range map[string]bool{
		`m.room.join_rules {"join_rule":"invite"}`: true, `m.room.join_rules {"join_rule":"knock"}`: true,
		`m.room.history_visibility {"history_visibility":"shared"}`: true,
		`m.room.join_rules {"join_rule":"public"}`:                  false, `m.room.join_rules {"join_rule":"restricted"}`: false,
		`m.room.join_rules {"join_rule":"new"}`: false,
		`m.room.join_rules {"join_rule":5}`:     false, `m.room.history_visibility {"history_visibility":"world_readable"}`: false,
	} {
		b := setup(t)
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
			_, err := store.UpsertChat(ctx, tx, adminChat("!admin:x", policy.EncryptionNo))
			return err
		}))
		kind, raw, _ := strings.Cut(content, " ")
		evt, key := b.event(kind, "!admin:x", owner, raw), ""
		evt.StateKey = &key
		b.receive(evt)
		_, err := store.AdminChat(ctx, b.store.DB())
		if stays {
			require.NoError(t, err, content)
		} else {
			require.ErrorIs(t, err, store.ErrNotFound, content)
			require.Equal(t, 1, b.jobs("admin_room"), content)
		}
	}
}

func TestAdminRoom_NeedsOwnersInvitation(t *testing.T) {
	t.Parallel()
	rules := Settings{Owner: owner, Bot: bot, Operators: []id.UserID{"@op:example.com"}}
	member := func(who, by id.UserID, membership event.Membership) *event.Event {
		key := who.String()
		return &event.Event{
			Type:     event.StateMember,
			Sender:   by,
			StateKey: &key,
			Content:  event.Content{Parsed: &event.MemberEventContent{Membership: membership}},
		}
	}
	ownerIn, byOwner := member(owner, owner, event.MembershipJoin), member(bot, owner, event.MembershipInvite)
	join, ok := parseAdminRoom([]*event.Event{ownerIn, byOwner, member("@op:example.com", owner, event.MembershipJoin)}, rules)
	require.True(t, join && ok)
	rule := func(rule event.JoinRule) *event.Event {
		return &event.Event{Type: event.StateJoinRules, Content: event.Content{Parsed: &event.JoinRulesEventContent{JoinRule: rule}}}
	}
	_, ok = parseAdminRoom([]*event.Event{ownerIn, byOwner, rule(event.JoinRuleInvite)}, rules)
	require.True(t, ok)
	for name, state := range map[string][]*event.Event{
		"a public room": {ownerIn, byOwner, rule(event.JoinRulePublic)},
		"a room that the world can read": {ownerIn, byOwner, {Type: event.StateHistoryVisibility, Content: event.Content{
			Parsed: &event.HistoryVisibilityEventContent{HistoryVisibility: event.HistoryVisibilityWorldReadable},
		}}},
		"an invitation of somebody else's": {ownerIn, member(bot, "@eve:example.com", event.MembershipInvite)},
		"a room with a stranger":           {ownerIn, byOwner, member("@eve:example.com", "@eve:example.com", event.MembershipJoin)},
		"a room without the owner":         {byOwner},
		"a room without the bot":           {ownerIn},
	} {
		_, ok := parseAdminRoom(state, rules)
		require.False(t, ok, name)
	}
}

func TestBridge_OfOtherServerIsForeign(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := closedHomeserver(b)
	state := func(bot id.UserID) []*event.Event {
		var all []*event.Event
		for _, raw := range []string{
			fmt.Sprintf(`{"type":"m.room.create","state_key":"","sender":%q,"content":{}}`, bot),
			fmt.Sprintf(`{"type":"m.bridge","state_key":"x","sender":%[1]q,"content":{"bridgebot":%[1]q,"protocol":{"id":"demo"},"channel":{"id":"ana"},"com.beeper.room_type":"dm"}}`, bot),
			fmt.Sprintf(`{"type":"m.room.power_levels","state_key":"","sender":%[1]q,"content":{"users":{%[1]q:100}}}`, bot),
			fmt.Sprintf(`{"type":"m.room.member","state_key":%[1]q,"sender":%[1]q,"content":{"membership":"join"}}`, owner),
			fmt.Sprintf(`{"type":"m.room.member","state_key":%[1]q,"sender":%[1]q,"content":{"membership":"join"}}`, bot),
		} {
			var evt event.Event
			require.NoError(t, json.Unmarshal([]byte(raw), &evt))
			evt.Type.Class = event.StateEventType
			require.NoError(t, evt.Content.ParseRaw(evt.Type))
			all = append(all, &evt)
		}
		return all
	}
	_, ok, err := d.parseChat(context.Background(), "!a:x", state(bridgeBot))
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = d.parseChat(context.Background(), "!a:x", state("@demobot:evil.example"))
	require.NoError(t, err)
	require.False(t, ok)
}

func TestSend_GivenUpYetSentIsOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	key := b.insertOutboxRow(chat)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.MarkDropped(ctx, tx, key, policy.CodePausedAll, "paused") }))
	evt := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key))
	b.receive(evt)
	require.Equal(t, policy.AuthorMultisOwner, b.message(evt).Author)
	o, err := store.OutboxMessageByID(ctx, b.store.DB(), key)
	require.NoError(t, err)
	require.Equal(t, store.OutboxSent, o.State)
}

// FuzzReceive takes whatever a homeserver could push through to the database: nothing of it may hold up the door.
func FuzzReceive(f *testing.F) {
	for _, content := range []string{
		`{"msgtype":"m.text","body":"hi"}`, `{"msgtype":"m.text","body":"a\u0000b","m.relates_to":{"m.in_reply_to":{"event_id":"$\u0000"}}}`,
		`{"msgtype":"m.image","body":"a","url":"mxc://x/\ud800"}`, `{"redacts":"$1"}`,
		`{"m.relates_to":{"rel_type":"m.replace","event_id":"$1"},"m.new_content":{"body":7}}`,
		`{"algorithm":"x","ciphertext":{"a":"\u0000"}}`, `{"membership":"join"}`, `[]`,
	} {
		f.Add("m.room.message", content, int64(1), false)
		f.Add("m.room.encrypted", content, int64(-1), false)
		f.Add("m.room.redaction", content, int64(1)<<62, false)
		f.Add("m.room.member", content, int64(1), true)
	}
	b := setup(f)
	b.chat("!a:x", policy.ModeBusiness)
	f.Fuzz(func(t *testing.T, kind, content string, at int64, state bool) {
		b.events++
		evt := &event.Event{
			Type:      event.Type{Type: kind},
			ID:        id.EventID(fmt.Sprintf("$fuzz%d", b.events)),
			RoomID:    "!a:x",
			Sender:    ana,
			Timestamp: at,
			Content:   event.Content{VeryRaw: json.RawMessage(content)},
		}
		if state {
			key := content
			evt.StateKey = &key
		}
		require.NoError(t, b.inbox.Receive(context.Background(), []*event.Event{evt}, ""))
	})
}
