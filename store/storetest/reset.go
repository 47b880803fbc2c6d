package storetest

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"multis/store"
)

// database is a migrated database that tests use one after another. A new one for each test would take Postgres more time
// than the tests: it copies 400 files, and each new connection reads the catalogue and plans every statement again.
type database struct {
	name string
	pool *pgxpool.Pool
}

// idleDatabases are the databases that no test uses. They are as migrated.
var idleDatabases struct {
	sync.Mutex
	databases []*database
}

// New opens a store on a database as migrated. When the test ends, the database is reset for the next test, or dropped if
// the test failed or changed more than rows.
func New(t testing.TB) *store.Store {
	t.Helper()
	require.NoError(t, startOnce(), "start the tests' Postgres")
	ctx := context.Background()
	db, err := takeDatabase(ctx)
	require.NoError(t, err)
	s, err := store.New(ctx, db.pool)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !t.Failed() && db.reset(ctx) {
			idleDatabases.Lock()
			defer idleDatabases.Unlock()
			idleDatabases.databases = append(idleDatabases.databases, db)
			return
		}
		require.NoError(t, db.drop(ctx))
	})
	return s
}

// takeDatabase returns an idle database, or a new one.
func takeDatabase(ctx context.Context) (*database, error) {
	idleDatabases.Lock()
	if last := len(idleDatabases.databases) - 1; last >= 0 {
		db := idleDatabases.databases[last]
		idleDatabases.databases = idleDatabases.databases[:last]
		idleDatabases.Unlock()
		return db, nil
	}
	idleDatabases.Unlock()
	name, err := createDatabase(ctx)
	if err != nil {
		return nil, err
	}
	if err := asAdministrator(ctx, name, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, saveStateSQL)
		return err
	}); err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, server.DSN(login, name))
	if err != nil {
		return nil, err
	}
	return &database{name, st.Pool()}, nil
}

// saveStateSQL keeps the rows and sequences of a database, and a fingerprint of its schema and of Postgres' statistics,
// in the temporary schema of the administrator's connection, with a function that restores the rows and sequences. The
// function returns false if the fingerprint has changed, or if a connection that is not the pool's has an advisory lock.
// Triggers do not fire.
const saveStateSQL = `
set session_replication_role = replica;
create temp table reset_tables as select c.oid, c.oid::regclass::text as name, false as filled from pg_class c join pg_namespace n on n.oid = c.relnamespace
	where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname not in ('pg_catalog', 'information_schema');
create temp table reset_sequences as select oid::regclass::text as name, null::bigint as last, null::bool as called from pg_class where relkind = 'S';
create function pg_temp.fingerprint() returns text language sql as $$ select concat_ws(' ',
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_class where relpersistence <> 't' and relkind <> 't'),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_attribute where attrelid in (select oid from pg_temp.reset_tables)),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_proc where pronamespace <> pg_my_temp_schema()),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_trigger),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_constraint where connamespace <> pg_my_temp_schema()),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_policy),
	(select concat_ws('-', count(*), sum(xmin::text::bigint)) from pg_namespace),
	(select count(*) from pg_db_role_setting),
	(select count(*) from pg_statistic where starelid in (select oid from pg_temp.reset_tables)))
$$;
do $$ declare t record; s record; filled bool; begin
	for t in select * from pg_temp.reset_tables loop
		execute format('select exists (select from %s)', t.name) into filled;
		if filled then
			execute format('create temp table saved_%s as table %s', t.oid, t.name);
			update pg_temp.reset_tables set filled = true where oid = t.oid;
		end if;
	end loop;
	for s in select * from pg_temp.reset_sequences loop
		execute format('update pg_temp.reset_sequences set (last, called) = (select last_value, is_called from %s) where name = %L', s.name, s.name);
	end loop;
end $$;
create temp table reset_fingerprint as select pg_temp.fingerprint() as was;
create function pg_temp.reset_database() returns bool language plpgsql as $$ declare t record; s record; has_rows bool; last bigint; called bool; begin
	if pg_temp.fingerprint() <> (select was from pg_temp.reset_fingerprint) or exists (select from pg_locks
		where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())) then
		return false;
	end if;
	for t in select * from pg_temp.reset_tables loop
		execute format('select exists (select from %s)', t.name) into has_rows;
		if has_rows then
			execute format('delete from %s', t.name);
		end if;
		if t.filled then
			execute format('insert into %s overriding system value table saved_%s', t.name, t.oid);
		end if;
	end loop;
	for s in select * from pg_temp.reset_sequences loop
		execute format('select last_value, is_called from %s', s.name) into last, called;
		if last <> s.last or called <> s.called then
			perform setval(s.name, s.last, s.called);
		end if;
	end loop;
	return true;
end $$`

// reset restores the state of the database after its migration. It returns false if it cannot, because the test changed
// more than rows or left something running.
func (db *database) reset(ctx context.Context) bool {
	if db.pool.Stat().AcquiredConns() > 0 || db.pool.Ping(ctx) != nil { // it may be closed
		return false
	}
	for _, conn := range db.pool.AcquireAllIdle(ctx) {
		_, err := conn.Exec(ctx, "unlisten *; select pg_advisory_unlock_all(); reset all")
		conn.Release()
		if err != nil {
			return false
		}
	}
	var done bool
	err := asAdministrator(ctx, db.name, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select pg_temp.reset_database()").Scan(&done)
	})
	return err == nil && done
}

// drop closes all connections and drops the database.
func (db *database) drop(ctx context.Context) error {
	db.pool.Close()
	return dropDatabase(ctx, db.name)
}

// closeConnections closes the connections to the idle databases, and the administrator's.
func closeConnections() {
	for _, db := range idleDatabases.databases {
		db.pool.Close()
	}
	for _, conn := range administrators.conns {
		_ = conn.Close(context.Background())
	}
}
