package search

import (
	"cmp"
	"slices"

	"multis/store"
	"multis/store/index"
)

// textReader reads the texts of passages in the caller's scope.
type textReader func(ids []int64) ([]index.ChunkText, error)

// rankMatches ranks the candidates and re-ranks the best of them by their texts.
func rankMatches(m matches, parsed question, q Query, read textReader) (Result, error) {
	r := Result{Terms: m.terms, corpusSize: m.corpus.StatsChunks, words: parsed.words}
	ranked := rank(m.passages, r.Terms, parsed.words, m.corpus)
	c := newCues(r.Terms, parsed.words)
	ranked = pruneRanked(ranked[:min(len(ranked), q.Limit+spareHits)], q.Limit, c)
	if len(ranked) == 0 {
		return r, nil
	}
	setCoverage(ranked, r.Terms, m.corpus)
	var why map[int64]*Explanation
	if q.Explain {
		why = explain(ranked, r.Terms, parsed.words, m.corpus)
	}
	hits, err := rerank(q.Source, read, ranked, c, why)
	r.Hits = hits[:min(len(hits), q.Limit)]
	return r, err
}

// pruneRanked drops the passages that no re-ranking could lift among the first limit.
func pruneRanked(ranked []*scored, limit int, c cues) []*scored {
	n := len(ranked)
	for n > limit && c.maxScore(ranked[n-1])*maxActivation < ranked[limit-1].score {
		n--
	}
	return ranked[:n]
}

// rerank reads the texts of ranked passages and sorts them again, with boosts for word order and recent use.
func rerank(in index.Source, read textReader, ranked []*scored, c cues, why map[int64]*Explanation) ([]Hit, error) {
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
		boosted := c.boost(s, t.Content)
		final := withActivation(boosted, t.Activation)
		if e := why[t.ID]; e != nil {
			e.Cues, e.Activation = boosted-s.score, final-boosted
		}
		h := newHit(in, t, s)
		h.Score = final
		h.Why = why[t.ID]
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ref.ID, b.Ref.ID))
	})
	return hits, nil
}

// NewHit returns a chunk as a hit that no query ranked.
func NewHit(t index.ChunkText) Hit { return newHit(index.Documents, t, &scored{}) }

// newHit returns the hit of a ranked passage with its text.
func newHit(in index.Source, t index.ChunkText, s *scored) Hit {
	h := Hit{
		Role:       t.Role,
		ShownTitle: t.ShownTitle,
		Kind:       t.Kind,
		Language:   s.language,
		Title:      t.Title,
		Section:    t.Section,
		LineFrom:   t.LineFrom,
		LineTo:     t.LineTo,
		PageFrom:   t.PageFrom,
		PageTo:     t.PageTo,
		Text:       t.Content,
		Score:      s.score,
		Coverage:   s.coverage,
		IndexedAt:  t.IndexedAt,
	}
	if in == index.Messages {
		h.Ref, h.ChatID = store.MessageRef(store.MessageID(t.ID)), store.ChatID(t.DocID)
	} else {
		h.Ref, h.DocumentID = store.ChunkRef(store.ChunkID(t.ID)), store.DocumentID(t.DocID)
	}
	return h
}
