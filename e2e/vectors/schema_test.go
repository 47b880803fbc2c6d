//go:build e2e

package vectors

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store/storetest"
)

// newDatabase makes an empty database of multis' role.
func newDatabase(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, administer(t.Context(), "postgres", "create database "+name+" owner "+role))
}

func TestSchema_KeepsExistingVectors(t *testing.T) {
	for _, name := range []string{"vectors_old", "vectors_new"} {
		t.Run(name, func(t *testing.T) {
			newDatabase(t, name)
			require.NoError(t, administer(t.Context(), name, "create extension vector"))
		})
	}
	storetest.RestorePreBaselineSchema(t, dsn("vectors_old"), stack.PostgresDSN("vectors_old"), "../../migrations/testdata/old.sql.gz")
	conn, err := pgx.Connect(t.Context(), dsn("vectors_old"))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `set multis.scope = '*'; select make_vectors();
		insert into documents (origin, name, role, kind, element, size, hash) values ('a.md', 'a.md', 'public', 'kb', 'md', 1, 'x');
		insert into chunks (chunk_key, doc_id, ord, role, kind, title, content) select 'x', id, 0, role, kind, name, 'a price' from documents;
		select use_vector_model('a model', 3);
		insert into chunk_vectors select id, role, kind, 'a model', '[1,2,3]' from chunks`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, migrations.Run(t.Context(), dsn("vectors_old")))

	require.NoError(t, migrations.Run(t.Context(), dsn("vectors_new")))
	conn, err = pgx.Connect(t.Context(), dsn("vectors_new"))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "select use_vector_model('a model', 3)")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	want := storetest.Catalogue(t, stack.PostgresDSN("vectors_new"))
	require.Equal(t, want, storetest.Catalogue(t, stack.PostgresDSN("vectors_old")))

	conn, err = pgx.Connect(t.Context(), dsn("vectors_old"))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var similarity float64
	require.NoError(t, conn.QueryRow(t.Context(),
		"select similarity from (select set_config('multis.scope', 'public', false)) s, search_vectors('a model', '[1,2,3]', '{kb}', 1)").Scan(&similarity))
	require.InDelta(t, 1, similarity, 1e-3)
}

func TestSchema_GainsVectorsWithPgvector(t *testing.T) {
	newDatabase(t, "vectors_later")
	// An extension that only an administrator may create is as good as none.
	require.NoError(t, migrations.Run(t.Context(), dsn("vectors_later")))
	has := func() (has bool) {
		conn, err := pgx.Connect(t.Context(), dsn("vectors_later"))
		require.NoError(t, err)
		defer conn.Close(t.Context())
		require.NoError(t, conn.QueryRow(t.Context(),
			"select to_regclass('chunk_vectors') is not null and to_regproc('search_vectors') is not null").Scan(&has))
		return has
	}
	require.False(t, has())
	require.NoError(t, administer(t.Context(), "vectors_later", "create extension vector"))
	require.NoError(t, migrations.Run(t.Context(), dsn("vectors_later")))
	require.True(t, has())
}
