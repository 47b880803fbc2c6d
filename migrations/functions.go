package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// functionFiles hold the functions and triggers of the database, a file a family. The file revisions has the hash of each landed version
// of them, in order; the number of its lines is the revision.
//
//go:embed functions
var functionFiles embed.FS

// vectorTables is run at every start and makes the tables of vectors where pgvector is.
//
//go:embed vectors.sql
var vectorTables string

// messageNames turns the functions over the index of documents in passagesFile into those over the message index.
var messageNames = strings.NewReplacer(
	"chunk_index", "message_index", "corpus_stats", "message_sizes", "corpus_configs", "message_configs",
	"search_passages", "search_message_passages", "passages_sql", "message_passages_sql",
	"role_sizes", "message_role_sizes", "role_passages", "message_role_passages", "role_versions", "message_role_versions",
)

const (
	passagesFile = "passages.sql" // applied a second time, with messageNames
	vectorsFile  = "vectors.sql"  // applied only if the tables of vectors exist
)

// functionSet is one version of the database functions.
type functionSet struct {
	files     []functionFile // in the order in which they are applied
	revisions []string       // the hashes of the landed versions
	hash      string         // of all files
}

type functionFile struct{ name, sql string }

// embeddedFunctions returns the database functions that are embedded in this program.
func embeddedFunctions() (functionSet, error) {
	dir, err := fs.Sub(functionFiles, "functions")
	if err != nil {
		return functionSet{}, fmt.Errorf("read the database functions: %w", err)
	}
	return readFunctions(dir)
}

// readFunctions reads the functions in a folder.
func readFunctions(dir fs.FS) (functionSet, error) {
	var s functionSet
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return s, fmt.Errorf("list the database functions: %w", err)
	}
	for _, name := range names {
		sql, err := fs.ReadFile(dir, name)
		if err != nil {
			return s, fmt.Errorf("read the database functions: %w", err)
		}
		s.files = append(s.files, functionFile{name, string(sql)})
		if name == passagesFile {
			s.files = append(s.files, functionFile{name + " for messages", messageNames.Replace(string(sql))})
		}
	}
	revisions, err := fs.ReadFile(dir, "revisions")
	if err != nil {
		return s, fmt.Errorf("read the database functions: %w", err)
	}
	s.revisions = strings.Fields(string(revisions))
	h := sha256.New()
	for _, f := range s.files {
		_, _ = io.WriteString(h, f.sql) // never fails
	}
	s.hash = hex.EncodeToString(h.Sum(nil)[:8])
	return s, nil
}

var functionName = regexp.MustCompile(`(?m)^create or replace function (\w+)\(`)

// without returns the set without a file.
func (s functionSet) without(file string) functionSet {
	s.files = slices.DeleteFunc(slices.Clone(s.files), func(f functionFile) bool { return f.name == file })
	return s
}

// names returns the names of all functions in the set.
func (s functionSet) names() []string {
	var names []string
	for _, f := range s.files {
		for _, m := range functionName.FindAllStringSubmatch(f.sql, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// createFunctionsSQL makes the table that says which functions the database has. The table has at most one row.
const createFunctionsSQL = `create table if not exists schema_functions (
		revision int not null, hash text not null, vectors boolean not null, names text[] not null);
	comment on table schema_functions is 'Which functions are here: the revision and the hash of the files that they were made from, and their names.'`

const readAppliedSQL = "select revision, hash, vectors, names from schema_functions"

const storeAppliedSQL = `with before as (delete from schema_functions)
	insert into schema_functions (revision, hash, vectors, names) values ($1, $2, $3, $4)`

// applied is the row of schema_functions.
type applied struct {
	Revision int
	Hash     string
	Vectors  bool
	Names    []string
}

// readApplied reads which functions the database has; the zero value if it has none yet.
func readApplied(ctx context.Context, tx pgx.Tx) (applied, error) {
	if _, err := tx.Exec(ctx, createFunctionsSQL); err != nil {
		return applied{}, err
	}
	rows, err := tx.Query(ctx, readAppliedSQL)
	if err != nil {
		return applied{}, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[applied])
	if errors.Is(err, pgx.ErrNoRows) {
		return applied{}, nil
	}
	return a, err
}

// apply brings the functions of the database to this version, in one transaction. It does nothing if they are of this version. role is
// that of contacts' reads.
func (s functionSet) apply(ctx context.Context, pool *pgxpool.Pool, role string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		path, err := setPath(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, vectorTables); err != nil {
			return fmt.Errorf("make the tables of vectors: %w", err)
		}
		now := applied{Revision: len(s.revisions), Hash: s.hash}
		if err := tx.QueryRow(ctx, "select to_regclass('chunk_vectors') is not null").Scan(&now.Vectors); err != nil {
			return fmt.Errorf("look for the tables of vectors: %w", err)
		}
		before, err := readApplied(ctx, tx)
		if err != nil {
			return fmt.Errorf("read which database functions are there: %w", err)
		}
		var isCurrent bool
		if err := tx.QueryRow(ctx, hasPathSQL, before.Names, path).Scan(&isCurrent); err != nil {
			return fmt.Errorf("read where the database functions look for names: %w", err)
		}
		if isCurrent && before.Revision == now.Revision && before.Hash == now.Hash && before.Vectors == now.Vectors {
			return nil
		}
		if !now.Vectors {
			s = s.without(vectorsFile)
		}
		return s.withPath(path).replace(ctx, tx, role, before, now)
	})
}

// pathInFiles is where the functions look for names, as the files say it. extensionsSQL returns the same with the schemas of the extensions
// that they use, which may be in any schema. One in which everybody may make objects is left out.
const (
	pathInFiles   = "public, pg_temp"
	extensionsSQL = `select concat_ws(', ', 'public', string_agg(distinct quote_ident(n.nspname), ', ' order by quote_ident(n.nspname)), 'pg_temp')
		from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname in ('pg_trgm', 'vector')
		and n.nspname not in ('public', 'pg_catalog') and has_schema_privilege(n.oid, 'usage') and not has_schema_privilege('public', n.oid, 'create')`
)

// hasPathSQL reports whether the named functions look for names where they should.
const hasPathSQL = `select coalesce(bool_and(proconfig @> array['search_path=' || $2]), true) from pg_proc p
	where p.pronamespace = 'public'::regnamespace and p.proname = any ($1) and exists (select from unnest(p.proconfig) c where c like 'search_path=%')`

// setPath lets the transaction look for names where the functions do, and returns that.
func setPath(ctx context.Context, tx pgx.Tx) (path string, err error) {
	if err := tx.QueryRow(ctx, extensionsSQL).Scan(&path); err != nil {
		return "", fmt.Errorf("look for the schemas of extensions: %w", err)
	}
	if _, err := tx.Exec(ctx, "set local search_path = "+path); err != nil {
		return "", fmt.Errorf("look into the schemas of extensions: %w", err)
	}
	return path, nil
}

// withPath returns the set with functions that look for names somewhere else.
func (s functionSet) withPath(path string) functionSet {
	s.files = slices.Clone(s.files)
	for i, f := range s.files {
		s.files[i].sql = strings.ReplaceAll(f.sql, "set search_path = "+pathInFiles, "set search_path = "+path)
	}
	return s
}

// unusedSQL lists those of the named functions that nothing in the schema depends on. Triggers, policies, indexes,
// defaults and generated columns depend on the others.
const unusedSQL = `select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = any ($1)
	and not exists (select from pg_depend d where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid)
	and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e') -- an extension's`

// replace replaces the functions of before by those of this set. It first drops the old ones, because their parameters or
// results may have changed. A function that something depends on cannot be dropped: "create or replace" replaces it.
func (s functionSet) replace(ctx context.Context, tx pgx.Tx, role string, before, now applied) error {
	rows, err := tx.Query(ctx, unusedSQL, before.Names)
	if err != nil {
		return fmt.Errorf("list the database functions: %w", err)
	}
	unused, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the database functions: %w", err)
	}
	if len(unused) > 0 {
		if _, err := tx.Exec(ctx, "drop function "+strings.Join(unused, ", ")); err != nil {
			return fmt.Errorf("drop the database functions: %w", err)
		}
	}
	for _, f := range s.files {
		if _, err := tx.Exec(ctx, strings.ReplaceAll(f.sql, roleInFiles, role)); err != nil {
			return fmt.Errorf("make the database functions in %s: %w", f.name, err)
		}
	}
	if _, err := tx.Exec(ctx, storeAppliedSQL, now.Revision, now.Hash, now.Vectors, s.names()); err != nil {
		return fmt.Errorf("note the database functions: %w", err)
	}
	return nil
}
