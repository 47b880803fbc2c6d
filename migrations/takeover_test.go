package migrations_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store/storetest"
)

const oldFile = "testdata/old.sql.gz"

// database makes an empty database that the role multis owns, and returns its address.
func database(t *testing.T, name string) string {
	t.Helper()
	run(t, storetest.Server().SuperDSN("postgres"), "create database "+name+" owner multis")
	return storetest.Server().DSN("multis", name)
}

// newPreBaselineDatabase makes a database that the migrations before the baseline made.
func newPreBaselineDatabase(t *testing.T, name string) string {
	t.Helper()
	dsn := database(t, name)
	storetest.RestorePreBaselineSchema(t, dsn, storetest.Server().SuperDSN(name), oldFile)
	return dsn
}

func run(t *testing.T, dsn, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func connect(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func catalogue(t *testing.T, name string) []string {
	t.Helper()
	return storetest.Catalogue(t, storetest.Server().SuperDSN(name))
}

// isCode tells lines of the catalogue about functions and triggers from those about tables.
func isCode(line string) bool {
	return strings.HasPrefix(line, "function ") || strings.HasPrefix(line, "trigger ") ||
		strings.HasPrefix(line, "grant on ") && strings.Contains(line, "(")
}

func TestBaseline_MakesOldTables(t *testing.T) {
	t.Parallel()
	newPreBaselineDatabase(t, "tables_old")
	require.NoError(t, migrations.RunBaseline(t.Context(), connect(t, database(t, "tables_new"))))
	want := slices.DeleteFunc(catalogue(t, "tables_old"), isCode)
	require.Greater(t, len(want), 600)
	require.Equal(t, want, catalogue(t, "tables_new"))
}

// changedSince are the functions whose text has changed since the baseline, or that are gone.
var changedSince = []string{
	"make_vectors",                         // its tables are made by vectors.sql, its functions by functions/vectors.sql
	"drop_kept_file", "drop_with_messages", // they delete the scores of the message as well
	"search_passages", "archive_passages", "passages_sql", // they evaluate the sets of terms one by one, and stop when enough is found
	"similar_words", "search_terms", "archive_terms", // they compare all mistyped words at once, and with fewer words
}

// renamedSince gives functions, parameters and columns of the old migrations the names that they have now.
var renamedSince = strings.NewReplacer(
	"archive_similar_words", "similar_message_words", "archive_terms", "search_message_terms", "archive_passages_sql", "message_passages_sql",
	"archive_passages", "search_message_passages", "archive_held_", "message_role_", "held_sizes", "role_sizes", "held_passages",
	"role_passages",
	"held_versions", "role_versions", "guessed", "corrected", "guess", "correction", "p_most", "p_limit",
	"where about @>", "where sources @>", "s.about &&", "s.sources &&",
)

func TestBaseline_MakesOldFunctions(t *testing.T) {
	t.Parallel()
	newPreBaselineDatabase(t, "functions_old")
	require.NoError(t, migrations.Run(t.Context(), database(t, "functions_new")))
	now := catalogue(t, "functions_new")
	var compared int
	for _, line := range catalogue(t, "functions_old") {
		if !isCode(line) || slices.ContainsFunc(changedSince, func(name string) bool { return strings.Contains(line, name+"(") }) {
			continue
		}
		require.Contains(t, now, renamedSince.Replace(line))
		compared++
	}
	require.Greater(t, compared, 35)
}

func TestTakeover_SchemaEqualsNew(t *testing.T) {
	t.Parallel()
	old := newPreBaselineDatabase(t, "schema_old")
	require.NoError(t, migrations.Run(t.Context(), old))
	require.NoError(t, migrations.Run(t.Context(), database(t, "schema_new")))
	require.Equal(t, catalogue(t, "schema_new"), catalogue(t, "schema_old"))
	require.NoError(t, migrations.Run(t.Context(), old), "and again, as at each start")
}

const tablesSQL = "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> all ('{goose_db_version,schema_functions}') order by 1"

// contents reads every row of every table of ours, as the server's administrator.
func contents(t *testing.T, name string) map[string][]string {
	t.Helper()
	pool := connect(t, storetest.Server().SuperDSN(name))
	rows, err := pool.Query(t.Context(), tablesSQL)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	all := map[string][]string{}
	for _, table := range tables {
		rows, err := pool.Query(t.Context(), fmt.Sprintf("select to_jsonb(t)::text from %s t order by 1", pgx.Identifier{table}.Sanitize()))
		require.NoError(t, err)
		all[table], err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
	}
	return all
}

// undoWordsSQL reverts what 00135_words.sql has renamed.
const undoWordsSQL = `alter table tasks rename sources to about; alter table outbox rename sources to rests_on; alter table outbox rename quotes to about; alter table outbox rename citations to spans;
	alter table chat_summaries rename sources to about; alter table escalations rename sources to rests_on; alter table escalations rename citations to found;
	alter table escalations rename reason to why; alter table chats rename closed_reason to closed_why; alter table bridge_states rename reason to why;
	alter table tasks rename stop_reason to stop_why; alter table task_steps rename end_reason to handover; alter table escalations rename contact_notified to told;
	alter table budgets rename notified_percent to told; alter table schedules rename notify to tell; alter table messages rename notified_at to digested_at;
	alter table commitments rename reminded_at to nudged_at; alter table schedules rename action to does; alter table schedule_executions rename to schedule_runs;
	alter table tasks rename execution_id to run_id; alter table tasks rename progress_event to live_event; alter table task_steps rename request_digest to asked;
	alter table tasks drop constraint tasks_state_check; update tasks set state = 'executing' where state = 'running';
	alter table heartbeat_findings rename to heartbeat_matters; alter table heartbeat_matters rename finding to matter; alter table heartbeat_matters rename notified to told;
	alter table webhook_requests rename to watch_calls; alter table watches drop constraint watches_kind_check; update watches set kind = 'inbox' where kind = 'webhook'`

// undoSQL reverts what the migrations since the baseline have added to the tables and renamed.
const undoSQL = `set session_replication_role = replica; alter table escalations drop proposals, drop picked, add citations jsonb not null default '[]', add proposal text not null default ''; ` + undoWordsSQL +
	`; alter table chats drop continued_in cascade, drop successor_room cascade; alter table chat_summaries drop tainted; alter table outbox drop task_id; alter table outbox drop trace_id; alter table tasks drop run_id; alter table dialogs drop message_id, drop draft_id;
	alter table chunks drop shown_title; alter table documents drop title, drop given_title, drop notes;
	drop table incidents; drop table monitors; alter table watches drop changes, drop changing, drop left_out; alter table schedules drop message_id, drop unless_reply;
	alter table approvals drop binding, drop card, drop tier, drop target, drop grantable, drop unattended, drop how, drop reason, drop message_id, drop grant_id, drop used_at, drop hinted, drop note; alter table tasks drop tainted; alter table chats drop auto_offered_at, drop labels cascade, drop unlabelled cascade, drop for_operators, drop follow_up_days cascade, drop followed_up_at, drop owner_last_by; drop table ratings; alter table outbox drop kept, drop mark, drop seen_id cascade, drop drafted_as, drop judged, drop judged_at, drop feedback_id; alter table messages drop thread;
	alter table escalations drop card_id, drop found, drop proposal, drop claimed_by, drop claimed_at, drop answered_at, drop closed_by, drop paged, drop shown, drop cause;
	alter table forgettings rename remaining to doomed; alter table documents rename role_set_at to role_said_at;
	alter table watched_folders rename role_set_at to said_at; alter table watched_folders rename error to trouble;
	alter table chats rename owner_active_until to held_until; alter table heartbeat_checks rename to heartbeat_looks;
	alter table heartbeat_looks rename checks to looks; alter table heartbeat_looks rename checked_at to looked_at;
	alter table outbox drop constraint outbox_state_check; update outbox set state = 'held' where state = 'draft'`

func TestTakeover_LosesNothing(t *testing.T) {
	t.Parallel()
	dsn := newPreBaselineDatabase(t, "rows_old")
	filling, err := os.ReadFile("testdata/rows.sql")
	require.NoError(t, err)
	run(t, dsn, string(filling))
	before := contents(t, "rows_old")
	require.Len(t, before, 46)
	for table, rows := range before {
		require.NotEmpty(t, rows, table)
	}

	require.NoError(t, migrations.Run(t.Context(), dsn))
	run(t, storetest.Server().SuperDSN("rows_old"), undoSQL)
	after := contents(t, "rows_old")
	for table, rows := range before {
		require.Equal(t, rows, after[table], table)
	}
	// What is written next does not collide with what was there.
	run(t, dsn, "insert into chats (protocol, channel_id, kind) values ('signal', '1', 'dm')")
	var version int64
	require.NoError(t, connect(t, dsn).QueryRow(t.Context(),
		"select min(version_id) from goose_db_version where version_id > 0").Scan(&version))
	require.Greater(t, version, int64(migrations.LastOld),
		"the versions of the old migrations are gone, so that an older program finds them missing")
}

func TestTakeover_RefusesTooOld(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]string{
		"below_last":  "version_id = (select max(version_id) from goose_db_version)",
		"below_other": "version_id = 2",
	} {
		dsn := newPreBaselineDatabase(t, name)
		run(t, dsn, "delete from goose_db_version where "+missing)
		before := catalogue(t, name)
		_, err := migrations.Plan(t.Context(), dsn)
		require.ErrorIs(t, err, migrations.ErrOlder, "a dry run says so as well")
		err = migrations.Run(t.Context(), dsn)
		require.ErrorIs(t, err, migrations.ErrOlder)
		require.ErrorContains(t, err, "run `multis migrate` once with multis of commit ")
		require.Equal(t, before, catalogue(t, name))
	}
}

func TestUp_RefusesNewerDatabase(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"newer_tables":    "insert into goose_db_version (version_id, is_applied) values (99999, true)",
		"newer_functions": "update schema_functions set revision = 99999, hash = 'x'",
	} {
		dsn := database(t, name)
		require.NoError(t, migrations.Run(t.Context(), dsn))
		run(t, dsn, sql)
		before := contents(t, name)
		err := migrations.Run(t.Context(), dsn)
		require.ErrorIs(t, err, migrations.ErrNewer)
		require.ErrorContains(t, err, "99999")
		require.Equal(t, before, contents(t, name))
	}
}

func TestTakeover_DryRunMakesNoTable(t *testing.T) {
	t.Parallel()
	steps, err := migrations.Plan(t.Context(), newPreBaselineDatabase(t, "planned_takeover"))
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	for _, s := range steps {
		require.NotContains(t, s.Statement, "create table chats (")
	}
}
