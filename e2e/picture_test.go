//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

// photograph is a PNG of a few pixels.
func photograph(t *testing.T) []byte {
	t.Helper()
	var data bytes.Buffer
	require.NoError(t, png.Encode(&data, image.NewGray(image.Rect(0, 0, 30, 20))))
	return data.Bytes()
}

func TestPicture_AnsweredFromDocuments(t *testing.T) {
	const shows, answered = "A poster about a consultation.", `{"sentences": [{"text": "A consultation is 80 EUR.", "source": 1, "quote": "A consultation costs 80 EUR and takes 45 minutes."}]}`
	model := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if r.Model == "sees" {
			return llmtest.Reply{Text: shows}
		}
		return llmtest.Reply{Text: answered}
	})
	a := start(t, setup{Locked: true, Model: model.URL, Vision: "openai/sees"})
	a.learn()
	a.switchToBusiness("sealed-pia")
	room := *a.chat("sealed-pia").RoomID

	said, err := a.Network.Say(t.Context(), "sealed-pia", demonet.Line{Text: "What does this cost?", File: &demonet.File{
		Name: "poster.png",
		MIME: "image/png",
		Data: photograph(t),
	}})
	require.NoError(t, err)
	got := a.awaitDeliveries("sealed-pia", 1)
	require.Contains(t, got[0].Text, "A consultation is 80 EUR. (from Prices)")
	a.requireOnlyEncrypted(t, room)
	message := a.awaitMessage(said.Event)
	require.Equal(t, "[photo: "+shows+"] What does this cost?", message.Body)
	require.NotNil(t, message.Attachment.Key, "the picture was encrypted as well")

	asked := model.Requests()
	require.Len(t, asked, 2)
	require.Len(t, asked[0].Messages[0].Images, 1)
	require.Equal(t, "image/jpeg", asked[0].Messages[0].Images[0].MIME, "it was encoded anew")
	seen, err := jpeg.Decode(bytes.NewReader(asked[0].Messages[0].Images[0].Data))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 30, 20), seen.Bounds())
	require.Contains(t, asked[1].Last(), shows)
	require.Equal(t, 1, a.count("select count(*) from usage where purpose = 'picture'"))
	require.NotContains(t, a.log(), shows)

	a.step("what is no picture is escalated with it", func(t *testing.T) {
		broken, err := a.Network.Say(t.Context(), "sealed-pia", demonet.Line{Text: "And this?", File: &demonet.File{
			Name: "torn.png",
			MIME: "image/png",
			Data: photograph(t)[:40],
		}})
		require.NoError(t, err)
		require.Contains(t, a.awaitDeliveries("sealed-pia", 2)[1].Text, "check with the team")
		a.await("the card", func(ctx context.Context) (bool, error) {
			return a.exists(ctx,
				"select exists (select from escalations e join outbox o on o.id = e.card_id where e.cause = 'file' and o.event_id is not null and o.content->>'body' like '%[photo] And this?%' and o.content->>'body' like '%' || $1 || '%')", broken.Event)
		})
		require.Len(t, model.Requests(), 2, "no model gets it")
	})
}

func TestPicture_EncryptedReachesContact(t *testing.T) {
	a, owner := startLocked(t, setup{Operators: fmt.Sprintf("[\"@tom:%s\"]", devstack.Domain)})
	a.learn()
	a.switchToBusiness("sealed-uma")
	room := a.adminRoom()
	user, err := a.Stack.RegisterUser(t.Context(), "tom", "tom")
	require.NoError(t, err)
	_, err = owner.InviteUser(t.Context(), room, &mautrix.ReqInviteUser{UserID: user})
	require.NoError(t, err)
	tom, err := a.OpenElementOf(t.Context(), user, "tom")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tom.Close()) })
	_, err = tom.SetUpEncryption(t.Context())
	require.NoError(t, err)
	_, err = tom.JoinRoomByID(t.Context(), room)
	require.NoError(t, err)
	sent, err := owner.SendStateEvent(t.Context(), room, event.StateEncryption, "",
		event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
	require.NoError(t, err)
	a.awaitBothPaths(sent.EventID)

	_, err = a.Say(t.Context(), "sealed-uma", "I want to speak to a person. Where is the entrance?")
	require.NoError(t, err)
	a.awaitDeliveries("sealed-uma", 1) // that a person will answer
	var card id.EventID
	a.await("the card", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, "select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id").Scan(&card)
		return card != "", err
	})
	_, err = tom.Read(t.Context(), card)
	require.NoError(t, err, "the operator reads the card")

	plain := photograph(t)
	key, sealed := attachment.NewEncryptedFile(), bytes.Clone(plain)
	key.EncryptInPlace(sealed)
	uploaded, err := tom.UploadBytes(t.Context(), sealed, "application/octet-stream")
	require.NoError(t, err)
	_, err = tom.State(t.Context(), room)
	require.NoError(t, err)
	answered, err := tom.SendMessageEvent(t.Context(), room, event.EventMessage, &event.MessageEventContent{
		MsgType: event.MsgImage, Body: "Here, on the left", FileName: "door.png", Info: &event.FileInfo{MimeType: "image/png", Size: len(plain)},
		File:      &event.EncryptedFileInfo{EncryptedFile: *key, URL: uploaded.ContentURI.CUString()},
		RelatesTo: (&event.RelatesTo{}).SetThread(card, card),
	})
	require.NoError(t, err)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, answered.EventID))

	got := a.awaitDeliveries("sealed-uma", 2)[1]
	require.Equal(t, "Here, on the left", got.Text)
	require.NotNil(t, got.File, "the file itself")
	require.Equal(t, plain, got.File.Data)
	require.Equal(t, []string{"door.png", "image/png"}, []string{got.File.Name, got.File.MIME})
	a.requireOnlyEncrypted(t, *a.chat("sealed-uma").RoomID)
	var content string
	a.await("the row of the answer", func(ctx context.Context) (bool, error) { // multis may learn of the event after the contact
		err := a.db.DB().QueryRow(ctx, "select coalesce(max(content::text), '') from outbox where event_id = $1", got.EventID).Scan(&content)
		return content != "", err
	})
	require.NotContains(t, content, uploaded.ContentURI.String(), "the contact's copy is a file of its own")
}

const deposits = "# Bootsverleih\n\n## Kanus\n\nDie Kaution beträgt 50 Euro.\n\n## Segelboote\n\nDie Kaution beträgt 300 Euro.\n"

func TestPicture_AsksOnceInContactsLanguage(t *testing.T) {
	a := start(t, setup{})
	a.learnText("boote.md", deposits)
	a.switchToBusiness("clear-lena", "clear-paul")
	const asked, back = "Guten Tag, wie hoch ist die Kaution?", "Meinen Sie Kanus oder Segelboote?"
	_, err := a.Say(t.Context(), "clear-lena", asked)
	require.NoError(t, err)
	require.Contains(t, a.awaitDeliveries("clear-lena", 1)[0].Text, back)
	said, message := a.say("clear-lena", "Segelboote bitte")
	answered := a.awaitDeliveries("clear-lena", 2)[1].Text
	require.Contains(t, answered, "Die Kaution beträgt 300 Euro.")
	require.Contains(t, answered, "(aus Bootsverleih)")
	require.Equal(t, policy.CodeAnswer, message.Code)
	out := a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDelivered)
	require.Len(t, out.Citations, 1)
	require.Equal(t, "Die Kaution beträgt 300 Euro.", out.Citations[0].Quote)

	_, err = a.Say(t.Context(), "clear-paul", asked)
	require.NoError(t, err)
	require.Contains(t, a.awaitDeliveries("clear-paul", 1)[0].Text, back)
	_, err = a.Say(t.Context(), "clear-paul", "Das weiß ich nicht.")
	require.NoError(t, err)
	a.await("the card with the question", func(ctx context.Context) (bool, error) {
		return a.exists(ctx,
			"select exists (select from escalations e join outbox o on o.id = e.card_id where o.event_id is not null and o.content->>'body' like '%' || $1 || '%')", asked)
	})
	for _, d := range a.awaitDeliveries("clear-paul", 2)[1:] {
		require.False(t, strings.Contains(d.Text, "Meinen Sie") || strings.Contains(d.Text, "Euro"), d.Text)
	}
}
