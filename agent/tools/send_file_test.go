package tools_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy"
	"multis/store"
)

func TestSendFile_OwnersRoomOnly(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	var sent []tools.OutgoingFile
	d.registry.Add(tools.SendFile{Send: func(_ context.Context, _ store.Chat, f tools.OutgoingFile) error {
		sent = append(sent, f)
		return nil
	}})
	require.Equal(t, tools.CodeRefused, d.call("send_file", map[string]any{"path": "notes.md"}).Code, "it was not asked in the owner's room")
	d.caller.Chat = store.Chat{Kind: policy.KindAdmin}
	require.False(t, d.call("send_file", map[string]any{"path": "sub/offer.txt", "caption": "the offer"}).IsError)
	require.Equal(t, []tools.OutgoingFile{{Name: "offer.txt", MIME: "text/plain", Data: []byte("an offer: 480"), Caption: "the offer"}}, sent)
	for _, path := range []string{
		"link.txt", "linked/key.txt", "../outside/key.txt", filepath.Join(d.outside, "key.txt"), "sub", "",
		"nothing",
	} {
		require.Equal(t, tools.CodeNotFound, d.call("send_file", map[string]any{"path": path}).Code, path)
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.caller.Workspace, "big.bin"), make([]byte, 10<<20+1), 0o600))
	require.True(t, d.call("send_file", map[string]any{"path": "big.bin"}).IsError)
	require.Len(t, sent, 1)
}
