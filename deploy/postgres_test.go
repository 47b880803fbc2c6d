package deploy_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
	"multis/store/pgserver"
)

// initDatabase runs postgres-init.sh against a server, as its container does.
func initDatabase(t *testing.T, server *pgserver.Server, databaseURL string) (string, error) {
	t.Helper()
	dsn, err := url.Parse(server.SuperDSN("postgres"))
	require.NoError(t, err)
	dir := t.TempDir()
	secret := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	cmd := exec.CommandContext(t.Context(), "./postgres-init.sh")
	cmd.Env = append(os.Environ(), "DATABASE_URL_FILE="+secret("database_url", databaseURL),
		"POSTGRES_PASSWORD_FILE="+secret("postgres_password", "not asked for on the socket"),
		"PGHOST="+dsn.Query().Get("host"), "PGPORT="+dsn.Query().Get("port"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func start(t *testing.T) *pgserver.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "multis-deploy") //nolint:usetesting // the server's user cannot reach into t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	server, err := pgserver.Start(t.Context(), pgserver.Options{Dir: filepath.Join(dir, "pg"), Throwaway: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

func TestPostgresInit_MakesAcceptedDatabase(t *testing.T) {
	t.Parallel()
	server := start(t)
	out, err := initDatabase(t, server, "postgres://multis:abc123@multis-postgres/multis\n")
	require.NoError(t, err, out)
	require.Empty(t, out)
	out, err = initDatabase(t, server, "postgres://multis:changed456@multis-postgres/multis\n")
	require.NoError(t, err, out)
	require.Empty(t, out, "it runs at each start, and a changed password counts")

	conn, err := pgx.Connect(t.Context(), server.SuperDSN("multis"))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var owner string
	var above, hasPassword bool
	require.NoError(t, conn.QueryRow(t.Context(), `select r.rolname, r.rolsuper or r.rolbypassrls, r.rolpassword like 'SCRAM-SHA-256$%'
		from pg_database d join pg_authid r on r.oid = d.datdba where d.datname = 'multis'`).Scan(&owner, &above, &hasPassword))
	require.Equal(t, "multis", owner)
	require.False(t, above, "row-level security must bind the role")
	require.True(t, hasPassword)

	dsn := server.DSN("multis", "multis")
	require.NoError(t, migrations.Run(t.Context(), dsn))
	s, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	s.Close()
}

// A set-up that failed, or that lost power in the middle, must not leave a database that can never be used.
func TestPostgresInit_FinishesInterruptedSetup(t *testing.T) {
	t.Parallel()
	server := start(t)
	_, err := initDatabase(t, server, "postgres://multis:its-password@multis-postgres/multis")
	require.Error(t, err)
	conn, err := pgx.Connect(t.Context(), server.SuperDSN("postgres"))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "create role multis login createrole password 'old'")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	out, err := initDatabase(t, server, "postgres://multis:abc123@multis-postgres/multis")
	require.NoError(t, err, out)
	require.NoError(t, migrations.Run(t.Context(), server.DSN("multis", "multis")))
}

func TestPostgresInit_RefusesAmbiguousAddress(t *testing.T) {
	t.Parallel()
	server := start(t)
	for name, databaseURL := range map[string]string{
		"no password":                   "postgres://multis@multis-postgres/multis",
		"another user":                  "postgres://admin:abc123@multis-postgres/multis",
		"a password that needs quoting": "postgres://multis:a'b@multis-postgres/multis",
		"nothing":                       "",
	} {
		t.Run(name, func(t *testing.T) {
			out, err := initDatabase(t, server, databaseURL)
			require.Error(t, err, name)
			require.True(t, strings.HasPrefix(out, "multis: secrets/database_url must read "), "%s: %s", name, out)
		})
	}
}
