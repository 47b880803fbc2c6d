package admin

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// someRules are rules that explain one tool.
type someRules []string

func (s someRules) Rules() []string { return s }

func (s someRules) Explain(_ store.Chat, agent, tool, args string) (string, error) {
	if tool != "fetch_url" {
		return "", errors.New("there is no such tool")
	}
	return "deny: " + agent + " " + args + "\nrules.yaml:2 matches", nil
}

func TestPolicy_ShowsAndExplains(t *testing.T) {
	t.Parallel()
	said := func(p Policy, args string) string {
		ans, err := (&policyCommands{policy: p}).run(t.Context(), request{}, args)
		require.NoError(t, err)
		return ans.text
	}
	require.Contains(t, said(someRules{}, ""), "You have no rules of your own.")
	require.Equal(t, "**1 rule of yours**, tried before the default ones\n`rules.yaml:2 deny`", said(someRules{"rules.yaml:2 deny"}, ""))
	require.Equal(t, "**deny\\: multis \\{\"url\"\\: \"a b\"\\}**\n```\nrules.yaml:2 matches\n```",
		said(someRules{}, `explain multis fetch_url {"url": "a b"}`))
	require.Equal(t, said(someRules{}, `explain multis fetch_url {"url": "a b"}`),
		said(someRules{}, `explain multis fetch_url '{"url": "a b"}'`), "as for a shell")
	require.Equal(t, "⚠️ Not explained: there is no such tool", said(someRules{}, "explain multis nothing"))
	require.Contains(t, said(someRules{}, "explain multis"), "Write `/policy`, or")
}
