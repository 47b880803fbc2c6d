package web

import (
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// maxAround is how many characters of a passage are shown before and after a quote.
const maxAround = 240

// PassageAround returns a quote with what surrounds it in a passage: only the quote, if the passage does not have it.
func PassageAround(passage, quote string) Passage {
	before, after, found := strings.Cut(passage, quote)
	if !found {
		return Passage{Match: quote}
	}
	return Passage{Before: before, Match: quote, After: after}
}

// Near returns the passage with only what is near its match.
func (p Passage) Near() Passage {
	p.Before, p.After = lastCharacters(p.Before, maxAround), text.Clip(p.After, maxAround)
	return p
}

// IsLong reports whether there is more of the passage than what is near its match.
func (p Passage) IsLong() bool {
	near := p.Near()
	return p.Before != near.Before || p.After != near.After
}

// lastCharacters returns the end of a text, with n characters at most.
func lastCharacters(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return "…" + string(runes[len(runes)-n+1:])
	}
	return s
}

// PassagePath returns the path of a passage on the page of its document.
func PassagePath(document store.DocumentID, passage store.ChunkID) string {
	return fmt.Sprintf("/documents/%d#p-%d", document, passage)
}

// readPassages returns the passages of documents that citations refer to. One that is not there any more is missing.
func (s *Site) readPassages(v *visit, citations []store.Citation) (map[store.ChunkID]index.ChunkText, error) {
	var ids []int64
	for _, c := range citations {
		if chunk, ok := c.Ref.Chunk(); ok {
			ids = append(ids, int64(chunk))
		}
	}
	found := map[store.ChunkID]index.ChunkText{}
	if len(ids) == 0 {
		return found, nil
	}
	scope := policy.OwnerScope()
	texts, err := s.Store.OwnerReader(scope)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	list, err := index.ChunkTexts(v.r.Context(), v.count(texts), scope, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		found[store.ChunkID(p.ID)] = p
	}
	return found, nil
}

// sourcesOf returns the sources of citations, each quote in its passage.
func sourcesOf(citations []store.Citation, passages map[store.ChunkID]index.ChunkText) (list []Passage) {
	for _, c := range citations {
		chunk, _ := c.Ref.Chunk()
		stored, found := passages[chunk]
		p := PassageAround(stored.Content, c.Quote)
		p.Source, p.Private = strings.Trim(c.Source, "[]"), !found || stored.Role != policy.RolePublic
		if found && stored.Kind == index.KindKnowledge {
			p.Path = PassagePath(store.DocumentID(stored.DocID), chunk)
		}
		list = append(list, p)
	}
	return list
}
