package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"multis/internal/language"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	// maxScopeRoles and maxScopePassages bound the scopes that are searched in memory. Every match is ranked there, so larger
	// scopes are left to Postgres.
	maxScopeRoles, maxScopePassages = 8, 3000
	// The cache holds at most maxCachedPassages passages, and maxCachedStems stems of words of up to maxCachedWordBytes bytes.
	maxCachedPassages, maxCachedStems, maxCachedWordBytes = 20_000, 50_000, 100
	// maxLanguages is how many of a scope's languages are searched, the most used first. search_terms in Postgres has the same limit.
	maxLanguages = 4
)

// scopeCache holds the index entries of small scopes that are searched repeatedly. All entries of a role belong to the same
// version of the role. Texts are not cached: they are always read in the caller's scope.
type scopeCache struct {
	mu       sync.Mutex
	roles    map[roleKey]*cachedRole
	scopes   map[scopeKey][]index.RoleSize // the roles of each scope at its last search
	stems    map[stemKey][]string
	tooLarge map[scopeKey]bool                    // scopes that were too large at their last search
	recent   map[index.Source][]language.Language // the languages of the last search; the next search reads their stems in advance
	clock    int64                                // counts searches, for eviction
	cached   int                                  // number of passages in roles
}

type roleKey struct {
	source index.Source
	role   policy.Role
}

type scopeKey struct {
	source index.Source
	scope  string
}

type stemKey struct {
	language language.Language
	word     string
}

// cachedRole holds the index entries of a role. At the first search of a role only its version is noted, because most roles
// change before they are searched again; the second one loads the entries.
type cachedRole struct {
	version  int64
	lastUsed int64 // scopeCache.clock at the last search of the role
	loaded   bool
	passages []index.Passage      // sorted by document and position
	postings map[string][]posting // by lexeme

	vocabulary func() *vocabulary // the lexemes of postings, made on first use
}

// posting is the term frequency of a lexeme in one passage.
type posting struct {
	passage   int32 // index in cachedRole.passages
	frequency int16
}

func newScopeCache() *scopeCache {
	return &scopeCache{
		roles:    map[roleKey]*cachedRole{},
		scopes:   map[scopeKey][]index.RoleSize{},
		tooLarge: map[scopeKey]bool{},
		stems:    map[stemKey][]string{},
		recent:   map[index.Source][]language.Language{},
	}
}

// speculation is the candidate set of a query from the cache alone. It is valid only if the roles still have these versions
// and Postgres confirms the predicted stems.
type speculation struct {
	matches

	versions  []int64             // versions of the roles, ascending
	predicted index.LanguageTexts // words whose stems are not cached
	stems     [][]string          // predicted stems of these words
}

// speculate matches without a round trip. It reports false if the cache lacks the scope or one of its roles.
func (s *scopeCache) speculate(scope policy.Scope, q Query, parsed question) (speculation, bool) {
	if q.Exhaustive {
		return speculation{}, false
	}
	s.mu.Lock()
	sizes, known := s.scopes[scopeKey{q.Source, scope.String()}]
	s.mu.Unlock()
	if !known {
		return speculation{}, false
	}
	roles, ok := s.loadedRoles(q.Source, sizes)
	if !ok {
		return speculation{}, false
	}
	corpus, languages := sumSizes(sizes)
	stems, predicted := s.cachedStems(append(slices.Clone(languages), knownLanguages(parsed.language)...), parsed.searched())
	predictedStems := predictStems(predicted)
	versions := make([]int64, len(sizes))
	for i, size := range sizes {
		versions[i] = size.Version
	}
	slices.Sort(versions)
	addStems(stems, predicted, predictedStems)
	return speculation{matchInMemory(roles, languages, parsed, stems, corpus, q), versions, predicted, predictedStems}, true
}

// matchInMemory matches a query against cached roles.
func matchInMemory(roles []*cachedRole, languages []language.Language, parsed question, stems map[stemKey][]string, corpus index.Corpus,
	q Query,
) matches {
	found := parsed.mergeForms(findTerms(roles, languages, parsed, stems))
	found = append(found, suggestCorrections(roles, found)...)
	m := matches{terms: mergeTerms(found, parsed.words, corpus), corpus: corpus}
	m.passages = findPassages(roles, indexedTerms(m.terms), q.Kinds)
	return m
}

// match matches a query against the current roles of a small scope, which it loads if needed. It reports false if the scope
// is too large or was not searched since it changed, so that Postgres has to match.
func (s *scopeCache) match(ctx context.Context, db store.Reader, scope policy.Scope, q Query, parsed question) (matches, bool, error) {
	if q.Exhaustive || len(scope.Roles()) > maxScopeRoles || s.isTooLarge(scope, q) {
		return matches{}, false, nil
	}
	_, unknown := s.cachedStems(s.expectedLanguages(q.Source, parsed.language), parsed.searched())
	sizes, lexemes, err := index.RoleSizes(ctx, db, q.Source, unknown)
	if err != nil {
		return matches{}, false, err
	}
	s.cacheStems(unknown, lexemes)
	corpus, languages := sumSizes(sizes)
	s.recordSize(scope, q, corpus.StatsChunks)
	if corpus.StatsChunks == 0 || corpus.StatsChunks > maxScopePassages {
		return matches{}, false, nil
	}
	roles, ok, err := s.currentRoles(ctx, db, q.Source, sizes)
	if err != nil {
		return matches{}, false, err
	}
	if !ok {
		return matches{}, false, nil
	}
	s.recordScope(q.Source, scope, languages, sizes)
	stems, err := s.readStems(ctx, db, languages, parsed)
	if err != nil {
		return matches{}, false, err
	}
	return matchInMemory(roles, languages, parsed, stems, corpus, q), true, nil
}

// isTooLarge reports whether a scope was too large for the cache at its last search.
func (s *scopeCache) isTooLarge(scope policy.Scope, q Query) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tooLarge[scopeKey{q.Source, scope.String()}]
}

// recordSize records the number of passages in a scope; 0 means unknown.
func (s *scopeCache) recordSize(scope policy.Scope, q Query, passages int64) {
	if len(scope.Roles()) > maxScopeRoles {
		return
	}
	key := scopeKey{q.Source, scope.String()}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case passages > maxScopePassages && len(s.tooLarge) < maxCachedPassages:
		s.tooLarge[key] = true
	case passages > 0 && passages <= maxScopePassages:
		delete(s.tooLarge, key)
	}
}

// scopeSize returns the number of passages in a scope. The statistics of a contact's search are those of the scope. The statistics
// of the owner's search are those of the whole corpus, so PlannedChunks is used instead.
func scopeSize(scope policy.Scope, c index.Corpus) int64 {
	if scope.Allows(policy.RoleAdmin) {
		return c.PlannedChunks
	}
	return c.StatsChunks
}

// knownLanguages returns a list of the language alone, or an empty list if the language is unknown.
func knownLanguages(l language.Language) []language.Language {
	if l == language.Unknown {
		return nil
	}
	return []language.Language{l}
}

// sumSizes returns the statistics of a scope, and the languages of its passages, the most used first.
func sumSizes(sizes []index.RoleSize) (index.Corpus, []language.Language) {
	var c index.Corpus
	in := map[language.Language]int64{}
	for _, r := range sizes {
		c.StatsChunks += r.Chunks
		c.StatsWords += r.Words
		for i, l := range r.Languages {
			in[l] += r.LanguageSizes[i]
		}
	}
	c.PlannedChunks = c.StatsChunks
	languages := slices.SortedFunc(maps.Keys(in), func(a, b language.Language) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b))
	})
	return c, languages[:min(len(languages), maxLanguages)]
}

// currentRoles returns the roles at the versions of sizes and loads those that are missing. It reports false if one of them
// is searched for the first time since it changed.
func (s *scopeCache) currentRoles(ctx context.Context, db store.Reader, source index.Source,
	sizes []index.RoleSize,
) ([]*cachedRole, bool, error) {
	var stale []policy.Role
	seen := true
	s.mu.Lock()
	s.clock++
	for _, size := range sizes {
		r := s.roles[roleKey{source, size.Role}]
		if r == nil || r.version != size.Version {
			s.drop(roleKey{source, size.Role})
			r = &cachedRole{version: size.Version}
			s.roles[roleKey{source, size.Role}] = r
			seen = false
		}
		if !r.loaded {
			stale = append(stale, size.Role)
		}
		r.lastUsed = s.clock
	}
	s.mu.Unlock()
	if !seen {
		return nil, false, nil
	}
	if len(stale) > 0 {
		if err := s.load(ctx, db, source, stale); err != nil {
			return nil, false, err
		}
	}
	list, ok := s.loadedRoles(source, sizes)
	return list, ok, nil
}

// loadedRoles returns the roles at the versions of sizes, or false if one of them is not loaded.
func (s *scopeCache) loadedRoles(source index.Source, sizes []index.RoleSize) ([]*cachedRole, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*cachedRole, len(sizes))
	for i, size := range sizes {
		r := s.roles[roleKey{source, size.Role}]
		if r == nil || !r.loaded || r.version != size.Version { // changed meanwhile, or evicted
			return nil, false
		}
		r.lastUsed = s.clock
		list[i] = r
	}
	return list, true
}

func (s *scopeCache) drop(key roleKey) {
	if r := s.roles[key]; r != nil {
		s.cached -= len(r.passages)
		delete(s.roles, key)
	}
}

func (s *scopeCache) load(ctx context.Context, db store.Reader, source index.Source, roles []policy.Role) error {
	rows, err := index.RolePassages(ctx, db, source, roles)
	if err != nil {
		return err
	}
	read := map[policy.Role]*cachedRole{}
	for _, row := range rows {
		r := read[row.Role]
		if r == nil {
			r = &cachedRole{version: row.Version, loaded: true, postings: map[string][]posting{}}
			read[row.Role] = r
		}
		for _, l := range row.Lexemes {
			r.postings[l.Lexeme] = append(r.postings[l.Lexeme], posting{int32(len(r.passages)), l.Frequency}) //nolint:gosec // maxScopePassages at most
		}
		r.passages = append(r.passages, row.Passage)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for role, r := range read {
		s.drop(roleKey{source, role})
		r.lastUsed = s.clock
		r.vocabulary = sync.OnceValue(func() *vocabulary { return newVocabulary(slices.Collect(maps.Keys(r.postings))) })
		s.roles[roleKey{source, role}] = r
		s.cached += len(r.passages)
	}
	s.evict()
	return nil
}

// evict drops the least recently used roles until the cache is within its limits.
func (s *scopeCache) evict() {
	for s.cached > maxCachedPassages || len(s.roles) > maxCachedPassages {
		var oldest roleKey
		for key, r := range s.roles {
			if o := s.roles[oldest]; o == nil || r.lastUsed < o.lastUsed {
				oldest = key
			}
		}
		s.drop(oldest)
	}
}

// expectedLanguages returns the languages of the last search of a source, and the language of a question.
func (s *scopeCache) expectedLanguages(source index.Source, question language.Language) []language.Language {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.recent[source]), knownLanguages(question)...)
}

func (s *scopeCache) recordScope(source index.Source, scope policy.Scope, languages []language.Language, sizes []index.RoleSize) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent[source] = languages
	if len(s.scopes) > maxCachedPassages {
		clear(s.scopes)
	}
	s.scopes[scopeKey{source, scope.String()}] = sizes
}

// findTerms returns the stems of the question's words in the languages of the scope, with their document frequencies. It leaves
// out the stop words of the question's own language. Where the question is too short to tell that, it leaves out those of any
// language of the scope that occur in no passage: "sind" is a stop word in German, and would look like an unknown topic in all others.
func findTerms(roles []*cachedRole, languages []language.Language, parsed question, stems map[stemKey][]string) []index.Term {
	var found []index.Term
	for _, w := range parsed.searched() {
		if parsed.language != language.Unknown && len(stems[stemKey{parsed.language, w}]) == 0 {
			continue
		}
		var lexemes []string
		isStopWord := false
		for _, l := range languages {
			stemmed := stems[stemKey{l, w}]
			lexemes, isStopWord = append(lexemes, stemmed...), isStopWord || len(stemmed) == 0
		}
		slices.Sort(lexemes)
		var terms []index.Term
		for _, lexeme := range slices.Compact(lexemes) {
			terms = append(terms, index.Term{Word: w, Lexeme: lexeme, Chunks: documentFrequency(roles, lexeme)})
		}
		occurs := slices.ContainsFunc(terms, func(t index.Term) bool { return t.Chunks > 0 })
		if known := parsed.language != language.Unknown && parsed.language != language.Simple; known || !isStopWord || occurs {
			found = append(found, terms...)
		}
	}
	return found
}

// documentFrequency returns the document frequency of a lexeme in roles.
func documentFrequency(roles []*cachedRole, lexeme string) (n int64) {
	for _, r := range roles {
		n += int64(len(r.postings[lexeme]))
	}
	return n
}

// findPassages returns the passages that contain a term and their neighbours, by document and position.
func findPassages(roles []*cachedRole, terms []Term, kinds []index.Kind) []index.Passage {
	var list []index.Passage
	for _, r := range roles {
		frequencies := make([]int16, len(r.passages)*len(terms))
		wanted := make([]bool, len(r.passages))
		for t, term := range terms {
			for _, p := range r.postings[term.Lexeme] {
				at := int(p.passage)
				frequencies[at*len(terms)+t] = p.frequency
				for near := max(at-neighbourReach, 0); near <= min(at+neighbourReach, len(wanted)-1); near++ {
					wanted[near] = true
				}
			}
		}
		for at, p := range r.passages {
			if wanted[at] && slices.Contains(kinds, p.Kind) {
				p.Frequencies = frequencies[at*len(terms) : (at+1)*len(terms)]
				list = append(list, p)
			}
		}
	}
	return list
}
