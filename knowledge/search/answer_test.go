package search_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// indexFiles indexes the files that match pattern as public.
func indexFiles(t testing.TB, st *store.Store, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		_, err = knowledge.New(st).Index(t.Context(), knowledge.File{Name: filepath.Base(f), Data: data, Role: policy.RolePublic})
		require.NoError(t, err)
	}
}

func readLines(t testing.TB, path ...string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// Each business has 50 questions that its documents answer, with texts that the quote must contain, and 50 that they do not answer.
func TestAnswer_FromDocumentsOnly(t *testing.T) {
	t.Parallel()
	for _, business := range []string{"bakery", "guesthouse", "repair"} {
		t.Run(business, func(t *testing.T) {
			t.Parallel()
			st := storetest.New(t)
			indexFiles(t, st, filepath.Join("testdata", business, "documents", "*"))
			s := search.New(st)
			ask := func(question string) (search.Quote, bool) {
				r, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: question})
				require.NoError(t, err)
				q, ok, err := s.Answer(t.Context(), r)
				require.NoError(t, err)
				return q, ok
			}
			on, off := readLines(t, "testdata", business, "answered.tsv"), readLines(t, "testdata", business, "unanswered.txt")
			require.Len(t, on, 50)
			require.Len(t, off, 50)

			answered := 0
			for _, line := range on {
				question, want, _ := strings.Cut(line, "\t")
				if q, ok := ask(question); ok {
					answered++
					for part := range strings.SplitSeq(want, " | ") { // cells of a row
						require.Contains(t, q.Text, part, question)
					}
					require.Contains(t, q.Hit.Text, q.Text, "a quote stands in its passage word for word")
				}
			}
			t.Logf("%d of %d questions answered", answered, len(on))
			require.GreaterOrEqual(t, answered, 40)
			for _, question := range off {
				q, ok := ask(question)
				require.False(t, ok, "%s: %s", question, q.Text)
			}
		})
	}
}
