package store

import (
	"context"
	"fmt"
	"strings"

	"multis/store/row"
)

// The queries of this file are for a bug report. They read no rows of contacts, but for ContactWords, which says what must be left out.

const columnsSQL = `select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end)
	from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
	where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by c.relname, a.attnum`

const tableUseSQL = `select format('%s: %s rows, %s dead, %s kB, %s scans, %s by index', relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid) / 1024, seq_scan, coalesce(idx_scan, 0))
	from pg_stat_user_tables order by pg_total_relation_size(relid) desc`

const indexesSQL = "select indexdef from pg_indexes where schemaname = 'public' order by tablename, indexname"

const migrationsSQL = "select format('migration %s', max(version_id)) from goose_db_version where is_applied"

// DescribeTables describes the schema and the use of its tables, a line each, without anything from their rows.
func DescribeTables(ctx context.Context, db DB) ([]string, error) {
	var lines []string
	for _, sql := range []string{migrationsSQL, tableUseSQL, columnsSQL, indexesSQL} {
		found, err := row.Values[string](ctx, db, "the schema", sql)
		if err != nil {
			return nil, err
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

const hasStatementsSQL = `select to_regclass('pg_stat_statements') is not null and current_setting('server_version_num')::int >= 160000
	and current_setting('shared_preload_libraries') like '%pg_stat_statements%'`

// slowStatementsSQL selects statements whose constants are all replaced by parameters.
const slowStatementsSQL = `select s.query, s.calls, s.mean_exec_time as mean from pg_stat_statements s
	where s.dbid = (select oid from pg_database where datname = current_database()) and s.userid = (select oid from pg_roles where rolname = current_user)
		and s.query ~* '^\s*(select|with|insert|update|delete)\M' and strpos(s.query, '''') = 0 order by s.mean_exec_time desc limit 10`

type slowStatement struct {
	Query string
	Calls int64
	Mean  float64 // milliseconds
}

// SlowPlans returns the slowest statements with their plans. It returns false if the server does not count statements, for which it needs
// Postgres 16 and the extension pg_stat_statements.
func SlowPlans(ctx context.Context, db DB) (lines []string, counted bool, err error) {
	counted, err = row.Value[bool](ctx, db, "whether statements are counted", hasStatementsSQL)
	if err != nil {
		return nil, false, err
	}
	if !counted {
		return nil, false, nil
	}
	slow, err := row.All[slowStatement](ctx, db, "slow statements", slowStatementsSQL)
	if err != nil {
		return nil, false, err
	}
	for _, s := range slow {
		plan, err := row.Values[string](ctx, db, "a plan", "explain (generic_plan) "+s.Query)
		if err != nil {
			plan = []string{"no plan"}
		}
		lines = append(lines, fmt.Sprintf("%.1f ms, %d calls: %s", s.Mean, s.Calls, strings.Join(strings.Fields(s.Query), " ")))
		lines = append(lines, append(plan, "")...)
	}
	return lines, true, nil
}

const contactWordsSQL = `select distinct w from chats c, unnest(array[c.name, c.contact, c.channel_id, c.receiver, c.self_ghost, coalesce(c.room_id, '')]) w where w <> '' and c.kind <> 'admin' limit 50000`

// ContactWords returns the names and ids of all chats but the admin rooms.
func ContactWords(ctx context.Context, db DB) ([]string, error) {
	return row.Values[string](ctx, db, "names of chats", contactWordsSQL)
}
