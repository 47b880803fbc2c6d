package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// putDocument writes a document with one chunk for each text.
func putDocument(ctx context.Context, st *store.Store, role policy.Role, origin string, texts ...string) error {
	return st.AsOwner(ctx, policy.OwnerScope(1, 2), func(tx store.Tx) error {
		doc, chunks := documentOf(role, origin, texts...)
		_, err := index.ReplaceDocument(ctx, tx, doc, chunks)
		return err
	})
}

// documentOf returns a document with one chunk for each text.
func documentOf(role policy.Role, origin string, texts ...string) (index.Document, []index.Chunk) {
	chunks := make([]index.Chunk, len(texts))
	for i, text := range texts {
		chunks[i] = index.Chunk{Key: fmt.Sprint(role, origin, i, text), Ord: i, Content: text, SearchText: text}
	}
	return index.Document{
		Origin: origin,
		Name:   origin,
		Role:   role,
		Kind:   index.KindKnowledge,
		Format: "txt",
		Hash:   strings.Join(texts, "\n"),
		Size:   int64(len(texts)),
	}, chunks
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	errors.As(err, &pg)
	if pg == nil {
		return ""
	}
	return pg.Code
}

// countInScope runs sql, which counts something, with a raw scope setting and the given database role.
func countInScope(ctx context.Context, st *store.Store, role, scope, sql string) (n int, err error) {
	err = st.InTx(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('multis.scope', $1, true)", scope); err != nil {
			return err
		}
		if role != "" {
			if _, err := tx.Exec(ctx, "set local role "+role); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, sql).Scan(&n)
	})
	return n, err
}

func TestScope_DatabaseRoleReads(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "p", "apple public", "apple pie"))
	require.NoError(t, putDocument(ctx, st, policy.RoleAdmin, "a", "apple admin"))
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "u1", "apple one"))
	require.NoError(t, putDocument(ctx, st, policy.UserRole(2), "u2", "apple two"))
	var contact string
	require.NoError(t, st.DB().QueryRow(ctx,
		"select rolname from pg_policy p join pg_roles r on r.oid = any (p.polroles) where polname = 'chunks_contact'").Scan(&contact))
	const (
		denied    = "42501"
		texts     = "select count(*) from chunks"
		found     = "select count(*) from search_passages('{appl}', '{1}', 'appl', '{appl}', '{1}', 10, '{kb,conv}', 8000, 8000)"
		corpus    = "select max(stat_chunks) from search_terms('{apple}', '')"
		count     = "select max(ndoc) from search_terms('{apple}', '')"
		inner     = "select count(*) from passages_sql(1, true)"
		similar   = "select count(*) from similar_words('{admin}', '{admin}', '{apple}')"
		counts    = "select count(*) from word_counts('{admin}', '{admin}', '{apple}')"
		rawIndex  = "select count(*) from chunk_index"
		rawTerms  = "select count(*) from term_stats"
		rawCorpus = "select count(*) from corpus_stats"
		rawDocs   = "select count(*) from documents"
		unread    = "select count(notes) from documents" // with what is hidden in them
		write     = "with u as (update chunks set content = '' returning 1) select count(*) from u"
	)
	var member bool
	require.NoError(t, st.DB().QueryRow(ctx, "select pg_has_role($1, 'usage')", contact).Scan(&member))
	t.Logf("the owner inherits the contact's rights: %v", member)

	for _, c := range []struct {
		name, role, scope, sql string
		want                   int
		code                   string
	}{
		{"no scope shows a contact nothing", contact, "", texts, 0, ""},
		{"no scope shows the owner nothing", "", "", texts, 0, ""},
		{"a contact searches nothing without a scope", contact, "", found, 0, denied},
		{"the owner searches nothing without a scope", "", "", found, 0, denied},
		{"no word counts without a scope", contact, "", count, 0, denied},
		{"no size without a scope", contact, "", corpus, 0, denied},
		{"a contact reads public and its own", contact, "public,user:1", texts, 3, ""},
		{"a contact of two chats reads both", contact, "public,user:1,user:2", texts, 4, ""},
		{"a contact finds public and its own", contact, "public,user:1", found, 3, ""},
		{"a contact without public finds its own", contact, "user:1", found, 1, ""},
		{"a chat that does not exist finds nothing of others", contact, "user:12", found, 0, ""},
		{"a role is not a pattern", contact, "user:%", texts, 0, ""},
		{"a contact's counts are its own", contact, "public,user:1", count, 3, ""},
		{"a contact's corpus is its own", contact, "public,user:1", corpus, 3, ""},
		{"a contact never reads admin", contact, "public,admin", texts, 2, ""},
		{"a contact never searches admin", contact, "public,admin", found, 0, denied},
		{"a contact never reads all", contact, "*", texts, 0, ""},
		{"a contact never searches all", contact, "*", found, 0, denied},
		{"a contact never counts all", contact, "*", count, 0, denied},
		{"a contact cannot name the roles of a search itself", contact, "public,user:1", inner, 0, denied},
		{"a contact cannot name the roles of a guess itself", contact, "public,user:1", similar, 0, denied},
		{"a contact cannot name the roles of a count itself", contact, "public,user:1", counts, 0, denied},
		{"a contact has no right on the index", contact, "public,user:1", rawIndex, 0, denied},
		{"a contact has no right on word counts", contact, "public,user:1", rawTerms, 0, denied},
		{"a contact has no right on sizes", contact, "public,user:1", rawCorpus, 0, denied},
		{"a contact has no right on documents", contact, "public,user:1", rawDocs, 0, denied},
		{"a contact never reads what of a document was not read", contact, "public,user:1", unread, 0, denied},
		{"a contact writes nothing", contact, "public,user:1", write, 0, denied},
		{"the owner reads what is named", "", "public,admin", texts, 3, ""},
		{"the owner searches what is named", "", "public,admin", found, 3, ""},
		{"the owner in a contact's scope reads no more", "", "user:1", texts, 1, ""},
		{"the owner's counts are those of all", "", "public,admin", count, 5, ""},
		{"a backup reads all", "", "*", texts, 5, ""},
		{"nobody searches all", "", "*", found, 0, denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, err := countInScope(t.Context(), st, c.role, c.scope, c.sql)
			require.Equal(t, c.code, sqlState(err), "%v", err)
			if c.code == "" {
				require.NoError(t, err)
			}
			require.Equal(t, c.want, n)
		})
	}
}

func TestScope_WritesOutsideFail(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	err := st.AsOwner(ctx, policy.OwnerScope(1), func(tx store.Tx) error {
		_, err := index.ReplaceDocument(ctx, tx, index.Document{Origin: "o", Name: "n", Role: policy.UserRole(2), Kind: index.KindConversation},
			[]index.Chunk{{Key: "k", Content: "text", SearchText: "text"}})
		return err
	})
	require.Equal(t, "42501", sqlState(err), "%v", err)
}

func TestWordFrequencies_RoundTrip(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	want := map[int64]int16{}
	var texts []string
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 20, 50, 100, 200, 255} {
		texts = append(texts, strings.Repeat("apple ", n)+strings.Repeat("pear ", 256-n))
	}
	for i, text := range texts {
		require.NoError(t, putDocument(ctx, st, policy.RolePublic, fmt.Sprint("d", i), text))
	}
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "without", "plum cherry"))
	require.NoError(t, st.AsOwner(ctx, policy.OwnerScope(), func(tx store.Tx) error {
		rows, err := tx.Query(ctx, "select id, (length(content) - length(replace(content, 'apple', ''))) / 5 from chunks")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var n int16
			if err := rows.Scan(&id, &n); err != nil {
				return err
			}
			want[id] = n
		}
		return rows.Err()
	}))
	require.Len(t, want, 14)
	require.NoError(t, st.AsContact(ctx, policy.ContactScope(1), func(tx store.Tx) error {
		passages, err := index.SearchPassages(ctx, tx, index.PassageQuery{
			PlannedSets:   [][]string{{"appl|plum"}},
			ContactTerms:  "appl",
			Terms:         []string{"appl"},
			Weights:       []float64{1},
			AverageWords:  100,
			Kinds:         []index.Kind{index.KindKnowledge},
			MaxCandidates: 100,
			EnoughPlanned: 100,
		})
		got := map[int64]int16{}
		for _, p := range passages {
			got[p.ID] = p.Frequencies[0]
		}
		require.Equal(t, want, got)
		return err
	}))
}

func TestSearchPassages_WithoutContactTerms(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	for _, d := range []struct {
		role   policy.Role
		origin string
	}{{policy.RolePublic, "everybody's"}, {policy.UserRole(1), "own"}, {policy.UserRole(2), "another's"}} {
		require.NoError(t, putDocument(ctx, st, d.role, d.origin, "apple"))
	}
	reader, err := st.ContactReader(policy.ContactScope(1))
	require.NoError(t, err)
	kinds := []index.Kind{index.KindKnowledge, index.KindConversation}
	for words, want := range map[string]int{"appl": 2, "": 1} {
		passages, err := index.SearchPassages(ctx, reader, index.PassageQuery{
			PlannedSets:   [][]string{{"appl"}},
			ContactTerms:  words,
			Terms:         []string{"appl"},
			Weights:       []float64{1},
			AverageWords:  100,
			Kinds:         kinds,
			MaxCandidates: 100,
			EnoughPlanned: 100,
		})
		require.NoError(t, err)
		require.Len(t, passages, want, "any %q", words)
	}
}

func TestSearchPassages_SetsInOrder(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	for _, text := range []string{"apple", "apple plum", "apple plum cherry date", "apple plum cherry date date"} {
		require.NoError(t, putDocument(ctx, st, policy.RolePublic, text+" pie", text))
	}
	for name, reader := range map[string]func(policy.Scope) (store.Reader, error){"owner": st.OwnerReader, "contact": st.ContactReader} {
		scope := policy.OwnerScope()
		if name == "contact" {
			scope = policy.ContactScope(1)
		}
		db, err := reader(scope)
		require.NoError(t, err)
		for limit, want := range map[int]int{1: 1, 2: 2, 100: 4} {
			passages, err := index.SearchPassages(ctx, db, index.PassageQuery{
				PlannedSets: [][]string{{"date", "cherri", "plum", "appl"}, {"appl"}}, Terms: []string{"date", "appl"}, Weights: []float64{1, 1},
				AverageWords: 100,
				Kinds:        []index.Kind{index.KindKnowledge}, EnoughPlanned: limit,
			})
			require.NoError(t, err)
			require.Len(t, passages, want, "%s, limit %d", name, limit)
			dates := 0
			for _, p := range passages {
				if p.Frequencies[0] > 0 {
					dates++
				}
			}
			require.Equal(t, min(limit, 2), dates, "%s, limit %d", name, limit)
		}
	}
}

func TestAddDocument_Replaces(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	for _, c := range []struct {
		text    string
		changed bool
	}{{"apple pie", true}, {"apple pie", false}, {"plum tart", true}} {
		doc, chunks := documentOf(policy.RolePublic, "a", c.text)
		var changed bool
		require.NoError(t, st.AsOwner(ctx, policy.OwnerScope(), func(tx store.Tx) (err error) {
			changed, err = index.AddDocument(ctx, tx, doc, chunks)
			return err
		}))
		require.Equal(t, c.changed, changed, c.text)
		checkStats(t, st)
	}
	n, err := countInScope(ctx, st, "", "public", "select count(*) from chunks where content = 'plum tart'")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestRecentChunks_OfSeveralKinds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	for i, role := range []policy.Role{policy.RolePublic, policy.UserRole(1), policy.UserRole(2), policy.RolePublic, policy.UserRole(1)} {
		doc, chunks := documentOf(role, fmt.Sprint(i), fmt.Sprint(i, "a"), fmt.Sprint(i, "b"))
		if i%2 == 1 {
			doc.Kind = index.KindConversation
		}
		require.NoError(t, st.AsOwner(ctx, policy.OwnerScope(1, 2), func(tx store.Tx) error {
			_, err := index.ReplaceDocument(ctx, tx, doc, chunks)
			return err
		}))
	}
	for _, c := range []struct {
		kinds []index.Kind
		limit int
		want  []string
	}{
		{[]index.Kind{index.KindKnowledge, index.KindConversation}, 5, []string{"4a", "4b", "3a", "3b", "1a"}},
		{[]index.Kind{index.KindConversation}, 3, []string{"3a", "3b", "1a"}},
		{[]index.Kind{index.KindKnowledge}, 9, []string{"4a", "4b", "0a", "0b"}},
	} {
		require.NoError(t, st.AsContact(ctx, policy.ContactScope(1), func(tx store.Tx) error {
			chunks, err := index.RecentChunks(ctx, tx, policy.ContactScope(1), c.kinds, c.limit)
			var texts []string
			for _, chunk := range chunks {
				texts = append(texts, chunk.Content)
			}
			require.Equal(t, c.want, texts, c.kinds)
			return err
		}))
	}
}

func TestSetRole_LaterIsKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		role policy.Role
		text string
		said time.Time
		err  error
	}{
		{policy.RolePublic, "apple pie", noon, nil},
		{policy.RoleAdmin, "apple pie", noon.Add(time.Minute), nil},
		{policy.RolePublic, "plum tart", noon, index.ErrRoleKept},
		{policy.RoleAdmin, "apple pie", noon.Add(time.Hour), nil}, // the same text and role, set again
		{policy.RolePublic, "plum tart", noon.Add(time.Minute), index.ErrRoleKept},
		{policy.RoleAdmin, "plum tart", noon, nil}, // a new text, and the role was not set again
		{policy.RolePublic, "plum tart", noon.Add(time.Minute), index.ErrRoleKept},
		{policy.RolePublic, "plum tart", noon.Add(2 * time.Hour), nil},
	} {
		doc, chunks := documentOf(c.role, "a", c.text)
		doc.RoleSetAt = c.said
		require.ErrorIs(t, st.AsOwner(ctx, policy.OwnerScope(), func(tx store.Tx) error {
			_, err := index.AddDocument(ctx, tx, doc, chunks)
			return err
		}), c.err)
		checkStats(t, st)
	}
}

func TestAddDocument_SameChunkKeepsID(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "d", "first", "second"))
	read := func() map[string]index.ChunkText {
		byText := map[string]index.ChunkText{}
		require.NoError(t, st.AsOwner(ctx, policy.OwnerScope(1), func(tx store.Tx) error {
			texts, err := index.RecentChunks(ctx, tx, policy.OwnerScope(1), []index.Kind{index.KindKnowledge}, 10)
			for _, c := range texts {
				byText[c.Content] = c
			}
			return err
		}))
		return byText
	}
	before := read()
	require.Zero(t, before["first"].Activation)
	record := func(chat int64, times int) {
		scope := policy.OwnerScope(store.ChatID(chat))
		for range times {
			require.NoError(t, st.AsOwner(ctx, scope, func(tx store.Tx) error {
				return index.RecordAccess(ctx, tx, scope, []store.ChunkID{store.ChunkID(before["first"].ID), store.ChunkID(before["first"].ID), 9999})
			}))
		}
	}
	record(2, 1)
	require.Zero(t, read()["first"].Activation, "another chat's scope counts nothing")
	record(1, 1)
	hourOld := math.Pow(1.0/24, -0.5)
	require.InDelta(t, math.Log(1+hourOld), read()["first"].Activation, 1e-9, "an access counts as an hour old at least")
	record(1, 10)
	require.InDelta(t, math.Log(1+8*hourOld), read()["first"].Activation, 1e-9, "the eight newest count exactly")

	require.NoError(t, putDocument(ctx, st, policy.UserRole(1), "d", "first", "other"))
	after := read()
	require.Equal(t, before["first"].ID, after["first"].ID)
	require.NotZero(t, after["first"].Activation)
	require.NotContains(t, after, "second")
}

func TestActivation_FadesWithAge(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	days := func(ages ...float64) (sum float64) {
		for _, a := range ages {
			sum += math.Pow(a, -0.5)
		}
		return math.Log(1 + sum)
	}
	for _, c := range []struct {
		name, sql   string
		want, delta float64
	}{
		{"never accessed", "activation(0, null, '{}')", 0, 0},
		{"once, a day ago", "activation(1, now() - interval '1 day', array[now() - interval '1 day'])", days(1), 1e-6},
		{"once, a month ago", "activation(1, now() - interval '30 days', array[now() - interval '30 days'])", days(30), 1e-6},
		{"twice", "activation(2, now() - interval '4 days', array[now() - interval '1 day', now() - interval '4 days'])", days(1, 4), 1e-6},
		{
			"more often than is kept", "activation(4, now() - interval '40 days', array[now() - interval '10 days', now() - interval '20 days'])",
			days(10, 20, 26.7, 33.3), 0.02,
		},
	} {
		var got float64
		require.NoError(t, st.DB().QueryRow(t.Context(), "select "+c.sql).Scan(&got), c.name)
		require.InDelta(t, c.want, got, c.delta, c.name)
	}
}

func TestDocuments_InScopeOnly(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "small", "one"))
	require.NoError(t, putDocument(ctx, st, policy.RolePublic, "big", "one", "two"))
	require.NoError(t, putDocument(ctx, st, policy.RoleAdmin, "own", "one"))
	require.NoError(t, putDocument(ctx, st, policy.UserRole(2), "theirs", "one", "two", "three"))

	groups, err := index.DocumentGroups(ctx, st.DB(), policy.OwnerScope())
	require.NoError(t, err)
	require.Len(t, groups, 2)
	require.Equal(t, []any{policy.RolePublic, 2, 3}, []any{groups[0].Role, groups[0].Documents, groups[0].Chunks})
	require.Equal(t, []any{policy.RoleAdmin, 1, 1}, []any{groups[1].Role, groups[1].Documents, groups[1].Chunks})

	docs, err := index.BiggestDocuments(ctx, st.DB(), policy.OwnerScope(), 1)
	require.NoError(t, err)
	require.Len(t, docs, 1)
	require.Equal(t, "big", docs[0].Name)
}
