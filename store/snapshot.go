package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"multis/migrations"
	"multis/store/row"
)

// Table is a table as a backup holds it. Generated columns are left out.
type Table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// String returns the table's full name, as it is written in SQL.
func (t Table) String() string { return pgx.Identifier{t.Schema, t.Name}.Sanitize() }

// columns returns the columns as a list in SQL.
func (t Table) columns() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = pgx.Identifier{c}.Sanitize()
	}
	return strings.Join(names, ", ")
}

// Sequence is a sequence and the number that it gave last; nil if it has given none.
type Sequence struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Last   *int64 `json:"last"`
}

// Contents describes the rows that were read from or written to a table: their number, and their size and checksum in the format of COPY.
type Contents struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Snapshot reads all rows as they were at one moment, whatever is written meanwhile, past row-level security.
type Snapshot struct{ tx pgx.Tx }

// beginSnapshotSQL also sets how values are written, so that the same rows always give the same bytes.
const beginSnapshotSQL = `begin read only isolation level repeatable read; set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres';
	set local extra_float_digits = 1; set local bytea_output = 'hex'; set local synchronize_seqscans = off; set local max_parallel_workers_per_gather = 0;
	set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0; `

// Snapshot runs fn with a snapshot. No migration changes a table until fn returns.
func (s *Store) Snapshot(ctx context.Context, fn func(Snapshot) error) error {
	begin := beginSnapshotSQL + row.ScopeSQL("'"+row.EveryScope+"'")
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error { return fn(Snapshot{tx}) })
}

// Version returns the version of the schema.
func (s Snapshot) Version(ctx context.Context) (migrations.Version, error) {
	return migrations.ReadVersion(ctx, s.tx)
}

// backupSchemas are the schemas that a backup holds.
func backupSchemas() []string {
	return []string{"public", migrations.RiverSchema, migrations.MatrixSchema}
}

// backupTablesSQL leaves out the tables that a restart empties, and those that say which migrations were made.
const backupTablesSQL = `select n.nspname as schema, c.relname as name,
		array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
	from pg_class c join pg_namespace n on n.oid = c.relnamespace
	where n.nspname = any ($1) and c.relkind = 'r' and c.relpersistence = 'p'
		and c.relname not in ('goose_db_version', 'schema_functions', 'river_migration', 'crypto_version', 'mx_version', 'restore_in_progress')
		and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
	order by 1, 2`

// Tables lists the tables of all schemas and keeps them from being changed by a migration.
func (s Snapshot) Tables(ctx context.Context) ([]Table, error) {
	tables, err := row.All[Table](ctx, s.tx, "tables", backupTablesSQL, backupSchemas())
	if err != nil {
		return nil, err
	}
	return tables, row.Exec(ctx, s.tx, "lock the tables",
		"lock table "+strings.Join(row.Column(tables, Table.String), ", ")+" in access share mode")
}

const sequencesSQL = "select schemaname as schema, sequencename as name, last_value as last from pg_sequences where schemaname = any ($1) order by 1, 2"

// Sequences lists the sequences of all schemas.
func (s Snapshot) Sequences(ctx context.Context) ([]Sequence, error) {
	return row.All[Sequence](ctx, s.tx, "sequences", sequencesSQL, backupSchemas())
}

// nonSecretRows reports whether a table has rows that hold a secret, and returns the condition on its other rows. The
// condition "false" means that all rows are secret.
func nonSecretRows(t Table) (others string, has bool) {
	switch {
	case t.Schema == migrations.MatrixSchema && strings.HasPrefix(t.Name, "crypto_"):
		return "false", true
	case t.Schema == "public" && t.Name == "settings":
		return "key not in ('" + string(SettingPickle) + "', '" + string(SettingBotRecovery) + "') and not starts_with(key, '" +
			string(SettingLogin) + "')", true
	default:
		return "", false
	}
}

// Copy writes the rows of a table to w, without those that hold a secret if secrets is false.
func (s Snapshot) Copy(ctx context.Context, t Table, secrets bool, w io.Writer) (Contents, error) {
	sql := "copy " + t.String() + " (" + t.columns() + ") to stdout"
	if others, has := nonSecretRows(t); has && !secrets {
		sql = "copy (select " + t.columns() + " from " + t.String() + " where " + others + ") to stdout"
	}
	sum := newChecksumWriter()
	tag, err := s.tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(w, sum), sql)
	if err != nil {
		return Contents{}, fmt.Errorf("read %s: %w", t, err)
	}
	return sum.contents(tag.RowsAffected()), nil
}

// checksumWriter is a writer that counts the bytes of a table and computes their checksum.
type checksumWriter struct {
	hash.Hash

	bytes int64
}

func newChecksumWriter() *checksumWriter { return &checksumWriter{Hash: sha256.New()} }

func (s *checksumWriter) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return s.Hash.Write(p)
}

func (s *checksumWriter) contents(rows int64) Contents {
	return Contents{Rows: rows, Bytes: s.bytes, SHA256: hex.EncodeToString(s.Sum(nil))}
}

// Loader fills the empty tables of a database that is being restored, in one transaction.
type Loader struct {
	tx       pgx.Tx
	existing []Table
}

// Load runs fn in the transaction that fills a database. Foreign keys are checked when fn has returned.
func Load(ctx context.Context, dsn string, fn func(Loader) error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		again, err := dropObstacles(ctx, tx)
		if err != nil {
			return err
		}
		there, err := row.All[Table](ctx, tx, "tables", backupTablesSQL, backupSchemas())
		if err != nil {
			return err
		}
		if err := emptyTables(ctx, tx, there); err != nil {
			return err
		}
		if err := fn(Loader{tx, there}); err != nil {
			return err
		}
		return execAll(ctx, tx, again)
	})
}

// obstaclesSQL lists what keeps tables from being filled in any order, each with the statement that restores it: foreign
// keys, and row-level security that binds the tables' owner, who cannot use COPY then.
const obstaclesSQL = `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop, format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as again
		from pg_constraint where contype = 'f' and connamespace = any (array(select oid from pg_namespace where nspname = any ($1)))
	union all select format('alter table %s no force row level security', oid::regclass), format('alter table %s force row level security', oid::regclass)
		from pg_class where relforcerowsecurity and relnamespace = any (array(select oid from pg_namespace where nspname = any ($1)))`

// dropObstacles removes the obstacles and returns the statements that put them back.
func dropObstacles(ctx context.Context, tx pgx.Tx) (again []string, err error) {
	type obstacle struct{ Drop, Again string }
	found, err := row.All[obstacle](ctx, tx, "foreign keys", obstaclesSQL, backupSchemas())
	if err != nil {
		return nil, err
	}
	return row.Column(found, func(o obstacle) string {
		return o.Again
	}), execAll(ctx, tx, row.Column(found, func(o obstacle) string { return o.Drop }))
}

// emptyTables empties those of the tables that migrations have filled. It leaves empty tables alone, because some may not
// be truncated: the audit log only accepts new rows, even from its owner.
func emptyTables(ctx context.Context, tx pgx.Tx, tables []Table) error {
	for _, t := range tables {
		filled, err := row.Value[bool](ctx, tx, t.String(), "select exists (select from "+t.String()+")")
		if err == nil && filled {
			err = row.Exec(ctx, tx, "empty "+t.String(), "truncate "+t.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func execAll(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("prepare the tables: %s: %w", sql, err)
		}
	}
	return nil
}

// Has reports whether the database has a table with the columns of t. The tables of vectors are missing where pgvector
// is, and a library may have dropped a table of its own since the backup was made.
func (l Loader) Has(t Table) bool {
	return slices.ContainsFunc(l.existing, func(own Table) bool {
		return own.Schema == t.Schema && own.Name == t.Name && !slices.ContainsFunc(t.Columns, func(c string) bool {
			return !slices.Contains(own.Columns, c)
		})
	})
}

// HasName reports whether the database has a table with the name of t.
func (l Loader) HasName(t Table) bool {
	return slices.ContainsFunc(l.existing, func(own Table) bool { return own.Schema == t.Schema && own.Name == t.Name })
}

// Lacking returns a table of the database that these tables do not fill completely, except for optional ones. It returns
// false if there is none.
func (l Loader) Lacking(tables []Table) (Table, bool) {
	for _, own := range l.existing {
		i := slices.IndexFunc(tables, func(t Table) bool { return t.Schema == own.Schema && t.Name == own.Name })
		if !own.IsOptional() && (i < 0 || slices.ContainsFunc(own.Columns, func(c string) bool {
			return !slices.Contains(tables[i].Columns, c)
		})) {
			return own, true
		}
	}
	return Table{}, false
}

// IsOptional reports whether a backup can be restored without a table: embeddings can be computed again, and the
// encryption library needs no table that it has dropped.
func (t Table) IsOptional() bool {
	return t.Schema == migrations.MatrixSchema || (t.Schema == "public" && (t.Name == "chunk_vectors" || t.Name == "vector_models"))
}

// Fill writes rows to a table, in the form in which Snapshot.Copy wrote them.
func (l Loader) Fill(ctx context.Context, t Table, r io.Reader) (Contents, error) {
	sum := newChecksumWriter()
	tag, err := l.tx.Conn().PgConn().CopyFrom(ctx, io.TeeReader(r, sum), "copy "+t.String()+" ("+t.columns()+") from stdin")
	if err != nil {
		return Contents{}, fmt.Errorf("fill %s: %w", t, err)
	}
	return sum.contents(tag.RowsAffected()), nil
}

const setSequenceSQL = `select setval(c.oid, $3) from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2 and c.relkind = 'S'`

// SetSequence makes a sequence continue after the number that it gave last. It does nothing if there is none, as for a
// table that is not restored.
func (l Loader) SetSequence(ctx context.Context, s Sequence) error {
	if s.Last == nil {
		return nil
	}
	return row.Exec(ctx, l.tx, "set a sequence", setSequenceSQL, s.Schema, s.Name, *s.Last)
}
