package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// rewriteDocuments indexes documents again with other texts and roles, and removes some.
func rewriteDocuments(ctx context.Context, lib *knowledge.Library, r *rand.Rand, times int) error {
	roles := []policy.Role{policy.RolePublic, policy.RoleAdmin, policy.UserRole(1), policy.UserRole(2)}
	for range times {
		name := fmt.Sprintf("d%d.md", r.IntN(8))
		if r.IntN(4) == 0 {
			if err := lib.Remove(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			continue
		}
		role := roles[r.IntN(len(roles))]
		var text strings.Builder
		for i := range 1 + r.IntN(6) {
			fmt.Fprintf(&text, "# Part %d\n\nThis belongs to %s. %s\n\n", i, role, randomText(r, 40))
		}
		if _, err := lib.Index(ctx, knowledge.File{Name: name, Role: role, Data: []byte(text.String())}); err != nil {
			return err
		}
	}
	return nil
}

func TestSearch_FindsDocumentRewrittenMeanwhile(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	write := func(tx store.Tx, text string) error {
		doc := index.Document{
			Origin: "a",
			Name:   "a",
			Role:   policy.RolePublic,
			Kind:   index.KindKnowledge,
			Format: "txt",
			Hash:   text,
		}
		_, err := index.ReplaceDocument(t.Context(), tx, doc,
			[]index.Chunk{{Key: text, Content: text, SearchText: search.IndexText("", "", text), Language: "english"}})
		return err
	}
	require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(), func(tx store.Tx) error { return write(tx, "The parrot sleeps.") }))
	var searching errgroup.Group
	var r search.Result
	require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(), func(tx store.Tx) error {
		if _, err := tx.Exec(t.Context(), "lock table chunks in access exclusive mode"); err != nil { // its text cannot be read
			return err
		}
		searching.Go(func() (err error) {
			r, err = search.New(st).AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "parrot"})
			return err
		})
		require.Eventually(t, func() (waits bool) {
			err := st.DB().QueryRow(t.Context(),
				"select exists (select from pg_locks where relation = 'chunks'::regclass and not granted)").Scan(&waits)
			return err == nil && waits
		}, time.Minute, 10*time.Millisecond)
		return write(tx, "The parrot flies.")
	}))
	require.NoError(t, searching.Wait())
	require.Len(t, r.Hits, 1)
	require.Equal(t, "The parrot flies.", r.Hits[0].Text)
}

func TestSearch_ConcurrentWritesLeakNothing(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var writing errgroup.Group
	for n := range uint64(2) {
		writing.Go(func() error {
			return rewriteDocuments(t.Context(), knowledge.New(st), rand.New(rand.NewPCG(n, 3)), 100)
		})
	}
	written := make(chan error, 1)
	go func() { written <- writing.Wait() }()

	cached := search.New(st)
	r := rand.New(rand.NewPCG(4, 3))
	shown := 0
	for searches := 0; ; searches++ {
		select {
		case err := <-written:
			require.NoError(t, err)
			require.Greater(t, shown, 100)
			return
		default:
		}
		s := cached
		if searches%2 == 0 {
			s = search.New(st) // nothing is cached: Postgres finds the passages
		}
		scope, word := policy.ContactScope(store.ChatID(1+r.IntN(2))), vocabulary[r.IntN(len(vocabulary))]
		found, err := s.AsContact(t.Context(), scope, search.Query{Text: word, Limit: 50})
		require.NoError(t, err)
		for _, h := range found.Hits {
			require.True(t, scope.Allows(h.Role), h.Role)
			require.Contains(t, h.Text, "belongs to "+string(h.Role))
			if h.Coverage == 1 {
				require.Contains(t, h.Text, word)
			}
			shown++
		}
	}
}
