//go:build e2e

package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
	"multis/store"
)

func TestEdit_BeforeAnswerIsAnswered(t *testing.T) {
	const quiet = 2 * rig.AwaitTimeout // it ends when the test says so, however long an edit takes
	a := start(t, setup{Quiet: quiet.String()})
	a.learn()
	a.switchToBusiness("change-una", "change-vic")

	said, _ := a.say("change-una", "Do you have a zeppelin?")
	require.NoError(t, a.Network.Edit(t.Context(), "change-una", said.Message, question))
	a.await("the edit", func(context.Context) (bool, error) { return a.awaitMessage(said.Event).Body == question, nil })
	a.shiftTimes(quiet)
	require.Contains(t, a.awaitDeliveries("change-una", 1)[0].Text, "80 EUR", "the question as it is now, once")
	require.NotNil(t, a.awaitMessage(said.Event).EditedAt)

	gone, _ := a.say("change-vic", question)
	require.NoError(t, a.Network.Delete(t.Context(), "change-vic", gone.Message))
	a.await("the deletion", func(context.Context) (bool, error) { return a.awaitMessage(gone.Event).RedactedAt != nil, nil })
	a.shiftTimes(quiet)
	a.awaitIdle()
	require.Empty(t, a.awaitMessage(gone.Event).Body)
	a.awaitDeliveries("change-vic", 0)
}

func TestRename_ContactRenamesChat(t *testing.T) {
	a := start(t, setup{})
	a.say("change-wim", "hi")
	require.NoError(t, a.Network.Rename(t.Context(), demonet.Contact{ID: "change-wim", Name: "Willem the Baker"}))
	a.await("the new name", func(ctx context.Context) (bool, error) {
		chat, err := store.ChatByID(ctx, a.db.DB(), a.chat("change-wim").ID)
		return chat.Name == "Willem the Baker", err
	})
	require.Contains(t, a.command("/mode"), "Willem the Baker")
}
