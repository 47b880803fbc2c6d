package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const (
	owner     = id.UserID("@owner:example.com")
	bot       = id.UserID("@multis:example.com")
	ana       = id.UserID("@demo_ana:example.com")
	bridgeBot = id.UserID("@demobot:example.com")
)

type fixture struct {
	t      testing.TB
	store  *store.Store
	inbox  *Inbox
	events int
}

// parseEvent parses an event that is valid.
func parseEvent(t testing.TB, evt *event.Event) bridgebridge.Event {
	t.Helper()
	parsed, err := bridgebridge.Parse(evt)
	require.NoError(t, err)
	return parsed
}

func setup(t testing.TB) *fixture {
	t.Helper()
	st := storetest.New(t)
	return &fixture{t: t, store: st, inbox: NewInbox(st, Settings{
		Owner: owner, Bot: bot, Name: "Nora", Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
		ReplyMaxAge: 10 * time.Minute, OwnerPause: 30 * time.Minute,
		StoreCap: policy.Rate{Minute: 60, Day: 2000}, SendCap: policy.Rate{Minute: 10, Day: 100},
	})}
}

// chat makes a direct chat with Ana in mode.
func (b *fixture) chat(room id.RoomID, mode policy.Mode) store.Chat {
	b.t.Helper()
	ctx := context.Background()
	var chat store.Chat
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  room.String(),
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			Contact:    ana,
			BridgeBot:  bridgeBot,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		chat.Mode = &mode
		return store.SetMode(ctx, tx, chat.ID, mode)
	}))
	return chat
}

func (b *fixture) event(kind string, room id.RoomID, sender id.UserID, content string) *event.Event {
	b.t.Helper()
	b.events++
	raw := fmt.Sprintf(`{"type":%q,"room_id":%q,"sender":%q,"event_id":"$e%d","origin_server_ts":%d,"content":%s}`,
		kind, room, sender, b.events, time.Now().UnixMilli(), content)
	var evt event.Event
	require.NoError(b.t, json.Unmarshal([]byte(raw), &evt))
	return &evt
}

func (b *fixture) text(room id.RoomID, sender id.UserID, body string) *event.Event {
	content, err := json.Marshal(map[string]string{"msgtype": "m.text", "body": body})
	require.NoError(b.t, err)
	return b.event("m.room.message", room, sender, string(content))
}

func (b *fixture) receive(events ...*event.Event) {
	b.t.Helper()
	require.NoError(b.t, b.inbox.Receive(context.Background(), events, ""))
}

// count counts the rows of a query.
func (b *fixture) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), "select count(*) from "+sql, args...).Scan(&n))
	return n
}

func (b *fixture) jobs(kind string) int { return b.count("river.river_job where kind = $1", kind) }

func (b *fixture) message(evt *event.Event) store.Message {
	b.t.Helper()
	var row store.MessageID
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), "select id from messages where event_id = $1", evt.ID).Scan(&row))
	m, err := store.MessageByID(context.Background(), b.store.DB(), row)
	require.NoError(b.t, err)
	return m
}

func TestInbox_QuestionIsStoredWithTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(evt)
	m := b.message(evt)
	require.Equal(t, policy.ActionAnswer, m.Action)
	require.Equal(t, "What does delivery cost?", m.Body)
	require.Equal(t, 1, b.jobs("turn"))
}

func TestInbox_DuplicateIsStoredOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(evt, evt)
	b.receive(evt)
	require.NoError(t, b.inbox.Receive(context.Background(), []*event.Event{evt}, "s1"))
	require.Equal(t, 1, b.count("messages"))
	require.Equal(t, 1, b.jobs("turn"))
	var since string
	_, err := store.GetSetting(context.Background(), b.store.DB(), store.SettingSyncToken, &since)
	require.NoError(t, err)
	require.Equal(t, "s1", since)
}

func TestInbox_OffRoomStoresNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeOff)
	before := b.count("chats")
	b.receive(b.text("!a:x", ana, "secret"), b.text("!a:x", owner, "secret too"),
		b.event("m.reaction", "!a:x", ana, `{"m.relates_to":{"event_id":"$x","key":"👍"}}`))
	for _, table := range []string{"messages", "seen_events", "pending_events", "river.river_job", "outbox"} {
		require.Zero(t, b.count(table), table)
	}
	require.Equal(t, before, b.count("chats"))
}

func TestInbox_UnknownRoomStoresIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	evt := b.text("!new:x", ana, "secret")
	b.receive(evt)
	require.Equal(t, 1, b.count("pending_events where event_id = $1 and room_id = '!new:x'", evt.ID))
	require.Equal(t, 1, b.jobs("describe"))
	require.Zero(t, b.count("messages"))
	require.Zero(t, b.count("seen_events"))
	require.Zero(t, b.count("river.river_job where args::text like '%secret%'"))
}

func TestInbox_ForeignRoomWaitsForBridge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.ignored.add("!priv:x")
	b.receive(b.text("!priv:x", ana, "private"))
	require.Zero(t, b.count("pending_events"))
	claim := b.event("m.bridge", "!priv:x", bridgeBot, `{}`)
	key := "demo"
	claim.StateKey = &key
	b.receive(claim)
	require.Equal(t, 1, b.jobs("describe"))
}

func TestInbox_EditChangesRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivry cost?")
	edit := func(sender id.UserID, body string) *event.Event {
		return b.event("m.room.message", "!a:x", sender, fmt.Sprintf(
			`{"msgtype":"m.text","body":"* %[1]s","m.new_content":{"msgtype":"m.text","body":%[2]q},"m.relates_to":{"rel_type":"m.replace","event_id":%[3]q}}`, body, body, evt.ID))
	}
	b.receive(evt, edit(ana, "What does delivery cost?"), edit("@demo_eve:example.com", "forged"))
	m := b.message(evt)
	require.Equal(t, "What does delivery cost?", m.Body)
	require.NotNil(t, m.EditedAt)
	require.Equal(t, 1, b.count("messages"))
	require.Equal(t, 1, b.jobs("turn"))
}

func TestInbox_RedactionEmptiesRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "my secret number is 12345")
	b.receive(evt)
	redaction := b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, evt.ID))
	b.receive(redaction)
	m := b.message(evt)
	require.Empty(t, m.Body)
	require.NotNil(t, m.RedactedAt)
	waiting, err := store.WaitingMessages(context.Background(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.Empty(t, waiting)
}

func TestInbox_EncryptedIsParked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.event("m.room.encrypted", "!a:x", ana, `{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"abc"}`)
	b.receive(evt)
	m := b.message(evt)
	require.Equal(t, policy.ActionArchive, m.Action)
	require.Equal(t, policy.CodeEncrypted, m.Code)
	require.Contains(t, string(m.Parked), "ciphertext")
	require.Zero(t, b.jobs("turn"))
	require.Equal(t, 1, b.jobs("decrypt"))
}

// insertOutboxRow writes an outbox row of a chat, as a send that is under way.
func (b *fixture) insertOutboxRow(chat store.Chat) uuid.UUID {
	b.t.Helper()
	key := uuid.New()
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.InsertOutboxMessage(context.Background(), tx, store.OutboxMessage{
			ID:        key,
			ChatID:    chat.ID,
			SendAs:    policy.AsOwner,
			Purpose:   policy.PurposeReply,
			EventType: "m.room.message",
			Content:   []byte(`{"body":"To you"}`),
			State:     store.OutboxQueued,
		})
	}))
	return key
}

func textWithOutboxKey(body string, key uuid.UUID) string {
	return fmt.Sprintf(`{"msgtype":"m.text","body":%q,"ai.multis.out":%q}`, body, key)
}

func TestInbox_RecognisesOwnEventEarly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	var keys []uuid.UUID
	for range 100 {
		keys = append(keys, b.insertOutboxRow(chat))
	}
	for _, key := range keys {
		b.receive(b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key)))
	}
	require.Equal(t, 100, b.count("messages where author = 'multis_owner'"))
	require.Equal(t, 100, b.count("outbox where state = 'sent' and event_id is not null"))
	require.Zero(t, b.jobs("turn"))
	fresh, err := store.ChatByID(context.Background(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.Nil(t, fresh.OwnerWroteAt, "our own words must not look like the owner's")
}

func TestInbox_ForgedKeyHasNoEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat, other := b.chat("!a:x", policy.ModeBusiness), b.chat("!b:x", policy.ModeBusiness)
	key := b.insertOutboxRow(chat)
	fromContact := b.event("m.room.message", "!a:x", ana, textWithOutboxKey("What does delivery cost?", key))
	inOtherRoom := b.event("m.room.message", "!b:x", owner, textWithOutboxKey("I am typing here", key))
	madeUp := b.event("m.room.message", "!b:x", owner, textWithOutboxKey("and here", uuid.New()))
	b.receive(fromContact, inOtherRoom, madeUp)
	require.Equal(t, policy.AuthorContact, b.message(fromContact).Author)
	require.Equal(t, policy.AuthorOwnerClient, b.message(inOtherRoom).Author)
	require.Equal(t, policy.AuthorOwnerClient, b.message(madeUp).Author)
	require.Zero(t, b.count("outbox where event_id is not null"))

	// Once the row has its event, its key names nothing any more.
	b.receive(b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key)))
	again := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("copied key", key))
	b.receive(again)
	require.Equal(t, policy.AuthorOwnerClient, b.message(again).Author)
	_ = other
}

func TestOwnerMessage_PausesAndResolves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	first := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(first)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.OpenEscalation(ctx, tx, chat.ID, b.message(first).ID, "test", nil)
		return err
	}))
	next := b.text("!a:x", ana, "And on Sundays?")
	b.receive(b.event("m.room.message", "!a:x", owner, `{"msgtype":"m.text","body":"hi","fi.mau.double_puppet_source":"mautrix-demo"}`), next)
	require.Equal(t, policy.CodeOwnerActive, b.message(next).Code, "a message right behind the owner's, in the same transaction, sees it")
	open, err := store.WaitingEscalations(ctx, b.store.DB())
	require.NoError(t, err)
	require.Empty(t, open)
}

func TestInbox_OldMessagesGetOneNotice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	for i := range 50 {
		evt := b.text("!a:x", ana, fmt.Sprintf("question %d?", i))
		evt.Timestamp = time.Now().Add(-time.Hour).UnixMilli()
		b.receive(evt)
	}
	require.Equal(t, 50, b.count("messages where code = 'stale'"))
	require.Zero(t, b.jobs("turn"))
	require.Equal(t, 1, b.jobs("late_messages"))
}

func TestInbox_BridgeStatusSettlesSend(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	status := func(sender id.UserID, of id.EventID, state string) *event.Event {
		return b.event("com.beeper.message_send_status", "!a:x", sender,
			fmt.Sprintf(`{"m.relates_to":{"rel_type":"m.reference","event_id":%q},"status":%q,"message":"logged out"}`, of, state))
	}
	sent := func() (uuid.UUID, *event.Event) {
		key := b.insertOutboxRow(chat)
		evt := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key))
		b.receive(evt)
		return key, evt
	}
	good, goodEvent := sent()
	bad, badEvent := sent()
	b.receive(status(ana, badEvent.ID, "SUCCESS"), status(bridgeBot, goodEvent.ID, "SUCCESS"),
		status(bridgeBot, badEvent.ID, "FAIL_RETRIABLE"), status(bridgeBot, "$other", "FAIL_PERMANENT"))
	state := func(key uuid.UUID) store.OutboxMessage {
		o, err := store.OutboxMessageByID(context.Background(), b.store.DB(), key)
		require.NoError(t, err)
		return o
	}
	require.Equal(t, store.OutboxDelivered, state(good).State)
	require.Equal(t, store.OutboxFailed, state(bad).State, "a contact's word does not count")
	require.Contains(t, state(bad).Error, "logged out")
	require.Equal(t, 1, b.jobs("undelivered"))
}

func TestInbox_EncryptedErrorNotice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	key := b.insertOutboxRow(chat)
	sent := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", key))
	b.receive(sent)
	sealed := b.event("m.room.encrypted", "!a:x", bridgeBot, `{"algorithm":"m.megolm.v1.aes-sha2","session_id":"s","ciphertext":"abc"}`)
	b.receive(sealed)
	require.Equal(t, 1, b.jobs("decrypt"))
	plain := b.event("m.room.message", "!a:x", bridgeBot, fmt.Sprintf(
		`{"msgtype":"m.notice","body":"\u26a0\ufe0f Your message was not bridged: logged out","m.relates_to":{"m.in_reply_to":{"event_id":%q}}}`,
		sent.ID))
	plain.ID = sealed.ID
	require.NoError(t, NewDecrypter(b.inbox, nil).storeDecrypted(context.Background(), b.message(sealed), parseEvent(t, plain)))
	o, err := store.OutboxMessageByID(context.Background(), b.store.DB(), key)
	require.NoError(t, err)
	require.Equal(t, store.OutboxFailed, o.State)
	require.Equal(t, 1, b.jobs("undelivered"))
	require.Zero(t, b.count("messages where author = 'bridge_bot'"), "it is no message of the chat's")
}

func TestInbox_BrokenContentStopsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	broken := []string{
		`{}`, `{"msgtype":7}`, `{"body":{"a":1}}`, `{"msgtype":"m.text","body":"a\u0000b"}`,
		`{"msgtype":"m.text","body":"\ud800"}`, `{"m.relates_to":"x"}`,
	}
	for _, content := range broken {
		b.receive(b.event("m.room.message", "!a:x", ana, content), b.event("m.reaction", "!a:x", ana, content),
			b.event("m.room.redaction", "!a:x", ana, content),
			b.event("com.beeper.message_send_status", "!a:x", bridgeBot, content), b.event("x.unknown", "!a:x", ana, content))
	}
	good := b.text("!a:x", ana, "still here?")
	b.receive(good)
	require.Equal(t, policy.ActionAnswer, b.message(good).Action)
}

func TestAdminRoom_OnlyOwnersCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat("!admin:x", policy.EncryptionNo))
		return err
	}))
	command := b.text("!admin:x", owner, "/status")
	b.receive(command, b.text("!admin:x", "@eve:example.com", "/mode business Ana"))
	require.Equal(t, policy.ActionCommand, b.message(command).Action)
	require.Equal(t, 1, b.count("messages"))
	require.Equal(t, 1, b.jobs("command"))
}

func TestAdminRoom_PlainTextIsNoCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat("!admin:x", policy.EncryptionYes))
		return err
	}))
	command := b.text("!admin:x", owner, "/pause all")
	b.receive(command)
	message := b.message(command)
	require.Equal(t, policy.CodeUntrusted, message.Code)
	require.Empty(t, message.Body, "what it said is not kept")
	require.Equal(t, 1, b.jobs("command"), "the owner is told")
}

func TestAdminRoom_EncryptionEndsPlainText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat("!admin:x", policy.EncryptionNo))
		return err
	}))
	encryption, key := b.event("m.room.encryption", "!admin:x", owner, `{"algorithm":"m.megolm.v1.aes-sha2"}`), ""
	encryption.StateKey = &key
	before, after := b.text("!admin:x", owner, "/status"), b.text("!admin:x", owner, "/pause all")
	b.receive(before, encryption, after)
	require.Equal(t, policy.ActionCommand, b.message(before).Action)
	require.Equal(t, policy.CodeUntrusted, b.message(after).Code)
}

// Whatever is sent by whomever into whichever chat: nothing is asked to be answered that must not be.
func TestInbox_RandomEventsRespectModes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rng := rand.New(rand.NewPCG(1, 2))
	modes := []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeOff}
	senders := []id.UserID{ana, owner, bot, bridgeBot, "@other:example.com"}
	for i := range 400 {
		room := id.RoomID(fmt.Sprintf("!r%d:x", i))
		mode := modes[rng.IntN(len(modes))]
		chat := b.chat(room, mode)
		sender := senders[rng.IntN(len(senders))]
		body := []string{"What does it cost?", "Nora, what does it cost?", "🎉", ""}[rng.IntN(4)]
		kind := []string{"m.text", "m.notice", "m.image"}[rng.IntN(3)]
		evt := b.event("m.room.message", room, sender, fmt.Sprintf(`{"msgtype":%q,"body":%q}`, kind, body))
		old := rng.IntN(3) == 0
		if old {
			evt.Timestamp -= time.Hour.Milliseconds()
		}
		b.receive(evt)
		asks := kind == "m.text" && strings.Contains(body, "cost")
		allowed := !old && (sender == ana || sender == "@other:example.com") &&
			((mode == policy.ModeBusiness && (asks || kind == "m.image" || kind == "m.notice" && sender == ana)) || // a person must look
				(mode == policy.ModePersonal && asks && strings.HasPrefix(body, "Nora")))
		waiting, err := store.WaitingMessages(context.Background(), b.store.DB(), chat.ID)
		require.NoError(t, err)
		require.Equal(t, allowed, len(waiting) == 1, "mode %s sender %s kind %s body %q old %v", mode, sender, kind, body, old)
		if mode == policy.ModeOff {
			require.Zero(t, b.count("messages where chat_id = $1", chat.ID))
		}
	}
}

func TestTransactions_OverlapWithoutFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	b.chat("!b:x", policy.ModeBusiness)
	var events []*event.Event
	for i := range 40 {
		events = append(events, b.text(id.RoomID([]string{"!a:x", "!b:x"}[i%2]), owner, "typing myself"))
	}
	var wg sync.WaitGroup
	for range 8 {
		shuffled := slices.Clone(events)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		wg.Go(func() {
			for part := range slices.Chunk(shuffled, 7) {
				if err := b.inbox.Receive(context.Background(), cloneEvents(part), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 40, b.count("messages"))
}

// cloneEvents copies events, because the push and the sync each parse their own copies.
func cloneEvents(events []*event.Event) []*event.Event {
	copies := make([]*event.Event, len(events))
	for i, evt := range events {
		c := *evt
		copies[i] = &c
	}
	return copies
}
