package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"maunium.net/go/mautrix/crypto/sql_store_upgrade"
	"maunium.net/go/mautrix/sqlstatestore"
)

// Version is the version of the schema of a database.
type Version struct {
	Tables    int64 `json:"tables"`    // the number of our last migration
	Functions int   `json:"functions"` // the revision of our functions
	River     int   `json:"river"`     // the job queue
	Crypto    int   `json:"crypto"`    // encryption
	State     int   `json:"state"`     // the state of rooms
}

const readVersionSQL = `select (select coalesce(max(version_id), 0) from goose_db_version where is_applied) as tables,
	(select coalesce(max(revision), 0) from schema_functions) as functions, (select coalesce(max(version), 0) from river.river_migration) as river,
	(select coalesce(max(version), 0) from matrix.crypto_version) as crypto, (select coalesce(max(version), 0) from matrix.mx_version) as state`

// querier is a connection, a transaction or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// ReadVersion reads the version of a database.
func ReadVersion(ctx context.Context, db querier) (Version, error) {
	rows, err := db.Query(ctx, readVersionSQL)
	if err != nil {
		return Version{}, fmt.Errorf("read the version of the schema: %w", err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Version])
	if err != nil {
		return Version{}, fmt.Errorf("read the version of the schema: %w", err)
	}
	return v, nil
}

// State is how the schema of a database relates to this program.
type State string

// The states.
const (
	StateEmpty   State = "empty"   // there is no schema, or only the part that an interrupted first start made
	StateOlder   State = "older"   // Run would change it
	StateCurrent State = "current" // nothing is to be done
	StateNewer   State = "newer"   // Run returns ErrNewer
	StateTooOld  State = "too old" // Run returns ErrOlder

	StateForeign State = "foreign" // Run returns ErrForeign

	StateRestoring State = "restoring" // Run returns ErrRestoring
)

// isCompleteSQL reports whether all tables with versions exist. The first start makes them one after the other.
const isCompleteSQL = `select to_regclass('goose_db_version') is not null and to_regclass('schema_functions') is not null and to_regclass('` + RiverSchema + `.river_migration') is not null
	and to_regclass('` + MatrixSchema + `.crypto_version') is not null and to_regclass('` + MatrixSchema + `.mx_version') is not null`

// Inspect returns the state of a database's schema and changes nothing.
func Inspect(ctx context.Context, pool *pgxpool.Pool) (State, error) {
	restoring, err := isRestoring(ctx, pool)
	switch {
	case err != nil:
		return "", err
	case restoring:
		return StateRestoring, nil
	}
	functions, err := embeddedFunctions()
	if err != nil {
		return "", err
	}
	isOld, err := checkVersion(ctx, pool, len(functions.revisions))
	switch {
	case errors.Is(err, ErrNewer):
		return StateNewer, nil
	case errors.Is(err, ErrOlder):
		return StateTooOld, nil
	case errors.Is(err, ErrForeign):
		return StateForeign, nil
	case err != nil:
		return "", err
	case isOld:
		return StateOlder, nil
	}
	var complete bool
	if err := pool.QueryRow(ctx, isCompleteSQL).Scan(&complete); err != nil {
		return "", fmt.Errorf("read the version of the schema: %w", err)
	}
	if !complete {
		return StateEmpty, nil
	}
	have, err := ReadVersion(ctx, pool)
	if err != nil {
		return "", err
	}
	want, err := ofProgram(pool)
	if err != nil {
		return "", err
	}
	if have.isOlder(want) {
		return StateOlder, nil
	}
	return StateCurrent, nil
}

// ofProgram returns the version that Run makes.
func ofProgram(pool *pgxpool.Pool) (Version, error) {
	functions, err := embeddedFunctions()
	if err != nil {
		return Version{}, err
	}
	river, err := riverMigrator(pool)
	if err != nil {
		return Version{}, err
	}
	jobs := river.AllVersions()
	return Version{
		Tables: newest(), Functions: len(functions.revisions), River: jobs[len(jobs)-1].Version,
		Crypto: len(sql_store_upgrade.Table), State: len(sqlstatestore.UpgradeTable),
	}, nil
}

// isOlder reports whether a part of v is older than that of other.
func (v Version) isOlder(other Version) bool {
	return v.Tables < other.Tables || v.Functions < other.Functions || v.River < other.River || v.Crypto < other.Crypto ||
		v.State < other.State
}
