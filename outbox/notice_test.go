package outbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestNotice_DropsInvisibleCharacters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := "\u2068@Nora\u2069 is my\u202e parcel there?\x07"
	for name, l := range map[string]Message{
		"Markdown":     NewNotice(b.admin, "Ana: "+hidden+" &#x202e;", Alert),
		"made by hand": {Chat: b.admin, Purpose: policy.PurposeNotice, Text: hidden, HTML: "<b>" + hidden + "</b>"},
		"with a file": {Chat: b.admin, Purpose: policy.PurposeNotice, Text: hidden, File: &File{
			Name: "a\u2067b\n.zip",
			MIME: "application/zip",
			Data: []byte("zip"),
		}},
		"file, no text": {Chat: b.admin, Purpose: policy.PurposeNotice, File: &File{
			Name: "a\u2067b.zip",
			MIME: "application/zip",
			Data: []byte("zip"),
		}},
		"a contact's": {Chat: b.chat, Purpose: policy.PurposeOperator, Text: hidden},
	} {
		out, d := b.queue(l)
		require.True(t, d.Allow, "%s: %s", name, d.Why)
		require.NoError(t, b.send(out))
		for _, r := range "\u2067\u2068\u2069\u202e\x07" {
			require.NotContains(t, string(b.row(out).Content), string(r), name)
		}
	}
}

func TestNotice_IsNeverTooLong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, d := b.queue(NewNotice(b.admin, strings.Repeat("many words ", 20_000), Alert))
	require.True(t, d.Allow, d.Why)
}

func TestNotice_RefusedIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	queue := func(l Message) error {
		return b.store.InTx(ctx, func(tx store.Tx) error {
			_, _, err := b.box.Queue(ctx, tx, l)
			return err
		})
	}
	require.ErrorIs(t, queue(NewNotice(b.admin, " \u2069 ", Quiet)), ErrRefusedNotice)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Exec(ctx, "update chats set room_id = null where id = $1", b.admin.ID)
		return err
	})
	require.True(t, jobs.IsSnooze(queue(NewNotice(b.admin, "important", Alert))), "its room is gone for the moment")
}

func TestNotice_ReachesNextAdminRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	waits := b.mustQueue(NewNotice(b.admin, "important", Alert))
	replaces := NewNotice(b.admin, "the answer", Quiet)
	reacts := b.mustQueue(Message{Chat: b.admin, Purpose: policy.PurposeNotice, Text: "👀", ReactTo: "$x"})
	replaces.Replaces = "$shown"
	answer := b.mustQueue(replaces)
	next := id.RoomID("!next:x")
	b.tx(func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Exec(ctx, "update chats set closed_reason = 'left' where id = $1", b.admin.ID); err != nil {
			return err
		}
		_, err := store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "next",
			RoomID:     &next,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		return err
	})
	late := b.mustQueue(NewNotice(b.admin, "later", Alert))
	require.NoError(t, b.send(waits))
	require.NoError(t, b.send(reacts))
	require.NoError(t, b.send(answer))
	require.NoError(t, b.send(late))
	require.NoError(t, b.send(waits))
	require.NoError(t, b.send(answer))
	require.Equal(t, []id.RoomID{next, next, next}, b.sender.sent)
	require.Equal(t, store.OutboxDropped, b.row(reacts).State)
	var c map[string]any
	require.NoError(t, json.Unmarshal(b.row(answer).Content, &c))
	require.Equal(t, "the answer", c["body"])
	require.NotContains(t, c, "m.relates_to")
	require.Equal(t, answer.String(), c["ai.multis.out"])
}

func TestPause_DelaysRedactionsInChats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := context.Background()
	toAna, toOwner := b.mustQueue(b.reply("hello")), b.mustQueue(NewNotice(b.admin, "hello", Quiet))
	require.NoError(t, b.send(toAna))
	require.NoError(t, b.send(toOwner))
	pause := func(p any) {
		b.tx(func(ctx context.Context, tx store.Tx) error {
			if p == nil {
				return store.DropSetting(ctx, tx, store.SettingPause)
			}
			return store.PutSetting(ctx, tx, store.SettingPause, p)
		})
	}
	pause(store.Pause{Since: b.box.now()})
	require.True(t, jobs.IsSnooze(b.box.Retract(ctx, toAna)))
	require.NoError(t, b.box.Retract(ctx, toOwner))
	require.Equal(t, []id.EventID{id.EventID("$" + toOwner.String())}, b.sender.retracted)
	pause(nil)
	require.NoError(t, b.box.Retract(ctx, toAna))
	require.Len(t, b.sender.retracted, 2)
	b.tx(func(ctx context.Context, tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) })
	require.NoError(t, b.box.Retract(ctx, toAna))
	require.Len(t, b.sender.retracted, 2, "nothing goes into a chat that is off")
}

func TestNotice_SurvivesMarkup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, written := range []string{"---", "> ", strings.Repeat("> ", 4000), strings.Repeat(`"`, 8000), strings.Repeat("😀\n", 4000)} {
		for _, replaces := range []id.EventID{"", "$card"} {
			notice := NewNotice(b.admin, written, Answer)
			notice.Replaces = replaces
			out, d := b.queue(notice)
			require.True(t, d.Allow, "%.10q: %s", written, d.Why)
			require.NoError(t, b.send(out))
			encrypted := base64.RawStdEncoding.EncodedLen(len(b.row(out).Content))
			require.Less(t, encrypted, 65_536-2_000, "%.10q", written)
		}
	}
}
