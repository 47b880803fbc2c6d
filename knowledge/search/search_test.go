package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func titles(r search.Result) []string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, h.Title)
	}
	return list
}

func indexAll(t *testing.T, st *store.Store, files ...[2]string) *search.Searcher {
	t.Helper()
	for _, f := range files {
		_, err := knowledge.New(st).Index(t.Context(), knowledge.File{Name: f[0], Role: policy.RolePublic, Data: []byte(f[1])})
		require.NoError(t, err)
	}
	return search.New(st)
}

func TestSearch_OrdersByRelevance(t *testing.T) {
	t.Parallel()
	s := indexAll(t, storetest.New(t),
		[2]string{"one.txt", "Our bread is baked every morning."},
		[2]string{"two.txt", "Rye bread, rye rolls and rye cakes are baked on Friday."},
		[2]string{"three.txt", "Coffee and tea."},
		[2]string{"four.txt", "We bake bread. The bread with the most rye is baked on Monday."},
	)
	found, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "rye rolls"})
	require.NoError(t, err)
	require.Equal(t, []string{"two.txt", "four.txt"}, titles(found), "who has both words, then who has one; who has none is not found")

	found, err = s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "bread", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"four.txt"}, titles(found), "who says it more often")

	found, err = s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "bread", Kinds: []index.Kind{index.KindConversation}})
	require.NoError(t, err)
	require.Empty(t, found.Hits)

	found, err = s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "helicopter"})
	require.NoError(t, err)
	require.Empty(t, found.Hits)
	require.Len(t, found.Terms, 1)
}

func TestSearch_StopWordsFindNewest(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := indexAll(t, st, [2]string{"old.txt", "Old news."}, [2]string{"new.txt", "New news."})
	for _, text := range []string{"", "what is it", "?!"} {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text})
		require.NoError(t, err)
		require.Equal(t, []string{"new.txt", "old.txt"}, titles(found), text)
		require.Empty(t, found.Terms)
		owners, err := s.AsOwner(t.Context(), policy.OwnerScope(1), search.Query{Text: text})
		require.NoError(t, err)
		require.Equal(t, []string{"new.txt", "old.txt"}, titles(owners), text)
		_, ok, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		require.False(t, ok, "the newest passage is no answer")
	}
}

func TestSearch_ActivationDecidesTies(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := indexAll(t, st, [2]string{"a.txt", "The blue door."}, [2]string{"b.txt", "The blue gate."},
		[2]string{"c.txt", "Blue, blue, very blue."})
	ask := func() search.Result {
		r, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "blue"})
		require.NoError(t, err)
		return r
	}
	before := ask()
	require.Equal(t, []string{"c.txt", "a.txt", "b.txt"}, titles(before))
	require.NoError(t, s.RecordAccess(t.Context(), policy.OwnerScope(), before.Hits[2:]))
	require.Equal(t, []string{"c.txt", "b.txt", "a.txt"}, titles(ask()))
}

func TestSearch_IgnoresQuerySyntax(t *testing.T) {
	t.Parallel()
	s := indexAll(t, storetest.New(t), [2]string{"a.txt", "It's a door & a gate | fence."})
	for _, text := range []string{
		"' | ''", `\'door\'`, "door:*", "!(door)", "door <-> gate", "'; drop table chunks; --", "door\x00gate",
		"\xff\xfe door", string(make([]byte, 100_000)),
	} {
		_, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text})
		require.NoError(t, err, text)
	}
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: `door'|\`})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1)
}
