package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// paragraphs is a text of n paragraphs of so many characters each.
func paragraphs(n, length int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("%d %s", i, strings.Repeat("x", length-2)))
	}
	return strings.Join(parts, "\n\n")
}

func (b *fixture) setFeatures(f policy.Features) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		b.chat.Features = f
		b.chat, err = store.UpsertChat(ctx, tx, b.chat)
		return err
	})
}

// parts are the rows of a letter.
func (b *fixture) parts(first uuid.UUID) (rows []store.OutboxMessage, contents []content) {
	b.t.Helper()
	rows, err := store.Parts(context.Background(), b.store.DB(), first)
	require.NoError(b.t, err)
	if len(rows) == 0 {
		rows = []store.OutboxMessage{b.row(first)}
	}
	for _, o := range rows {
		var c content
		require.NoError(b.t, json.Unmarshal(o.Content, &c))
		contents = append(contents, c)
	}
	return rows, contents
}

func TestParts_SplitAtParagraphs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, d := b.queue(b.reply(paragraphs(4, 1000)))
	require.True(t, d.Allow)
	// Of 1,500 characters a part, each paragraph needs its own: four are too many.
	_, contents := b.parts(first)
	require.Equal(t, "m.file", contents[0].MsgType)

	first, d = b.queue(b.reply(paragraphs(6, 700)))
	require.True(t, d.Allow)
	rows, contents := b.parts(first)
	require.Len(t, rows, 3)
	for i, c := range contents {
		require.Equal(t, "m.text", c.MsgType)
		require.Equal(t, fmt.Sprintf("[Nora] %d", 2*i), c.Body[:8], "each is marked, and cut between paragraphs")
		require.LessOrEqual(t, len(c.Body), maxPartLength)
		require.Equal(t, rows[i].ID.String(), c.Key)
		require.Len(t, rows[i].Citations, 1)
	}
	require.True(t, jobs.IsSnooze(b.send(rows[2].ID)), "it waits for what is before it")
}

func TestParts_CountAsOneAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.box.settings.SendCap = policy.Rate{Minute: 2, Day: 2}
	for range 2 {
		first, d := b.queue(b.reply(paragraphs(6, 700)))
		require.True(t, d.Allow, d.Why)
		rows, _ := b.parts(first)
		require.Len(t, rows, 3)
		for _, o := range rows {
			require.NoError(t, b.send(o.ID))
			require.Equal(t, store.OutboxSent, b.row(o.ID).State, b.row(o.ID).Reason)
		}
	}
	require.Len(t, b.sender.sent, 6)
	_, d := b.queue(b.reply("A third."))
	require.Equal(t, policy.CodeMinuteCap, d.Code)
}

func TestParts_NeedThePrevious(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, _ := b.queue(b.reply(paragraphs(6, 700)))
	rows, _ := b.parts(first)
	b.sender.fail = jobs.Permanent(fmt.Errorf("the network is gone"))
	require.NoError(t, b.send(rows[0].ID))
	b.sender.fail = nil
	require.Equal(t, store.OutboxFailed, b.row(rows[0].ID).State)
	for _, o := range rows[1:] {
		require.NoError(t, b.send(o.ID))
		require.Equal(t, store.OutboxDropped, b.row(o.ID).State)
		require.Equal(t, policy.CodePartMissing, b.row(o.ID).Code)
	}
	require.Empty(t, b.sender.sent)
}

func TestFile_UnsentIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func() uuid.UUID {
		l := NewNotice(b.admin, "as files", Answer)
		l.File = &File{Name: "all.zip", MIME: "application/zip", Data: []byte("zip")}
		return b.mustQueue(l)
	}
	failed, dropped := file(), file()
	b.sender.fail = jobs.Permanent(fmt.Errorf("it is too large"))
	require.NoError(t, b.send(failed))
	require.Equal(t, store.OutboxFailed, b.row(failed).State)
	require.Equal(t, 1, storetest.Count(t, b.store, "select count(*) from outbox_files"), "of the other")
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.MarkDropped(ctx, tx, dropped, policy.CodeQuoteDeleted, "")
	})
	require.Zero(t, storetest.Count(t, b.store, "select count(*) from outbox_files"))
}

func TestParts_StopWhenOwnerComes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, _ := b.queue(b.reply(paragraphs(6, 700)))
	rows, _ := b.parts(first)
	require.NoError(t, b.send(rows[0].ID))
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.MarkOwnerWrote(ctx, tx, b.chat.ID, "", time.Now())
	})
	require.NoError(t, b.send(rows[1].ID))
	require.NoError(t, b.send(rows[2].ID))
	require.Equal(t, policy.CodeOwnerActive, b.row(rows[1].ID).Code)
	require.Equal(t, policy.CodePartMissing, b.row(rows[2].ID).Code)
	require.Len(t, b.sender.sent, 1)
}

func TestReply_TooLongGoesAsFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := paragraphs(9, 1000)
	out, d := b.queue(b.reply(long))
	require.True(t, d.Allow)
	_, contents := b.parts(out)
	require.Len(t, contents, 1)
	c := contents[0]
	require.Equal(t, "m.file", c.MsgType)
	require.Equal(t, "message.txt", c.FileName)
	require.Equal(t, "[Nora] 0 "+strings.Repeat("x", maxCaption-3)+"…", c.Body, "the caption")
	require.Equal(t, &fileInfo{MIME: "text/plain", Size: len(long) + 1}, c.Info)
	data, err := store.OutboxFile(t.Context(), b.store.DB(), out)
	require.NoError(t, err)
	require.Equal(t, long+"\n", string(data))
	require.NoError(t, b.send(out))
	_, err = store.OutboxFile(t.Context(), b.store.DB(), out)
	require.ErrorIs(t, err, store.ErrNotFound, "the homeserver has it now")
}

func TestParts_FollowNetworkLimits(t *testing.T) {
	t.Parallel()
	files := func(captions bool) map[string]policy.FileRule {
		return map[string]policy.FileRule{"m.file": {Types: []string{"text/plain"}, Captions: captions}}
	}
	t.Run("short messages only", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.setFeatures(policy.Features{Known: true, MaxText: 160})
		first, d := b.queue(b.reply(paragraphs(3, 150)))
		require.True(t, d.Allow, d.Why)
		rows, contents := b.parts(first)
		require.Len(t, rows, 3)
		for _, c := range contents {
			require.LessOrEqual(t, len([]rune(c.Body)), 160)
		}
	})
	t.Run("no captions: the text goes first", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.setFeatures(policy.Features{Known: true, Files: files(false)})
		first, d := b.queue(b.reply(paragraphs(9, 1000)))
		require.True(t, d.Allow, d.Why)
		_, contents := b.parts(first)
		require.Len(t, contents, 2)
		require.Equal(t, "m.text", contents[0].MsgType)
		require.Equal(t, "m.file", contents[1].MsgType)
		require.Equal(t, "message.txt", contents[1].Body, "no caption")
		require.NotEqual(t, contents[0].Key, contents[1].Key)
	})
	t.Run("no files: it is refused, with the reason", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.setFeatures(policy.Features{Known: true, MaxText: 1000})
		out, d := b.queue(b.reply(paragraphs(9, 1000)))
		require.Equal(t, policy.CodeNetworkLimit, d.Code)
		require.True(t, d.Code.IsAboutText(), "so a person is asked")
		require.Equal(t, store.OutboxDropped, b.row(out).State)
		require.Contains(t, b.row(out).Reason, "the network takes 1000 in one message")
	})
	t.Run("it takes less since it was queued", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		out, d := b.queue(b.reply("We deliver on Mondays."))
		require.True(t, d.Allow)
		b.setFeatures(policy.Features{Known: true, MaxText: 5})
		require.NoError(t, b.send(out))
		require.Equal(t, policy.CodeNetworkLimit, b.row(out).Code)
		require.Empty(t, b.sender.sent)
	})
}

func TestFile_GoesWithCaption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.reply("The price list.")
	l.File = &File{Name: "prices.pdf", MIME: "application/pdf", Data: []byte("%PDF")}
	out, d := b.queue(l)
	require.True(t, d.Allow)
	_, contents := b.parts(out)
	require.Equal(t, "[Nora] The price list.", contents[0].Body)
	require.Equal(t, "prices.pdf", contents[0].FileName)
	notice := NewNotice(b.admin, "Here.", Answer)
	notice.File = l.File
	_, d = b.queue(notice)
	require.True(t, d.Allow)
}

func TestFile_QuotingDeletedIsForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var about store.MessageID
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		about, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: "$q",
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    "?",
			At:      time.Now(),
			Action:  policy.ActionArchive,
		})
		return err
	})
	l := b.reply(paragraphs(9, 1000))
	l.Quotes = []store.MessageID{about}
	out, _ := b.queue(l)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.chat.ID, "$q", time.Now())
		return err
	})
	_, err := store.OutboxFile(t.Context(), b.store.DB(), out)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
}

func TestParts_DeletedWithQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var question store.MessageID
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		question, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: "$q",
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    "?",
			At:      time.Now(),
			Action:  policy.ActionAnswer,
		})
		return err
	})
	first, _ := b.queue(b.reply(paragraphs(6, 700)))
	rows, _ := b.parts(first)
	require.Len(t, rows, 3)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.MarkAnswered(ctx, tx, []store.MessageID{question}, &first, policy.CodeAnswer, "answered")
		return err
	})
	require.NoError(t, b.send(rows[0].ID))
	require.NoError(t, b.send(rows[1].ID))
	var gone []uuid.UUID
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		if _, err = store.RedactMessage(ctx, tx, b.chat.ID, "$q", time.Now()); err != nil {
			return err
		}
		gone, err = store.EraseAnswers(ctx, tx, b.chat.ID, "$q")
		return err
	})
	require.Len(t, gone, 3)
	for _, o := range rows {
		require.True(t, b.row(o.ID).IsErased())
		require.Contains(t, gone, o.ID)
	}
	require.NoError(t, b.send(rows[2].ID), "the last part is not said any more")
	require.Len(t, b.sender.sent, 2)
	for _, o := range gone {
		require.NoError(t, b.box.Retract(context.Background(), o))
	}
	require.ElementsMatch(t, []id.EventID{*b.row(rows[0].ID).EventID, *b.row(rows[1].ID).EventID}, b.sender.retracted)
}

func FuzzSplit(f *testing.F) {
	f.Add("one\n\ntwo", 5)
	f.Add("äöü. äöü äöü", 3)
	f.Add(strings.Repeat("x", 100), 7)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit <= 0 || limit > 5000 || len(text) > 20_000 {
			return
		}
		text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
		parts := split(text, limit)
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		require.Equal(t, squeeze(text), squeeze(strings.Join(parts, " ")), "nothing is lost")
		for _, p := range parts {
			require.LessOrEqual(t, len([]rune(p)), limit)
		}
	})
}
