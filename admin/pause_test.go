package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestPause_Everything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	for _, line := range []string{"/pause", "/pause ALL"} {
		require.Equal(t,
			"**Everything is paused.** Nothing is sent, not even queued messages. I still remember what comes in. `/resume` ends it.",
			r.asOwner(line))
	}
	var pause store.Pause
	paused, err := store.GetSetting(r.ctx, r.st.DB(), store.SettingPause, &pause)
	require.NoError(t, err)
	require.True(t, paused)
	require.True(t, pause.Since.Equal(noon))
	require.Contains(t, r.asOwner("/status"), "**Everything is paused** since 18:00: `/resume` ends it.")
	require.Contains(t, r.asOwner("/resume Ana"), "Everything is still paused: `/resume` ends that.")
	require.Equal(t, "**I'm back.** I won't answer messages that arrived while paused.", r.asOwner("/resume"))
	require.Zero(t, r.count("select count(*) from settings where key = 'pause'"))
	require.Equal(t, "Not everything was paused.", r.asOwner("/resume all"))
}

func TestPause_OneChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, signal, _ := r.addChats()
	require.Contains(t, r.asOwner("/pause Ana"), "**Which one?** 2 chats with “Ana”:")
	require.Equal(t, "**Ana · WhatsApp is paused.** I remember, and answer nothing there until `/resume Ana`.", r.asOwner("1"))
	require.True(t, r.reload(ana).PausedUntil.After(noon.AddDate(100, 0, 0)))
	require.Nil(t, r.reload(signal).PausedUntil)
	require.Contains(t, r.asOwner("/status"), "Paused: Ana · WhatsApp.")
	require.Equal(t, "Not everything was paused.\nStill paused: Ana · WhatsApp. `/resume` and a name ends that.", r.asOwner("/resume"))

	r.tx(func(tx store.Tx) error {
		if err := store.MarkOwnerWrote(r.ctx, tx, ana.ID, "", time.Now()); err != nil {
			return err
		}
		question, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  ana.ID,
			EventID: "$help",
			Author:  policy.AuthorContact,
			Sender:  "@ana:example.com",
			Kind:    "text",
			Body:    "a person please",
			At:      noon,
			Action:  policy.ActionEscalate,
			Code:    policy.CodeWantsHuman,
		})
		if err != nil {
			return err
		}
		_, err = store.OpenEscalation(r.ctx, tx, ana.ID, question, "It asks for a person.", nil)
		return err
	})
	require.Contains(t, r.asOwner("/status"), "**1 chat waits for you**\nAna · WhatsApp — since ")
	require.Equal(t, "**Ana · WhatsApp: I answer again.** It is business.", r.asOwner("/resume ana · whatsapp"))
	got := r.reload(ana)
	require.Nil(t, got.PausedUntil)
	require.Nil(t, got.OwnerWroteAt)
	require.Contains(t, r.asOwner("/status"), "Nobody waits for you.")
	require.Equal(t, "**Ana · WhatsApp was not paused.** It is business.", r.asOwner("/resume ana whatsapp"))
	require.Equal(t,
		"**Family · WhatsApp group was not paused.** It is silent, so I still write nothing there: `/mode business Family` changes that.",
		r.asOwner("/resume family"))
	r.asOwner("/mode personal maybe")
	require.Contains(t, r.asOwner("/resume maybe"), "But I cannot answer there: I do not know whether its room is encrypted")
}
