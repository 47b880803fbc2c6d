package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestTwoChatsOfOnePersonAreMergedAndApartAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whatsapp, signal := r.chat("Ana", "whatsapp"), r.chat("Ana", "signal")
	telegram := r.chat("Annabel", "telegram")
	r.chat("Ben", "whatsapp")
	linked := func(c store.Chat) []int64 {
		ids, err := store.LinkedChats(r.ctx, r.st.DB(), c.ID)
		require.NoError(t, err)
		return ids
	}
	require.Contains(t, r.owner("/merge Ana"), "One person?")
	require.Contains(t, r.reacts(r.last().Event, "👍"), "Please type")
	require.Equal(t, "They stay apart.", r.owner("no"))
	require.Equal(t, []int64{signal.ID}, linked(signal))

	r.owner("/merge Ana WhatsApp with Ana Signal")
	require.Contains(t, r.owner("yes"), "One person")
	require.Equal(t, []int64{whatsapp.ID, signal.ID}, linked(signal))
	require.Contains(t, r.owner("/merge ana signal, ana whatsapp"), "are merged already")
	require.Contains(t, r.owner("/memory ana signal"), "One person with **Ana · WhatsApp**")

	r.owner("/merge annabel and ana whatsapp")
	r.owner("yes")
	require.Equal(t, []int64{whatsapp.ID, signal.ID, telegram.ID}, linked(telegram))
	require.Contains(t, r.owner("/unmerge ana whatsapp"), "apart from **Ana · Signal** and **Annabel · Telegram**")
	require.Equal(t, []int64{whatsapp.ID}, linked(whatsapp))
	require.Equal(t, []int64{signal.ID, telegram.ID}, linked(signal), "the others stay merged")
	r.owner("/unmerge annabel")
	require.Equal(t, []int64{signal.ID}, linked(signal))
	require.Zero(t, r.count("select count(*) from chats where person is not null"))
	require.Contains(t, r.owner("/unmerge annabel"), "merged with no other chat")
}

func TestMergingNeverGuesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.chat("Ana", "signal")
	r.chat("Ana", "telegram")
	r.chat("Family", "whatsapp", func(c *store.Chat) { c.Kind = "group" })
	require.Contains(t, r.owner("/merge"), "Which two chats")
	require.Contains(t, r.owner("/merge Ana"), "Which “Ana”?")
	require.Contains(t, r.owner("/merge Ana with Ana Signal"), "Which “Ana”?")
	require.Contains(t, r.owner("/merge Ana Signal with Eve"), "I know no chat")
	require.Contains(t, r.owner("/merge Ana Signal with Family"), "I know no chat", "a group is no person")
	require.Contains(t, r.owner("/merge Ana Signal with Ana Signal"), "Which two chats")
	require.Contains(t, r.eva("/merge Ana Signal with Ana Telegram"), "is the owner's")
}

func TestAPersonIsErasedWithAllMergedChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whatsapp, signal := r.chat("Ana", "whatsapp"), r.chat("Annabel", "signal")
	r.says(whatsapp, "@a:x", "zanzibar")
	r.says(signal, "@b:x", "zanzibar")
	r.owner("/merge ana whatsapp with annabel")
	r.owner("yes")
	require.Contains(t, r.owner("/erase annabel"), "All of **Ana · WhatsApp** and **Annabel · Signal** goes")
	r.owner("yes")
	require.Contains(t, r.forgets(), "2 messages")
	require.Zero(t, r.count("select count(*) from messages where body = 'zanzibar'"))
}
