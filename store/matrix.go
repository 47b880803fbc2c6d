package store

import (
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/stdlib"
	"go.mau.fi/util/dbutil"

	"multis/migrations"
)

// OpenMatrix opens mautrix' own tables for encryption and room state, on connections of their own. The caller closes it.
func (s *Store) OpenMatrix() (*dbutil.Database, error) {
	cfg := s.direct.Config().ConnConfig
	cfg.RuntimeParams["search_path"] = migrations.MatrixSchema
	raw := stdlib.OpenDB(*cfg)
	raw.SetMaxOpenConns(maxMatrixConns)
	db, err := wrapMatrix(raw)
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("open the tables of encryption: %w", err)
	}
	return db, nil
}

// maxMatrixConns is the maximum number of connections to the crypto store. A few are enough, because one process at a
// time encrypts and decrypts, one message after the other.
const maxMatrixConns = 2

func wrapMatrix(raw *sql.DB) (*dbutil.Database, error) { return dbutil.NewWithDB(raw, "pgx") }
