package admin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// addMessageIn stores a message of a contact.
func (r *rig) addMessageIn(chat store.Chat, body string, ago time.Duration) store.Message {
	r.t.Helper()
	m := store.Message{
		ChatID:  chat.ID,
		EventID: r.event(),
		Author:  policy.AuthorContact,
		Sender:  "@ana:x",
		Kind:    "text",
		Body:    body,
		At:      r.now.Add(-ago),
		Action:  policy.ActionArchive,
	}
	r.tx(func(tx store.Tx) (err error) {
		m.ID, err = store.InsertMessage(r.ctx, tx, m)
		return err
	})
	r.exec("update chats set last_message_at = $2 where id = $1", chat.ID, m.At)
	return m
}

func TestBrief_LinksSources(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/brief"), "nobody wrote anything")
	ana := r.chat("Ana", "whatsapp")
	ben := r.chat("Ben", "signal")
	old := r.chat("Otto", "signal")
	r.addMessageIn(old, "weeks ago", 400*time.Hour)
	r.addMessageIn(ben, "when do you *come*?", 2*time.Hour)
	tomorrow := r.now.Add(20 * time.Hour)
	r.addCommitment(ana, "Ana", "Ana brings the papers", &tomorrow)
	m := r.addMessageIn(ana, "the fence is done", time.Hour)

	shown := r.asOwner("/brief")
	require.Contains(t, shown, "· 3 messages in 2 chats\nI have no model configured")
	require.Contains(t, shown, "**Wrote last**\n\n* “the fence is done” · Ana · WhatsApp, ")
	require.Contains(t, shown, "**Waits for an answer**\n\n* “when do you *come*?” · Ben · Signal, ")
	require.Contains(t, shown, "**Promised**\n\n* Ana brings the papers. **due ")
	require.Equal(t, 3, strings.Count(r.lastSent().HTML, "https://matrix.to/#/%21room"))
	require.NotContains(t, shown, "weeks ago")

	require.NotContains(t, r.asOwner("/brief signal"), "fence")
	require.Contains(t, r.asOwner("/brief ana since 2d"), "Ana · WhatsApp · 2 messages")
	require.Contains(t, r.asOwner("/brief since 4w"), "weeks ago")
	require.Contains(t, r.asOwner("/brief since noonish"), "I don't know since when _noonish_ is")
	require.Contains(t, r.asOwner("/brief Anastasia"), "Anastasia")
	require.Contains(t, r.asOperator("/brief"), "Only the owner can use")

	r.tx(func(tx store.Tx) error {
		quoting, err := store.RedactMessage(r.ctx, tx, ana.ID, m.EventID, r.now)
		require.NotEmpty(t, quoting, "a brief goes with each message in it")
		return err
	})
	require.Zero(t, r.count("select count(*) from outbox where content::text like '%fence is done%'"))
}

func TestBrief_AsksForEqualNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.addMessageIn(r.chat("Ana", "signal"), "hello there", time.Hour)
	require.Contains(t, r.asOwner("/brief ana"), "Which one? ")
	require.Contains(t, r.asOwner("/brief Ana · Signal"), "hello there")
}

func TestBrief_ParsesStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	for _, h := range []int{1, 30, 80, 200} {
		r.addMessageIn(ana, "said "+strings.Repeat("i", h), time.Duration(h)*time.Hour)
	}
	r.setLastMessage(ana, time.Hour)
	for args, n := range map[string]string{
		"": "1 message", "2d": "2 messages", "since 2d": "2 messages", "since 90 hours": "3 messages", "since yesterday": "2 messages",
		"Ana since monday": "3 messages",
		"since 2026-01-01": "4 messages", "ana 2w": "4 messages", "since last week": "4 messages", "today": "1 message",
	} {
		require.Contains(t, r.asOwner("/brief "+args), "· "+n, args)
	}
}
