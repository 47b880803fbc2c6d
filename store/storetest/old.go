package storetest

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
)

// RestorePreBaselineSchema restores the schema before the baseline from the file old.sql.gz into the empty database at
// dsn. super is the address of that database for the server's administrator.
func RestorePreBaselineSchema(t testing.TB, dsn, super, file string) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	sql, err := io.ReadAll(z)
	require.NoError(t, err)
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	role := migrations.ContactRole(cfg.Database)
	execute(t, super, "create role "+role+" nologin; grant "+role+" to "+cfg.User)
	execute(t, dsn, strings.ReplaceAll(string(sql), "multis_contact", role))
}

func execute(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
}
