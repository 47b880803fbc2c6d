package doctor

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/pgserver"
	"multis/store/storetest"
)

// ids returns the ids of findings, in their order.
func ids(found []Finding) []ID {
	var list []ID
	for _, f := range found {
		list = append(list, f.ID)
	}
	return list
}

// asAdministrator runs statements as the administrator of the server, in a database.
func asAdministrator(t *testing.T, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), storetest.Server().SuperDSN(database))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for _, sql := range statements {
		_, err := conn.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
}

// databaseOf returns the name of the database of an address.
func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	return cfg.Database
}

// healthyDSN makes a database that only its owner can connect to, as migrating makes it: a copy of the tests' template is open.
func healthyDSN(t *testing.T) string {
	t.Helper()
	dsn := storetest.DSN(t)
	asAdministrator(t, "postgres", "revoke connect on database "+databaseOf(t, dsn)+" from public")
	return dsn
}

func TestDatabase_HealthyHasNoFinding(t *testing.T) {
	t.Parallel()
	result := ProbeDatabase(t.Context(), healthyDSN(t))
	require.Empty(t, result.Findings)
	require.Regexp(t, `^postgres 1\d\.\d+(, pgvector [0-9.]+)?, role multis, two walls between chats$`, result.Fact)
}

func TestDatabase_BrokenUntilRepaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id     ID
		breaks []string // as the administrator, in the database
		fixes  []string
	}{
		{
			DatabaseRowSecurity,
			[]string{"alter table chunks disable row level security"},
			[]string{"alter table chunks enable row level security"},
		},
		{DatabaseRowSecurity, []string{"alter table notes no force row level security"}, []string{"alter table notes force row level security"}},
		{
			DatabaseSchema,
			[]string{"insert into goose_db_version (version_id, is_applied) values (99999, true)"},
			[]string{"delete from goose_db_version where version_id = 99999"},
		},
	} {
		t.Run(string(c.id)+" "+c.breaks[0], func(t *testing.T) {
			t.Parallel()
			dsn := healthyDSN(t)
			asAdministrator(t, databaseOf(t, dsn), c.breaks...)
			require.Equal(t, []ID{c.id}, ids(ProbeDatabase(t.Context(), dsn).Findings))
			asAdministrator(t, databaseOf(t, dsn), c.fixes...)
			require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
		})
	}
}

func TestDatabase_OldServer(t *testing.T) {
	t.Parallel()
	// There is no Postgres that old here, so the facts about the tests' server are changed.
	facts := serverFacts(t, healthyDSN(t))
	require.Empty(t, Postgres{}.check(facts, false))
	old := facts
	old.Version = 140011
	require.Equal(t, []ID{DatabaseVersion}, ids(Postgres{}.check(old, false)))
	require.Contains(t, Postgres{}.check(old, false)[0].Message, "Postgres 14 is too old; multis needs 15 or newer.")
	old.Version = 150000
	require.Empty(t, Postgres{}.check(old, false), "upgraded")
}

func TestDatabase_FewConnectionsUntilFixed(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "multis-doctor") //nolint:usetesting // t.TempDir is closed to the user that Postgres runs as
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	var server *pgserver.Server
	restart := func() {
		if server != nil {
			require.NoError(t, server.Stop())
		}
		var err error
		server, err = pgserver.Start(context.Background(), pgserver.Options{Dir: filepath.Join(dir, "postgres")})
		require.NoError(t, err)
	}
	restart()
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	dsn, err := server.EnsureDatabase(t.Context(), "multis", "multis")
	require.NoError(t, err)
	require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)

	sh := newShell(t, false)
	sh.admin = server.SuperDSN("postgres")
	sh.carryOut(t, dir, Postgres{}.psql("", "ALTER SYSTEM SET max_connections = 20"))
	restart()
	found := ProbeDatabase(t.Context(), dsn).Findings
	require.Equal(t, []ID{DatabaseConnections}, ids(found))
	require.True(t, sh.carryOut(t, dir, found[0].Fix), "the line restarts Postgres")
	restart()
	require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
}

func TestDatabase_FindsPooler(t *testing.T) {
	t.Parallel()
	dsn := healthyDSN(t)
	require.Equal(t, []ID{DatabasePooling}, ids(ProbeDatabase(t.Context(), startPooler(t, dsn)).Findings))
	require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings, "the address of Postgres itself")

	pooled := storetest.Pooler(t, dsn)
	require.Equal(t, []ID{DatabasePooling}, ids(ProbeDatabase(t.Context(), pooled).Findings))
	db, err := store.OpenInspector(t.Context(), pooled)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	direct, err := store.OpenInspector(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(direct.Close)
	result := probeDatabase(t.Context(), db, direct, Postgres{}, false)
	require.Empty(t, result.Findings, "with database.direct")
	require.Contains(t, result.Fact, ", through a pooler")
}

func TestCheck_ImpossibleSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("alter table bridge_states rename to away")
	require.Equal(t, []ID{CheckFailed}, w.findingIDs())
	w.exec("alter table away rename to bridge_states")
	require.Empty(t, w.findingIDs())
}

func TestDatabase_MissingName(t *testing.T) {
	t.Parallel()
	result := ProbeDatabase(t.Context(), "postgres://multis@127.0.0.1:1/multis")
	require.Equal(t, []ID{DatabaseUnreachable}, ids(result.Findings))
	require.Contains(t, result.Findings[0].Message, "127.0.0.1:1")
}

// Empty databases, before the first start of multis, each with a role of its own. Nothing runs at the same time, because
// the other tests would find that they share the server.
//
//nolint:paralleltest // see above
func TestDatabase_UnusableUntilRepaired(t *testing.T) {
	server, sh := storetest.Server(), newShell(t, false)
	empty := func(t *testing.T, name, options string) string {
		t.Helper()
		asAdministrator(t, "postgres", "create role "+name+" login", "create database "+name+" "+options)
		t.Cleanup(func() { asAdministrator(t, "postgres", "drop database "+name+" with (force)", "drop role "+name) })
		return server.DSN(name, name)
	}
	t.Run("rights", func(t *testing.T) {
		dsn := empty(t, "doctor_rights", "")
		found := ProbeDatabase(t.Context(), dsn).Findings
		require.Equal(t, []ID{DatabaseRights, DatabaseRights}, ids(found), "not its owner, and no right to make roles")
		t.Cleanup(func() { asAdministrator(t, "postgres", "drop role multis_contact_doctor_rights") })
		for _, f := range found {
			sh.carryOut(t, t.TempDir(), f.Fix)
		}
		require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
	})
	t.Run("superuser", func(t *testing.T) {
		dsn := empty(t, "doctor_super", "owner doctor_super")
		asAdministrator(t, "postgres", "alter role doctor_super createrole bypassrls")
		require.Equal(t, []ID{DatabaseSuperuser}, ids(ProbeDatabase(t.Context(), dsn).Findings))
		asAdministrator(t, "postgres", "alter role doctor_super nobypassrls")
		require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
	})
	t.Run("encoding", func(t *testing.T) {
		dsn := empty(t, "doctor_ascii", "owner doctor_ascii encoding 'SQL_ASCII' locale 'C' template template0")
		asAdministrator(t, "postgres", "alter role doctor_ascii createrole")
		found := ProbeDatabase(t.Context(), dsn).Findings
		require.Equal(t, []ID{DatabaseEncoding}, ids(found))
		t.Cleanup(func() { asAdministrator(t, "postgres", "drop database doctor_ascii_sql_ascii with (force)") })
		sh.carryOut(t, t.TempDir(), found[0].Fix)
		require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
	})
	t.Run("shared", func(t *testing.T) {
		dsn := healthyDSN(t)
		if facts := serverFacts(t, dsn); facts.Version >= limitedCreateRole {
			require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings, "the right to make roles gives no power over those of others")
			return
		}
		empty(t, "doctor_other", "owner doctor_other")
		require.Equal(t, []ID{DatabaseShared}, ids(ProbeDatabase(t.Context(), dsn).Findings))
		sh.carryOut(t, t.TempDir(), ProbeDatabase(t.Context(), dsn).Findings[0].Fix)
		t.Cleanup(func() { asAdministrator(t, "postgres", "alter role multis createrole") })
		require.Empty(t, ProbeDatabase(t.Context(), dsn).Findings)
	})
}

func serverFacts(t *testing.T, dsn string) store.ServerFacts {
	t.Helper()
	db, err := store.OpenInspector(t.Context(), dsn)
	require.NoError(t, err)
	defer db.Close()
	facts, err := db.Server(t.Context())
	require.NoError(t, err)
	return facts
}

// The role of the guide is given back what it had; another one may belong to an administrator, and multis gets its own.
func TestDatabase_LimitsOwnRoleOnly(t *testing.T) {
	t.Parallel()
	facts := serverFacts(t, healthyDSN(t))
	facts.Superuser = true
	facts.User = "multis"
	facts.Database = "multis-2"
	require.Contains(t, Postgres{}.check(facts, false)[0].Fix, "psql -c 'ALTER ROLE multis NOSUPERUSER NOBYPASSRLS CREATEROLE'   (")
	facts.User = "postgres"
	require.Contains(t, Postgres{}.check(facts, false)[0].Fix, `-c 'ALTER DATABASE "multis-2" OWNER TO multis'   (`)
}
