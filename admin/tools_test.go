package admin_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/mcp"
	"multis/agent/tools"
)

func TestTools_ListServerProblems(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.tools = []tools.Spec{
		{Name: "search_docs", Description: "Looks into documents. And more.", Tier: tools.Read},
		{Name: "desk__wipe", Description: "Wipes\n# the desk", Tier: tools.Confirm},
	}
	r.sources = []mcp.State{
		{Name: "desk", Tools: 1, Skipped: []string{"big: its schema has more than 16000 bytes"}},
		{Name: "far", Problem: "it wants a login: run multis mcp login far where multis runs"},
	}
	said := r.asOwner("/tools")
	require.Contains(t, said,
		"**2 tools** that I can use for you\n`search_docs` — Looks into documents\n`desk__wipe` — Wipes # the desk (I ask you first)\n")
	require.Contains(t, said, "⚠️ of `desk` not taken: big: its schema has more than 16000 bytes")
	require.Contains(t, said, "⚠️ `far` is not there: it wants a login: run multis mcp login far where multis runs. I try again.")
	require.NotContains(t, said, "left out")

	for i := range 126 {
		r.tools = append(r.tools, tools.Spec{Name: fmt.Sprint("desk__", i)})
	}
	require.Contains(t, r.asOwner("/tools"), "A model takes 128 tools, and what is above that is left out.")
}
