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

// Main runs the tests of a package and exits. It stops the server, if a test started it, and deletes its data. A
// goroutine that outlives the tests fails the run.
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
	closeConnections()
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
	ctx := context.Background()
	name, err := createDatabase(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dropDatabase(ctx, name)) })
	return server.DSN(login, name)
}

// createDatabase creates a migrated database and returns its name.
func createDatabase(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("t%d", count.Add(1))
	return name, administer(ctx, "create database "+name+" owner "+login+" template "+template+" strategy file_copy")
}

// dropDatabase drops a database and ends its connections.
func dropDatabase(ctx context.Context, name string) error {
	administrators.Lock()
	if conn := administrators.conns[name]; conn != nil {
		_ = conn.Close(ctx)
		delete(administrators.conns, name)
	}
	administrators.Unlock()
	return administer(ctx, "drop database "+name+" with (force)")
}

// administer runs a statement as the server's administrator.
func administer(ctx context.Context, sql string) error {
	return asAdministrator(ctx, "postgres", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

// administrators are open connections of the server's administrator, by database.
var administrators = struct {
	sync.Mutex
	conns map[string]*pgx.Conn
}{conns: map[string]*pgx.Conn{}}

// asAdministrator runs fn on the connection of the server's administrator to a database, one fn at a time.
func asAdministrator(ctx context.Context, database string, fn func(conn *pgx.Conn) error) (err error) {
	administrators.Lock()
	defer administrators.Unlock()
	conn := administrators.conns[database]
	if conn == nil || conn.IsClosed() {
		if conn, err = pgx.Connect(ctx, server.SuperDSN(database)); err != nil {
			return err
		}
		administrators.conns[database] = conn
	}
	return fn(conn)
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
	require.NoError(t, asAdministrator(ctx, st.Pool().Config().ConnConfig.Database, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql, args...).Scan(&n)
	}))
	return n
}

// columnsSQL lists the columns of every table that is not Postgres' own.
const columnsSQL = `select n.nspname as schema, c.relname as "table", array_agg(a.attname::text order by a.attname) as columns,
		array_agg(a.atttypid = 'bytea'::regtype order by a.attname) as bytes
	from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
	where c.relkind in ('r', 'p') and c.relpersistence <> 't' and n.nspname not in ('pg_catalog', 'information_schema') group by 1, 2 order by 1, 2`

// columnStatisticsSQL lists the columns for which the planner's statistics hold a sample with a text.
const columnStatisticsSQL = `select c.relname || '.' || a.attname from pg_statistic s join pg_class c on c.oid = s.starelid
	join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum = s.staattnum
	where n.nspname not in ('pg_catalog', 'information_schema')
		and position(lower($1) in lower(concat_ws(' ', stavalues1::text, stavalues2::text, stavalues3::text, stavalues4::text, stavalues5::text))) > 0`

// ColumnStatisticsWith lists the columns, such as "notes.body", for which the planner's statistics hold a sample with a text.
func ColumnStatisticsWith(t testing.TB, st *store.Store, text string) (columns []string) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, asAdministrator(ctx, st.Pool().Config().ConnConfig.Database, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, columnStatisticsSQL, text)
		if err != nil {
			return err
		}
		columns, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}))
	return columns
}

// ColumnsContaining lists the columns of all tables, of every schema, that hold a text in whatever form: "notes.body",
// "river.river_job.args". It reads as the server's administrator, so that no policy hides a row.
func ColumnsContaining(t testing.TB, st *store.Store, text string) (found []string) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, asAdministrator(ctx, st.Pool().Config().ConnConfig.Database, func(conn *pgx.Conn) error {
		type table struct {
			Schema, Table string
			Columns       []string
			Bytes         []bool
		}
		rows, err := conn.Query(ctx, columnsSQL)
		if err != nil {
			return err
		}
		tables, err := pgx.CollectRows(rows, pgx.RowToStructByName[table])
		require.NotEmpty(t, tables)
		for _, tb := range tables {
			conditions := make([]string, len(tb.Columns))
			for i, column := range tb.Columns {
				conditions[i] = "bool_or(position(lower($1) in lower(" + pgx.Identifier{column}.Sanitize() + "::text)) > 0)"
				if tb.Bytes[i] {
					conditions[i] = "bool_or(position(convert_to($1, 'UTF8') in " + pgx.Identifier{column}.Sanitize() + ") > 0)"
				}
			}
			sql := "select array[" + strings.Join(conditions, ", ") + "] from " + pgx.Identifier{tb.Schema, tb.Table}.Sanitize()
			var holds []*bool // nil if the table is empty
			if err = conn.QueryRow(ctx, sql, text).Scan(&holds); err != nil {
				return err
			}
			for i, there := range holds {
				if there != nil && *there {
					found = append(found, strings.TrimPrefix(tb.Schema+".", "public.")+tb.Table+"."+tb.Columns[i])
				}
			}
		}
		return err
	}))
	return found
}
