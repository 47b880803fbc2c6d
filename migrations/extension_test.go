package migrations_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
	"multis/store/storetest"
)

// TestExtension_WorksInAnySchema: hosted databases have their extensions in a schema of their own.
func TestExtension_WorksInAnySchema(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dsn := empty(t, "extensions_elsewhere", "createrole")
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err)
	}
	similar := func() (words []string) {
		t.Helper()
		rows, err := conn.Query(ctx, "select lexeme from similar_words('{*}', '{*}', '{battry}')")
		require.NoError(t, err)
		words, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return words
	}
	exec(`create schema "Extra ones"`)
	exec(`create extension pg_trgm schema "Extra ones"`)
	require.NoError(t, migrations.Run(ctx, dsn))
	exec("insert into term_stats (role, word, ndoc) values ('*', 'battery', 3)")
	require.Empty(t, similar(), "the migration could not make the index")

	in, err := store.OpenInspector(ctx, dsn)
	require.NoError(t, err)
	defer in.Close()
	facts, err := in.Server(ctx)
	require.NoError(t, err)
	require.False(t, facts.FindsSimilar)
	require.Equal(t, `"Extra ones"`, facts.TrigramSchema)
	for _, table := range []string{"term_stats", "message_terms"} { // the line of multis doctor
		exec("create index if not exists " + table + "_similar on " + table + ` using gin (word "Extra ones".gin_trgm_ops) where role = '*'`)
	}
	require.Equal(t, []string{"battery"}, similar())
	facts, err = in.Server(ctx)
	require.NoError(t, err)
	require.True(t, facts.FindsSimilar)

	exec("create schema extensions")
	run(t, storetest.Server().SuperDSN("extensions_elsewhere"), "alter extension pg_trgm set schema extensions")
	require.Empty(t, similar(), "it is moved while multis runs: no error")
	require.NoError(t, migrations.Run(ctx, dsn))
	require.Equal(t, []string{"battery"}, similar(), "from the next start on")
}
