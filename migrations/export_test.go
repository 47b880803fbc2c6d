package migrations

import (
	"context"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
)

// LastOld is the last migration before the baseline.
const LastOld = lastOld

// RunBaseline makes the tables of the baseline, and nothing else.
func RunBaseline(ctx context.Context, pool *pgxpool.Pool) error {
	role, err := prepareRoles(ctx, pool)
	if err != nil {
		return err
	}
	return runTables(ctx, pool, role, lastBaseline)
}

// Functions are those of the program.
func Functions() (FunctionSet, error) { return embeddedFunctions() }

// FunctionSet is one version of the functions.
type FunctionSet = functionSet

// ReadFunctions reads the functions in a folder.
func ReadFunctions(dir fs.FS) (FunctionSet, error) { return readFunctions(dir) }

// Apply brings the functions of a database to this version.
func (s functionSet) Apply(ctx context.Context, pool *pgxpool.Pool) error {
	return s.apply(ctx, pool, roleInFiles)
}

// IsLastRevision reports whether the last landed version is this one.
func (s functionSet) IsLastRevision() bool {
	return len(s.revisions) > 0 && s.revisions[len(s.revisions)-1] == s.hash
}

// Hash is that of all files.
func (s functionSet) Hash() string { return s.hash }

// Names are those of all functions in the set.
func (s functionSet) Names() []string { return s.names() }

// Describe says what a statement does to a database whose tables have so many rows.
func Describe(sql string, rowsOf map[string]int64) Step { return planStatement(sql, rowsOf) }
