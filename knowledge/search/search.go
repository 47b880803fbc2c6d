// Package search finds and ranks the passages that answer a question, and quotes the sentences that do.
//
// A query is matched in one of two places, with the same result:
//
//   - In Postgres: [index.SearchTerms] gives the query's terms with their document frequencies, plan picks the sets of terms
//     that find the candidates, and [index.SearchPassages] scores the candidates by BM25 and returns the best of them.
//   - In memory: the index entries of a small scope (up to 8 roles and 3,000 passages) that is searched again before it
//     changes are kept in the scope cache. Every passage is then matched there, without a plan. Versions of the roles,
//     checked by Postgres in the same round trip that reads the texts, tell whether the cache is still current.
//
// In both cases Go ranks the candidates with their neighbours (rank.go) and re-ranks the best of them by their texts
// (cues.go) and recent use. With an embedder, the nearest passages by embedding are fused into the result (vectors.go).
//
// Everything is read in the caller's scope; texts are never cached.
package search

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"multis/internal/language"
	"multis/internal/trace"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	defaultLimit = 10
	maxLimit     = 50
	// spareHits is how many passages beyond the limit are re-ranked by their texts.
	spareHits = 15
	// maxCandidates bounds the matches that Postgres scores, separately for public passages and for the caller's own.
	maxCandidates = 8000
	// rerankDepth is how many of the best matches Postgres returns, each with its neighbours.
	rerankDepth = 40
	// maxQueryWords is the length at which a query is cut.
	maxQueryWords = 400
)

// SectionSeparator joins the headings of Hit.Section.
const SectionSeparator = " › "

// Query is a search request.
type Query struct {
	Text string
	// Limit is the number of hits. Defaults to 10, at most 50.
	Limit int
	// Source is the index to search. Defaults to the documents. In the message index a hit is a message, and its document is
	// the chat.
	Source index.Source
	// Kinds of documents to search in. Defaults to all.
	Kinds []index.Kind
	// Before are earlier messages of who asks, the oldest first, which a follow-up may need.
	Before []string
	// Quotes fills Result.Others.
	Quotes bool
	// Exhaustive scores every match, however long it takes. Used to measure what planned searches miss.
	Exhaustive bool
	// Explain fills Hit.Why.
	Explain bool
}

// withDefaults returns the query with its unset fields filled in.
func (q Query) withDefaults() Query {
	q.Limit = min(cmp.Or(max(q.Limit, 0), defaultLimit), maxLimit)
	if len(q.Kinds) == 0 {
		q.Kinds = []index.Kind{index.KindKnowledge, index.KindConversation}
	}
	return q
}

// Hit is a passage that matches a query.
type Hit struct {
	Ref        store.Ref        // a chunk or a message
	DocumentID store.DocumentID // 0 for a message
	ChatID     store.ChatID     // of a message; 0 for a chunk
	Role       policy.Role
	Kind       index.Kind
	Language   language.Language
	Title      string // the document's name; empty for a message
	ShownTitle string // the title by which customers know the document; empty for its name
	Section    string // the headings above it, outermost first, joined by SectionSeparator; may be empty
	LineFrom   int    // 0 if the source has no lines
	LineTo     int
	PageFrom   int // 0 if the source has no pages
	PageTo     int
	Text       string
	// Source is the citation of a passage that Title, lines and pages do not identify, such as a message. Link is its URL. Both may be empty.
	Source     string
	Link       string
	Messages   []store.MessageID // the messages that a note was extracted from
	Score      float64           // BM25 with boosts, comparable within one result only; 0 if sorted by date
	Similarity float64           // cosine similarity to the query, up to 1; 0 without embeddings or if not among the nearest
	// Coverage is the share, from 0 to 1, of the question's topical terms that occur in this passage itself.
	Coverage  float64
	IndexedAt time.Time    // when the passage was indexed, or the message was sent
	Why       *Explanation // explains Score; nil unless Query.Explain

	learned []index.LearnedWords // words of questions for which the owner picked a part of it
}

// Result lists the hits of a query, best first. A query of stop words only has no Terms and returns the newest passages.
type Result struct {
	Hits  []Hit
	Terms []Term
	Asked Asked // the question, for MatchQuotes
	// Others are further passages in which quotes are looked for, in no order; none without Query.Quotes.
	Others []Hit

	match func() Match // computed on the first call; nil without Query.Quotes

	corpusSize int64    // the number of passages that the statistics of Terms refer to
	words      []string // the words of the query
}

// Searcher answers queries. It is safe for concurrent use.
type Searcher struct {
	st      *store.Store
	cache   *scopeCache
	vectors *queryEmbedder
	running atomic.Int32 // searches that Postgres is working on
	observe func(took time.Duration)
}

// New returns a Searcher without embeddings.
func New(st *store.Store) *Searcher { return NewWithOptions(st, Options{}) }

// AsContact searches with a contact's rights: row-level security limits the transaction to public passages and to those of
// scope's chats.
func (s *Searcher) AsContact(ctx context.Context, scope policy.Scope, q Query) (Result, error) {
	db, err := s.st.ContactReader(scope)
	if err != nil {
		return Result{}, err
	}
	return s.search(ctx, db, scope, q)
}

// searchQuotes searches, and returns the question and the passages in which quotes are looked for.
func (s *Searcher) searchQuotes(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (Result, error) {
	asked, limit := Asked{Text: q.Text, Before: q.Before}, q.withDefaults().Limit
	if q.Quotes {
		q.Limit = maxLimit
	}
	r, err := s.searchHybrid(ctx, db, scope, q)
	if err != nil || !q.Quotes {
		r.Asked = asked
		return r, err
	}
	texts, err := readNewest(ctx, db, scope, q.withDefaults())
	for _, t := range texts {
		r.Others = append(r.Others, newHit(q.Source, t, &scored{}))
	}
	if err == nil && len(q.Before) > 0 {
		joined := q
		joined.Text = strings.Join(append(slices.Clone(q.Before), q.Text), "\n")
		before, err := s.searchHybrid(ctx, db, scope, joined)
		if err != nil {
			return Result{}, err
		}
		for _, h := range before.Hits {
			if !slices.ContainsFunc(r.Others, func(o Hit) bool { return o.Ref == h.Ref }) {
				r.Others = append(r.Others, h)
			}
		}
	}
	rest := min(len(r.Hits), limit)
	r.Others = slices.DeleteFunc(r.Others, func(h Hit) bool {
		return slices.ContainsFunc(r.Hits, func(o Hit) bool { return o.Ref == h.Ref })
	})
	r.Others = append(slices.Clone(r.Hits[rest:]), r.Others...)
	r.Hits = r.Hits[:rest]
	if err != nil {
		return r, err
	}
	r, err = r.withLearned(ctx, db, scope, q.withDefaults())
	return r.WithAsked(asked), err
}

// AsOwner searches the roles of scope with the owner's rights.
func (s *Searcher) AsOwner(ctx context.Context, scope policy.Scope, q Query) (Result, error) {
	db, err := s.st.OwnerReader(scope)
	if err != nil {
		return Result{}, err
	}
	return s.search(ctx, db, scope, q)
}

// search searches, and tells observe how long it took.
func (s *Searcher) search(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (found Result, err error) {
	ctx, span := trace.Start(ctx, "search", trace.Code("multis.search.source", q.Source))
	defer func() {
		span.Add(trace.Number("multis.search.hits", len(found.Hits)))
		span.End(err)
	}()
	if s.observe == nil {
		return s.searchQuotes(ctx, db, scope, q)
	}
	began := time.Now()
	defer func() { s.observe(time.Since(began)) }()
	return s.searchQuotes(ctx, db, scope, q)
}

// RecordAccess records that hits were used for an answer. Their activation grows, which ranks them slightly higher in later
// searches. It is separate from searching, so that a read never waits for a write.
func (s *Searcher) RecordAccess(ctx context.Context, scope policy.Scope, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	var chunks []store.ChunkID
	for _, h := range hits {
		if chunk, ok := h.Ref.Chunk(); ok {
			chunks = append(chunks, chunk)
		}
	}
	w, err := s.st.ScopedAsyncCommit(scope)
	if err != nil {
		return err
	}
	return index.RecordAccess(ctx, w, scope, chunks)
}

// question is the parsed text of a query.
type question struct {
	words    []string
	forms    []form // other forms of words, which are searched as well
	language language.Language
}

func parseQuestion(text string) question {
	detected := language.Detect(text)
	list := words(text, replacesEnglishForms(detected))
	list = list[:min(len(list), maxQueryWords)]
	return question{words: list, forms: formsOf(list, language.Guess(text)), language: detected}
}

// matches is the candidate set of a query: the passages that contain a term, and their neighbours. Passage.Frequencies
// covers the leading terms only, because the remaining ones occur in no passage.
type matches struct {
	terms    []Term
	passages []index.Passage
	corpus   index.Corpus
}

// searchWords ranks passages by BM25. q must have its defaults.
func (s *Searcher) searchWords(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (Result, error) {
	parsed := parseQuestion(q.Text)
	if r, ok, err := s.searchCached(ctx, db, scope, q, parsed); ok || err != nil {
		return r, err
	}
	r, complete, err := s.searchOnce(ctx, db, scope, q, parsed)
	if !complete && err == nil { // a document was changed meanwhile
		r, _, err = s.searchOnce(ctx, db, scope, q, parsed)
	}
	return r, err
}

// searchOnce matches in the scope cache, which it updates if needed, or else in Postgres. complete is false if a passage was
// deleted between ranking and reading.
func (s *Searcher) searchOnce(ctx context.Context, db store.Reader, scope policy.Scope, q Query,
	parsed question,
) (r Result, complete bool, err error) {
	m, cached, err := s.cache.match(ctx, db, scope, q, parsed)
	if err == nil && !cached {
		m, err = s.match(ctx, db, q, parsed)
		s.cache.recordSize(scope, q, scopeSize(scope, m.corpus))
	}
	if err != nil {
		return Result{}, false, err
	}
	complete = true
	if len(m.terms) == 0 {
		r = Result{words: parsed.words, corpusSize: m.corpus.StatsChunks}
		texts, err := readNewest(ctx, db, scope, q)
		for _, t := range texts {
			r.Hits = append(r.Hits, newHit(q.Source, t, &scored{}))
		}
		return r, complete, err
	}
	r, err = rankMatches(m, parsed, q, func(ids []int64) (texts []index.ChunkText, err error) {
		if q.Source == index.Messages {
			texts, err = index.MessageTexts(ctx, db, scope, ids)
		} else {
			texts, err = index.ChunkTexts(ctx, db, scope, ids)
		}
		complete = len(texts) == len(ids)
		return texts, err
	})
	return r, complete, err
}

// searchCached answers from the scope cache with one round trip, which reads the texts and verifies the speculation. It
// reports false if the cache cannot answer.
func (s *Searcher) searchCached(ctx context.Context, db store.Reader, scope policy.Scope, q Query, parsed question) (Result, bool, error) {
	for range 2 { // a second time with the right stems if one was predicted wrongly
		m, ok := s.cache.speculate(scope, q, parsed)
		if !ok {
			break
		}
		var stems [][]string
		r, err := rankMatches(m.matches, parsed, q, func(ids []int64) (texts []index.ChunkText, err error) {
			texts, stems, err = index.TextsIfUnchanged(ctx, db, q.Source, scope, ids, m.versions, m.predicted)
			return texts, err
		})
		if err != nil {
			return Result{}, false, err
		}
		s.cache.cacheStems(m.predicted, stems)
		if len(r.Hits) == 0 {
			break // no match, or the cached versions are outdated
		}
		if slices.EqualFunc(m.stems, stems, slices.Equal) {
			return r, true, nil
		}
	}
	return Result{}, false, nil
}

// match retrieves the candidates from Postgres.
func (s *Searcher) match(ctx context.Context, db store.Reader, q Query, parsed question) (matches, error) {
	found, corpus, err := index.SearchTerms(ctx, db, q.Source, byWeight(parsed.words), parsed.language)
	if err != nil {
		return matches{}, err
	}
	if forms := parsed.missingForms(found); len(forms) > 0 { // asked only then, because Postgres would look for corrections of each form
		more, _, err := index.SearchTerms(ctx, db, q.Source, forms, parsed.language)
		if err != nil {
			return matches{}, err
		}
		found = parsed.mergeForms(append(found, more...))
	}
	m := matches{terms: mergeTerms(found, parsed.words, corpus), corpus: corpus}
	searched := indexedTerms(m.terms)
	if len(searched) == 0 {
		return m, nil
	}
	alone := s.running.Add(1) == 1
	defer s.running.Add(-1)
	requests := planQueries(searched, corpus, q, candidateBudget, alone)
	m.passages, err = fetchPassages(ctx, db, requests)
	if err != nil {
		return m, err
	}
	if !tooFewMatches(m.passages) {
		return m, nil
	}
	if wider := planQueries(searched, corpus, q, secondBudget*candidateBudget, alone); !reflect.DeepEqual(wider, requests) {
		m.passages, err = fetchPassages(ctx, db, wider)
	}
	return m, err
}

// fetchPassages runs the requests concurrently and merges their results.
func fetchPassages(ctx context.Context, db store.Reader, requests []index.PassageQuery) ([]index.Passage, error) {
	found := make([][]index.Passage, len(requests))
	group, ctx := errgroup.WithContext(ctx)
	for i, r := range requests {
		group.Go(func() (err error) {
			found[i], err = index.SearchPassages(ctx, db, r)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	all := slices.SortedFunc(slices.Values(slices.Concat(found...)), func(a, b index.Passage) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b index.Passage) bool { return a.ID == b.ID }), nil
}

// tooFewMatches reports whether so few passages match that the plan may have missed better ones.
func tooFewMatches(passages []index.Passage) bool {
	matching := 0
	for _, p := range passages {
		if slices.ContainsFunc(p.Frequencies, func(n int16) bool { return n > 0 }) {
			matching++
		}
	}
	return matching < rerankDepth
}

// readNewest reads the newest passages, which a query without terms returns.
func readNewest(ctx context.Context, db store.DB, scope policy.Scope, q Query) ([]index.ChunkText, error) {
	if q.Source == index.Messages {
		return index.RecentMessages(ctx, db, scope, q.Limit)
	}
	return index.RecentChunks(ctx, db, scope, q.Kinds, q.Limit)
}

// planQueries returns the requests to run concurrently: two if the work is worth splitting and no other search runs.
func planQueries(terms []Term, corpus index.Corpus, q Query, budget float64, alone bool) []index.PassageQuery {
	whole := index.PassageQuery{
		Source:        q.Source,
		AverageWords:  averageWords(corpus),
		Kinds:         q.Kinds,
		MaxCandidates: maxCandidates,
		EnoughPlanned: maxCandidates,
	}
	for _, t := range terms {
		whole.Terms = append(whole.Terms, t.query(1))
		whole.Weights = append(whole.Weights, t.rankWeight())
	}
	sets := []termSet{{queries: []string{anyTermQuery(terms)}}}
	if q.Exhaustive {
		whole.MaxCandidates, whole.EnoughPlanned = math.MaxInt32, math.MaxInt32
	} else {
		if corpus.PlannedChunks >= smallScope {
			whole.EnoughPlanned = min(int(stopFactor*budget), maxCandidates)
		}
		sets = planSets(terms, corpus.PlannedChunks, corpus.StatsChunks, budget)
	}
	parts := [][]termSet{sets}
	if alone {
		parts = splitSets(sets)
	}
	requests := make([]index.PassageQuery, len(parts))
	for i, part := range parts {
		requests[i] = whole
		for _, s := range part {
			requests[i].PlannedSets = append(requests[i].PlannedSets, s.queries)
		}
	}
	requests[len(requests)-1].ContactTerms = anyTermQuery(terms) // the last one has the least work
	return requests
}
