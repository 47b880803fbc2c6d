package migrations_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/policy"
)

// The check of chats.mode allows exactly the modes of policy.
func TestModes_AreThoseOfDatabase(t *testing.T) {
	t.Parallel()
	pool := connect(t, database(t, "modes"))
	require.NoError(t, migrations.Run(t.Context(), pool.Config().ConnString()))
	var check string
	require.NoError(t, pool.QueryRow(t.Context(), `select pg_get_constraintdef(oid) from pg_constraint
		where conrelid = 'chats'::regclass and conname = 'chats_mode_check'`).Scan(&check))
	var modes []policy.Mode
	for _, quoted := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(check, -1) {
		modes = append(modes, policy.Mode(quoted[1]))
	}
	require.Equal(t, policy.Modes(), modes, check)
}

// The triggers that withdraw drafts store the sentence of the code that they store. Changed labels have the code of a
// changed mode and a sentence of their own.
func TestWithdrawnDrafts_HaveSentencesOfCodes(t *testing.T) {
	t.Parallel()
	sql, err := os.ReadFile("functions/outbox.sql")
	require.NoError(t, err)
	stored := map[policy.Code]map[string]bool{}
	for _, call := range regexp.MustCompile(`perform withdraw_drafts\([^']*'(\w+)', '([^']*)',`).FindAllStringSubmatch(string(sql), -1) {
		code := policy.Code(call[1])
		if stored[code] == nil {
			stored[code] = map[string]bool{}
		}
		stored[code][call[2]] = true
	}
	require.Equal(t, map[policy.Code]map[string]bool{
		policy.CodeDraftAnswered: {policy.CodeDraftAnswered.Sentence(): true},
		policy.CodeDraftOutdated: {policy.CodeDraftOutdated.Sentence(): true},
		policy.CodeDraftMode:     {policy.CodeDraftMode.Sentence(): true, "The labels of the chat were changed.": true},
	}, stored)
}
