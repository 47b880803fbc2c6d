// Package search finds the passages that answer a question: which candidates to fetch, how to rank them, and whether one
// supports an answer. Everything it reads is read in the caller's scope.
package search

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"multis/language"
	"multis/policy"
	"multis/store"
)

const (
	defaultLimit = 10
	maxLimit     = 50
	// spare passages are read so that their texts and activation can still change the order.
	spare = 15
	// mostCandidates is how many matches are looked at, of public passages and of the caller's own.
	mostCandidates = 8000
	// seeds are the best matches that the database tells of, with those around them.
	seeds = 40
	// maxWords of a query are looked at.
	maxWords = 400
)

// SectionSeparator stands between the headings of Hit.Section.
const SectionSeparator = " › "

// Query is what is looked for.
type Query struct {
	Text string
	// Limit is the number of hits. Defaults to 10, at most 50.
	Limit int
	// Source to search in. Defaults to the documents; in the archive a hit is a message and its document is the chat.
	Source store.Source
	// Kinds of documents to search in. Defaults to all.
	Kinds []store.Kind
	// Exhaustive scores every match, however long it takes. It is for measuring what the plan of a search leaves out.
	Exhaustive bool
	// Explain fills Hit.Why.
	Explain bool
}

// withDefaults is the query with what it leaves open.
func (q Query) withDefaults() Query {
	q.Limit = min(cmp.Or(max(q.Limit, 0), defaultLimit), maxLimit)
	if len(q.Kinds) == 0 {
		q.Kinds = []store.Kind{store.KindKnowledge, store.KindConversation}
	}
	return q
}

// Term is a word of the query as the index knows it.
type Term struct {
	Lexeme string
	Count  int     // how often it stands in the query
	Chunks int64   // in how many passages it stands; 0 if in none
	Often  []int64 // in how many it stands as often as each of store.Marks says; empty if the index does not tell
	IDF    float64 // how much it tells
	Guess  bool    // it only looks like the word that was asked for, which stands nowhere
	words  []string
	weight weight
}

// Tells reports whether the term tells what a question is about, beside the given words.
func (t Term) Tells(besides []string) bool {
	return t.weight <= general && slices.ContainsFunc(t.words, func(w string) bool { return !slices.Contains(besides, w) })
}

// Hit is a passage that was found.
type Hit struct {
	ChunkID    int64 // of a message: its id
	DocumentID int64 // of a message: its chat
	Role       policy.Role
	Kind       store.Kind
	Language   language.Language
	Title      string // the document's name; empty for a message
	Section    string // its headings, the outermost first, joined by SectionSeparator; empty if none
	LineFrom   int    // 0 if the source has no lines
	LineTo     int
	PageFrom   int // 0 if the source has no pages
	PageTo     int
	Text       string
	// Source names it to people where Title and place do not, as for a message. Link is its address; empty for none.
	Source     string
	Link       string
	Messages   []int64 // that a note was learned from
	Score      float64 // of its words, only for comparing hits of one result; 0 in a result by date
	Similarity float64 // of its meaning to the question's, up to 1; 0 without embeddings, or if others are nearer
	// Coverage is the share, from 0 to 1, of what the question is about that stands in this very passage.
	Coverage  float64
	IndexedAt time.Time    // of a message: when it was said
	Why       *Explanation // of Score; nil unless asked for
}

// Result is what a query found, the best first. A query of nothing but stop words finds the newest passages, with no Terms.
type Result struct {
	Hits  []Hit
	Terms []Term

	chunks int64 // the size of the corpus that Terms refer to
	words  []string
}

// Searcher searches. It is safe for concurrent use.
type Searcher struct {
	st      *store.Store
	shelf   *shelf
	meaning *meaning
	asking  atomic.Int32 // searches that the database works for just now
}

// New returns a Searcher on st that goes by words alone.
func New(st *store.Store) *Searcher { return Open(st, Options{}) }

// AsContact searches with a contact's rights: the database refuses what is not public or of scope's chats, whatever this
// package asks for.
func (s *Searcher) AsContact(ctx context.Context, scope policy.Scope, q Query) (Result, error) {
	db, err := s.st.ContactReader(scope)
	if err != nil {
		return Result{}, err
	}
	return s.findNear(ctx, db, scope, q)
}

// AsOwner searches with the owner's rights in what scope names.
func (s *Searcher) AsOwner(ctx context.Context, scope policy.Scope, q Query) (Result, error) {
	db, err := s.st.OwnerReader(scope)
	if err != nil {
		return Result{}, err
	}
	return s.findNear(ctx, db, scope, q)
}

// RecordAccess notes that hits were used for an answer, which makes them a little more present in later searches. It is
// not part of a search, so that reading never waits for writing.
func (s *Searcher) RecordAccess(ctx context.Context, scope policy.Scope, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.ChunkID
	}
	db, err := s.st.OwnerReader(scope)
	if err != nil {
		return err
	}
	return store.RecordAccess(ctx, db.Lazy(), scope, ids)
}

// question is a query's text, taken apart.
type question struct {
	words []string
	of    language.Language
}

func newQuestion(text string) question {
	of := language.Detect(text)
	list := words(text, readsEnglish(of))
	return question{words: list[:min(len(list), maxWords)], of: of}
}

// matches are the passages that a query speaks for, and those around them. Their frequencies are of the first terms; the
// others stand nowhere.
type matches struct {
	terms    []Term
	passages []store.Passage
	corpus   store.Corpus
}

// find finds by words. q is as withDefaults gives it.
func (s *Searcher) find(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (Result, error) {
	asked := newQuestion(q.Text)
	if r, ok, err := s.remember(ctx, db, scope, q, asked); ok || err != nil {
		return r, err
	}
	r, whole, err := s.lookUp(ctx, db, scope, q, asked)
	if !whole && err == nil { // a document was written or removed just then
		r, _, err = s.lookUp(ctx, db, scope, q, asked)
	}
	return r, err
}

// lookUp answers from the database. It is not whole if some of what was found was gone when its text was read.
func (s *Searcher) lookUp(ctx context.Context, db store.Reader, scope policy.Scope, q Query, asked question) (r Result, whole bool, err error) {
	m, held, err := s.shelf.match(ctx, db, scope, q, asked)
	if err == nil && !held {
		m, err = s.match(ctx, db, q, asked)
		s.shelf.measured(scope, q, searched(scope, m.corpus))
	}
	if err != nil {
		return Result{}, false, err
	}
	whole = true
	if len(m.terms) == 0 {
		r = Result{words: asked.words, chunks: m.corpus.StatsChunks}
		texts, err := newest(ctx, db, scope, q)
		for _, t := range texts {
			r.Hits = append(r.Hits, hit(t, &scored{}))
		}
		return r, whole, err
	}
	r, err = found(m, asked, q, func(ids []int64) (texts []store.ChunkText, err error) {
		if q.Source == store.Archive {
			texts, err = store.ArchivedTexts(ctx, db, scope, ids)
		} else {
			texts, err = store.ChunkTexts(ctx, db, scope, ids)
		}
		whole = len(texts) == len(ids)
		return texts, err
	})
	return r, whole, err
}

// remember answers from what is held, in one round trip, which reads the texts and checks what was presumed. False: the database
// has to be asked for more.
func (s *Searcher) remember(ctx context.Context, db store.Reader, scope policy.Scope, q Query, asked question) (Result, bool, error) {
	for range 2 { // once more if a stem is not what it likely was
		m, ok := s.shelf.recall(scope, q, asked)
		if !ok {
			break
		}
		var stems [][]string
		r, err := found(m.matches, asked, q, func(ids []int64) (texts []store.ChunkText, err error) {
			texts, stems, err = store.HeldTexts(ctx, db, q.Source, scope, ids, m.versions, m.unsure)
			return texts, err
		})
		if err != nil {
			return Result{}, false, err
		}
		s.shelf.learn(m.unsure, stems)
		if len(r.Hits) == 0 {
			break // nothing matches, or what is held is no longer so
		}
		if slices.EqualFunc(m.stems, stems, slices.Equal) {
			return r, true, nil
		}
	}
	return Result{}, false, nil
}

// reader reads texts by the ids of passages, in the asker's scope.
type reader func(ids []int64) ([]store.ChunkText, error)

// found ranks what matches and reads the best of it.
func found(m matches, asked question, q Query, read reader) (Result, error) {
	r := Result{Terms: m.terms, chunks: m.corpus.StatsChunks, words: asked.words}
	ranked := rank(m.passages, r.Terms, asked.words, m.corpus)
	c := newCues(r.Terms, asked.words)
	ranked = withinReach(ranked[:min(len(ranked), q.Limit+spare)], q.Limit, c)
	if len(ranked) == 0 {
		return r, nil
	}
	cover(ranked, r.Terms, m.corpus)
	var why map[int64]*Explanation
	if q.Explain {
		why = explain(ranked, r.Terms, asked.words, m.corpus)
	}
	hits, err := readHits(read, ranked, c, why)
	r.Hits = hits[:min(len(hits), q.Limit)]
	return r, err
}

// withinReach leaves out what cannot come among the first, limit of them, whatever its text and use add.
func withinReach(ranked []*scored, limit int, c cues) []*scored {
	n := len(ranked)
	for n > limit && c.most(ranked[n-1])*mostActivation < ranked[limit-1].score {
		n--
	}
	return ranked[:n]
}

// match asks the database for the passages that can rank high.
func (s *Searcher) match(ctx context.Context, db store.Reader, q Query, asked question) (matches, error) {
	found, corpus, err := store.SearchTerms(ctx, db, q.Source, byWeight(asked.words), asked.of)
	if err != nil {
		return matches{}, err
	}
	m := matches{terms: queryTerms(found, asked.words, corpus), corpus: corpus}
	searched := known(m.terms)
	if len(searched) == 0 {
		return m, nil
	}
	alone := s.asking.Add(1) == 1
	defer s.asking.Add(-1)
	requests := passageQueries(searched, corpus, q, candidateBudget, alone)
	m.passages, err = candidates(ctx, db, requests)
	if err != nil || !fewMatch(m.passages) {
		return m, err
	}
	if wider := passageQueries(searched, corpus, q, secondBudget*candidateBudget, alone); !reflect.DeepEqual(wider, requests) {
		m.passages, err = candidates(ctx, db, wider)
	}
	return m, err
}

// candidates asks all requests at the same time, and joins what they find.
func candidates(ctx context.Context, db store.Reader, requests []store.PassageQuery) ([]store.Passage, error) {
	found := make([][]store.Passage, len(requests))
	asking, ctx := errgroup.WithContext(ctx)
	for i, r := range requests {
		asking.Go(func() (err error) {
			found[i], err = store.SearchPassages(ctx, db, r)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	all := slices.SortedFunc(slices.Values(slices.Concat(found...)), func(a, b store.Passage) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b store.Passage) bool { return a.ID == b.ID }), nil
}

// fewMatch tells whether passages are so few that there may be better ones which a plan left out.
func fewMatch(passages []store.Passage) bool {
	matching := 0
	for _, p := range passages {
		if slices.ContainsFunc(p.Frequencies, func(n int16) bool { return n > 0 }) {
			matching++
		}
	}
	return matching < seeds
}

// newest is what a query without words finds.
func newest(ctx context.Context, db store.DB, scope policy.Scope, q Query) ([]store.ChunkText, error) {
	if q.Source == store.Archive {
		return store.RecentArchived(ctx, db, scope, q.Limit)
	}
	return store.RecentChunks(ctx, db, scope, q.Kinds, q.Limit)
}

// guessShare is what a word that only looks like the one asked for counts.
const guessShare = 0.7

// queryTerms joins the words that have the same lexeme. Those that stand in some passage come first, the rarest of them
// at the head, and not more than can be searched for; those that stand nowhere follow. A guess that was asked for, too, is none. A guess
// supports no answer, unless it surely is what was meant.
func queryTerms(found []store.Term, words []string, corpus store.Corpus) []Term {
	slices.SortStableFunc(found, func(a, b store.Term) int {
		switch {
		case a.Guess == b.Guess:
			return 0
		case b.Guess:
			return -1
		default:
			return 1
		}
	})
	guessed := found
	found = slices.DeleteFunc(slices.Clone(found), func(t store.Term) bool {
		return t.Guess && (weightIn(words, t.Word) > general || !isAlike(t, guessed)) // how people ask, or another word
	})
	sure := correction(found)
	var terms []Term
	for _, f := range found {
		if f.Chunks == 0 && slices.ContainsFunc(found, func(o store.Term) bool { return o.Word == f.Word && o.Chunks > 0 && !o.Guess }) {
			continue // it stands there in another language
		}
		i := slices.IndexFunc(terms, func(t Term) bool { return t.Lexeme == f.Lexeme })
		if i < 0 {
			i = len(terms)
			t := Term{Lexeme: f.Lexeme, Chunks: f.Chunks, Often: f.Often, IDF: idf(f.Chunks, corpus.StatsChunks), Guess: f.Guess, weight: weightIn(words, f.Word)}
			switch {
			case f.Guess:
				t.IDF *= guessShare
				if sure == nil {
					t.weight = filler
				}
			case sure != nil && f.Word == sure.Word:
				t.weight = filler // the correction stands for it
			}
			terms = append(terms, t)
		}
		if !slices.Contains(terms[i].words, f.Word) {
			terms[i].words = append(terms[i].words, f.Word)
			terms[i].Count += countOf(words, f.Word)
		}
	}
	slices.SortStableFunc(terms, func(a, b Term) int {
		if (a.Chunks == 0) != (b.Chunks == 0) {
			return cmp.Compare(b.Chunks, a.Chunks)
		}
		return cmp.Compare(a.Chunks, b.Chunks)
	})
	searched := len(known(terms))
	return slices.Delete(terms, min(searched, maxTerms), searched)
}

func countOf(words []string, word string) int {
	n := 0
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}

// known is the head of terms, as queryTerms orders them, that stand in some passage.
func known(terms []Term) []Term {
	n := slices.IndexFunc(terms, func(t Term) bool { return t.Chunks == 0 })
	if n < 0 {
		n = len(terms)
	}
	return terms[:n]
}

// passageQueries are what to ask the database for, at the same time: in two parts, if that is worth it and the search runs alone.
func passageQueries(terms []Term, corpus store.Corpus, q Query, budget float64, alone bool) []store.PassageQuery {
	whole := store.PassageQuery{Source: q.Source, Average: averageWords(corpus), Kinds: q.Kinds, Most: mostCandidates}
	for _, t := range terms {
		whole.Terms = append(whole.Terms, t.query(1))
		whole.Weights = append(whole.Weights, t.rankWeight())
	}
	sets := []set{{queries: []string{anyOf(terms)}}}
	if q.Exhaustive {
		whole.Most = math.MaxInt32
	} else {
		sets = plan(terms, corpus.PlannedChunks, corpus.StatsChunks, budget)
	}
	parts := [][]set{sets}
	if alone {
		parts = shared(sets)
	}
	requests := make([]store.PassageQuery, len(parts))
	for i, part := range parts {
		requests[i] = whole
		for _, s := range part {
			requests[i].Planned = append(requests[i].Planned, s.queries)
		}
	}
	requests[len(requests)-1].Any = anyOf(terms) // the last one has the least to do
	return requests
}

// readHits reads the texts of ranked passages and orders them anew with what their words' places and their use add.
func readHits(read reader, ranked []*scored, c cues, why map[int64]*Explanation) ([]Hit, error) {
	byID := make(map[int64]*scored, len(ranked))
	ids := make([]int64, len(ranked))
	for i, r := range ranked {
		byID[r.id], ids[i] = r, r.id
	}
	texts, err := read(ids)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(texts))
	for _, t := range texts {
		s := byID[t.ID]
		raised := c.raise(s, t.Content)
		final := withActivation(raised, t.Activation)
		if e := why[t.ID]; e != nil {
			e.Cues, e.Activation = raised-s.score, final-raised
		}
		h := hit(t, s)
		h.Score = final
		h.Why = why[t.ID]
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return hits, nil
}

func hit(t store.ChunkText, s *scored) Hit {
	return Hit{
		ChunkID: t.ID, DocumentID: t.DocID, Role: t.Role, Kind: t.Kind, Language: s.language, Title: t.Title, Section: t.Section,
		LineFrom: t.LineFrom, LineTo: t.LineTo, PageFrom: t.PageFrom, PageTo: t.PageTo,
		Text: t.Content, Score: s.score, Coverage: s.coverage, IndexedAt: t.Indexed,
	}
}
