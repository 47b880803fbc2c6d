package appservice

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// receiveFile takes in a file of somebody's and returns its row.
func (b *fixture) receiveFile(sender id.UserID, kind, more string) store.Message {
	b.t.Helper()
	evt := b.event("m.room.message", "!a:x", sender, fmt.Sprintf(`{"msgtype":%q,"body":"f","url":"mxc://example.com/file"%s}`, kind, more))
	b.receive(evt)
	return b.message(evt)
}

const voiceMark = `,"org.matrix.msc3245.voice":{}`

func TestKeep_SelectsFiles(t *testing.T) {
	t.Parallel()
	for keep, want := range map[policy.Keep]int{policy.KeepNone: 0, "": 0, policy.KeepVoice: 1, policy.KeepAll: 2} {
		t.Run(string(keep), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.inbox.settings.Keep = keep
			b.chat("!a:x", policy.ModeSilent)
			b.receiveFile(ana, "m.image", "")
			b.receiveFile(ana, "m.audio", voiceMark)
			b.receiveFile(owner, "m.image", "")
			require.Equal(t, want, b.jobs("keep_file"))
		})
	}
}

func TestKeep_FileExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.settings.Keep = policy.KeepAll
	chat := b.chat("!a:x", policy.ModeSilent)
	plain := randomBytes(t, mib)
	sealed, _ := sealedCopy(plain)
	server := httptest.NewServer(&mediaServer{file: sealed})
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Token: "as-token", Owner: owner, Bot: bot})
	require.NoError(t, err)
	keeper := NewAttachmentStore(b.inbox, hs, AttachmentLimits{Total: 2*mib + 1, Age: time.Hour})
	var kept []store.Message
	for range 3 {
		m := b.receiveFile(ana, "m.image", "")
		require.NoError(t, keeper.KeepFile(t.Context(), m.ID))
		require.NoError(t, keeper.KeepFile(t.Context(), m.ID), "the job comes again")
		kept = append(kept, m)
	}
	has := func(m store.Message) bool {
		data, err := store.KeptFile(t.Context(), b.store.DB(), m.ID)
		if err != nil {
			require.ErrorIs(t, err, store.ErrNotFound)
			return false
		}
		require.Equal(t, sealed, data)
		return true
	}
	require.Equal(t, []bool{false, true, true}, []bool{has(kept[0]), has(kept[1]), has(kept[2])}, "the oldest goes first")

	b.receive(b.event("m.room.redaction", "!a:x", ana, `{"redacts":"`+kept[1].EventID.String()+`"}`))
	require.False(t, has(kept[1]), "a message that is deleted takes its file along")
	require.NoError(t, keeper.KeepFile(t.Context(), kept[1].ID))
	require.False(t, has(kept[1]))

	_, err = b.store.Pool().Exec(t.Context(), "update kept_files set expires_at = now() - interval '1 second'")
	require.NoError(t, err)
	_, err = store.DeleteExpiredFiles(t.Context(), b.store.Writer(), time.Now())
	require.NoError(t, err)
	require.False(t, has(kept[2]), "its time is over")

	late := b.receiveFile(ana, "m.image", "")
	b.setMode(chat, policy.ModeOff)
	require.NoError(t, keeper.KeepFile(t.Context(), late.ID))
	require.False(t, has(late), "nothing of a chat that is off")
}

func (b *fixture) setMode(chat store.Chat, mode policy.Mode) {
	b.t.Helper()
	require.NoError(b.t, b.store.InTx(b.t.Context(), func(tx store.Tx) error { return store.SetMode(b.t.Context(), tx, chat.ID, mode) }))
}
