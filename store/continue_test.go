package store_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// Each table that refers to a chat is moved, or named here with the reason why it is not.
func TestContinueChat_MovesEveryTable(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	rows, err := st.DB().Query(t.Context(), `select c.conrelid::regclass::text || '.' || a.attname from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey) where c.confrelid = 'chats'::regclass and c.contype = 'f' order by 1`)
	require.NoError(t, err)
	defer rows.Close()
	kept := map[string]string{
		"notes.chat_id":         "they belong to the role of their chat",
		"note_sections.chat_id": "they belong to the role of their chat",
		"chats.person":          "MergeChats sets it",
	}
	moved := map[string]bool{}
	for _, sql := range store.ContinueStatements() {
		for _, m := range regexp.MustCompile(`(?:update|delete from) (\w+) (?:e |c )?(?:set|where) (\w+)`).FindAllStringSubmatch(sql, -1) {
			moved[m[1]+"."+m[2]] = true
		}
		for _, m := range regexp.MustCompile(`insert into (\w+)`).FindAllStringSubmatch(sql, -1) {
			moved[m[1]+".chat_id"] = true
		}
	}
	for rows.Next() {
		var column string
		require.NoError(t, rows.Scan(&column))
		require.True(t, moved[column] || kept[column] != "", "%s refers to a chat: move it in ContinueChat", column)
	}
	require.NoError(t, rows.Err())
}
