package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"multis/language"
	"multis/policy"
	"multis/store"
)

const (
	// heldRoles and heldPassages bound the scopes that are searched in memory: every match is ranked, so a bigger one is
	// left to the database.
	heldRoles, heldPassages = 8, 3000
	// mostHeld is how many passages are held in all, and mostStems how many stems, of words of up to longestHeld bytes.
	mostHeld, mostStems, longestHeld = 20_000, 50_000, 100
	// mostLanguages of a scope are looked into, as in the database.
	mostLanguages = 4
)

// shelf holds the index entries of small scopes that are searched again and again: all that was written at one version of a
// role, never anything of two. Texts are not among them; they are always read in the asker's scope.
type shelf struct {
	mu     sync.Mutex
	roles  map[shelfKey]*heldRole
	scopes map[scopeKey][]store.RoleSize // as they were last
	stems  map[stemKey][]string
	big    map[scopeKey]bool                    // scopes that were too big when they were searched last
	langs  map[store.Source][]language.Language // that were met last, to ask for their stems ahead
	clock  int64
	loaded int // passages held
}

type shelfKey struct {
	in   store.Source
	role policy.Role
}

type scopeKey struct {
	in    store.Source
	scope string
}

type stemKey struct {
	language language.Language
	word     string
}

// heldRole is what is held of a role. Asked for once, only its version is noted; most scopes are not asked again before
// they change.
type heldRole struct {
	version  int64
	used     int64
	full     bool
	passages []store.Passage // in order of document and place
	stands   map[string][]posting

	vocabulary func() *vocabulary // of stands, made when it is asked for
}

// posting says how often a word stands in a passage of heldRole.
type posting struct {
	at        int32
	frequency int16
}

func newShelf() *shelf {
	return &shelf{roles: map[shelfKey]*heldRole{}, scopes: map[scopeKey][]store.RoleSize{}, big: map[scopeKey]bool{}, stems: map[stemKey][]string{}, langs: map[store.Source][]language.Language{}}
}

// recalled is what a query speaks for in what was held last. It is so if the roles are still of these versions, and if the words that
// nobody asked for before have the stems that they likely have.
type recalled struct {
	matches

	versions []int64 // in order
	unsure   store.TextsIn
	stems    [][]string // of unsure
}

// recall is match without asking the database. False: something is not held.
func (s *shelf) recall(scope policy.Scope, q Query, asked question) (recalled, bool) {
	if q.Exhaustive {
		return recalled{}, false
	}
	s.mu.Lock()
	sizes, known := s.scopes[scopeKey{q.Source, scope.String()}]
	s.mu.Unlock()
	if !known {
		return recalled{}, false
	}
	roles, ok := s.full(q.Source, sizes)
	if !ok {
		return recalled{}, false
	}
	corpus, languages := sum(sizes)
	stems, unsure := s.knownStems(append(slices.Clone(languages), orNone(asked.of)...), asked.words)
	likely := likelyStems(unsure)
	versions := make([]int64, len(sizes))
	for i, size := range sizes {
		versions[i] = size.Version
	}
	slices.Sort(versions)
	addStems(stems, unsure, likely)
	return recalled{matched(roles, languages, asked, stems, corpus, q), versions, unsure, likely}, true
}

// matched is all that a query speaks for in roles that are held.
func matched(roles []*heldRole, languages []language.Language, asked question, stems map[stemKey][]string, corpus store.Corpus, q Query) matches {
	found := termsOf(roles, languages, asked, stems)
	found = append(found, guesses(roles, found)...)
	m := matches{terms: queryTerms(found, asked.words, corpus), corpus: corpus}
	m.passages = passagesOf(roles, known(m.terms), q.Kinds)
	return m
}

// match finds all passages of a small scope that a query speaks for. False: the database has to.
func (s *shelf) match(ctx context.Context, db store.Reader, scope policy.Scope, q Query, asked question) (matches, bool, error) {
	if q.Exhaustive || len(scope.Roles()) > heldRoles || s.tooBig(scope, q) {
		return matches{}, false, nil
	}
	_, unknown := s.knownStems(s.expected(q.Source, asked.of), asked.words)
	sizes, lexemes, err := store.RoleSizes(ctx, db, q.Source, unknown)
	if err != nil {
		return matches{}, false, err
	}
	s.learn(unknown, lexemes)
	corpus, languages := sum(sizes)
	s.measured(scope, q, corpus.StatsChunks)
	if corpus.StatsChunks == 0 || corpus.StatsChunks > heldPassages {
		return matches{}, false, nil
	}
	roles, ok, err := s.held(ctx, db, q.Source, sizes)
	if err != nil || !ok {
		return matches{}, false, err
	}
	s.expect(q.Source, scope, languages, sizes)
	stems, err := s.stemsOf(ctx, db, languages, asked)
	if err != nil {
		return matches{}, false, err
	}
	return matched(roles, languages, asked, stems, corpus, q), true, nil
}

// tooBig tells whether a scope need not be looked at, because there was too much in it.
func (s *shelf) tooBig(scope policy.Scope, q Query) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.big[scopeKey{q.Source, scope.String()}]
}

// measured notes how many passages there are in a scope; 0 if that is not known.
func (s *shelf) measured(scope policy.Scope, q Query, passages int64) {
	if len(scope.Roles()) > heldRoles {
		return
	}
	key := scopeKey{q.Source, scope.String()}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case passages > heldPassages && len(s.big) < mostHeld:
		s.big[key] = true
	case passages > 0 && passages <= heldPassages:
		delete(s.big, key)
	}
}

// searched is how many passages there are in a scope, as far as the database told.
func searched(scope policy.Scope, c store.Corpus) int64 {
	if scope.Allows(policy.Admin) {
		return c.PlannedChunks
	}
	return c.StatsChunks
}

// orNone is a language, if it is known, as a list.
func orNone(l language.Language) []language.Language {
	if l == language.Unknown {
		return nil
	}
	return []language.Language{l}
}

// sum is the size of a scope, and the languages it is in, the most used first.
func sum(sizes []store.RoleSize) (store.Corpus, []language.Language) {
	var c store.Corpus
	in := map[language.Language]int64{}
	for _, r := range sizes {
		c.StatsChunks += r.Chunks
		c.StatsWords += r.Words
		for i, l := range r.Languages {
			in[l] += r.LanguageSize[i]
		}
	}
	c.PlannedChunks = c.StatsChunks
	languages := slices.SortedFunc(maps.Keys(in), func(a, b language.Language) int { return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b)) })
	return c, languages[:min(len(languages), mostLanguages)]
}

// held gives the roles as they are now, read if need be. False: some of them are asked for the first time since they changed.
func (s *shelf) held(ctx context.Context, db store.Reader, in store.Source, sizes []store.RoleSize) ([]*heldRole, bool, error) {
	var stale []policy.Role
	again := true
	s.mu.Lock()
	s.clock++
	for _, size := range sizes {
		r := s.roles[shelfKey{in, size.Role}]
		if r == nil || r.version != size.Version {
			s.drop(shelfKey{in, size.Role})
			r = &heldRole{version: size.Version}
			s.roles[shelfKey{in, size.Role}] = r
			again = false
		}
		if !r.full {
			stale = append(stale, size.Role)
		}
		r.used = s.clock
	}
	s.mu.Unlock()
	if !again {
		return nil, false, nil
	}
	if len(stale) > 0 {
		if err := s.load(ctx, db, in, stale); err != nil {
			return nil, false, err
		}
	}
	list, ok := s.full(in, sizes)
	return list, ok, nil
}

// full gives roles that are held at the versions that sizes say; false if one is not.
func (s *shelf) full(in store.Source, sizes []store.RoleSize) ([]*heldRole, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*heldRole, len(sizes))
	for i, size := range sizes {
		r := s.roles[shelfKey{in, size.Role}]
		if r == nil || !r.full || r.version != size.Version { // it changed meanwhile, or had to go
			return nil, false
		}
		r.used = s.clock
		list[i] = r
	}
	return list, true
}

func (s *shelf) drop(key shelfKey) {
	if r := s.roles[key]; r != nil {
		s.loaded -= len(r.passages)
		delete(s.roles, key)
	}
}

func (s *shelf) load(ctx context.Context, db store.Reader, in store.Source, roles []policy.Role) error {
	rows, err := store.HeldPassages(ctx, db, in, roles)
	if err != nil {
		return err
	}
	read := map[policy.Role]*heldRole{}
	for _, row := range rows {
		r := read[row.Role]
		if r == nil {
			r = &heldRole{version: row.Version, full: true, stands: map[string][]posting{}}
			read[row.Role] = r
		}
		for _, l := range row.Lexemes {
			r.stands[l.Word] = append(r.stands[l.Word], posting{int32(len(r.passages)), l.Frequency}) //nolint:gosec // heldPassages at most
		}
		r.passages = append(r.passages, row.Passage)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for role, r := range read {
		s.drop(shelfKey{in, role})
		r.used = s.clock
		r.vocabulary = sync.OnceValue(func() *vocabulary { return newVocabulary(slices.Collect(maps.Keys(r.stands))) })
		s.roles[shelfKey{in, role}] = r
		s.loaded += len(r.passages)
	}
	s.makeRoom()
	return nil
}

// makeRoom lets go of what was not asked for the longest.
func (s *shelf) makeRoom() {
	for s.loaded > mostHeld || len(s.roles) > mostHeld {
		var oldest shelfKey
		for key, r := range s.roles {
			if o := s.roles[oldest]; o == nil || r.used < o.used {
				oldest = key
			}
		}
		s.drop(oldest)
	}
}

// expected are the languages that a source was in last, and that of a question.
func (s *shelf) expected(in store.Source, of language.Language) []language.Language {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.langs[in]), orNone(of)...)
}

func (s *shelf) expect(in store.Source, scope policy.Scope, languages []language.Language, sizes []store.RoleSize) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.langs[in] = languages
	if len(s.scopes) > mostHeld {
		clear(s.scopes)
	}
	s.scopes[scopeKey{in, scope.String()}] = sizes
}

// termsOf are the stems of the question's words in the languages of what is searched, each with the number of passages it
// stands in; none for a stop word of the question's own language.
func termsOf(roles []*heldRole, languages []language.Language, asked question, stems map[stemKey][]string) []store.Term {
	var found []store.Term
	for _, w := range byWeight(asked.words) {
		if asked.of != language.Unknown && len(stems[stemKey{asked.of, w}]) == 0 {
			continue
		}
		var lexemes []string
		for _, l := range languages {
			lexemes = append(lexemes, stems[stemKey{l, w}]...)
		}
		slices.Sort(lexemes)
		for _, lexeme := range slices.Compact(lexemes) {
			found = append(found, store.Term{Word: w, Lexeme: lexeme, Chunks: standing(roles, lexeme)})
		}
	}
	return found
}

// standing is in how many passages of roles a lexeme stands.
func standing(roles []*heldRole, lexeme string) (n int64) {
	for _, r := range roles {
		n += int64(len(r.stands[lexeme]))
	}
	return n
}

// passagesOf are the passages that one of terms stands in, with the two before and after each, in order.
func passagesOf(roles []*heldRole, terms []Term, kinds []store.Kind) []store.Passage {
	var list []store.Passage
	for _, r := range roles {
		frequencies := make([]int16, len(r.passages)*len(terms))
		wanted := make([]bool, len(r.passages))
		for t, term := range terms {
			for _, p := range r.stands[term.Lexeme] {
				at := int(p.at)
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
