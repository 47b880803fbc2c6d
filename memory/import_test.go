package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
	"multis/memory"
	"multis/memory/transcript"
	"multis/policy"
	"multis/store"
)

func TestImport_IsIdempotent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := r.now.Add(-48 * time.Hour)
	r.says(r.ana, policy.AuthorContact, "came through the bridge", at)
	from := transcript.Chat{Name: "Ana", Lines: []transcript.Line{
		{At: at.Add(30 * time.Second), Sender: "Ana", Text: "came through the bridge"},
		{At: at.Add(time.Hour), Sender: "Ana", Text: "ok"},
		{At: at.Add(time.Hour), Sender: "Me", Text: "the fence costs 480"},
		{At: r.now.AddDate(0, 0, -200), Sender: "Ana", Text: "too old"},
	}, Notes: []transcript.Section{{At: at, Notes: []string{"The fence is green."}}}}
	done, err := r.mem.Import(r.ctx, r.ana, from, "")
	require.NoError(t, err)
	require.Equal(t, memory.Imported{Messages: 2, Notes: 1, Known: 1, Old: 1}, done)
	require.Equal(t, 1, r.count("select count(*) from messages where author = 'owner_phone' and body = 'the fence costs 480'"),
		"who is not Ana is the owner")
	from.Lines = append(from.Lines, transcript.Line{At: at.Add(2 * time.Hour), Sender: "Ana", Text: "one more"})
	done, err = r.mem.Import(r.ctx, r.ana, from, "")
	require.NoError(t, err)
	require.Equal(t, memory.Imported{Messages: 1, Known: 4, Old: 1}, done)

	require.NoError(t, r.mem.IndexMessages(r.ctx))
	require.Empty(t, r.dueCaptures(), "nothing of it is captured")
	found, err := r.mem.Recall(r.ctx, memory.Question{Text: "what does the fence cost", AsOwner: true, Scope: policy.OwnerScope(r.ana.ID)})
	require.NoError(t, err)
	require.NotEmpty(t, found.Hits)
	found, err = r.mem.Recall(r.ctx, memory.Question{Text: "fence", Scope: policy.ContactScope(r.ben.ID)})
	require.NoError(t, err)
	require.Empty(t, found.Hits, "it is Ana's alone")
}

func TestImport_FindsOwnerOrAsks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group := transcript.Chat{Name: "Club"}
	for _, who := range []string{"Ana", "Ben", "Hannes"} {
		group.Lines = append(group.Lines, transcript.Line{At: r.now, Sender: who, Text: who + " says"})
	}
	_, err := r.mem.Import(r.ctx, r.ana, group, "")
	require.ErrorIs(t, err, memory.ErrUnknownSender)
	require.ErrorContains(t, err, "Ana, Ben, Hannes")
	_, err = r.mem.Import(r.ctx, r.ana, group, "hannes")
	require.NoError(t, err)
	require.Equal(t, 1, r.count("select count(*) from messages where author = 'owner_phone'"))
	require.Equal(t, 2, r.count("select count(*) from messages where author = 'contact'"))

	own := transcript.Chat{Owner: true, Lines: []transcript.Line{
		{At: r.now, Sender: transcript.User, Text: "mine"},
		{At: r.now, Sender: transcript.Assistant, Text: "yours"},
	}}
	_, err = r.mem.Import(r.ctx, r.room, own, "")
	require.NoError(t, err)
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'mine' and author = 'owner_phone'"))
}

func TestImport_ChatIsReadOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	chat, err := r.mem.ImportedChat(r.ctx, "whatsapp:Otto", "Otto")
	require.NoError(t, err)
	again, err := r.mem.ImportedChat(r.ctx, "whatsapp:Otto", "Otto")
	require.NoError(t, err)
	require.Equal(t, chat.ID, again.ID)
	require.False(t, again.HasRoom())
	_, err = r.mem.Import(r.ctx, chat, transcript.Chat{Lines: []transcript.Line{{At: r.now, Sender: "Otto", Text: "hello"}}}, "")
	require.NoError(t, err)
	b, err := r.mem.Brief(r.ctx, memory.BriefQuery{Period: schedule.Period{From: r.now.Add(-time.Hour)}, Chat: chat.ID})
	require.NoError(t, err)
	require.Equal(t, 1, b.Messages)
	require.Zero(t, func() int {
		due, err := store.DueCaptures(r.ctx, r.st.DB(), 1, 1, r.now, 10)
		require.NoError(t, err)
		return len(due)
	}())
}
