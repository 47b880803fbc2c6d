package appservice

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestLabel_PrecedesJudgement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.settings.Defaults.Labels = []policy.Label{{Name: "angry", Words: []string{"lawyer"}, Mode: policy.ModeSilent}}
	b.inbox.settings.Defaults.Networks = map[string]policy.Mode{"demo": policy.ModeBusiness}
	b.chat("!a:x", policy.ModeBusiness)
	_, err := b.store.Pool().Exec(context.Background(), "update chats set mode = null")
	require.NoError(t, err)

	before := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(before)
	require.Equal(t, policy.ActionAnswer, b.message(before).Action)
	mine := b.text("!a:x", owner, "I will ask my lawyer.")
	b.receive(mine)
	require.Zero(t, b.count("chats where cardinality(labels) > 0"), "the owner's words label nothing")

	angry, after := b.text("!a:x", ana, "You will hear from my Lawyer."), b.text("!a:x", ana, "What does delivery cost?")
	b.receive(angry, after)
	require.Equal(t, 1, b.count("chats where labels = '{angry}'"))
	for _, evt := range []store.Message{b.message(angry), b.message(after)} {
		require.Equal(t, policy.CodeSilent, evt.Code, evt.Body)
	}

	_, err = b.store.Pool().Exec(context.Background(), "update chats set labels = '{}', unlabelled = '{angry}'")
	require.NoError(t, err)
	b.receive(b.text("!a:x", ana, "My lawyer is here."))
	require.Zero(t, b.count("chats where cardinality(labels) > 0"), "the owner took the label")
}
