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

	"multis/internal/language"
	"multis/store"
	"multis/store/index"
)

// stemmers are the Snowball stemmers that Postgres has as well, possibly in another version.
var stemmers = map[language.Language]func(*snowballstem.Env) bool{
	language.English: english.Stem, language.German: german.Stem, language.French: french.Stem, language.Spanish: spanish.Stem,
	language.Portuguese: portuguese.Stem, language.Italian: italian.Stem, language.Dutch: dutch.Stem, language.Russian: russian.Stem,
	language.Arabic: arabic.Stem,
}

// predictStems returns the stems that Postgres most likely gives to words. Like Postgres, it stems Latin letters in Russian text
// as English. It does not know stop words; these are cached after their first use.
func predictStems(list index.LanguageTexts) [][]string {
	stems := make([][]string, len(list.Texts))
	for i, word := range list.Texts {
		lang := list.Languages[i]
		if lang == language.Russian && word[0] < utf8.RuneSelf {
			lang = language.English
		}
		if stem := stemmers[lang]; stem != nil && len(word) <= maxCachedWordBytes {
			env := snowballstem.NewEnv(word)
			stem(env)
			word = env.Current()
		}
		stems[i] = []string{word}
	}
	return stems
}

// cachedStems returns the cached stems of words in languages, and the words that are not cached.
func (s *scopeCache) cachedStems(languages []language.Language, words []string) (known map[stemKey][]string, unknown index.LanguageTexts) {
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

// languageWords are the words of a text, and its language.
type languageWords struct {
	language language.Language
	words    []string
}

// lexemes returns the lexemes of each text, as the index would hold them. Only words that the cache does not have are sent to Postgres.
func (s *scopeCache) lexemes(ctx context.Context, db store.DB, texts []languageWords) ([][]string, error) {
	stems := map[stemKey][]string{}
	var unknown index.LanguageTexts
	s.mu.Lock()
	for _, t := range texts {
		for _, w := range t.words {
			key := stemKey{t.language, w}
			if _, ok := stems[key]; ok {
				continue
			}
			cached, ok := s.stems[key]
			if stems[key] = cached; !ok {
				unknown.Languages, unknown.Texts = append(unknown.Languages, t.language), append(unknown.Texts, w)
			}
		}
	}
	s.mu.Unlock()
	if len(unknown.Texts) > 0 {
		read, err := index.Lexemes(ctx, db, unknown)
		if err != nil {
			return nil, err
		}
		s.cacheStems(unknown, read)
		addStems(stems, unknown, read)
	}
	list := make([][]string, len(texts))
	for i, t := range texts {
		for _, w := range t.words {
			list[i] = append(list[i], stems[stemKey{t.language, w}]...)
		}
	}
	return list, nil
}

// readStems returns the stems of the question's words in languages and in its own language. It returns a copy, because the cache
// may evict them while the question is answered.
func (s *scopeCache) readStems(ctx context.Context, db store.Reader, languages []language.Language,
	parsed question,
) (map[stemKey][]string, error) {
	stems, unknown := s.cachedStems(append(slices.Clone(languages), knownLanguages(parsed.language)...), parsed.searched())
	if len(unknown.Texts) == 0 {
		return stems, nil
	}
	lexemes, err := index.Lexemes(ctx, db, unknown)
	if err != nil {
		return nil, err
	}
	s.cacheStems(unknown, lexemes)
	addStems(stems, unknown, lexemes)
	return stems, nil
}

func addStems(stems map[stemKey][]string, list index.LanguageTexts, lexemes [][]string) {
	for i, l := range lexemes {
		stems[stemKey{list.Languages[i], list.Texts[i]}] = l
	}
}

// cacheStems adds the stems of words to the cache.
func (s *scopeCache) cacheStems(list index.LanguageTexts, lexemes [][]string) {
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
