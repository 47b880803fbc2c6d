// Package storetest gives tests a real, migrated Postgres database of their own.
//
// A package that uses it starts the server once, in TestMain:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
package storetest

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"multis/migrations"
	"multis/store"
	"multis/store/pgserver"
)

const (
	login    = "multis"
	template = "multis_template"
)

// server is the one server of this test binary, started by Main.
var server *pgserver.Server

var count atomic.Int64

// Main runs the tests of a package with a server beside them and ends the process. The server and its data are gone
// afterwards. A goroutine that outlives the tests fails the run.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "multis-test")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return fail(err)
	}
	server, err = pgserver.Start(ctx, pgserver.Options{Dir: dir + "/pg", Throwaway: true})
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			fail(err)
		}
	}()
	dsn, err := server.EnsureDatabase(ctx, login, template)
	if err != nil {
		return fail(err)
	}
	if err := migrations.Run(ctx, dsn); err != nil {
		return fail(err)
	}
	code := m.Run()
	if code == 0 {
		// The one goroutine that stays waits for the server itself.
		if err := goleak.Find(goleak.IgnoreAnyFunction("multis/store/pgserver.(*Server).spawn.func1")); err != nil {
			return fail(err)
		}
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "storetest:", err)
	return 1
}

// DSN makes a migrated database for this test, dropped when it ends, and returns its address.
func DSN(t testing.TB) string {
	t.Helper()
	require.NotNil(t, server, "call storetest.Main in TestMain")
	ctx := context.Background()
	name := fmt.Sprintf("t%d", count.Add(1))
	admin := func(sql string) {
		conn, err := pgx.Connect(ctx, server.SuperDSN("postgres"))
		require.NoError(t, err)
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, sql)
		require.NoError(t, err)
	}
	admin("create database " + name + " owner " + login + " template " + template + " strategy file_copy")
	t.Cleanup(func() { admin("drop database " + name + " with (force)") })
	return server.DSN(login, name)
}

// New opens a store on a database of this test's own.
func New(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), DSN(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// Server is the running server, for tests that stop it or look at it as its administrator.
func Server() *pgserver.Server { return server }
