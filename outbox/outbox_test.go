package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// fakeSender is the network: it records what was put into rooms, and fails as told.
type fakeSender struct {
	sent      []id.RoomID
	content   json.RawMessage // of the last one
	fail      error
	before    func() // what happens while a send is under way
	retracted []id.EventID
}

func (w *fakeSender) Send(_ context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	if w.fail != nil {
		return "", w.fail
	}
	if w.before != nil {
		w.before()
	}
	w.sent, w.content = append(w.sent, room), o.Content
	return id.EventID("$" + o.ID.String()), nil
}

func (w *fakeSender) Retract(_ context.Context, o store.OutboxMessage) error {
	w.retracted = append(w.retracted, *o.EventID)
	return nil
}

type fixture struct {
	t      *testing.T
	store  *store.Store
	sender *fakeSender
	box    *Box
	chat   store.Chat
	admin  store.Chat
}

func setup(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{t: t, store: storetest.New(t), sender: &fakeSender{}}
	b.box = New(b.store, Settings{
		Defaults:   policy.Defaults{Profile: policy.ProfilePersonal},
		OwnerPause: 30 * time.Minute,
		SendCap:    policy.Rate{Minute: 10, Day: 100},
		Owner:      "@you:x",
		Name:       "Nora",
		Disclose:   func(protocol string) bool { return protocol != "plain" },
	}, b.sender)
	room, adminRoom := id.RoomID("!ana:x"), id.RoomID("!admin:x")
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		b.chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  "ana",
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			BridgeBot:  "@demobot:x",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		b.admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "admin",
			RoomID:     &adminRoom,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(ctx, tx, b.chat.ID, policy.ModeBusiness)
	})
	return b
}

func (b *fixture) tx(fn func(ctx context.Context, tx store.Tx) error) {
	b.t.Helper()
	ctx := context.Background()
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error { return fn(ctx, tx) }))
}

func (b *fixture) queue(l Message) (out uuid.UUID, d policy.Decision) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		out, d, err = b.box.Queue(ctx, tx, l)
		return err
	})
	return out, d
}

func (b *fixture) reply(text string) Message {
	b.t.Helper()
	return Message{
		Chat:      b.chat,
		Purpose:   policy.PurposeReply,
		Text:      text,
		Citations: []store.Citation{storetest.Cite(b.t, b.store, policy.RolePublic, index.KindKnowledge, text)},
	}
}

func (b *fixture) row(out uuid.UUID) store.OutboxMessage {
	b.t.Helper()
	o, err := store.OutboxMessageByID(context.Background(), b.store.DB(), out)
	require.NoError(b.t, err)
	return o
}

func (b *fixture) send(out uuid.UUID) error { return b.box.Send(context.Background(), out, false) }

func TestReply_IsMarkedAndSentOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out, d := b.queue(b.reply("We deliver on Mondays."))
	require.True(t, d.Allow)
	require.NoError(t, b.send(out))
	require.NoError(t, b.send(out))
	require.Equal(t, []id.RoomID{"!ana:x"}, b.sender.sent)
	o := b.row(out)
	require.Equal(t, store.OutboxSent, o.State)
	require.NotNil(t, o.EventID)
	var c map[string]any
	require.NoError(t, json.Unmarshal(o.Content, &c))
	require.Equal(t, map[string]any{
		"msgtype": "m.text", "body": "[Nora] We deliver on Mondays.", "m.mentions": map[string]any{},
		"ai.multis.out": out.String(),
	}, c)
}

func TestGate_RefusalIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unsourced := b.reply("Trust me.")
	unsourced.Citations = nil
	out, d := b.queue(unsourced)
	require.False(t, d.Allow)
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
	require.Equal(t, store.OutboxDropped, b.row(out).State)
	require.Equal(t, policy.CodeNoSource, b.row(out).Code)
}

func TestGate_RechecksBeforeSend(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		between func(ctx context.Context, tx store.Tx, chat store.ChatID) error
		code    policy.Code
	}{
		"everything was paused": {func(ctx context.Context, tx store.Tx, _ store.ChatID) error {
			return store.PutSetting(ctx, tx, store.SettingPause, store.Pause{})
		}, policy.CodePausedAll},
		"the chat was paused": {func(ctx context.Context, tx store.Tx, chat store.ChatID) error {
			until := time.Now().Add(time.Hour)
			return store.PauseChat(ctx, tx, chat, &until)
		}, policy.CodePausedChat},
		"the chat was switched off": {func(ctx context.Context, tx store.Tx, chat store.ChatID) error {
			return store.SetMode(ctx, tx, chat, policy.ModeOff)
		}, policy.CodeOff},
		"the chat was silenced": {func(ctx context.Context, tx store.Tx, chat store.ChatID) error {
			return store.SetMode(ctx, tx, chat, policy.ModeSilent)
		}, policy.CodeSilent},
		"the owner wrote": {func(ctx context.Context, tx store.Tx, chat store.ChatID) error {
			return store.MarkOwnerWrote(ctx, tx, chat, "", time.Now())
		}, policy.CodeOwnerActive},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			out, d := b.queue(b.reply("We deliver on Mondays."))
			require.True(t, d.Allow)
			b.tx(func(ctx context.Context, tx store.Tx) error { return c.between(ctx, tx, b.chat.ID) })
			require.NoError(t, b.send(out))
			require.Empty(t, b.sender.sent)
			require.Equal(t, store.OutboxDropped, b.row(out).State)
			require.Equal(t, c.code, b.row(out).Code)
		})
	}
}

func TestSend_WaitsForReplacementRoom(t *testing.T) {
	t.Parallel()
	for _, why := range []string{store.ClosedTombstone, store.ClosedLeft} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			moved, d := b.queue(b.reply("We deliver on Mondays."))
			require.True(t, d.Allow)
			b.tx(func(ctx context.Context, tx store.Tx) error { return store.CloseChat(ctx, tx, b.chat.ID, why) })
			require.True(t, jobs.IsSnooze(b.send(moved)), "another room may come")
			require.Equal(t, store.OutboxQueued, b.row(moved).State)
			b.tx(func(ctx context.Context, tx store.Tx) error {
				room, chat := id.RoomID("!new:x"), b.chat
				chat.RoomID = &room
				_, err := store.UpsertChat(ctx, tx, chat)
				return err
			})
			require.NoError(t, b.send(moved))
			require.Equal(t, []id.RoomID{"!new:x"}, b.sender.sent)

			stays, _ := b.queue(b.reply("And on Tuesdays."))
			b.tx(func(ctx context.Context, tx store.Tx) error { return store.CloseChat(ctx, tx, b.chat.ID, why) })
			b.box.now = func() time.Time { return time.Now().Add(policy.RoomReplacementTimeout) }
			require.NoError(t, b.send(stays))
			require.Len(t, b.sender.sent, 1)
			require.Equal(t, store.OutboxFailed, b.row(stays).State)
			var told int
			require.NoError(t, b.store.DB().QueryRow(context.Background(),
				"select count(*) from river.river_job where kind = 'undelivered'").Scan(&told))
			require.Equal(t, 1, told, "nobody decided that it is not said")
		})
	}
}

func TestSend_KeepsOrderOfChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, _ := b.queue(b.reply("one"))
	second, _ := b.queue(b.reply("two"))
	require.True(t, jobs.IsSnooze(b.send(second)))
	require.NoError(t, b.send(first))
	require.NoError(t, b.send(second))
	require.Len(t, b.sender.sent, 2)
}

func TestSend_EndEnqueuesNext(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(b *fixture, out uuid.UUID){
		"sent": func(*fixture, uuid.UUID) {},
		"dropped": func(b *fixture, _ uuid.UUID) {
			b.tx(func(ctx context.Context, tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) })
		},
		"given up": func(b *fixture, _ uuid.UUID) { b.sender.fail = jobs.Permanent(errors.New("not in the room")) },
		"seen in the room before its send came back": func(b *fixture, out uuid.UUID) {
			b.sender.before = func() {
				b.tx(func(ctx context.Context, tx store.Tx) error {
					return jobs.MarkSent(ctx, tx, out, id.EventID("$"+out.String()), "!ana:x")
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			first := b.mustQueue(b.reply("one"))
			second := b.mustQueue(b.reply("two"))
			third := b.mustQueue(b.reply("three"))
			elsewhere := b.mustQueue(NewNotice(b.admin, "not of this chat", Quiet))
			require.True(t, jobs.IsSnooze(b.send(second)))
			require.Equal(t, 1, b.sends(second), "an older one waits still")
			settle(b, first)
			require.NoError(t, b.send(first))
			require.Equal(t, 2, b.sends(second))
			require.NoError(t, b.send(first))
			require.Equal(t, 2, b.sends(second), "what was settled before wakes nobody")
			require.Equal(t, 1, b.sends(third), "it is not its turn")
			require.Equal(t, 1, b.sends(elsewhere))
		})
	}
}

// sends counts the jobs that send a row.
func (b *fixture) sends(out uuid.UUID) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(),
		"select count(*) from river.river_job where kind = 'send' and args->>'outbox' = $1", out.String()).Scan(&n))
	return n
}

func TestSend_RetriesOnlyTemporaryErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out, _ := b.queue(b.reply("hello"))
	b.sender.fail = errors.New("connection refused")
	require.ErrorContains(t, b.send(out), "connection refused")
	require.Equal(t, store.OutboxQueued, b.row(out).State)
	b.sender.fail = jobs.Permanent(errors.New("not in the room"))
	require.NoError(t, b.send(out))
	require.Equal(t, store.OutboxFailed, b.row(out).State)
	require.Contains(t, b.row(out).Error, "not in the room")
	var alarms int
	require.NoError(t, b.store.DB().QueryRow(context.Background(),
		"select count(*) from river.river_job where kind = 'undelivered'").Scan(&alarms))
	require.Equal(t, 1, alarms)
}

func TestSend_LastAttemptGivesUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out, _ := b.queue(b.reply("hello"))
	b.sender.fail = errors.New("connection refused")
	require.NoError(t, b.box.Send(context.Background(), out, true))
	require.Equal(t, store.OutboxFailed, b.row(out).State)
}

func TestCaps_SpareEscalation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 10 {
		_, d := b.queue(b.reply("hello"))
		require.True(t, d.Allow)
	}
	_, d := b.queue(b.reply("hello"))
	require.Equal(t, policy.CodeMinuteCap, d.Code)
	_, d = b.queue(Message{Chat: b.chat, Purpose: policy.PurposeEscalation, Text: "a person comes"})
	require.True(t, d.Allow, d.Why)
}

func TestMark_FollowsNameAndNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.PutSetting(ctx, tx, store.SettingName, "Max")
	})
	out, _ := b.queue(b.reply("hello"))
	require.Contains(t, string(b.row(out).Content), `"[Max] hello"`)
	b.chat.Protocol = "plain"
	out, _ = b.queue(b.reply("hello"))
	require.Contains(t, string(b.row(out).Content), `"hello"`)
}

func TestNotice_IsRenderedWithoutPing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out, d := b.queue(NewNotice(b.admin, "**Ana** said "+text.Escape("<b>@room</b> **x** [y](https://z) `code`\n# head"), Quiet))
	require.True(t, d.Allow)
	o := b.row(out)
	require.Equal(t, policy.AsBot, o.SendAs)
	var c content
	require.NoError(t, json.Unmarshal(o.Content, &c))
	require.Equal(t, "m.notice", c.MsgType)
	require.Contains(t, c.HTML, "<strong>Ana</strong>")
	for _, tag := range []string{"<b>", "<a ", "<code>", "<h1>"} {
		require.NotContains(t, c.HTML, tag)
	}
	require.Equal(t, 1, strings.Count(c.HTML, "<strong>"))
	require.Equal(t, &mentions{}, c.Mentions)
	out, d = b.queue(Message{Chat: b.admin, Purpose: policy.PurposeNotice, Text: "👀", ReactTo: "$command"})
	require.True(t, d.Allow)
	require.Equal(t, "m.reaction", b.row(out).EventType)
}

func TestNotice_RingsIfNeeded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, tt := range map[string]struct {
		kind     NoticeKind
		mention  []id.UserID
		msgType  string
		mentions string
	}{
		"what multis says by itself is not pushed":         {Quiet, nil, "m.notice", `{}`},
		"an answer is shown like a message":                {Answer, nil, "m.text", `{}`},
		"what needs the owner mentions the owner":          {Alert, nil, "m.text", `{"user_ids": ["@you:x"]}`},
		"what needs somebody else mentions that one alone": {Alert, []id.UserID{"@eva:x"}, "m.text", `{"user_ids": ["@eva:x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := NewNotice(b.admin, "something", tt.kind)
			l.Mention = tt.mention
			var c struct {
				MsgType  string          `json:"msgtype"`
				Mentions json.RawMessage `json:"m.mentions"`
			}
			require.NoError(t, json.Unmarshal(b.row(b.mustQueue(l)).Content, &c))
			require.Equal(t, tt.msgType, c.MsgType)
			require.JSONEq(t, tt.mentions, string(c.Mentions))
		})
	}
}

func TestDeletion_RedactsQuote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var message store.MessageID
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		message, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: "$secret",
			Author:  policy.AuthorContact,
			Kind:    "text",
			Body:    "my secret",
			At:      time.Now(),
			Action:  policy.ActionAnswer,
		})
		return err
	})
	quoting := func() uuid.UUID {
		l := NewNotice(b.admin, "Ana said: my secret", Alert)
		l.Quotes = []store.MessageID{message + 1000, message}
		out, _ := b.queue(l)
		return out
	}
	sent, other := quoting(), b.mustQueue(NewNotice(b.admin, "something else", Quiet))
	require.NoError(t, b.send(sent))
	require.NoError(t, b.send(other))
	waiting := quoting()
	var emptied []uuid.UUID
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		emptied, err = store.RedactMessage(ctx, tx, b.chat.ID, "$secret", time.Now())
		return err
	})
	require.ElementsMatch(t, []uuid.UUID{sent, waiting}, emptied)
	require.True(t, jobs.IsSnooze(b.box.Retract(context.Background(), waiting)), "its send may be under way")
	require.NoError(t, b.send(waiting))
	for _, out := range emptied {
		require.NoError(t, b.box.Retract(context.Background(), out))
		require.NotContains(t, string(b.row(out).Content), "secret")
	}
	require.Len(t, b.sender.sent, 2, "what waited is not sent any more")
	require.Equal(t, []id.EventID{id.EventID("$" + sent.String())}, b.sender.retracted)
	require.Contains(t, string(b.row(other).Content), "something else")
}

func (b *fixture) mustQueue(l Message) uuid.UUID {
	b.t.Helper()
	out, d := b.queue(l)
	require.True(b.t, d.Allow)
	return out
}

func TestGate_RefusedReleaseIsNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out := b.mustQueue(b.reply("We deliver on Mondays."))
	b.tx(func(ctx context.Context, tx store.Tx) error { return store.HoldRestored(ctx, tx, time.Now()) })
	b.tx(func(ctx context.Context, tx store.Tx) error {
		restore, err := b.store.RestoreState(ctx, tx)
		require.NoError(t, err)
		_, err = store.EndHold(ctx, tx)
		require.NoError(t, err)
		released, err := store.ReleaseOutbox(ctx, tx, restore)
		require.Equal(t, []uuid.UUID{out}, released)
		return err
	})
	_, err := b.store.Pool().Exec(t.Context(), "update chats set mode = 'off' where id = $1", b.chat.ID)
	require.NoError(t, err)
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
	require.Equal(t, policy.CodeOff, b.row(out).Code)
	const told = "select count(*) from outbox where chat_id = $1 and content->>'body' like '%Not sent to Ana%after the restore%'"
	require.Equal(t, 1, storetest.Count(t, b.store, told, b.admin.ID))
	require.NoError(t, b.send(out), "again")
	require.Equal(t, 1, storetest.Count(t, b.store, told, b.admin.ID))
}
