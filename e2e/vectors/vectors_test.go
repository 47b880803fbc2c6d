//go:build e2e

package vectors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// sameMeaning is what the made-up model knows.
var sameMeaning = map[string]string{
	"cancel": "end", "terminate": "end", "quit": "end", "subscription": "contract", "membership": "contract", "agreement": "contract",
	"automobile": "car", "vehicle": "car", "how": "", "do": "", "i": "", "my": "", "the": "", "a": "", "to": "", "of": "", "is": "", "in": "",
	"you": "", "we": "", "md": "",
}

func indexAll(t *testing.T, st *store.Store, role policy.Role, name, text string) {
	t.Helper()
	_, err := knowledge.New(st).Index(t.Context(), knowledge.File{Name: name, Role: role, Data: []byte(text)})
	require.NoError(t, err)
}

func fill(t *testing.T, st *store.Store, e llm.Embedder) {
	t.Helper()
	require.NoError(t, knowledge.NewVectors(st, e).Embed(t.Context(), false))
}

func titles(r search.Result) []string {
	var names []string
	for _, h := range r.Hits {
		names = append(names, h.Title)
	}
	return names
}

func TestVectors_FindByMeaning(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	indexAll(t, st, policy.RolePublic, "leaving.md", "Terminate the agreement by letter.")
	indexAll(t, st, policy.RolePublic, "garage.md", "We wash every vehicle.")
	indexAll(t, st, policy.RolePublic, "hours.md", "Open from nine to five.")
	e, _ := embedder(t, st, "openai/meanings", llmtest.Meanings(64, sameMeaning))
	ask := search.Query{Text: "How do I cancel my subscription?"}

	byWords, err := search.New(st).AsContact(t.Context(), policy.ContactScope(1), ask)
	require.NoError(t, err)
	require.Empty(t, byWords.Hits)

	s := search.NewWithOptions(st, search.Options{Embedder: e})
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), ask)
	require.NoError(t, err)
	require.Empty(t, found.Hits, "nothing has a vector yet, and the search works")

	fill(t, st, e)
	found, err = s.AsContact(t.Context(), policy.ContactScope(1), ask)
	require.NoError(t, err)
	require.Equal(t, []string{"leaving.md"}, titles(found), "and nothing that means something else")
	require.Greater(t, found.Hits[0].Similarity, 0.5)
	require.Zero(t, found.Hits[0].Coverage, "it is no word for word answer")

	count, err := index.CountVectors(t.Context(), st.DB())
	require.NoError(t, err)
	require.Equal(t, index.VectorCount{Embedded: 3, Chunks: 3}, count)
}

func TestVectors_FollowPassages(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	e, server := embedder(t, st, "openai/meanings", llmtest.Meanings(64, sameMeaning))
	s := search.NewWithOptions(st, search.Options{Embedder: e})
	find := func() []string {
		found, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "cancel membership"})
		require.NoError(t, err)
		return titles(found)
	}
	indexAll(t, st, policy.RolePublic, "leaving.md", "Terminate the agreement by letter.")
	fill(t, st, e)
	require.Equal(t, []string{"leaving.md"}, find())

	indexAll(t, st, policy.RolePublic, "leaving.md", "Bicycles are repaired here.")
	require.Empty(t, find(), "the old passage is gone at once, with its vector")
	indexAll(t, st, policy.RoleAdmin, "mine.md", "Quit the contract in May.")
	fill(t, st, e)
	require.Equal(t, []string{"mine.md"}, find())

	before := len(server.Requests())
	fill(t, st, e)
	require.Len(t, server.Requests(), before, "what has a vector costs nothing again")
	require.NoError(t, knowledge.New(st).Remove(t.Context(), "mine.md"))
	require.Empty(t, find())
	count, err := index.CountVectors(t.Context(), st.DB())
	require.NoError(t, err)
	require.EqualValues(t, 1, count.Embedded)
}

func TestVectors_ModelChangesInBackground(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 70 { // more than one batch
		indexAll(t, st, policy.RolePublic, fmt.Sprintf("%d.md", i), fmt.Sprintf("Letter %d says nothing.", i))
	}
	indexAll(t, st, policy.RolePublic, "leaving.md", "Terminate the agreement by letter.")
	old, _ := embedder(t, st, "openai/old", llmtest.Meanings(32, sameMeaning))
	fill(t, st, old)

	// The other one takes a meaning for another, and its vectors have other dimensions.
	calls := atomic.Int64{}
	other, _ := embedder(t, st, "openai/other", func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		if calls.Add(1) == 3 {
			return llmtest.EmbedReply{Status: 503}
		}
		return llmtest.Meanings(48, sameMeaning)(r)
	})
	s := search.NewWithOptions(st, search.Options{Embedder: other})
	ask := func(text string) []string {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text, Limit: 1})
		require.NoError(t, err)
		return titles(found)
	}
	require.Empty(t, ask("cancel subscription"), "the vectors of the old model are not looked at") // call 1
	require.Equal(t, []string{"leaving.md"}, ask("terminate agreement"), "words work meanwhile")   // call 2

	job := knowledge.NewVectors(st, other)
	require.True(t, jobs.IsSnooze(job.Embed(t.Context(), false)), "it comes back after a failure") // call 3
	require.NoError(t, job.Embed(t.Context(), false))
	require.Equal(t, []string{"leaving.md"}, ask("cancel subscription"))
	count, err := index.CountVectors(t.Context(), st.DB())
	require.NoError(t, err)
	require.Equal(t, index.VectorCount{Embedded: 71, Chunks: 71}, count)

	// The old one is asked by a process that was not restarted yet: it finds by words.
	late, err := search.NewWithOptions(st, search.Options{Embedder: old}).AsContact(t.Context(), policy.ContactScope(1),
		search.Query{Text: "terminate agreement"})
	require.NoError(t, err)
	require.Equal(t, "leaving.md", late.Hits[0].Title)

	// The same name, with other dimensions: everything is made anew.
	wide, _ := embedder(t, st, "openai/other", llmtest.Meanings(96, sameMeaning))
	found, err := search.NewWithOptions(st, search.Options{Embedder: wide}).AsContact(t.Context(), policy.ContactScope(1),
		search.Query{Text: "cancel subscription"})
	require.NoError(t, err)
	require.Empty(t, found.Hits, "vectors of other dimensions are never compared")
	indexAll(t, st, policy.RolePublic, "new.md", "Something new.")
	fill(t, st, wide)
	found, err = search.NewWithOptions(st, search.Options{Embedder: wide}).AsContact(t.Context(), policy.ContactScope(1),
		search.Query{Text: "cancel subscription", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"leaving.md"}, titles(found))
}

func TestVectors_StopAtBudgetAndResume(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 150 {
		indexAll(t, st, policy.RolePublic, fmt.Sprintf("%d.md", i), fmt.Sprintf("Letter %d says nothing.", i))
	}
	silent := func(r llmtest.EmbedRequest) llmtest.EmbedReply { // about its cost, so that the worst case counts
		reply := llmtest.Meanings(16, nil)(r)
		reply.NoUsage = true
		return reply
	}
	poor, server := paidEmbedder(t, st, "openai/paid", silent, 7000)
	require.True(t, jobs.IsSnooze(knowledge.NewVectors(st, poor).Embed(t.Context(), false)))
	count, err := index.CountVectors(t.Context(), st.DB())
	require.NoError(t, err)
	require.Positive(t, count.Embedded)
	require.Less(t, count.Embedded, count.Chunks)
	require.Len(t, server.Requests(), int(count.Embedded/64), "no call past the cap")

	rich, server := paidEmbedder(t, st, "openai/paid", llmtest.Meanings(16, nil), 1_000_000)
	require.NoError(t, knowledge.NewVectors(st, rich).Embed(t.Context(), false))
	texts := 0
	for _, r := range server.Requests() {
		texts += len(r.Texts)
	}
	require.EqualValues(t, count.Chunks-count.Embedded, texts, "what was done is not paid for twice")
}

func TestVectors_RefusedTextSparesOthers(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 20 {
		indexAll(t, st, policy.RolePublic, fmt.Sprintf("%d.md", i), fmt.Sprintf("Letter %d.", i))
	}
	indexAll(t, st, policy.RolePublic, "bad.md", "Unspeakable.")
	e, _ := embedder(t, st, "openai/prim", func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		if strings.Contains(strings.Join(r.Texts, ""), "Unspeakable") {
			return llmtest.EmbedReply{Status: 400}
		}
		return llmtest.Meanings(16, nil)(r)
	})
	fill(t, st, e)
	count, err := index.CountVectors(t.Context(), st.DB())
	require.NoError(t, err)
	require.Equal(t, index.VectorCount{Embedded: 20, Chunks: 21}, count)
}

func TestSearch_FallsBackToWords(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	indexAll(t, st, policy.RolePublic, "leaving.md", "Terminate the agreement by letter.")
	for name, reply := range map[string]llmtest.EmbedReply{
		"it is down": {Status: 500}, "the key is wrong": {Status: 401}, "it hangs": {Hang: true}, "it talks nonsense": {Raw: "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, server := embedder(t, st, "openai/broken", func(llmtest.EmbedRequest) llmtest.EmbedReply { return reply })
			s := search.NewWithOptions(st, search.Options{Embedder: e})
			for range 3 {
				found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "terminate"})
				require.NoError(t, err)
				require.Equal(t, []string{"leaving.md"}, titles(found))
			}
			require.Len(t, server.Requests(), 1, "it is left alone for a while")
		})
	}
	t.Run("there is no money left", func(t *testing.T) {
		t.Parallel()
		e, server := paidEmbedder(t, st, "openai/paid", llmtest.Meanings(16, nil), 1)
		found, err := search.NewWithOptions(st, search.Options{Embedder: e}).AsContact(t.Context(), policy.ContactScope(1),
			search.Query{Text: "terminate"})
		require.NoError(t, err)
		require.Equal(t, []string{"leaving.md"}, titles(found))
		require.Empty(t, server.Requests())
	})
}

// words of the made-up corpora.
var words = strings.Fields(`apple bridge candle doctor engine forest garden harbour island jacket kitchen ladder mirror needle
	orange pencil quartz ribbon saddle ticket umbrella violin window yellow zebra anchor button carpet dragon eagle`)

func randomText(r *rand.Rand, n int) string {
	picked := make([]string, n)
	for i := range picked {
		picked[i] = words[r.IntN(len(words))]
	}
	return strings.Join(picked, " ")
}

func TestFusion_KeepsSureWordMatches(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	r := rand.New(rand.NewPCG(3, 4))
	for doc := range 40 {
		var text strings.Builder
		for part := range 10 {
			fmt.Fprintf(&text, "# Part %d\n\n%s number%dx%d.\n\n", part, randomText(r, 30), doc, part)
		}
		indexAll(t, st, policy.RolePublic, fmt.Sprintf("%d.md", doc), text.String())
	}
	// The worst model there can be: what it finds near has nothing to do with the question.
	e, _ := embedder(t, st, "openai/noise", func(q llmtest.EmbedRequest) llmtest.EmbedReply {
		var reply llmtest.EmbedReply
		for range q.Texts {
			v := make([]float64, 16)
			for i := range v {
				v[i] = 1 + rand.Float64() // so that everything is near everything
			}
			reply.Vectors = append(reply.Vectors, v)
		}
		return reply
	})
	fill(t, st, e)
	byWords, both := search.New(st), search.NewWithOptions(st, search.Options{Embedder: e})
	scope := policy.ContactScope(1)
	for range 100 {
		q := search.Query{Text: fmt.Sprintf("%s number%dx%d", words[r.IntN(len(words))], r.IntN(40), r.IntN(10)), Limit: 10}
		want, err := byWords.AsContact(t.Context(), scope, q)
		require.NoError(t, err)
		got, err := both.AsContact(t.Context(), scope, q)
		require.NoError(t, err)
		for place, h := range want.Hits[:min(len(want.Hits), 3)] {
			if h.Coverage < 0.999 {
				continue
			}
			at := slices.IndexFunc(got.Hits, func(g search.Hit) bool { return g.Ref == h.Ref })
			require.GreaterOrEqual(t, at, 0, q.Text)
			require.LessOrEqual(t, at, place+2, q.Text)
		}
	}
}

func TestVectors_RespectScopes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	r := rand.New(rand.NewPCG(5, 6))
	const chats = 12
	roles := []policy.Role{policy.RolePublic, policy.RoleAdmin}
	for chat := range int64(chats) {
		roles = append(roles, policy.UserRole(store.ChatID(chat+1)))
	}
	for _, role := range roles {
		var text strings.Builder
		for part := range 12 {
			fmt.Fprintf(&text, "# Part %d\n\nThis belongs to %s. %s\n\n", part, role, randomText(r, 20))
		}
		indexAll(t, st, role, strings.ReplaceAll(string(role), ":", "-")+".md", text.String())
	}
	e, _ := embedder(t, st, "openai/meanings", llmtest.Meanings(32, nil))
	fill(t, st, e)
	s := search.NewWithOptions(st, search.Options{Embedder: e})
	near := 0
	for range 400 {
		chat := store.ChatID(1 + r.Int64N(chats))
		scope := policy.ContactScope(chat)
		if r.IntN(4) == 0 {
			scope = policy.ContactScope(chat, store.ChatID(1+r.Int64N(chats))) // one person on two networks
		}
		text := randomText(r, 1+r.IntN(4))
		if r.IntN(3) == 0 {
			text = "this belongs to user " + text
		}
		found, err := s.AsContact(t.Context(), scope, search.Query{Text: text, Limit: 50})
		require.NoError(t, err)
		for _, h := range found.Hits {
			require.True(t, scope.Allows(h.Role), "%v was shown %s", scope, h.Role)
			require.Contains(t, h.Text, "belongs to "+string(h.Role))
			if h.Similarity > 0 {
				near++
			}
		}
		owned, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: text, Limit: 50})
		require.NoError(t, err)
		for _, h := range owned.Hits {
			require.True(t, h.Role == policy.RolePublic || h.Role == policy.RoleAdmin, "the owner's default has no chats in it")
		}
	}
	require.Greater(t, near, 1000, "meaning had its part in it")
}

func TestVectors_DatabaseEnforcesScopes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for _, role := range []policy.Role{policy.RolePublic, policy.RoleAdmin, policy.UserRole(1), policy.UserRole(2)} {
		indexAll(t, st, role, strings.ReplaceAll(string(role), ":", "-")+".md", "The same words for everybody.")
	}
	e, _ := embedder(t, st, "openai/meanings", llmtest.Meanings(32, nil))
	fill(t, st, e)
	vector, err := e.Embed(t.Context(), []string{"The same words for everybody."})
	require.NoError(t, err)
	kinds := []index.Kind{index.KindKnowledge}
	ids := func(tx store.Tx) []store.ChunkID {
		near, err := index.SearchVectors(t.Context(), tx, e.Name(), vector[0], kinds, 50)
		require.NoError(t, err)
		var list []store.ChunkID
		for _, n := range near {
			list = append(list, n.ID)
		}
		return list
	}
	require.NoError(t, st.AsContact(t.Context(), policy.ContactScope(1), func(tx store.Tx) error {
		require.Len(t, ids(tx), 2, "public, and its own")
		return nil
	}))
	require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(2), func(tx store.Tx) error {
		require.Len(t, ids(tx), 3)
		return nil
	}))
	for name, sql := range map[string]string{
		"reading vectors": "select count(*) from chunk_vectors", "reading models": "select count(*) from vector_models",
		"changing the model": "select use_vector_model('x', 3)",
		"the owner's scope":  "select set_config('multis.scope', 'public,admin', true), (select count(*) from search_vectors('openai/meanings', '" + half(32) + "', '{kb}', 10))",
		"every scope": "select set_config('multis.scope', '*', true), (select count(*) from search_vectors('openai/meanings', '" +
			half(32) + "', '{kb}', 10))",
		"no scope": "select set_config('multis.scope', '', true), (select count(*) from search_vectors('openai/meanings', '" +
			half(32) + "', '{kb}', 10))",
	} {
		t.Run(name, func(t *testing.T) {
			err := st.AsContact(t.Context(), policy.ContactScope(1), func(tx store.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			require.ErrorContains(t, err, "42501", name)
		})
	}
	_, err = index.SearchVectors(context.WithoutCancel(t.Context()), beginWithout(t, st), e.Name(), vector[0], kinds, 10)
	require.ErrorContains(t, err, "no scope is set")
}

func half(dimensions int) string { return "[1" + strings.Repeat(",1", dimensions-1) + "]" }

func beginWithout(t *testing.T, st *store.Store) store.Tx {
	t.Helper()
	tx, err := st.Pool().Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	return tx
}
