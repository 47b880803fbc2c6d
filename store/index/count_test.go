package index_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// checkStats compares the stored statistics, and those that a search returns, with statistics that are computed anew.
func checkStats(t *testing.T, st *store.Store) {
	t.Helper()
	const differenceSQL = `with truth as (
			select r.role, w.word, count(*)::int as n from chunk_index i, lateral (values (i.role), ('*')) r(role), unnest(tsvector_to_array(i.tsv)) w(word) group by 1, 2
		), sizes as (
			select r.role, count(*) as chunks, sum(n_tok)::bigint as words from chunk_index i, lateral (values (i.role), ('*')) r(role) group by 1
		)
		select (select count(*) from (select role, array_agg(word) as words from truth group by 1) r,
				word_counts(array[r.role], array(select role from documents where r.role in ('*', role)), r.words) c
				join truth t on t.word = c.word where t.role = r.role and t.n <> c.ndoc and (c.ndoc = 0 or not exists (select from uncounted))),
			(select count(*) from (select t.* from truth t join corpus_stats c using (role) where c.counted) t full join term_stats s using (role, word)
				where t.n is distinct from s.ndoc and not exists (select from uncounted)),
			(select count(*) from sizes z full join corpus_stats s using (role) where coalesce(z.chunks, 0) <> s.chunks or coalesce(z.words, 0) <> s.words)`
	var words, kept, sizes int
	require.NoError(t, st.DB().QueryRow(t.Context(), differenceSQL).Scan(&words, &kept, &sizes))
	require.Zero(t, words, "word counts differ")
	require.Zero(t, kept, "the counts that are kept differ")
	require.Zero(t, sizes, "corpus sizes differ")
}

func TestCount_FollowsEveryChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "a", "apple pie", "apple tart"))
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "b", "cherry pie"))
	checkStats(t, st)
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "a", "apple pie", "plum tart", "quince"))
	checkStats(t, st)
	require.NoError(t, putDocument(ctx, st, policy.RoleAdmin, "a", "apple pie"))
	checkStats(t, st)
	doc, err := index.DocumentByOrigin(ctx, st.DB(), "a")
	require.NoError(t, err)
	require.Equal(t, policy.RoleAdmin, doc.Role, "the document moved")
	n, err := countInScope(ctx, st, "", "*", "select count(*) from chunks where role = 'public' and content like 'apple%'")
	require.NoError(t, err)
	require.Zero(t, n, "nothing of it stays behind")

	for _, origin := range []string{"a", "b"} {
		require.NoError(t, st.InTx(ctx, func(tx store.Tx) error { return index.RemoveDocument(ctx, tx, origin) }))
	}
	checkStats(t, st)
	var left int
	require.NoError(t, st.DB().QueryRow(ctx,
		"select (select count(*) from term_stats) + (select count(*) from chunk_index) + (select count(*) - 1 from corpus_stats)").Scan(&left))
	require.Zero(t, left, "no word of a removed document is left")
	err = st.InTx(ctx, func(tx store.Tx) error { return index.RemoveDocument(ctx, tx, "a") })
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestCount_RolesOverThousandChunks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	texts := make([]string, 600)
	for i := range texts {
		texts[i] = fmt.Sprint("cherry plum", i)
	}
	const keptSQL = "select count(*) from term_stats where role = 'user:1'"
	kept := func() (n int) {
		require.NoError(t, st.DB().QueryRow(ctx, keptSQL).Scan(&n))
		return n
	}
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "a", texts...))
	require.NoError(t, putDocument(ctx, st, policy.UserRole(2), "b", "cherry pie"))
	require.Zero(t, kept())
	checkStats(t, st)
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "c", texts...))
	require.Positive(t, kept(), "a big role has counts")
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "d", "cherry quince"))
	checkStats(t, st)
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "a", "cherry pear"))
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error { return index.RemoveDocument(ctx, tx, "d") }))
	checkStats(t, st)
	for _, origin := range []string{"a", "b", "c"} {
		require.NoError(t, st.InTx(ctx, func(tx store.Tx) error { return index.RemoveDocument(ctx, tx, origin) }))
	}
	require.Zero(t, kept(), "no word of a removed document is left")
}

// runConcurrently calls write from several goroutines at the same time, in each of them a number of times.
func runConcurrently(t *testing.T, writers, times int, write func(writer, i int) error) {
	t.Helper()
	var group errgroup.Group
	for writer := range writers {
		group.Go(func() error {
			for i := range times {
				if err := write(writer, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func TestCount_ConcurrentWritersAreExact(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	runConcurrently(t, 6, 12, func(writer, i int) error {
		role := policy.UserRole(store.ChatID(1 + (writer+i)%2))
		doc, chunks := documentOf(role, fmt.Sprint("d", i, writer%3), fmt.Sprint("zebra apple ", writer), fmt.Sprint("apple kiwi ", i))
		err := st.AsOwner(t.Context(), policy.OwnerScope(1, 2), func(tx store.Tx) error {
			write := index.AddDocument
			if writer == 5 {
				write = index.ReplaceDocument
			}
			_, err := write(t.Context(), tx, doc, chunks)
			return err
		})
		if err != nil {
			return err
		}
		if writer != 4 {
			return nil
		}
		err = st.InTx(t.Context(), func(tx store.Tx) error { return index.RemoveDocument(t.Context(), tx, fmt.Sprint("d", i/2, writer%3)) })
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	checkStats(t, st)
}

func TestAddDocument_ConcurrentWithoutDeadlock(t *testing.T) {
	t.Parallel()
	const writers, times = 6, 100
	st := storetest.New(t)
	var tries atomic.Int64 // a transaction that was ended by a deadlock begins anew
	runConcurrently(t, writers, times, func(writer, i int) error {
		doc, chunks := documentOf(policy.UserRole(1), "d", fmt.Sprint("zebra ", writer, i))
		err := st.AsOwner(t.Context(), policy.OwnerScope(1), func(tx store.Tx) error {
			tries.Add(1)
			if writer < 2 {
				return index.RemoveDocument(t.Context(), tx, doc.Origin)
			}
			_, err := index.AddDocument(t.Context(), tx, doc, chunks)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	require.EqualValues(t, writers*times, tries.Load())
	checkStats(t, st)
}

func TestCount_GrowingRoleCountedOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	runConcurrently(t, 4, 20, func(writer, i int) error {
		texts := make([]string, 40)
		for j := range texts {
			texts[j] = fmt.Sprint("cherry plum", i*j, " pear", writer)
		}
		doc, chunks := documentOf(policy.UserRole(store.ChatID(1+i%2)), fmt.Sprint("d", writer, i), texts...)
		return st.AsOwner(t.Context(), policy.OwnerScope(1, 2), func(tx store.Tx) error {
			_, err := index.AddDocument(t.Context(), tx, doc, chunks)
			return err
		})
	})
	for i := 0; ; i++ { // until no document waits to be counted
		var waiting bool
		require.NoError(t, st.DB().QueryRow(t.Context(), "select exists (select from uncounted)").Scan(&waiting))
		if !waiting {
			break
		}
		require.Less(t, i, 10)
		require.NoError(t, putDocument(t.Context(), st, policy.UserRole(1), fmt.Sprint("last", i), make([]string, 100)...))
	}
	checkStats(t, st)
}

func TestAddDocument_DoesNotWaitForCount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	add := func(origin string) error {
		return st.AsOwner(ctx, policy.OwnerScope(), func(tx store.Tx) error {
			doc, chunks := documentOf(policy.RolePublic, origin, "apple "+origin, "zebra "+origin)
			_, err := index.AddDocument(ctx, tx, doc, chunks)
			return err
		})
	}
	waiting := func() (n int) {
		require.NoError(t, st.DB().QueryRow(ctx, "select count(*) from uncounted").Scan(&n))
		return n
	}
	require.NoError(t, add("a"))
	require.Zero(t, waiting(), "counted at once, when there is nothing else")
	require.NoError(t, st.InTx(ctx, func(counting store.Tx) error {
		if _, err := counting.Exec(ctx, "select pg_advisory_xact_lock('term_stats'::regclass::int)"); err != nil {
			return err
		}
		if err := add("b"); err != nil {
			return err
		}
		return add("c")
	}))
	require.Equal(t, 2, waiting())
	checkStats(t, st)
	require.NoError(t, add("d"))
	require.Zero(t, waiting(), "the next one counts all")
	checkStats(t, st)
}
