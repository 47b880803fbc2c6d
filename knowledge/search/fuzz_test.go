package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store/index"
	"multis/store/storetest"
)

// slowest is the maximum time of a search over a few thousand passages, on a busy machine.
const slowest = 20 * time.Second

func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		"", "the of and", "harbour lantern", "harbour\x00lantern", "\xff\xfe", `'\''|!(&<->):*`, "harbour²", "面包店", "ﷺ", "e\u0301\u0301",
		strings.Repeat("harbour ", 1000), strings.Repeat("x", 100_000), strings.Repeat("harbor lanters ", 50), "5kg 2026-11-22 10:30",
	} {
		f.Add(seed)
	}
	st := storetest.New(f)
	passages := make([]string, 2000) // enough for questions to be planned
	for i := range passages {
		passages[i] = fmt.Sprintf("harbour lantern %s word%d 面包", strings.Repeat("keeper ", i%7), i%50)
	}
	putPassages(f, st, passages)
	cached := search.New(st)
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), slowest)
		defer cancel()
		for _, s := range []*search.Searcher{cached, search.New(st)} { // a new one matches in Postgres
			for _, in := range []index.Source{index.Documents, index.Messages} {
				owner, err := s.AsOwner(ctx, policy.OwnerScope(), search.Query{Text: text, Source: in})
				require.NoError(t, err)
				require.LessOrEqual(t, len(owner.Hits), 10)
				contact, err := s.AsContact(ctx, policy.ContactScope(1), search.Query{Text: text, Source: in})
				require.NoError(t, err)
				require.LessOrEqual(t, len(contact.Hits), 10)
			}
		}
	})
}
