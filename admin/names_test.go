package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/store"
)

func TestChatName_NumbersWorkEverywhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Agents = []persona.Persona{{ID: "shop", Name: "Shop"}}
	r.restart()
	first := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Contact = "@whatsapp_4915100:example.com" })
	second := r.chat("a\u200bna", "whatsapp", func(c *store.Chat) { c.Contact = "@whatsapp_4915222:example.com" })
	other := r.chat("Ana", "signal")
	first, second = r.reload(first), r.reload(second)

	list := r.asOwner("/mode")
	require.Contains(t, list, fmt.Sprintf("Ana · WhatsApp #%d — silent · `whatsapp_4915100`", first.ID))
	require.Contains(t, list, fmt.Sprintf("ana · WhatsApp #%d — silent · `whatsapp_4915222`", second.ID))
	require.Contains(t, list, "Ana · Signal — silent")

	refused := r.asOwner(`/remind 2h hello --to "Ana WhatsApp"`)
	require.Contains(t, refused, fmt.Sprintf("Ana · WhatsApp #%d", first.ID))
	require.Contains(t, refused, fmt.Sprintf("ana · WhatsApp #%d", second.ID))

	for i, name := range []string{
		fmt.Sprintf("#%d", first.ID), fmt.Sprintf("Ana #%d", first.ID), fmt.Sprintf("ana whatsapp #%d", first.ID),
		fmt.Sprintf("Ana · WhatsApp #%d", first.ID),
	} {
		for command, want := range map[string]string{
			"/mode business %s": "is ", "/mode silent %s": "is ", "/delivery draft %s": "I show you here", "/delivery auto %s": "is sent at once",
			"/why %s":   "Nothing came from",
			"/pause %s": "Ana · WhatsApp", "/resume %s": "Ana · WhatsApp", "/memory %s": "no notes yet", "/brief %s": "Ana · WhatsApp",
			"/agent shop %s": "From now on shop answers in Ana · WhatsApp",
			"/import %s":     "Ana · WhatsApp", "/commitments %s": "Ana · WhatsApp", "/forget all %s": "Ana · WhatsApp",
			"/erase %s":   "Ana · WhatsApp",
			"/unmerge %s": "Ana · WhatsApp", "/export %s": "Ana · WhatsApp",
			`/remind 2h hello --to "%s"`: "I'll send it to **Ana · WhatsApp",
		} {
			if i == 0 && strings.HasPrefix(command, "/commitments") { // a number alone is a commitment
				continue
			}
			said := r.asOwner(fmt.Sprintf(command, name))
			require.Contains(t, strings.ReplaceAll(said, "**", ""), strings.ReplaceAll(want, "**", ""), command+" "+name)
			require.NotContains(t, said, "Which one?", command+" "+name)
		}
	}
	require.Equal(t, "shop", r.reload(first).Agent)
	require.Empty(t, r.reload(second).Agent)
	require.Empty(t, r.reload(other).Agent)
}

func TestChatName_CannotLookLikeLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	for _, name := range []string{"Ana · Signal — business, answers on", "Ana • Signal", "\u200b", "Ana\n1 Ana · WhatsApp"} {
		r.chat(name, "whatsapp")
	}
	list := r.asOwner("/mode")
	require.NotContains(t, list, "Ana · Signal")
	require.Contains(t, list, "Ana - Signal - business, answers on · WhatsApp — silent")
	require.Contains(t, list, "Somebody · WhatsApp — silent")
	require.Equal(t, 5, strings.Count(list, " · WhatsApp — silent"))
}
