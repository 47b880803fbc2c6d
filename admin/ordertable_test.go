package admin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/language/lexicon"
)

// TestPlainOrders_MatchLexicon: each order of the lexicon has a command, and each command exists.
func TestPlainOrders_MatchLexicon(t *testing.T) {
	t.Parallel()
	table := New(Options{}).table
	var concepts []string
	for _, p := range plainOrders {
		concepts = append(concepts, p.concept)
		name, _, _ := strings.Cut(p.command, " ")
		_, exists := table.lookup(name)
		require.True(t, exists, p.command)
	}
	var rows []string
	for _, row := range lexicon.Rows("en", "orders") {
		if row.Concept != "polite" && row.Concept != "time" {
			rows = append(rows, row.Concept)
		}
	}
	require.ElementsMatch(t, rows, concepts)
}
