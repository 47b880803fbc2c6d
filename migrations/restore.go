package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrRestoring is returned by Run for a database that a restore did not finish.
var ErrRestoring = errors.New("a restore into this database was interrupted: run `multis backup restore` with the same file again, which begins anew")

// ErrNotEmpty is returned by Restore for a database that holds anything. Nothing is changed then.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrBackupNewer and ErrBackupOlder are returned by Restore for the version of a backup that this program cannot make.
// Nothing is changed then.
var (
	ErrBackupNewer = errors.New("this backup was made by a newer multis: restore it with that version")
	ErrBackupOlder = errors.New("this backup is too old to be brought up to date: restore it with the multis that made it")
)

// Check returns ErrBackupNewer or ErrBackupOlder for a version that this program cannot make.
func (v Version) Check() error {
	own, err := ofProgram(nil) // without a database: nothing is read from one
	switch {
	case err != nil:
		return err
	case v.Tables > own.Tables:
		return fmt.Errorf("%w (its tables have version %d, this multis knows up to %d)", ErrBackupNewer, v.Tables, own.Tables)
	case v.Functions > own.Functions:
		return fmt.Errorf("%w (its functions have revision %d, this multis knows up to %d)", ErrBackupNewer, v.Functions, own.Functions)
	case own.isOlder(v):
		return fmt.Errorf("%w (its tables of jobs, encryption and rooms have the versions %d, %d and %d, this multis knows up to %d, %d and %d)",
			ErrBackupNewer, v.River, v.Crypto, v.State, own.River, own.Crypto, own.State)
	case v.Tables < lastBaseline:
		return fmt.Errorf("%w (its tables have version %d)", ErrBackupOlder, v.Tables)
	default:
		return nil
	}
}

// Rows fills the tables of a database.
type Rows interface {
	// Load fills the tables as they were at the version of the backup. There are no triggers yet.
	Load(ctx context.Context) error
	// Finish changes what Load wrote, in the newest schema and in the transaction that ends the restore.
	Finish(ctx context.Context, tx pgx.Tx) error
}

// Restore makes the schema of a version in an empty database, fills it and brings it up to date. It returns ErrNotEmpty for a database that
// is not empty. Until all is done, Run refuses the database; a Restore after an interrupted one begins anew.
func Restore(ctx context.Context, dsn string, v Version, rows Rows) error {
	if err := v.Check(); err != nil {
		return err
	}
	return withMigrationLock(ctx, dsn, func(pool *pgxpool.Pool) error {
		if err := beginRestore(ctx, pool); err != nil {
			return err
		}
		if err := prepareRestore(ctx, pool, v); err != nil {
			return err
		}
		if err := rows.Load(ctx); err != nil {
			return err
		}
		if err := runAll(ctx, pool); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if err := rows.Finish(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "drop table restore_in_progress"); err != nil {
				return fmt.Errorf("end the restore: %w", err)
			}
			return nil
		})
	})
}

func isRestoring(ctx context.Context, pool *pgxpool.Pool) (yes bool, err error) {
	if err := pool.QueryRow(ctx, "select to_regclass('public.restore_in_progress') is not null").Scan(&yes); err != nil {
		return false, fmt.Errorf("look for a restore that was interrupted: %w", err)
	}
	return yes, nil
}

// leftoverSQL lists the statements that remove everything from a database but extensions. Each uses "if exists", because
// an earlier one may already have removed its object by cascade.
const leftoverSQL = `select 'drop schema if exists ' || nspname || ' cascade' from pg_namespace where nspname in ('` + RiverSchema +
	`', '` + MatrixSchema + `')
	union all select format('drop table if exists %s cascade', c.oid::regclass) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'restore_in_progress'
		and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
	union all select format('drop sequence if exists %s cascade', c.oid::regclass) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'S'
		and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('e', 'a', 'i'))
	union all select format('drop routine if exists %s cascade', p.oid::regprocedure) from pg_proc p where p.pronamespace = 'public'::regnamespace
		and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`

// beginRestore marks an empty database as one that is being restored, and empties one that has the mark.
func beginRestore(ctx context.Context, pool *pgxpool.Pool) error {
	restoring, err := isRestoring(ctx, pool)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, leftoverSQL)
		if err != nil {
			return fmt.Errorf("look at the database: %w", err)
		}
		statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
		switch {
		case err != nil:
			return fmt.Errorf("look at the database: %w", err)
		case len(statements) > 0 && !restoring:
			return ErrNotEmpty
		}
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("remove what an interrupted restore left: %w", err)
			}
		}
		if _, err := tx.Exec(ctx, "create table if not exists restore_in_progress ()"); err != nil {
			return fmt.Errorf("begin the restore: %w", err)
		}
		return nil
	})
}

// prepareRestore makes the tables of the version into which a backup is restored, without our functions and triggers. The
// tables of encryption get their newest form, because the library cannot make an older one.
func prepareRestore(ctx context.Context, pool *pgxpool.Pool, v Version) error {
	role, err := prepareRoles(ctx, pool)
	if err != nil {
		return err
	}
	if err := runTables(ctx, pool, role, v.Tables); err != nil {
		return err
	}
	if err := runRiverTo(ctx, pool, v.River); err != nil {
		return err
	}
	if err := runMatrix(ctx, pool); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, vectorTables); err != nil {
		return fmt.Errorf("make the tables of vectors: %w", err)
	}
	return nil
}
