package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestColours_OnlyForTerminals(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		t.Run(fmt.Sprint(terminal), func(t *testing.T) {
			var out strings.Builder
			says := newTranscript(&out, terminal)
			says.title(1, "A title")
			says.says("Ana", yellow, "**Hello**\nthere")
			says.check("found")
			says.failure(errors.New("lost"), "multis.log")
			says.count("waiting", time.Second)
			says.line("over")
			require.Equal(t, terminal, strings.Contains(out.String(), "\x1b"))
			require.NotContains(t, out.String(), "**")
			require.Contains(t, out.String(), "\n      there\n", "later lines are indented")
			require.Contains(t, out.String(), "waiting (1 s)")
			require.Contains(t, out.String(), "look into multis.log")
		})
	}
}

func TestTranscript_CountsReachedSteps(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		results []result
		held    bool
		text    string
	}{
		"all held":       {[]result{{name: "one", reached: true}, {name: "two", reached: true}}, true, "✓ 2. two (0.0 s)"},
		"one failed":     {[]result{{name: "one", reached: true, err: errors.New("lost")}}, false, "✗ 1. one"},
		"one is missing": {[]result{{name: "one", reached: true}, {name: "two"}}, false, "– 2. two (not reached)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.Equal(t, c.held, newTranscript(&out, false).summary(c.results))
			require.Contains(t, out.String(), c.text)
		})
	}
}

func TestDemo_FailedRunKeepsOnlyLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"multis-1.log", "stack/synapse.log", "stack/data/secret", "multis/config-1.yaml"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		})
	}
	require.NoError(t, keepLogs(dir))
	var left []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		left = append(left, strings.TrimPrefix(path, dir))
		return err
	}))
	require.Equal(t, []string{"", "/multis-1.log", "/stack", "/stack/synapse.log"}, left)
}

func TestDemo_EnvironmentSetsOnlyModel(t *testing.T) {
	t.Parallel()
	environment := []string{
		"HOME=/root", "MULTIS_CACHE=/cache", "MULTIS_OWNER=@somebody:else", "MULTIS_LLM_MODEL=openai/one",
		"MULTIS_BUDGET_PER_DAY=1",
	}
	require.Equal(t, []string{"MULTIS_OWNER"}, overridingVariables(environment, true))
	require.Equal(t, []string{"MULTIS_OWNER", "MULTIS_LLM_MODEL", "MULTIS_BUDGET_PER_DAY"}, overridingVariables(environment, false))
}
