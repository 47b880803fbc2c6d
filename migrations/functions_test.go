package migrations_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"multis/migrations"
)

func TestFunctions_LastRevision(t *testing.T) {
	t.Parallel()
	s, err := migrations.Functions()
	require.NoError(t, err)
	require.True(t, s.IsLastRevision(), "the functions have changed: add this line to functions/revisions: %s", s.Hash())
}

func TestFunctions_EachInOneFile(t *testing.T) {
	t.Parallel()
	s, err := migrations.Functions()
	require.NoError(t, err)
	names := s.Names()
	slices.Sort(names)
	require.Equal(t, slices.Compact(slices.Clone(names)), names, "each once, and without overloading")
	pool := connect(t, database(t, "every_function"))
	require.NoError(t, migrations.Run(t.Context(), pool.Config().ConnString()))
	var there []string
	require.NoError(t, pool.QueryRow(t.Context(),
		`select array_agg(proname::text order by proname collate "C") from pg_proc p where pronamespace = 'public'::regnamespace
		and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')`).Scan(&there))
	require.Subset(t, names, there)
	for _, name := range names {
		if !slices.Contains([]string{"search_vectors", "to_vector", "use_vector_model"}, name) { // this server may have no pgvector
			require.Contains(t, there, name)
		}
	}
}

// version is a set of functions beside the tables that a test made.
func version(t *testing.T, revisions, sql string) migrations.FunctionSet {
	t.Helper()
	s, err := migrations.ReadFunctions(fstest.MapFS{"revisions": {Data: []byte(revisions)}, "some.sql": {Data: []byte(sql)}})
	require.NoError(t, err)
	return s
}

const firstVersion = `
create or replace function total(p_a int) returns int language sql as $$ select p_a $$;
create or replace function gone() returns int language sql as $$ select 1 $$;
create or replace function is_even(p_n int) returns boolean language sql immutable as $$ select p_n % 2 = 0 $$;
create or replace function touch() returns trigger language plpgsql as $$ begin new.word := 'first'; return new; end $$;
create or replace trigger touched before insert on things for each row execute function touch();`

const secondVersion = `
create or replace function total(p_first int, p_second int default 1) returns text language sql as $$ select (p_first + p_second)::text $$;
create or replace function is_even(p_n int) returns boolean language sql immutable as $$ select mod(p_n, 2) = 0 $$;
create or replace function touch() returns trigger language plpgsql as $$ begin new.word := 'second'; return new; end $$;
create or replace trigger touched before insert on things for each row execute function touch();`

func TestFunctions_ReplacedAfterChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dsn := database(t, "replaced")
	pool := connect(t, dsn)
	run(t, dsn, "create table things (n int, word text); create function anothers() returns int language sql as 'select 1'")
	require.NoError(t, version(t, "a", firstVersion).Apply(ctx, pool))
	run(t, dsn,
		"alter table things enable row level security; create policy even on things using (is_even(n)); create index on things (is_even(n)) where is_even(n)")

	require.NoError(t, version(t, "a b", secondVersion).Apply(ctx, pool))
	var total string
	require.NoError(t, pool.QueryRow(ctx, "select total(1)").Scan(&total), "one total is left, whose parameters and result are others")
	require.Equal(t, "2", total)
	var word string
	require.NoError(t, pool.QueryRow(ctx, "insert into things values (2) returning word").Scan(&word))
	require.Equal(t, "second", word, "a trigger's function is replaced in place")
	var body string
	require.NoError(t, pool.QueryRow(ctx, "select prosrc from pg_proc where proname = 'is_even'").Scan(&body))
	require.Contains(t, body, "mod(", "so is one that a policy and an index use")
	var left []string
	require.NoError(t, pool.QueryRow(ctx,
		"select array_agg(proname::text order by proname) from pg_proc where pronamespace = 'public'::regnamespace").Scan(&left))
	require.Equal(t, []string{"anothers", "is_even", "total", "touch"}, left,
		"what no file makes any more is gone, what somebody else made is there")
}

func TestFunctions_CurrentAreKept(t *testing.T) {
	t.Parallel()
	dsn := database(t, "current")
	pool := connect(t, dsn)
	run(t, dsn, "create table things (n int, word text)")
	require.NoError(t, version(t, "a", firstVersion).Apply(t.Context(), pool))
	id := func() (oid uint32) {
		require.NoError(t, pool.QueryRow(t.Context(), "select oid from pg_proc where proname = 'total'").Scan(&oid))
		return oid
	}
	before := id()
	require.NoError(t, version(t, "a", firstVersion).Apply(t.Context(), pool))
	require.Equal(t, before, id())
	require.NoError(t, version(t, "a", firstVersion+" -- while it is being written, a revision has several texts").Apply(t.Context(), pool))
	require.NotEqual(t, before, id())
}

func TestFunctions_MistakeChangesNothing(t *testing.T) {
	t.Parallel()
	dsn := database(t, "mistake")
	pool := connect(t, dsn)
	run(t, dsn, "create table things (n int, word text)")
	require.NoError(t, version(t, "a", firstVersion).Apply(t.Context(), pool))
	before := catalogue(t, "mistake")
	err := version(t, "a b", secondVersion+
		" create or replace function bad() returns int language sql as $$ select nothing $$;").Apply(t.Context(), pool)
	require.ErrorContains(t, err, "some.sql")
	require.Equal(t, before, catalogue(t, "mistake"))
}
