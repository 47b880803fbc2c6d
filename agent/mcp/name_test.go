package mcp

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestToolNames_MapWhatProtocolAllows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("list_repository_", 8)
	var offered []*mcp.Tool
	for _, name := range []string{"search", "issues.list", "repo/get", "a.b", "a_b", "a/b", "größe", long, long + ".x", "get:item", "-", ""} {
		offered = append(offered, &mcp.Tool{Name: name})
	}
	names := toolNames("hub__", offered)
	require.Equal(t, "hub__search", names["search"])
	require.Equal(t, "hub__issues_list", names["issues.list"])
	require.Equal(t, "hub__repo_get", names["repo/get"])
	require.Equal(t, "hub__a_b", names["a_b"], "a name that needs no change is kept")
	require.Len(t, names, len(offered)-1)
	seen := map[string]bool{}
	for _, name := range names {
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, name)
		require.False(t, seen[name], name)
		seen[name] = true
	}
}

// TestMatchesAny_StarMatchesSlash: a pattern for the PIN holds for whatever the name is made of.
func TestMatchesAny_StarMatchesSlash(t *testing.T) {
	t.Parallel()
	require.True(t, matchesAny([]string{"*delete*"}, "files/delete"))
	require.True(t, matchesAny([]string{"*"}, "files/delete.all"))
	require.True(t, matchesAny([]string{"files/*"}, "files/delete"))
	require.False(t, matchesAny([]string{"files/*"}, "filesdelete"))
}
