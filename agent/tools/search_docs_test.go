package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/safety/sandbox"
	"multis/store/storetest"
)

// TestMain makes the test program the child of the sandbox as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	storetest.Main(m)
}

func TestSearchDocs_CallersScopeOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	library := knowledge.New(st)
	for _, f := range []knowledge.File{
		{Name: "prices.md", Data: []byte("# Prices\n\nTuning a piano costs 90 euro.\n"), Role: policy.RolePublic},
		{Name: "margins.md", Data: []byte("# Margins\n\nThe piano margin is 40 percent.\n"), Role: policy.RoleAdmin},
	} {
		_, err := library.Index(ctx, f)
		require.NoError(t, err)
	}
	r := tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{Search: search.New(st)})
	find := func(c tools.Caller) []string {
		res, err := r.Do(ctx, tools.Call{Name: "search_docs", Args: json.RawMessage(`{"query": "piano margin"}`), Caller: c}, false)
		require.NoError(t, err)
		require.False(t, res.IsError)
		var titles []string
		for _, hit := range res.Passages {
			titles = append(titles, hit.Title)
		}
		return titles
	}
	require.ElementsMatch(t, []string{"prices.md", "margins.md"}, find(tools.Caller{Owner: true, Scope: policy.OwnerScope()}))
	require.Equal(t, []string{"prices.md"}, find(tools.Caller{Scope: policy.ContactScope(7)}))
	_, err := r.Do(ctx, tools.Call{Name: "search_docs", Args: json.RawMessage(`{"query": "piano"}`)}, false)
	require.ErrorIs(t, err, policy.ErrNoScope, "without a scope there is no search at all")
}
