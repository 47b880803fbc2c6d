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

// initDatabase runs the database container's set-up against a server, as that container would.
func initDatabase(t *testing.T, server *pgserver.Server, databaseURL string) (string, error) {
	t.Helper()
	dsn, err := url.Parse(server.SuperDSN("postgres"))
	require.NoError(t, err)
	secret := filepath.Join(t.TempDir(), "database_url")
	require.NoError(t, os.WriteFile(secret, []byte(databaseURL), 0o600))
	cmd := exec.CommandContext(t.Context(), "./postgres-init.sh")
	cmd.Env = append(os.Environ(), "DATABASE_URL_FILE="+secret, "POSTGRES_USER=postgres",
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

func TestTheDatabaseContainerMakesADatabaseThatMultisAccepts(t *testing.T) {
	t.Parallel()
	server := start(t)
	out, err := initDatabase(t, server, "postgres://multis:abc123@multis-postgres/multis\n")
	require.NoError(t, err, out)
	require.Empty(t, out)

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

func TestTheDatabaseContainerRefusesAnAddressItWouldMisread(t *testing.T) {
	t.Parallel()
	server := start(t)
	for name, databaseURL := range map[string]string{
		"no password":                   "postgres://multis@multis-postgres/multis",
		"another user":                  "postgres://admin:abc123@multis-postgres/multis",
		"a password that needs quoting": "postgres://multis:a'b@multis-postgres/multis",
		"nothing":                       "",
	} {
		out, err := initDatabase(t, server, databaseURL)
		require.Error(t, err, name)
		require.True(t, strings.HasPrefix(out, "multis: secrets/database_url must read "), "%s: %s", name, out)
	}
}

func TestABackupMadeAsDocumentedHoldsWhatIsBehindTheWalls(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/running.md")
	require.NoError(t, err)
	require.Contains(t, string(guide), "PGOPTIONS='-c multis.scope=*' pg_dump --enable-row-security ")
	server := start(t)
	dsn, err := server.EnsureDatabase(t.Context(), "multis", "multis")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(t.Context(), dsn))
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `set multis.scope = '*';
		insert into documents (origin, name, role, kind, element, size, hash) values ('a.md', 'a.md', 'user:7', 'kb', 'md', 1, 'x');
		insert into chunks (chunk_key, doc_id, ord, role, kind, title, content) select 'x', id, 0, role, kind, name, 'a sentence to find again' from documents`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	dump := func(options string) string {
		cmd := exec.CommandContext(t.Context(), "pg_dump", "--enable-row-security", dsn)
		cmd.Env = append(os.Environ(), "PGOPTIONS="+options)
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Contains(t, dump("-c multis.scope=*"), "a sentence to find again")
	require.NotContains(t, dump(""), "a sentence to find again", "without a scope the wall stands even here")
}
