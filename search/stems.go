package search

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"

	"multis/language"
	"multis/store"
)

// stemmers are those that Postgres has too, perhaps in another version.
var stemmers = map[language.Language]func(*snowballstem.Env) bool{
	language.English: english.Stem, language.German: german.Stem, language.French: french.Stem, language.Spanish: spanish.Stem,
	language.Portuguese: portuguese.Stem, language.Italian: italian.Stem, language.Dutch: dutch.Stem, language.Russian: russian.Stem, language.Arabic: arabic.Stem,
}

// predictStems are what the database most likely makes of words. It takes Latin letters for English among Russian words, and leaves
// out stop words; those are soon known.
func predictStems(list store.TextsIn) [][]string {
	stems := make([][]string, len(list.Texts))
	for i, word := range list.Texts {
		of := list.Languages[i]
		if of == language.Russian && word[0] < utf8.RuneSelf {
			of = language.English
		}
		if stem := stemmers[of]; stem != nil && len(word) <= maxCachedWordBytes {
			env := snowballstem.NewEnv(word)
			stem(env)
			word = env.Current()
		}
		stems[i] = []string{word}
	}
	return stems
}

// cachedStems are the stems of words in languages, and what must be asked for.
func (s *scopeCache) cachedStems(languages []language.Language, words []string) (known map[stemKey][]string, unknown store.TextsIn) {
	known = make(map[stemKey][]string, len(languages)*len(words))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range languages {
		if slices.Contains(languages[:i], l) {
			continue
		}
		for _, w := range words {
			if stems, ok := s.stems[stemKey{l, w}]; ok {
				known[stemKey{l, w}] = stems
			} else {
				unknown.Languages, unknown.Texts = append(unknown.Languages, l), append(unknown.Texts, w)
			}
		}
	}
	return known, unknown
}

// readStems are the stems of the question's words in languages and its own. They are the question's to keep: the shelf may have to
// let go of them while it is answered.
func (s *scopeCache) readStems(ctx context.Context, db store.Reader, languages []language.Language, asked question) (map[stemKey][]string, error) {
	stems, unknown := s.cachedStems(append(slices.Clone(languages), knownLanguages(asked.language)...), asked.words)
	if len(unknown.Texts) == 0 {
		return stems, nil
	}
	lexemes, err := store.Lexemes(ctx, db, unknown)
	if err != nil {
		return nil, err
	}
	s.cacheStems(unknown, lexemes)
	addStems(stems, unknown, lexemes)
	return stems, nil
}

func addStems(stems map[stemKey][]string, list store.TextsIn, lexemes [][]string) {
	for i, l := range lexemes {
		stems[stemKey{list.Languages[i], list.Texts[i]}] = l
	}
}

// learn notes the stems of words.
func (s *scopeCache) cacheStems(list store.TextsIn, lexemes [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stems)+len(lexemes) > maxCachedStems {
		clear(s.stems)
	}
	for i, l := range lexemes {
		if len(list.Texts[i]) <= maxCachedWordBytes {
			s.stems[stemKey{list.Languages[i], list.Texts[i]}] = l
		}
	}
}
