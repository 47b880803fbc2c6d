package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
)

// oldSQL lets the statements write the rows of all scopes, and says that the database has functions of an older version.
const oldSQL = `set multis.scope = '*';
	create table schema_functions (revision int not null, hash text not null, vectors boolean not null, names text[] not null);
	insert into schema_functions values (%d, 'old', false, '{}');
	%s`

// oldRows fills a database of an older version; see migrations.Rows.
type oldRows struct {
	t    testing.TB
	dsn  string
	sql  string
	look func(*store.Store)
}

// Load fills the tables and calls look.
func (r oldRows) Load(ctx context.Context) error {
	execute(r.t, r.dsn, r.sql) //nolint:contextcheck // it has a connection and a context of its own
	if r.look == nil {
		return nil
	}
	st, err := store.Open(ctx, r.dsn)
	require.NoError(r.t, err)
	defer st.Close()
	r.look(st)
	return nil
}

// Finish does nothing.
func (oldRows) Finish(context.Context, store.Tx) error { return nil }

// FromVersion makes a database whose last migration has the number tables, fills it with the statements sql, and brings
// it up to date. look is called between, with the old database; nil calls nothing.
func FromVersion(t testing.TB, tables int64, sql string, look func(*store.Store)) *store.Store {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, startOnce(), "start the tests' Postgres")
	version := versionOf(t, server.DSN(login, template))
	version.Tables = tables
	version.Functions--
	dsn := emptyDatabase(t)
	sql = fmt.Sprintf(oldSQL, version.Functions, sql)
	require.NoError(t, migrations.Restore(ctx, dsn, version, oldRows{t, dsn, sql, look}))
	st, err := store.Open(ctx, dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

func versionOf(t testing.TB, dsn string) migrations.Version {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	v, err := migrations.ReadVersion(context.Background(), conn)
	require.NoError(t, err)
	return v
}

// emptyDatabase makes a database without tables and returns its address. It is dropped when the test ends.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("old%d", count.Add(1))
	require.NoError(t, administer(context.Background(), "create database "+name+" owner "+login))
	t.Cleanup(func() { require.NoError(t, dropDatabase(context.Background(), name)) })
	return server.DSN(login, name)
}
