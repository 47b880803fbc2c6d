package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// edit makes an event that changes another one.
func (b *fixture) edit(of *event.Event, sender id.UserID, body string) *event.Event {
	b.t.Helper()
	return b.event("m.room.message", of.RoomID, sender, fmt.Sprintf(
		`{"msgtype":"m.text","body":%[1]q,"m.new_content":{"msgtype":"m.text","body":%[1]q},"m.relates_to":{"rel_type":"m.replace","event_id":%[2]q}}`, body, of.ID))
}

// TestEdit_BeforeMessageIsKept also stands for keys that come in another order than their messages.
func TestEdit_BeforeMessageIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivry cost?")
	first := b.edit(evt, ana, "What does a delivery cost?")
	second := b.edit(evt, ana, "What does delivery to Rome cost?")
	forged := b.edit(evt, "@demo_eve:example.com", "send me money")
	second.Timestamp += 1000
	b.receive(second, first, forged)
	require.Zero(t, b.jobs("turn"), "an edit by itself asks for nothing")
	require.Equal(t, policy.CodeEdited, b.message(second).Code)

	b.receive(evt)
	m := b.message(evt)
	require.Equal(t, "What does delivery to Rome cost?", m.Body)
	require.Equal(t, policy.ActionAnswer, m.Action)
	require.NotNil(t, m.EditedAt)
	waiting, err := store.WaitingMessages(context.Background(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, 2, b.count("messages"), "the message, and what somebody else said of it")
}

// TestEdit_NewestStands: the push and the sync bring them in any order, and so do their keys.
func TestEdit_NewestStands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivry cost?")
	older, newer := b.edit(evt, ana, "What does delivery cost?"), b.edit(evt, ana, "What does delivery to Rome cost?")
	older.Timestamp, newer.Timestamp = evt.Timestamp-1000, evt.Timestamp-500
	b.receive(evt)
	b.receive(newer)
	b.receive(older)
	require.Equal(t, "What does delivery to Rome cost?", b.message(evt).Body)
	require.Equal(t, policy.ActionAnswer, b.message(evt).Action)
	require.Equal(t, 1, b.count("messages"))
}

func TestEdit_KeepsAgeOfMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivry cost?")
	b.receive(evt)
	later := time.Now().Add(15 * time.Minute) // no model answered all the while
	b.inbox.now = func() time.Time { return later }
	b.receive(b.edit(evt, ana, "What does delivery cost?"))
	require.Equal(t, policy.ActionAnswer, b.message(evt).Action, b.message(evt).Reason)
}

func TestEdit_OfDeletedMessageIsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	redact := func(evt *event.Event) *event.Event {
		return b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, evt.ID))
	}
	before := b.text("!a:x", ana, "secret")
	b.receive(b.edit(before, ana, "top secret"), redact(before))
	require.Zero(t, b.count("messages where body <> ''"), "the message never came, its edit did")
	b.receive(before)
	require.Zero(t, b.count("messages where body <> ''"), "and when it comes, through the slower door, it is not taken in")
	both := b.text("!a:x", ana, "secret")
	b.receive(redact(both), both)
	require.Zero(t, b.count("messages where body <> ''"), "nor in the same transaction")
	after := b.text("!a:x", ana, "secret")
	b.receive(after, redact(after), b.edit(after, ana, "top secret"))
	require.Zero(t, b.count("messages where body <> ''"))
	gone := b.event("m.room.encrypted", "!a:x", ana, `{}`)
	gone.Unsigned.RedactedBecause = redact(gone)
	b.receive(b.edit(gone, ana, "top secret"), gone)
	require.Zero(t, b.count("messages where body <> '' or parked is not null"), "as the homeserver hands out what was deleted")
}

func TestDeletion_CountsInOffChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.settings.DeleteAnswers = true
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "secret")
	b.receive(evt)
	b.setMode(chat, policy.ModeOff)
	seen := b.count("seen_events")
	b.receive(b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, evt.ID)))
	require.Zero(t, b.count("messages where body <> ''"))
	require.Equal(t, seen, b.count("seen_events"), "and nothing is written of what happens there")
}

// TestDeletion_UnjudgedDeletesNothing: of an encrypted event the homeserver does not see that it deletes another's message.
func TestDeletion_UnjudgedDeletesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt, sealed := b.text("!a:x", ana, "What does delivery cost?"), b.event("m.room.encrypted", "!a:x", "@eve:example.com",
		`{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"abc"}`)
	b.receive(evt, sealed)
	forged := b.event("m.room.redaction", "!a:x", "@eve:example.com", fmt.Sprintf(`{"redacts":%q}`, evt.ID))
	forged.ID, forged.Mautrix.WasEncrypted = sealed.ID, true
	require.NoError(t, NewDecrypter(b.inbox, nil).storeDecrypted(t.Context(), b.message(sealed), parseEvent(t, forged)))
	require.Equal(t, "What does delivery cost?", b.message(evt).Body)
	require.Equal(t, policy.ActionAnswer, b.message(evt).Action)
}

func TestOwnerMessage_HoldsBackUndecrypted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	b.receive(b.event("m.room.encrypted", "!a:x", owner, textWithOutboxKey("[Nora] hello", b.insertOutboxRow(chat))))
	require.Zero(t, b.count("chats where owner_last_at is not null"), "our own words do not")
	b.receive(b.event("m.room.encrypted", "!a:x", owner, `{"algorithm":"m.megolm.v1.aes-sha2","session_id":"s","ciphertext":"abc"}`))
	asked := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(asked)
	require.Equal(t, policy.CodeOwnerActive, b.message(asked).Code)
}

func TestEdit_BeforeDecryption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeSilent)
	sealed := b.event("m.room.encrypted", "!a:x", ana, `{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"abc"}`)
	b.receive(sealed)
	b.receive(b.edit(sealed, ana, "the new text"))
	plain := b.text("!a:x", ana, "the old text")
	plain.ID = sealed.ID
	require.NoError(t, NewDecrypter(b.inbox, nil).storeDecrypted(context.Background(), b.message(sealed), parseEvent(t, plain)))
	require.Equal(t, "the new text", b.message(sealed).Body)
	require.Equal(t, 1, b.count("messages"))
}

func TestHistory_AppliesNewerEdits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	evt := func(i int, body string) map[string]any {
		return map[string]any{
			"type": "m.room.message", "sender": ana, "event_id": fmt.Sprintf("$old%d", i),
			"origin_server_ts": time.Now().Add(time.Duration(i-1000) * time.Hour).UnixMilli(),
			"content":          map[string]any{"msgtype": "m.text", "body": body},
		}
	}
	var all []map[string]any // the newest first, as a homeserver answers
	edit := evt(300, "* Tuesday")
	edit["content"] = map[string]any{
		"msgtype": "m.text", "body": "* Tuesday", "m.new_content": map[string]any{"msgtype": "m.text", "body": "Tuesday"},
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": "$old0"},
	}
	all = append(all, edit)
	for i := 249; i >= 0; i-- {
		all = append(all, evt(i, "Monday"))
	}
	last := b.readAllPages(b.archiveOf(all), jobs.HistoryArgs{ChatID: chat.ID})
	require.Equal(t, 250, last.StoredCount)
	require.Equal(t, 250, b.count("messages"))
	require.Equal(t, 1, b.count("messages where event_id = '$old0' and body = 'Tuesday'"))
	require.Zero(t, b.jobs("turn"))
}

func TestBackfill_StoresAllRepliesNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	last := b.readAllPages(b.archive(10_000), jobs.HistoryArgs{ChatID: chat.ID})
	require.Equal(t, 10_000, last.StoredCount)
	require.Equal(t, 10_000, b.count("messages"))
	require.Equal(t, 100, b.count("river.river_job"), "a job a page but the first, and the one that tells")
	require.Zero(t, b.count("outbox")+b.jobs("turn")+b.jobs("late_messages"))
}

func TestBackfill_TenThousandStartNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	var batch []*event.Event
	for i := range 10_000 {
		raw, err := json.Marshal(map[string]any{
			"type": "m.room.message", "room_id": "!a:x", "sender": ana, "event_id": fmt.Sprintf("$b%d", i),
			"origin_server_ts": time.Now().Add(-time.Duration(10_000-i) * time.Minute).Add(-time.Hour).UnixMilli(),
			"content":          map[string]any{"msgtype": "m.text", "body": "What does delivery cost?"},
		})
		require.NoError(t, err)
		var evt event.Event
		require.NoError(t, json.Unmarshal(raw, &evt))
		if batch = append(batch, &evt); len(batch) == 100 {
			b.receive(batch...)
			batch = nil
		}
	}
	require.Equal(t, 10_000, b.count("messages"))
	require.Zero(t, b.jobs("turn")+b.count("outbox"))
	require.Equal(t, 1, b.count("river.river_job"), "one digest tells of them all")
}

func TestDeletion_RemovesAnswerIfConfigured(t *testing.T) {
	t.Parallel()
	for wanted, jobs := range map[bool]int{false: 0, true: 1} {
		b := setup(t)
		b.inbox.settings.DeleteAnswers = wanted
		chat := b.chat("!a:x", policy.ModeBusiness)
		first, second := b.text("!a:x", ana, "What does delivery cost?"), b.text("!a:x", ana, "And to Rome?")
		b.receive(first, second)
		out := b.insertOutboxRow(chat)
		require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
			_, err := store.MarkAnswered(context.Background(), tx, []store.MessageID{b.message(first).ID, b.message(second).ID}, &out,
				policy.CodeAnswer, "answered")
			return err
		}))
		redact := func(evt *event.Event) {
			b.receive(b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, evt.ID)))
		}
		redact(first)
		require.Zero(t, b.jobs("retract"), "it still answers the other one")
		redact(second)
		require.Equal(t, jobs, b.jobs("retract"))
		answer, err := store.OutboxMessageByID(context.Background(), b.store.DB(), out)
		require.NoError(t, err)
		require.Equal(t, wanted, answer.IsErased(), "one that still waits is not sent")
	}
}

func TestFlood_CountsNoticesAndEdits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeSilent)
	ghost := id.UserID("@demo_bot:example.com")
	first := b.text("!a:x", ana, "hello")
	b.receive(first)
	var all []*event.Event // at once: the limit is one of a minute
	for i := range 100 {
		all = append(all, b.event("m.room.message", "!a:x", ghost, fmt.Sprintf(`{"msgtype":"m.notice","body":"notice %d"}`, i)),
			b.edit(first, ana, strconv.Itoa(i)))
	}
	b.receive(all...)
	require.Equal(t, 60, b.count("messages where sender = $1 and code = 'bot'", ghost))
	require.Equal(t, 1, b.count("messages where sender = $1 and code = 'flood'", ghost))
	require.Equal(t, "58", b.message(first).Body, "one message and 59 edits")
	require.Equal(t, 1, b.count("messages where sender = $1 and code = 'flood' and body = ''", ana))
	edits := make([]*event.Event, 0, 100)
	for i := range 100 { // of messages that are not here, all at once
		gone := &event.Event{ID: id.EventID(fmt.Sprintf("$gone%d", i)), RoomID: "!a:x"}
		edits = append(edits, b.edit(gone, "@demo_eve:example.com", "a"))
	}
	b.receive(edits...)
	require.Equal(t, 60, b.count("messages where sender = '@demo_eve:example.com' and code = 'edited'"))
}

func TestEdit_ByOwnerPauses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	own := b.text("!a:x", owner, "we open at nine")
	b.receive(own)
	wrote := func() *time.Time {
		now, err := store.ChatByID(t.Context(), b.store.DB(), chat.ID)
		require.NoError(t, err)
		return now.OwnerWroteAt
	}
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error { return store.ResumeChat(t.Context(), tx, chat.ID) }))
	b.receive(b.event("m.reaction", "!a:x", owner, fmt.Sprintf(`{"m.relates_to":{"rel_type":"m.annotation","event_id":%q,"key":"👍"}}`,
		own.ID)))
	require.Nil(t, wrote(), "a reaction says nothing in words")
	now, err := store.ChatByID(t.Context(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.NotNil(t, now.OwnerActiveUntil, "but shows that the owner is looking")
	b.receive(b.edit(own, owner, "we open at ten"))
	require.NotNil(t, wrote())
	question := b.text("!a:x", ana, "When do you open?")
	b.receive(question)
	require.Equal(t, policy.CodeOwnerActive, b.message(question).Code)
}

// TestEdit_MakesMessageOfNotice: bridges write a notice while they cannot show a message, and edit it into the message.
func TestEdit_MakesMessageOfNotice(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]string{
		"not decrypted yet":  `{"msgtype":"m.notice","body":"Decrypting this message failed, waiting for sender to re-send...","fi.mau.whatsapp.undecryptable":true}`,
		"attachment awaited": `{"msgtype":"m.notice","body":"Waiting for attachment IMG_1.jpg"}`,
		"attachment failed":  `{"msgtype":"m.notice","body":"Failed to bridge photo, please view it on the WhatsApp app"}`,
	} {
		for _, mode := range []policy.Mode{policy.ModeBusiness, policy.ModePersonal} {
			t.Run(name+" in "+string(mode), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				b.chat("!a:x", mode)
				first := b.event("m.room.message", "!a:x", ana, notice)
				first.Timestamp -= 20_000
				b.receive(first)
				b.receive(b.edit(first, ana, "Nora, do you deliver on Saturday?"))
				m := b.message(first)
				require.Equal(t, policy.AuthorContact, m.Author)
				require.Equal(t, "text", m.Kind)
				require.Equal(t, policy.ActionAnswer, m.Action, m.Reason)
				require.WithinDuration(t, time.Now(), m.At, 10*time.Second, "as old as the edit")
				require.Equal(t, 1, b.count("messages"))
			})
		}
	}
}

// TestEdit_BeforeNoticeMakesMessage: keys come in any order.
func TestEdit_BeforeNoticeMakesMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	notice := b.event("m.room.message", "!a:x", ana, `{"msgtype":"m.notice","body":"Waiting for attachment IMG_1.jpg"}`)
	b.receive(b.edit(notice, ana, "Do you deliver on Saturday?"), notice)
	require.Equal(t, policy.ActionAnswer, b.message(notice).Action)
	require.Equal(t, "Do you deliver on Saturday?", b.message(notice).Body)
}

// TestNotice_AwaitedMessageIsShownLater: somebody sees that a message is missing, but not while its bridge is about to bring it.
func TestNotice_AwaitedMessageIsShownLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	awaited := b.event("m.room.message", "!a:x", ana, `{"msgtype":"m.notice","body":"Waiting for attachment IMG_1.jpg"}`)
	b.receive(awaited)
	require.Equal(t, policy.ActionEscalate, b.message(awaited).Action)
	require.Equal(t, 1, b.count("river.river_job where kind = 'turn' and state = 'scheduled' and scheduled_at > now() + interval '1 minute'"))
}

// TestEdit_OfNoWordChangesNothing: bridges edit messages when they have fetched something, such as the preview of a link.
func TestEdit_OfNoWordChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	evt := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(evt)
	_, err := b.store.Pool().Exec(t.Context(), "delete from river.river_job")
	require.NoError(t, err)
	b.receive(b.edit(evt, ana, "What does delivery cost?"))
	require.Nil(t, b.message(evt).EditedAt)
	require.Zero(t, b.count("river.river_job"))
	b.receive(b.edit(evt, ana, "What does delivery to Rome cost?"))
	require.NotNil(t, b.message(evt).EditedAt)
}

// TestDeletion_CancelsSchedules: the owner is told that the schedule went with its message.
func TestDeletion_CancelsSchedules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	room := id.RoomID("!admin:x")
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := store.UpsertChat(t.Context(), tx, adminChat(room, policy.EncryptionNo))
		return err
	}))
	command := b.text(room, owner, "/remind 2h the door code is 4711")
	b.receive(command)
	set, next := b.message(command).ID, time.Now().Add(time.Hour)
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		number, err := store.NextScheduleID(t.Context(), tx)
		if err != nil {
			return err
		}
		return store.InsertSchedule(t.Context(), tx, store.Schedule{
			ID:        number,
			Kind:      "at",
			Zone:      "UTC",
			NextAt:    &next,
			Action:    store.ActionSay,
			Body:      "the door code is 4711",
			CatchUp:   store.CatchOnce,
			CreatedBy: owner,
			CreatedAt: time.Now(),
			MessageID: &set,
		})
	}))
	b.receive(b.event("m.room.redaction", room, owner, fmt.Sprintf(`{"redacts":%q}`, command.ID)))
	require.Zero(t, b.count("schedules"))
	require.Equal(t, 1, b.countNotices("schedule_deleted"))
}
