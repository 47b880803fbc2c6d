package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store/storetest"
)

func TestTalk_AnswersCustomerInConversation(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	cfg := offlineConfig(t)
	cfg.Chats.BurstQuiet = 0
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "lodge.md"), []byte("# Lodge\n\n## Kitchen\n\nEach cottage has a coffee maker.\n\n## Sauna\n\nThe sauna costs 12 euro an hour.\n"), 0o600))
	r, err := newRehearsal(t.Context(), cfg, st)
	require.NoError(t, err)
	require.NoError(t, indexDocuments(t.Context(), r.documents, policy.RolePublic, []string{folder}, &progress{lines: os.Stderr}))
	say := func(lines ...string) string {
		var out strings.Builder
		require.NoError(t, talk(t.Context(), cfg, st, strings.NewReader(strings.Join(lines, "\n")+"\nexit\n"), &out))
		return out.String()
	}

	require.Contains(t, say("How much is the sauna?"), "The sauna costs 12 euro an hour. (from Lodge)\n  (answered: ")
	first := say("Do your cottages have a Keurig machine?", ":1", ":9")
	require.Contains(t, first, "  (escalated: ")
	require.Contains(t, first, "  :1 Each cottage has a coffee maker.")
	require.Contains(t, first, "Each cottage has a coffee maker. (from Lodge)\n  (the owner sent it)")
	require.Contains(t, first, "There is no suggested reply")
	require.Contains(t, say("do cottages have keurig machines"), "Each cottage has a coffee maker. (from Lodge)\n  (answered: ", "what the owner picked teaches")
}
