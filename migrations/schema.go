package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// files are the migrations: the baseline, a file a family of tables, and then each change since.
//
//go:embed *.sql
var files embed.FS

// ErrNewer is returned by Run for a database that a newer multis has changed. Run changes nothing then.
var ErrNewer = errors.New("a newer multis has changed this database: start that version again, or restore a backup made before the upgrade")

// ErrOlder is returned by Run for a database that is too old to be brought up to date. Run changes nothing then. Its text says what to do.
var ErrOlder = errors.New("this database is too old to be brought up to date")

// The files of the baseline.
const (
	firstBaseline = 100
	lastBaseline  = 110
)

// The migrations that the baseline replaced, when nothing had been released yet. A database is taken over if it has all of them.
const (
	lastOld       = 95
	oldCount      = 66
	lastOldCommit = "730f6b2" // the last one that has them as files
)

// runOurs brings our own tables up to date.
func runOurs(ctx context.Context, pool *pgxpool.Pool) error {
	functions, err := embeddedFunctions()
	if err != nil {
		return err
	}
	isOld, err := checkVersion(ctx, pool, len(functions.revisions))
	if err != nil {
		return err
	}
	role, err := prepareRoles(ctx, pool)
	if err != nil {
		return err
	}
	if isOld {
		if err := takeOver(ctx, pool); err != nil {
			return err
		}
	}
	return runTables(ctx, pool, role, newest())
}

// runFunctions brings our functions and triggers up to date. They are about our tables and River's.
func runFunctions(ctx context.Context, pool *pgxpool.Pool) error {
	functions, err := embeddedFunctions()
	if err != nil {
		return err
	}
	role, err := prepareRoles(ctx, pool)
	if err != nil {
		return err
	}
	return functions.apply(ctx, pool, role)
}

// runTables runs the migrations up to a version.
func runTables(ctx context.Context, pool *pgxpool.Pool, role string, version int64) error {
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, filesWithRole{files, role})
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// newest is the number of the last migration.
func newest() (version int64) {
	names, _ := fs.Glob(files, "*.sql") // the pattern is well-formed
	for _, name := range names {
		if v, err := goose.NumericComponent(name); err == nil { // vectors.sql has none
			version = max(version, v)
		}
	}
	return version
}

const (
	versionSQL = "select coalesce(max(version_id), 0), count(*) filter (where version_id between 1 and $1) from goose_db_version where is_applied"

	revisionSQL = "select coalesce(max(revision), 0) from schema_functions"
)

// ErrForeign is returned by Run and Plan for a database that holds tables of another program and none of multis. Nothing is changed then.
var ErrForeign = errors.New("the database holds tables of another program: make one for multis alone (CREATE DATABASE multis OWNER multis;) and name it in database.url")

const foreignSQL = `select coalesce(string_agg(name, ', '), '') from (select c.relname as name from pg_class c
	where to_regclass('goose_db_version') is null and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'restore_in_progress'
		and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') order by 1 limit 3) others`

// checkForeign returns ErrForeign for a database of another program.
func checkForeign(ctx context.Context, db querier) error {
	rows, err := db.Query(ctx, foreignSQL)
	if err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}
	names, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return fmt.Errorf("look at the database: %w", err)
	case names != "":
		return fmt.Errorf("%w (there is %s)", ErrForeign, names)
	}
	return nil
}

// rowQuerier is a querier that reads single rows, such as a connection or a pool.
type rowQuerier interface {
	querier
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// checkVersion refuses a database that this program, with the given number of revisions of its functions, cannot bring up to date. isOld
// is true for one that the migrations before the baseline made.
func checkVersion(ctx context.Context, db rowQuerier, revisions int) (isOld bool, err error) {
	if err := checkForeign(ctx, db); err != nil {
		return false, err
	}
	var hasTables, hasFunctions bool
	err = db.QueryRow(ctx, "select to_regclass('goose_db_version') is not null, to_regclass('schema_functions') is not null").Scan(&hasTables,
		&hasFunctions)
	var version, old int64
	if err == nil && hasTables {
		err = db.QueryRow(ctx, versionSQL, lastOld).Scan(&version, &old)
	}
	var revision int
	if err == nil && hasFunctions {
		err = db.QueryRow(ctx, revisionSQL).Scan(&revision)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("read the version of the schema: %w", err)
	case version > newest():
		return false, fmt.Errorf("%w (its tables have version %d, this multis knows up to %d)", ErrNewer, version, newest())
	case revision > revisions:
		return false, fmt.Errorf("%w (its functions have revision %d, this multis knows up to %d)", ErrNewer, revision, revisions)
	case version == 0 || version >= firstBaseline:
		return false, nil
	case version == lastOld && old == oldCount:
		return true, nil
	default:
		return false, fmt.Errorf("%w (its tables have version %d): run `multis migrate` once with multis of commit %s, then start this one again",
			ErrOlder, version, lastOldCommit)
	}
}

// takeOverSQL marks the baseline as applied, because its tables are there. The functions that are there are noted as those of an older
// version, so that they are replaced.
const takeOverSQL = createFunctionsSQL + `;
	insert into schema_functions (revision, hash, vectors, names) select 0, '', false, coalesce(array_agg(p.proname::text), '{}') from pg_proc p
		where p.pronamespace = 'public'::regnamespace and not exists (
			select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');
	delete from goose_db_version where version_id > 0;
	insert into goose_db_version (version_id, is_applied) select v, true from generate_series(%d, %d) v`

// takeOver turns a database that the old migrations brought up to date into one that the baseline has made.
func takeOver(ctx context.Context, pool *pgxpool.Pool) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(takeOverSQL, firstBaseline, lastBaseline))
		return err
	})
	if err != nil {
		return fmt.Errorf("take over the database of an older multis: %w", err)
	}
	return nil
}
