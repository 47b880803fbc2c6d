package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestRecallMemory_CallersScopeOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	mem := memory.New(memory.Options{Store: st, Search: search.New(st)})
	r := tools.NewRegistry(tools.TierPolicy{}, tools.RecallMemory{Memory: mem})
	role := policy.UserRole(7)
	require.NoError(t, st.AsOwner(ctx, policy.ContactScope(7), func(tx store.Tx) error {
		_, err := index.ReplaceDocument(ctx, tx, index.Document{
			Origin: "note",
			Name:   "Notes",
			Role:   role,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   "h",
		},
			[]index.Chunk{{Key: "note", Content: "Ana plays zither", SearchText: search.IndexText("", "", "Ana plays zither")}})
		return err
	}))
	call := func(scope policy.Scope, query string) tools.Result {
		raw, err := json.Marshal(map[string]string{"query": query})
		require.NoError(t, err)
		return do(t, r, tools.Call{Name: "recall_memory", Args: raw, Caller: tools.Caller{Scope: scope}}, false)
	}
	require.Len(t, call(policy.ContactScope(7), "zither").Passages, 1)
	other := call(policy.ContactScope(8), "zither")
	require.Empty(t, other.Passages)
	require.Equal(t, "Nothing of that kind is remembered.", other.ForLLM)
	require.Equal(t, tools.CodeArguments, call(policy.ContactScope(7), " ").Code)
}
