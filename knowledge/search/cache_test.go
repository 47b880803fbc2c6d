package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// hits returns the hits of a search as texts, to compare two searches.
func hits(r search.Result) []string {
	list := make([]string, len(r.Hits))
	for i, h := range r.Hits {
		list[i] = fmt.Sprintf("%d %s %.6f %.6f", h.Ref.ID, h.Language, h.Score, h.Coverage)
	}
	return list
}

func TestCache_RanksLikePostgres(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	lib := knowledge.New(st)
	r := rand.New(rand.NewPCG(8, 9))
	for i, role := range []policy.Role{policy.RolePublic, policy.UserRole(1), policy.UserRole(2), policy.RolePublic} {
		var text strings.Builder
		for j := range 8 { // fewer unknown words than are corrected
			fmt.Fprintf(&text, "# Part %d\n\n%s\n\n", j, randomText(r, 12))
		}
		text.WriteString("# Teil\n\nDie Bäckerei und die Kirche sind nicht weit von der Straße, aber der Weg ist steil und nass.\n")
		_, err := lib.Index(t.Context(), knowledge.File{Name: fmt.Sprint(i, ".md"), Role: role, Data: []byte(text.String())})
		require.NoError(t, err)
	}
	cached := search.New(st)
	for n := range 120 {
		text := randomText(r, 1+r.IntN(4))
		switch n % 6 {
		case 1:
			text = "When was the " + text
		case 2:
			text = "Bäckereien " + text
		case 3:
			text = strings.Replace(text, "e", "a", 1) // a typing error
		case 4:
			text = "what is it"
		}
		scope := policy.ContactScope(store.ChatID(1 + n%2))
		want, err := search.New(st).AsContact(t.Context(), scope, search.Query{Text: text}) // asked for the first time
		require.NoError(t, err)
		got, err := cached.AsContact(t.Context(), scope, search.Query{Text: text})
		require.NoError(t, err)
		require.Equal(t, hits(want), hits(got), text)
		require.ElementsMatch(t, want.Terms, got.Terms, text)
	}
}

func TestCache_IsNeverStale(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	lib := knowledge.New(st)
	s := search.New(st)
	put := func(text string) {
		_, err := lib.Index(t.Context(), knowledge.File{Name: "a.md", Role: policy.UserRole(1), Data: []byte(text)})
		require.NoError(t, err)
	}
	find := func(text string) []string {
		var texts []string
		for range 3 { // version noted, loaded, cached
			found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text})
			require.NoError(t, err)
			texts = nil
			for _, h := range found.Hits {
				texts = append(texts, h.Text)
			}
		}
		return texts
	}
	put("The parrot sleeps.")
	require.Equal(t, []string{"The parrot sleeps."}, find("parrot"))
	put("The canary sleeps.")
	require.Empty(t, find("parrot"))
	require.Equal(t, []string{"The canary sleeps."}, find("canary"))
	require.NoError(t, lib.Remove(t.Context(), "a.md"))
	require.Empty(t, find("canary"))
	put("The canary sleeps.")
	require.Equal(t, []string{"The canary sleeps."}, find("canary"), "a version never comes again")

	require.Empty(t, findAs(t, s, 2, "canary"), "another contact, by the same searcher")
	require.Empty(t, findAs(t, s, 2, "canary"))
}

func TestCache_FindsAdditionsAtOnce(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana, lib := a.chat("Ana", policy.KindDM), knowledge.New(a.st)
	for n, text := range []string{"The parrot sleeps.", "A parrot talks.", "One parrot sings."} {
		a.say(ana, policy.AuthorContact, n, text)
		a.index()
		_, err := lib.Index(t.Context(), knowledge.File{Name: fmt.Sprint(n, ".md"), Role: policy.UserRole(ana.ID), Data: []byte(text)})
		require.NoError(t, err)
		for _, in := range []index.Source{index.Documents, index.Messages} {
			var trips int64
			for range 3 { // version noted, loaded, cached
				before := a.st.Pool().Stat().AcquireCount()
				found, err := a.s.AsContact(t.Context(), policy.ContactScope(ana.ID), search.Query{Text: "parrot", Source: in})
				require.NoError(t, err)
				require.Len(t, found.Hits, n+1, "the one that came last, too: %s", in)
				trips = a.st.Pool().Stat().AcquireCount() - before
			}
			require.EqualValues(t, 1, trips, in)
		}
	}
}

func findAs(t *testing.T, s *search.Searcher, chat store.ChatID, text string) []search.Hit {
	t.Helper()
	found, err := s.AsContact(t.Context(), policy.ContactScope(chat), search.Query{Text: text})
	require.NoError(t, err)
	return found.Hits
}

func TestCache_ContactReadsOwnEntriesOnly(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.RolePublic, policy.RoleAdmin, policy.UserRole(1), policy.UserRole(2))
	db, err := st.ContactReader(policy.ContactScope(1))
	require.NoError(t, err)
	all := []policy.Role{policy.RolePublic, policy.RoleAdmin, policy.UserRole(1), policy.UserRole(2)}
	passages, err := index.RolePassages(t.Context(), db, index.Documents, all)
	require.NoError(t, err)
	require.NotEmpty(t, passages)
	for _, p := range passages {
		require.Contains(t, []policy.Role{policy.RolePublic, policy.UserRole(1)}, p.Role)
	}
	sizes, _, err := index.RoleSizes(t.Context(), db, index.Documents, index.LanguageTexts{})
	require.NoError(t, err)
	require.Len(t, sizes, 2)

	_, err = st.ContactReader(policy.OwnerScope(1))
	require.ErrorIs(t, err, store.ErrOwnerScope)
	for _, open := range []func(policy.Scope) (store.Reader, error){st.ContactReader, st.OwnerReader} {
		db, err := open(policy.Scope{})
		require.ErrorIs(t, err, policy.ErrNoScope)
		_, err = db.Query(t.Context(), "select 1")
		require.ErrorIs(t, err, policy.ErrNoScope)
	}
}

func TestConnection_IsReturnedWithoutScope(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.RolePublic, policy.UserRole(1))
	db, err := st.ContactReader(policy.ContactScope(1))
	require.NoError(t, err)
	count := func(db store.DB, sql string) (n int, err error) {
		err = db.QueryRow(t.Context(), sql).Scan(&n)
		return n, err
	}
	n, err := count(db, "select count(*) from chunks")
	require.NoError(t, err)
	require.Positive(t, n)
	_, err = count(db, "select count(*) from chunk_index")
	require.Error(t, err, "a contact has no right on it")
	for range 4 { // whichever connection it is
		n, err = count(st.DB(), "select count(*) from chunks")
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = count(st.DB(), "select count(*) from chunk_index")
		require.NoError(t, err)
		require.Positive(t, n, "the owner again")
	}
}
