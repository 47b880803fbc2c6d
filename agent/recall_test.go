package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/search"
	"multis/store"
)

func TestWhatANamedContactSaidIsShownWithALinkAndTheAnswerSaysWhereItLooked(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Memory = memory.New(memory.Options{Store: b.store, Search: search.New(b.store), Model: llm.None{}, Defaults: policy.Defaults{Profile: policy.ProfilePersonal}})
	b.says("ok 480 for the fence, until first of december", policy.ActionArchive)
	require.NoError(t, b.agent.Memory.Archive(context.Background()))

	text := b.ask("what did Ana say about the fence?")
	require.Contains(t, text, "ok 480 for the fence")
	require.Contains(t, text, "matrix.to/#/!ana:x/$m1")
	require.Contains(t, text, "Looked in: your documents, Ana · ")
	require.NotContains(t, b.ask("what about the fence?"), "480", "nobody named her chat")

	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		quoting, err := store.RedactMessage(context.Background(), tx, b.chat.ID, "$m1", time.Now())
		require.Len(t, quoting, 1, "when her message is deleted, so is the answer that quotes it")
		return err
	}))
}
