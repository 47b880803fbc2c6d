package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestAQuestionKeepsItsStemsWhenTheShelfIsCleared(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	metals := []string{"gold", "silver", "bronze", "iron", "copper"}
	texts := append([]string{"parrot"}, metals...)
	chunks := make([]store.Chunk, len(texts))
	for i, text := range texts {
		chunks[i] = store.Chunk{Key: text, Ord: 10 * i, Content: text, Words: text, Language: "english"}
	}
	require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(), func(tx store.Tx) error {
		_, err := store.ReplaceDocument(t.Context(), tx, store.Document{Origin: "a", Name: "a", Role: policy.Public, Kind: store.KindKnowledge, Element: "txt", Hash: "1"}, chunks)
		return err
	}))
	s := New(st)
	for n, metal := range metals {
		if n > 2 { // what is there is held, and so is the stem of the parrot
			for i := range mostStems - len(s.shelf.stems) {
				s.shelf.stems[stemKey{"english", fmt.Sprint("filler", i)}] = nil
			}
		}
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: "parrot " + metal})
		require.NoError(t, err)
		require.Len(t, found.Hits, 2, metal)
	}

	long := strings.Repeat("gold", longestHeld)
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: "parrot " + long})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1)
	require.NotContains(t, s.shelf.stems, stemKey{"english", long}, "words of any length would be a lot of memory")
}
