package admin

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/language/orders"
)

// TestPlainOrders_MatchLexicon: each order has a command, and each command exists.
func TestPlainOrders_MatchLexicon(t *testing.T) {
	t.Parallel()
	table := New(Options{}).table
	var concepts []string
	for _, p := range plainOrders {
		concepts = append(concepts, p.order)
		if p.says != "" {
			continue
		}
		name, _, _ := strings.Cut(p.command, " ")
		_, exists := table.lookup(name)
		if !exists { // not in a terminal: it says what to do instead
			_, exists = table.lookupAlias(name)
		}
		require.True(t, exists, p.command)
	}
	require.ElementsMatch(t, orders.Concepts(), concepts)
}

// TestForeignCommands_NameWhatExists: what is offered instead of a foreign command can be used, and no command is foreign.
func TestForeignCommands_NameWhatExists(t *testing.T) {
	t.Parallel()
	table := New(Options{}).table
	for name, instead := range foreignCommands {
		_, exists := table.lookup(name)
		require.False(t, exists, "/%s is a command", name)
		for _, match := range regexp.MustCompile("`/([a-z-]+)").FindAllStringSubmatch(instead, -1) {
			if match[1] == "config" { // not in a terminal
				continue
			}
			_, exists := table.lookup(match[1])
			require.True(t, exists, "/%s offers /%s", name, match[1])
		}
	}
}
