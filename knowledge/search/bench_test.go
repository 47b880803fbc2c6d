package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// inventedWord returns a word of four syllables, another one for each number.
func inventedWord(n uint64) string {
	var b strings.Builder
	for range 4 {
		b.WriteByte("bdfgklmnprtvz"[n%13])
		b.WriteByte("aiou"[n/13%4])
		n /= 52
	}
	return b.String()
}

// BenchmarkFind searches about 4,000 passages of 60 words, half of them public, of a vocabulary in which some words are
// common and most are rare.
func BenchmarkFind(b *testing.B) {
	st := storetest.New(b)
	r := rand.New(rand.NewPCG(5, 6))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	sentence := func(words int) string {
		list := make([]string, words)
		for i := range list {
			list[i] = inventedWord(zipf.Uint64())
		}
		return strings.Join(list, " ")
	}
	lib := knowledge.New(st)
	for i := range 40 {
		role := policy.RolePublic
		if i%2 == 1 {
			role = policy.UserRole(policy.ChatID(i%8 + 1))
		}
		var text strings.Builder
		for j := range 100 {
			fmt.Fprintf(&text, "# Section %d\n\n%s.\n\n", j, sentence(60))
		}
		_, err := lib.Index(b.Context(), knowledge.File{Name: fmt.Sprintf("doc%d.md", i), Role: role, Data: []byte(text.String())})
		require.NoError(b, err)
	}
	_, err := st.Pool().Exec(b.Context(), "analyze")
	require.NoError(b, err)
	s := search.New(st)
	for _, words := range []int{2, 6, 16} {
		query := func() search.Query { return search.Query{Text: sentence(words)} }
		b.Run(fmt.Sprintf("contact/words=%d", words), func(b *testing.B) {
			for b.Loop() {
				_, err := s.AsContact(b.Context(), policy.ContactScope(2), query())
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("owner/words=%d", words), func(b *testing.B) {
			for b.Loop() {
				_, err := s.AsOwner(b.Context(), policy.OwnerScope(2), query())
				require.NoError(b, err)
			}
		})
	}
}
