// Package storetest gives each test a migrated Postgres database.
//
// A package that uses it calls Main in TestMain. The first test that needs the server starts it:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"multis/migrations"
	"multis/store"
	"multis/store/pgserver"
)

const (
	login    = "multis"
	template = "multis_template"
)

// server is the only server of this test binary, started by the first test that needs it; nil before.
var server *pgserver.Server

// startOnce starts the server in serverDir. A test binary without database tests, such as the worker of a fuzz test, starts none.
var (
	serverDir string
	startOnce = sync.OnceValue(start)
)

var count atomic.Int64

// Main runs the tests of a package and exits. It stops the server, if a test started it, and deletes its data. A goroutine that outlives the
// tests fails the run.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	parent := parentFolder()
	removeLeftovers(parent)
	var err error
	if serverDir, err = makeFolder(parent); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(serverDir)
	defer func() {
		if server == nil {
			return
		}
		if err := server.Stop(); err != nil {
			code = fail(err)
		}
	}()
	code = m.Run()
	closeIdle()
	if code == 0 {
		// Only the goroutine that waits for the server may remain.
		if err := goleak.Find(goleak.IgnoreAnyFunction("multis/store/pgserver.(*Server).spawn.func1")); err != nil {
			return fail(err)
		}
	}
	return code
}

// start starts the server and creates the database that each test's database is a copy of.
func start() (err error) {
	if serverDir == "" {
		return errors.New("call storetest.Main in TestMain")
	}
	ctx := context.Background()
	if server, err = pgserver.Start(ctx, pgserver.Options{Dir: serverDir + "/pg", Throwaway: true}); err != nil {
		return err
	}
	dsn, err := server.EnsureDatabase(ctx, login, template)
	if err != nil {
		return err
	}
	return migrations.Run(ctx, dsn)
}

// memoryFolder is where Linux keeps files in memory. It is used if minMemory bytes of it are free.
const (
	memoryFolder = "/dev/shm"
	minMemory    = 4 << 30
)

// parentFolder returns memoryFolder if it has enough space, else the empty string, which means the folder of temporary files. Each test
// creates and drops a database of some 400 files, which takes most of the time of a run on a disk.
func parentFolder() string {
	var free unix.Statfs_t
	if unix.Statfs(memoryFolder, &free) == nil && free.Bavail*uint64(free.Bsize) >= minMemory {
		return memoryFolder
	}
	return ""
}

// Each run has a folder whose name begins with runFolder. No run takes longer than maxRun.
const (
	runFolder = "multis-test"
	maxRun    = 6 * time.Hour
)

// removeLeftovers removes the folders of runs that were killed. Those in memory would stay until the machine restarts.
func removeLeftovers(parent string) {
	folders, _ := filepath.Glob(filepath.Join(cmp.Or(parent, os.TempDir()), runFolder+"*"))
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > maxRun {
			_ = os.RemoveAll(dir)
		}
	}
}

// makeFolder creates a folder that the database user can reach.
func makeFolder(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, runFolder)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "storetest:", err)
	return 1
}

// DSN creates a migrated database for a test and returns its address. It drops the database when the test ends.
func DSN(t testing.TB) string {
	t.Helper()
	require.NoError(t, startOnce(), "start the tests' Postgres")
	name, err := createDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dropDatabase(name)) })
	return server.DSN(login, name)
}

// createDatabase creates a migrated database and returns its name.
func createDatabase() (name string, err error) {
	name = fmt.Sprintf("t%d", count.Add(1))
	return name, administer("create database " + name + " owner " + login + " template " + template + " strategy file_copy")
}

// dropDatabase drops a database and ends its connections.
func dropDatabase(name string) error { return administer("drop database " + name + " with (force)") }

// administer runs a statement as the server's administrator.
func administer(sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.SuperDSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// NewDurable is New on a server with durable commits, for measurements. The server of the other tests trades durability for speed.
func NewDurable(t testing.TB) *store.Store {
	t.Helper()
	ctx := context.Background()
	dir, err := makeFolder("")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	own, err := pgserver.Start(ctx, pgserver.Options{Dir: dir + "/pg"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	dsn, err := own.EnsureDatabase(ctx, login, "durable")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(ctx, dsn))
	s, err := store.Open(ctx, dsn)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// Server is the running server, for tests that stop it or look at it as its administrator.
func Server() *pgserver.Server {
	if err := startOnce(); err != nil {
		panic(err)
	}
	return server
}

// Count reads one number as the server's administrator, so that no policy hides a row.
func Count(t testing.TB, st *store.Store, sql string, args ...any) (n int) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.SuperDSN(st.Pool().Config().ConnConfig.Database))
	require.NoError(t, err)
	defer conn.Close(ctx)
	require.NoError(t, conn.QueryRow(ctx, sql, args...).Scan(&n))
	return n
}

// columnsSQL lists every column of every table that is not Postgres' own.
const columnsSQL = `select n.nspname as schema, c.relname as "table", a.attname as name, a.atttypid = 'bytea'::regtype as bytes
	from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
	where c.relkind in ('r', 'p') and c.relpersistence <> 't' and n.nspname not in ('pg_catalog', 'information_schema') order by 1, 2, 3`

// columnStatisticsSQL lists the columns of which Postgres' own statistics hold a text: it keeps samples, to plan with.
const columnStatisticsSQL = `select c.relname || '.' || a.attname from pg_statistic s join pg_class c on c.oid = s.starelid
	join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum = s.staattnum
	where n.nspname not in ('pg_catalog', 'information_schema')
		and position(lower($1) in lower(concat_ws(' ', stavalues1::text, stavalues2::text, stavalues3::text, stavalues4::text, stavalues5::text))) > 0`

// ColumnStatisticsWith lists the columns of which Postgres keeps a text as a sample: "notes.body".
func ColumnStatisticsWith(t testing.TB, st *store.Store, text string) []string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.SuperDSN(st.Pool().Config().ConnConfig.Database))
	require.NoError(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, columnStatisticsSQL, text)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return columns
}

// ColumnsContaining lists the columns of all tables, of every schema, that hold a text in whatever form: "notes.body", "river.river_job.args".
// It reads as the server's administrator, so that no policy hides a row.
func ColumnsContaining(t testing.TB, st *store.Store, text string) []string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.SuperDSN(st.Pool().Config().ConnConfig.Database))
	require.NoError(t, err)
	defer conn.Close(ctx)
	type column struct {
		Schema, Table, Name string
		Bytes               bool
	}
	rows, err := conn.Query(ctx, columnsSQL)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByName[column])
	require.NoError(t, err)
	require.NotEmpty(t, columns)
	var found []string
	for _, c := range columns {
		holds := "position(lower($1) in lower(%s::text)) > 0"
		if c.Bytes {
			holds = "position(convert_to($1, 'UTF8') in %s) > 0"
		}
		var there bool
		sql := "select exists (select from " + pgx.Identifier{c.Schema, c.Table}.Sanitize() + " where " + fmt.Sprintf(holds, pgx.Identifier{c.Name}.Sanitize()) + ")"
		require.NoError(t, conn.QueryRow(ctx, sql, text).Scan(&there))
		if there {
			found = append(found, strings.TrimPrefix(c.Schema+".", "public.")+c.Table+"."+c.Name)
		}
	}
	return found
}
