//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
	"multis/llm/llmtest"
)

func TestVoiceNote_EncryptedIsAnswered(t *testing.T) {
	recording := []byte("not really opus, but nobody here listens")
	speech := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript {
		return llmtest.Transcript{Text: question, Seconds: 3}
	})
	a := start(t, setup{Locked: true, Speech: speech.URL})
	a.learn()
	a.switchToBusiness("sealed-vera")
	room := *a.chat("sealed-vera").RoomID

	said, err := a.Network.Say(t.Context(), "sealed-vera", demonet.Line{
		File: &demonet.File{
			Name:   "voice.ogg",
			MIME:   "audio/ogg",
			Data:   recording,
			Millis: 3000,
			Voice:  true,
		},
	})
	require.NoError(t, err)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, said.Event))
	got := a.awaitDeliveries("sealed-vera", 1)
	require.Contains(t, got[0].Text, "80 EUR")
	a.requireOnlyEncrypted(t, room)

	note := a.awaitMessage(said.Event)
	require.Equal(t, question, note.Body)
	require.Equal(t, "voice", note.Kind)
	require.NotNil(t, note.Attachment.Key, "the file was encrypted as well")
	require.Len(t, speech.Requests(), 1)
	require.Equal(t, recording, speech.Requests()[0].Data)
	require.Equal(t, 1, a.count("select count(*) from usage where purpose = 'speech' and cost = 300"))
	require.NotContains(t, a.log(), question)

	a.step("nobody listens where nothing is answered", func(t *testing.T) {
		require.Contains(t, a.command("/mode silent "+a.chat("sealed-vera").Name), "silent")
		quiet, err := a.Network.Say(t.Context(), "sealed-vera", demonet.Line{File: &demonet.File{
			Name:  "v.ogg",
			MIME:  "audio/ogg",
			Data:  recording,
			Voice: true,
		}})
		require.NoError(t, err)
		require.Equal(t, "[voice note]", a.awaitMessage(quiet.Event).Body)
		a.awaitIdle()
		require.Len(t, speech.Requests(), 1)
	})
}

func TestFiles_InEncryptedAdminRoom(t *testing.T) {
	a, element := startLocked(t, setup{})
	room := a.adminRoom()
	sent, err := element.SendStateEvent(t.Context(), room, event.StateEncryption, "",
		event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
	require.NoError(t, err)
	a.awaitBothPaths(sent.EventID)

	noise := make([]byte, 40<<20)
	_, err = io.ReadFull(rand.Reader, noise)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		plain   []byte
		declare int                        // its size; 0: the true one
		change  func(sealed []byte) []byte // what the server has
		says    string
	}{
		"a file is read":                    {plain: prices, says: "done"},
		"40 MB are too many":                {plain: noise, says: "too big: at most 10 MB"},
		"40 MB that are said to be few too": {plain: noise, declare: 1000, says: "too large: at most 10 MB"},
		"half a file": {plain: prices, change: func(s []byte) []byte {
			return s[:len(s)/2]
		}, says: "only a part of the file arrived"},
		"another file": {plain: prices, change: func(s []byte) []byte {
			s[0]++
			return s
		}, says: "not the one that was sent"},
	} {
		a.step(name, func(t *testing.T) {
			asked := a.sendEncrypted(t, element, room, test.plain, test.declare, test.change)
			a.await("word of the file", func(ctx context.Context) (bool, error) {
				a.awaitMessage(asked)
				return a.exists(ctx,
					"select exists (select from outbox o, messages m where m.event_id = $1 and o.created_at > m.received_at and o.content->>'body' like '%' || $2 || '%')", asked, test.says)
			})
		})
	}
}

// sendEncrypted sends a file as a client does that encrypts, and has the server keep something else where change says so.
func (a *app) sendEncrypted(t *testing.T, element *rig.Element, room id.RoomID, plain []byte, declare int,
	change func([]byte) []byte,
) id.EventID {
	t.Helper()
	key := attachment.NewEncryptedFile()
	sealed := bytes.Clone(plain)
	key.EncryptInPlace(sealed)
	if change != nil {
		sealed = change(sealed)
	}
	uploaded, err := element.UploadBytes(t.Context(), sealed, "application/octet-stream")
	require.NoError(t, err)
	if declare == 0 {
		declare = len(plain)
	}
	_, err = element.State(t.Context(), room)
	require.NoError(t, err)
	sent, err := element.SendMessageEvent(t.Context(), room, event.EventMessage, &event.MessageEventContent{
		MsgType: event.MsgFile, Body: "/index public", FileName: "prices.md", Info: &event.FileInfo{MimeType: "text/markdown", Size: declare},
		File: &event.EncryptedFileInfo{EncryptedFile: *key, URL: uploaded.ContentURI.CUString()},
	})
	require.NoError(t, err)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, sent.EventID))
	return sent.EventID
}
