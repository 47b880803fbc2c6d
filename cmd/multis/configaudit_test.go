package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/policy/rules"
	"multis/store"
	"multis/store/storetest"
)

// Who changes the configuration behind multis' back leaves a trace: keys and keyed hashes, no values.
func TestAudit_RecordsConfigurationChange(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	source := configSource{file, st}
	before := &config.Config{}
	before.Appservice.ASToken = "as-token"
	start := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.NoError(t, source.record(t.Context(), nil, before))
	}
	start("name: Nora")
	start("name: Nora")
	start("name: Eve")
	after := *before
	after.Name, after.Policy.FileRules = "Eve", []rules.Rule{{Decision: rules.Allow}}
	require.NoError(t, source.record(t.Context(), before, &after))

	entries, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
	require.NoError(t, err)
	require.Len(t, entries, 5)
	require.Equal(t, []string{"policy.file", "name", "config.yaml", "config.yaml", "config.yaml"},
		[]string{entries[0].Action, entries[1].Action, entries[2].Action, entries[3].Action, entries[4].Action})
	require.Equal(t, entries[3].Content, entries[4].Content)
	require.NotEqual(t, entries[2].Content, entries[3].Content, "the file was changed between two starts")
	require.Empty(t, storetest.ColumnsContaining(t, st, "Eve"))

	require.NoError(t, os.Remove(file))
	require.Error(t, source.record(t.Context(), nil, before))
}
