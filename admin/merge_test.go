package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestMerge_AndUnmerge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whatsapp, signal := r.chat("Ana", "whatsapp"), r.chat("Ana", "signal")
	telegram := r.chat("Annabel", "telegram")
	r.chat("Ben", "whatsapp")
	linked := func(c store.Chat) []store.ChatID {
		ids, err := store.LinkedChats(r.ctx, r.st.DB(), c.ID)
		require.NoError(t, err)
		return ids
	}
	require.Contains(t, r.asOwner("/merge Ana"), "One person?")
	require.Contains(t, r.react(r.lastSent().Event, "👍"), "Please type")
	require.Equal(t, "They stay apart.", r.asOwner("no"))
	require.Equal(t, []store.ChatID{signal.ID}, linked(signal))

	r.asOwner("/merge Ana WhatsApp with Ana Signal")
	require.Contains(t, r.asOwner("yes"), "One person")
	require.Equal(t, []store.ChatID{whatsapp.ID, signal.ID}, linked(signal))
	require.Contains(t, r.asOwner("/merge ana signal, ana whatsapp"), "are merged already")
	require.Contains(t, r.asOwner("/memory ana signal"), "One person with **Ana · WhatsApp**")

	r.asOwner("/merge annabel and ana whatsapp")
	r.asOwner("yes")
	require.Equal(t, []store.ChatID{whatsapp.ID, signal.ID, telegram.ID}, linked(telegram))
	require.Contains(t, r.asOwner("/unmerge ana whatsapp"), "apart from **Ana · Signal** and **Annabel · Telegram**")
	require.Equal(t, []store.ChatID{whatsapp.ID}, linked(whatsapp))
	require.Equal(t, []store.ChatID{signal.ID, telegram.ID}, linked(signal), "the others stay merged")
	r.asOwner("/unmerge annabel")
	require.Equal(t, []store.ChatID{signal.ID}, linked(signal))
	require.Zero(t, r.count("select count(*) from chats where person is not null"))
	require.Contains(t, r.asOwner("/unmerge annabel"), "merged with no other chat")
}

func TestMerge_NeverGuesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.chat("Ana", "signal")
	r.chat("Ana", "telegram")
	r.chat("Family", "whatsapp", func(c *store.Chat) { c.Kind = "group" })
	require.Contains(t, r.asOwner("/merge"), "Which two chats")
	require.Contains(t, r.asOwner("/merge Ana"), "Which “Ana”?")
	require.Contains(t, r.asOwner("/merge Ana with Ana Signal"), "Which “Ana”?")
	require.Contains(t, r.asOwner("/merge Ana Signal with Eve"), "I know no chat")
	require.Contains(t, r.asOwner("/merge Ana Signal with Family"), "I know no chat", "a group is no person")
	require.Contains(t, r.asOwner("/merge Ana Signal with Ana Signal"), "Which two chats")
	require.Contains(t, r.asOperator("/merge Ana Signal with Ana Telegram"), "Only the owner can use")
}

func TestErase_IncludesMergedChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	whatsapp, signal := r.chat("Ana", "whatsapp"), r.chat("Annabel", "signal")
	r.addGroupMessage(whatsapp, "@a:x", "zanzibar")
	r.addGroupMessage(signal, "@b:x", "zanzibar")
	r.asOwner("/merge ana whatsapp with annabel")
	r.asOwner("yes")
	require.Contains(t, r.asOwner("/erase annabel"), "All of **Ana · WhatsApp** and **Annabel · Signal** goes")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "2 messages")
	require.Zero(t, r.count("select count(*) from messages where body = 'zanzibar'"))
}
