package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestNeededTools_FollowQuestion(t *testing.T) {
	t.Parallel()
	var offered []tools.Spec
	for _, s := range []tools.Spec{
		{Name: "audit_summary"},
		{Name: "fetch_url"},
		{Name: "find_files", NeedsFolders: true},
		{Name: "lamp__switch", External: true},
		{Name: "message_contact"},
		{Name: "recall_memory"},
		{Name: "remember"},
		{Name: "schedule"},
		{Name: "search_docs"},
	} {
		s.Description = "Does one thing. Use it when that is wanted, " + strings.Repeat("and only then ", 20) + ". Never else."
		offered = append(offered, s)
	}
	offered[1].Kinds.Domains = true
	for question, want := range map[string][]string{
		"When is breakfast?":                   {"search_docs", "schedule", "message_contact", "remember", "recall_memory"},
		"What is in notes/todo.md?":            {"search_docs", "fetch_url", "find_files", "schedule", "message_contact"},
		"Read https://example.com for me":      {"search_docs", "fetch_url", "find_files", "schedule", "message_contact"},
		"Turn the lamp on":                     {"search_docs", "lamp__switch", "schedule", "message_contact", "remember"},
		"What does the audit say about Monday": {"search_docs", "audit_summary", "schedule", "message_contact", "remember"},
	} {
		var names []string
		for _, s := range neededTools(offered, question) {
			names = append(names, s.Name)
			require.Equal(t, "Does one thing.", s.Description)
		}
		require.Equal(t, want, names, question)
	}
	require.Len(t, neededTools(offered[:2], "x"), 2)
}
