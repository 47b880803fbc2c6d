package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy/rules"
)

func TestRules_FromFileAndFileBeside(t *testing.T) {
	t.Parallel()
	path := write(t, least+
		"tools:\n  deny: [remember, crm__*]\npolicy:\n  file: rules.yaml\n  rules:\n    - {tool: fetch_url, decision: deny}\n")
	beside := filepath.Join(filepath.Dir(path), "rules.yaml")
	require.NoError(t, os.WriteFile(beside, []byte("rules:\n  - {surface: schedule, decision: deny}\n"), 0o600))
	c, err := Load(path)
	require.NoError(t, err)
	var decided []string
	for _, r := range c.OwnRules() {
		require.Equal(t, rules.Deny, r.Decision)
		decided = append(decided, r.Position())
	}
	require.Equal(t, []string{"tools.deny:1", "tools.deny:2", path + ":15", beside + ":2"}, decided)

	require.NoError(t, os.WriteFile(beside, []byte("rules:\n  - {surface: schedule, decision: allow}\n"), 0o600))
	next, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, []string{"policy.file"}, Changes(c, next))

	for written, want := range map[string]string{
		"rules:\n  - {surfaces: moon, decision: deny}\n":                    beside + `:2: "surfaces" is not a key of a rule`,
		"rules:\n  - {tool: fetch_url, tier: read, decision: allow}\n":      beside + ":2: the rule can never match",
		"rules:\n  - {agent: nobody, decision: allow}\n":                    beside + ":2: the rule can never match: there is no agent nobody",
		"rules:\n  - {decision: deny}\n  - {decision: allow, hours: 1-2}\n": beside + ":3: the rule can never match",
	} {
		t.Run(written, func(t *testing.T) {
			require.NoError(t, os.WriteFile(beside, []byte(written), 0o600))
			_, err := Load(path)
			require.ErrorContains(t, err, want)
		})
	}
	require.NoError(t, os.Remove(beside))
	_, err = Load(path)
	require.ErrorContains(t, err, "policy.file: cannot be read")
}

func TestRules_MistakesNameLine(t *testing.T) {
	t.Parallel()
	path := write(t, "policy:\n  rules:\n    - {tool: fetch_url, decision: maybe}\n"+least)
	_, err := Load(path)
	require.ErrorContains(t, err, path+`:3: policy.rules: decision: "maybe" is not a decision`)
	_, err = Load(write(t, least+"policy: {rules: 3}\n"))
	require.ErrorContains(t, err, "policy.rules: is not a list")
}

func TestRules_NameToolsOfAgents(t *testing.T) {
	t.Parallel()
	agents := least + "agents:\n  sales: {can: [prices], default: true}\n  ops: {can: [prices, code]}\n"
	c, err := Load(write(t, agents+"policy:\n  rules:\n    - {can: code, tool: fetch_url, decision: deny}\n"))
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"prices": {"ops", "sales"}, "code": {"ops"}}, c.AgentsByCapability())
	_, err = Load(write(t, agents+"policy:\n  rules:\n    - {can: cooking, decision: deny}\n"))
	require.ErrorContains(t, err, "no such agent has cooking under can")
}
