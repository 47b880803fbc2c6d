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
	"multis/store/index"
	"multis/store/storetest"
)

// doubleThirdLetter returns a word with its third letter doubled.
func doubleThirdLetter(word string) string { return word[:3] + word[2:] }

func TestCorrect_BoundsWords(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana", policy.KindDM)
	var words, asked []string
	for i := range uint64(40) {
		words = append(words, inventedWord(i*7919+3))
		asked = append(asked, doubleThirdLetter(words[i]))
	}
	a.say(ana, policy.AuthorContact, 0, strings.Join(words, " "))
	a.index()
	_, err := knowledge.New(a.st).Index(t.Context(), knowledge.File{
		Name: "a.txt",
		Role: policy.UserRole(ana.ID),
		Data: []byte(strings.Join(words, " ")),
	})
	require.NoError(t, err)
	s := search.New(a.st)
	for _, in := range []index.Source{index.Documents, index.Messages} {
		for range 3 { // from the database, and then from the memory
			r, err := s.AsContact(t.Context(), policy.ContactScope(ana.ID), search.Query{Text: strings.Join(asked, " "), Source: in})
			require.NoError(t, err)
			corrected := 0
			for _, term := range r.Terms {
				if term.Correction {
					corrected++
				}
			}
			require.Equal(t, 8, corrected, in)
		}
	}
}

func TestCorrect_CompoundByPart(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana", policy.KindDM)
	lines := []string{
		"Die Hüttenschlafsäcke sind für alle Gäste Pflicht und können für vier Euro geliehen werden.",
		"Die Seilbahn fährt um neun Uhr ins Tal, und der Abstieg dauert etwa drei Stunden.",
		"De sleutelkluis hangt links van de deur en de code krijgt u van ons met een bericht.",
	}
	for i, line := range lines {
		a.say(ana, policy.AuthorContact, i, line)
		_, err := knowledge.New(a.st).Index(t.Context(), knowledge.File{
			Name: fmt.Sprintf("%d.txt", i),
			Role: policy.UserRole(ana.ID),
			Data: []byte(line),
		})
		require.NoError(t, err)
	}
	a.index()
	for _, in := range []index.Source{index.Documents, index.Messages} {
		s := search.New(a.st)
		for question, want := range map[string]string{
			"Brauche ich einen Schlafsack?": lines[0], // the end of a compound
			"Waar vind ik de sleutel?":      lines[2], // the beginning of one
			"Fährt eine Seilbahngondel?":    lines[1], // the compound, where only its beginning is indexed
			"Wo ist eine Hütte?":            "",       // too small a part
			"Wie lange schlafen die Leute?": "",       // in the middle
		} {
			for range 3 { // from the database, and then from the memory
				r, err := s.AsContact(t.Context(), policy.ContactScope(ana.ID), search.Query{Text: question, Source: in})
				require.NoError(t, err)
				if want == "" {
					require.Empty(t, r.Hits, question)
					continue
				}
				require.NotEmpty(t, r.Hits, "%s in %q", question, in)
				require.Equal(t, want, r.Hits[0].Text, question)
			}
		}
	}
}

func TestCorrect_ShortQuestionIfUnique(t *testing.T) {
	t.Parallel()
	s := indexAll(t, storetest.New(t), [2]string{
		"a.txt",
		"The deposit is 50 euro. Messages are read in the evening. Breakfast is at eight, breakfasts to go are packed at six.",
	})
	for question, want := range map[string]string{
		"desposit":             "The deposit is 50 euro.",
		"massages":             "", // another word
		"the desposit of goat": "",
	} {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: question})
		require.NoError(t, err)
		q, ok, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		require.Equal(t, want != "", ok, "%s: %s", question, q.Text)
		require.Contains(t, q.Text, want)
	}
}

// BenchmarkUnknownWords searches for 400 words that are not indexed, in an index of 140,000 words.
func BenchmarkUnknownWords(b *testing.B) {
	st := storetest.New(b)
	for i := range uint64(14) {
		var text strings.Builder
		for j := range uint64(100) {
			fmt.Fprintf(&text, "# Section %d\n\n", j)
			for k := range uint64(100) {
				text.WriteString(inventedWord(i*10_000+j*100+k) + " ")
			}
			text.WriteString("\n\n")
		}
		_, err := knowledge.New(st).Index(b.Context(), knowledge.File{
			Name: fmt.Sprintf("doc%d.md", i),
			Role: policy.RolePublic,
			Data: []byte(text.String()),
		})
		require.NoError(b, err)
	}
	_, err := st.Pool().Exec(b.Context(), "analyze")
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(5, 6))
	asked := make([]string, 400)
	for i := range asked {
		asked[i] = doubleThirdLetter(inventedWord(r.Uint64N(140_000)))
	}
	s := search.New(st)
	for b.Loop() {
		_, err := s.AsContact(b.Context(), policy.ContactScope(2), search.Query{Text: strings.Join(asked, " ")})
		require.NoError(b, err)
	}
}
