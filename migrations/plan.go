package migrations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// Step is a statement that Run would execute in a database as it is now.
type Step struct {
	Migration string // the file
	Statement string // the beginning of the statement, on one line
	Table     string // the existing table that it changes; empty for none
	Lock      string // the lock that it takes on the table, as Postgres names it; empty for none that blocks others
	Rows      int64  // of the table, as Postgres estimates them
	Estimate  time.Duration
}

// work is how much a statement does for each row of its table.
type work int

const (
	catalogOnly work = iota // changes only the catalogue
	scan                    // reads every row
	sort                    // reads every row and sorts
	rewrite                 // writes every row
)

// perRow is about how long a row takes, on a small server.
func (w work) perRow() time.Duration {
	return [...]time.Duration{catalogOnly: 0, scan: time.Microsecond, sort: 5 * time.Microsecond, rewrite: 30 * time.Microsecond}[w]
}

// rule estimates the lock and the work of the statements that match a pattern. The first group of the pattern is the table.
type rule struct {
	pattern *regexp.Regexp
	lock    string
	work    work
}

const tablePattern = `(?:if exists )?(?:only )?"?(?:public\.)?(\w+)"?`

// rules are tried in order. For a statement that matches none, the lock is unknownLock and the time is not estimated.
var rules = []rule{
	{regexp.MustCompile(`^create (?:table|sequence|type|extension|schema|or replace|function|view)`), "", catalogOnly},
	{regexp.MustCompile(`^(?:comment|grant|revoke|select|insert into)\b`), "", catalogOnly},
	{regexp.MustCompile(`^create (?:unique )?index concurrently .*? on ` + tablePattern), "SHARE UPDATE EXCLUSIVE", sort},
	{regexp.MustCompile(`^create (?:unique )?index .*? on ` + tablePattern), "SHARE", sort},
	{regexp.MustCompile(`^(?:update|delete from) ` + tablePattern), "ROW EXCLUSIVE", rewrite},
	{regexp.MustCompile(`^alter table ` + tablePattern + ` .*\bvalidate constraint\b`), "SHARE UPDATE EXCLUSIVE", scan},
	{
		regexp.MustCompile(`^alter table ` + tablePattern + ` .*\b(?:type|generated always as \(|set unlogged|set logged)`), "ACCESS EXCLUSIVE",
		rewrite,
	},
	{regexp.MustCompile(`^alter table ` + tablePattern + ` .*\badd .*\bnot valid\b`), "ACCESS EXCLUSIVE", catalogOnly},
	{regexp.MustCompile(`^alter table ` + tablePattern + ` .*\badd .*\b(?:unique|primary key)\b`), "ACCESS EXCLUSIVE", sort},
	{regexp.MustCompile(`^alter table ` + tablePattern +
		` .*\b(?:add (?:constraint|check|foreign)|add .*\b(?:check|references)\b|set not null)`), "ACCESS EXCLUSIVE", scan},
	{regexp.MustCompile(`^alter table ` + tablePattern), "ACCESS EXCLUSIVE", catalogOnly},
	{regexp.MustCompile(`^drop (?:table|trigger .*? on|policy .*? on) ` + tablePattern), "ACCESS EXCLUSIVE", catalogOnly},
	{regexp.MustCompile(`^create policy .*? on ` + tablePattern), "ACCESS EXCLUSIVE", catalogOnly},
	{regexp.MustCompile(`^(?:drop|alter) `), "ACCESS EXCLUSIVE", catalogOnly},
}

// unknownLock is the lock of a statement that no rule describes.
const unknownLock = "unknown"

const (
	estimatedRowsSQL = `select relname, greatest(reltuples, 0)::bigint from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`
	lastMigrationSQL = `select coalesce(max(version_id), 0) from goose_db_version where is_applied`
)

// Plan returns what Run would do, without doing any of it. It returns ErrNewer and ErrForeign as Run does.
func Plan(ctx context.Context, dsn string) ([]Step, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	functions, err := embeddedFunctions()
	if err != nil {
		return nil, err
	}
	isOld, err := checkVersion(ctx, conn, len(functions.revisions)) // a plan for what Run refuses would be a promise
	if err != nil {
		return nil, err
	}
	at, have, err := readState(ctx, conn)
	if err != nil {
		return nil, err
	}
	if isOld {
		at = lastBaseline // Run takes the tables over
	}
	rowsOf, err := readRows(ctx, conn)
	if err != nil {
		return nil, err
	}
	steps, err := tableSteps(at, rowsOf)
	if err == nil && have.Hash != functions.hash {
		steps = append(steps, Step{
			Migration: "functions",
			Statement: fmt.Sprintf("%d functions and their triggers are made anew, in one transaction", len(functions.names())),
			Lock:      "SHARE ROW EXCLUSIVE",
		})
	}
	return steps, err
}

// readState reads the last migration of a database and which functions it has; zero values for an empty database.
func readState(ctx context.Context, conn *pgx.Conn) (at int64, have applied, err error) {
	var hasTables, hasFunctions bool
	err = conn.QueryRow(ctx,
		"select to_regclass('goose_db_version') is not null, to_regclass('schema_functions') is not null").Scan(&hasTables, &hasFunctions)
	if err == nil && hasTables {
		err = conn.QueryRow(ctx, lastMigrationSQL).Scan(&at)
	}
	if err == nil && hasFunctions {
		err = conn.QueryRow(ctx, readAppliedSQL).Scan(&have.Revision, &have.Hash, &have.Vectors, &have.Names)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	if err != nil {
		return 0, applied{}, fmt.Errorf("read the version of the schema: %w", err)
	}
	return at, have, nil
}

func readRows(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	rows, err := conn.Query(ctx, estimatedRowsSQL)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of the tables: %w", err)
	}
	all := map[string]int64{}
	var name string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error { all[name] = n; return nil }); err != nil {
		return nil, fmt.Errorf("read the sizes of the tables: %w", err)
	}
	return all, nil
}

// tableSteps returns the statements of the migrations after a version.
func tableSteps(at int64, rowsOf map[string]int64) ([]Step, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list the migrations: %w", err)
	}
	slices.Sort(names)
	var steps []Step
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil || version <= at {
			continue // the file of vectors has no number
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", name, err)
		}
		for _, sql := range statements(string(text)) {
			s := planStatement(sql, rowsOf)
			s.Migration = path.Base(name)
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// planStatement says what a statement does to a database whose tables have so many rows.
func planStatement(sql string, rowsOf map[string]int64) Step {
	line := strings.Join(strings.Fields(sql), " ")
	s := Step{Statement: line, Lock: unknownLock}
	for _, r := range rules {
		found := r.pattern.FindStringSubmatch(strings.ToLower(line))
		if found == nil {
			continue
		}
		s.Lock = r.lock
		if len(found) > 1 {
			rows, there := rowsOf[found[1]]
			if !there { // an earlier step makes it
				return Step{Statement: line}
			}
			s.Table = found[1]
			s.Rows = rows
			s.Estimate = time.Duration(rows) * r.work.perRow()
		}
		return s
	}
	return s
}

// statements splits a migration into its statements, without comments.
func statements(text string) []string {
	var all []string
	var current strings.Builder
	whole := false // between StatementBegin and StatementEnd
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "-- +goose StatementBegin"):
			whole = true
			continue
		case strings.HasPrefix(trimmed, "-- +goose StatementEnd"):
			whole = false
		case strings.HasPrefix(trimmed, "--"), trimmed == "":
			continue
		default:
			current.WriteString(line)
		}
		if !whole && (strings.HasSuffix(trimmed, ";") || strings.HasPrefix(trimmed, "--")) {
			if sql := strings.TrimSpace(current.String()); sql != "" {
				all = append(all, strings.TrimSuffix(sql, ";"))
			}
			current.Reset()
		}
	}
	return all
}
