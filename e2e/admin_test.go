//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

func TestAdminRoom_Commands(t *testing.T) {
	a := begin(t, setup{New: true})
	a.step("the owner is invited and reads what to do", func(t *testing.T) {
		a.joinAdminRoom() // which only who is invited can
		a.await("the welcome", func(context.Context) (bool, error) { return len(a.notices()) > 0, nil })
		require.Contains(t, a.notices()[0], "multis is ready")
	})

	a.step("help, with either sign", func(t *testing.T) {
		require.Contains(t, a.command("/help"), "/mode")
		require.Contains(t, a.command("!help mode"), "business")
		require.Contains(t, a.command("/mdoe"), "Did you mean /mode?")
	})

	a.step("a document is sent, asked about and cited", func(t *testing.T) {
		file := a.upload(t, "rates.md", prices)
		require.Contains(t, a.answer(file), "who may see it?")
		one := a.write("1")
		a.await("the end of indexing", func(context.Context) (bool, error) {
			return strings.Contains(last(a.notices()), "— done: 1 passage"), nil
		})
		a.await("the sign that it is read", func(context.Context) (bool, error) { return slices.Contains(a.reactionsTo(t, file, one), "👀"), nil })
		require.Contains(t, a.command("/docs"), "rates.md")
		for _, asked := range []string{"/ask What does a consultation cost?", question} {
			reply := a.command(asked)
			require.Contains(t, reply, "80 EUR")
			require.Contains(t, reply, "rates.md")
		}
	})

	a.step("why it answered and why it kept silent", func(t *testing.T) {
		a.switchToBusiness("why-tom")
		said, _ := a.say("why-tom", question)
		a.awaitDeliveries("why-tom", 1)
		a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDelivered) // the bridge says so a moment later
		reply := a.command("/why Why-tom")
		require.Contains(t, reply, "Why I answered")
		require.Contains(t, reply, "A consultation costs 80 EUR")
		require.Contains(t, reply, "delivered")
		require.Contains(t, a.command("/mode silent Why-tom"), "I remember, I never write")
		a.say("why-tom", question)
		require.Contains(t, a.command("/why"), "Why I was silent")
	})

	a.step("a list is answered by number, also after a crash", func(t *testing.T) {
		a.say("pick-uma", "hi")
		list := a.command("/mode")
		require.Regexp(t, `(?m)^1 Pick-uma`, list, "the newest chat comes first")
		require.NoError(t, a.process.Kill())
		a.run()
		require.Contains(t, a.command("1"), "2 personal")
		require.Contains(t, a.command("2"), "Pick-uma · Demonet is now personal")
		require.Equal(t, policy.ModePersonal, *a.chat("pick-uma").Mode)
	})

	a.step("and by reaction", func(t *testing.T) {
		a.say("pick-uma", "hi")
		asked, err := a.Owner.SendText(t.Context(), a.adminRoom(), "/mode")
		require.NoError(t, err)
		list := a.answerEvent(asked.EventID)
		first, err := a.Owner.SendReaction(t.Context(), a.adminRoom(), list, "1️⃣")
		require.NoError(t, err)
		modes := a.answerEvent(first.EventID)
		third, err := a.Owner.SendReaction(t.Context(), a.adminRoom(), modes, "3️⃣")
		require.NoError(t, err)
		require.Contains(t, a.answer(third.EventID), "is now silent")
		require.Equal(t, policy.ModeSilent, *a.chat("pick-uma").Mode)
	})
}

func TestDelivery_FailureIsReported(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("fail-vic")
	require.NoError(t, a.Network.Fail(t.Context(), "fail-vic", true))
	said, _ := a.say("fail-vic", question)
	a.await("a word about the failure", func(context.Context) (bool, error) {
		return strings.Contains(last(a.notices()), "Not sent to Fail-vic"), nil
	})
	out := a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxFailed)
	require.Contains(t, out.Error, "refused")
	require.Contains(t, a.command("/why Fail-vic"), "did not arrive")
	require.NoError(t, a.Network.Fail(t.Context(), "fail-vic", false))
	a.awaitDeliveries("fail-vic", 0)
}

// leaveAdminRooms makes the owner leave what rooms earlier tests left, so that the next multis makes a new one.
func leaveAdminRooms(ctx context.Context, t *testing.T, around *scene) {
	t.Helper()
	joined, err := around.Owner.JoinedRooms(ctx)
	require.NoError(t, err)
	for _, room := range joined.JoinedRooms {
		marker := event.Type{Type: "ai.multis.admin", Class: event.StateEventType}
		var content json.RawMessage
		err := around.Owner.StateEvent(ctx, room, marker, "", &content)
		if errors.Is(err, mautrix.MNotFound) {
			continue
		}
		require.NoError(t, err)
		_, err = around.Owner.LeaveRoom(ctx, room)
		require.NoError(t, err)
	}
}

// upload sends a file into the admin room.
func (a *app) upload(t *testing.T, name string, data []byte) id.EventID {
	t.Helper()
	media, err := a.Owner.UploadBytesWithName(t.Context(), data, "text/markdown", name)
	require.NoError(t, err)
	sent, err := a.Owner.SendMessageEvent(t.Context(), a.adminRoom(), event.EventMessage, &event.MessageEventContent{
		MsgType:  event.MsgFile,
		Body:     name,
		FileName: name,
		URL:      media.ContentURI.CUString(),
		Info:     &event.FileInfo{MimeType: "text/markdown", Size: len(data)},
	})
	require.NoError(t, err)
	return sent.EventID
}

// reactionsTo lists the reactions to events in the admin room.
func (a *app) reactionsTo(t *testing.T, events ...id.EventID) (keys []string) {
	t.Helper()
	timeline, err := a.Timeline(t.Context(), a.adminRoom())
	require.NoError(t, err)
	for _, evt := range timeline {
		if evt.Type != event.EventReaction {
			continue
		}
		about := evt.Content.AsReaction().RelatesTo
		for _, wanted := range events {
			if about.EventID == wanted {
				keys = append(keys, about.Key)
			}
		}
	}
	return keys
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}
