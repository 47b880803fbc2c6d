package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"multis/migrations"
	"multis/store/row"
)

// Inspector reads facts about a database and changes nothing. The database need not be migrated.
type Inspector struct {
	pool  *pgxpool.Pool
	owned bool // whether Close closes the pool
}

// OpenInspector connects to dsn. Unlike Open it requires nothing of the database.
func OpenInspector(ctx context.Context, dsn string) (*Inspector, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}
	const connections = 3
	cfg.MaxConns = connections
	setPooledMode(cfg, dsn) // it may be a pooler's
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return &Inspector{pool: pool, owned: true}, nil
}

// Inspector returns an Inspector of the open database.
func (s *Store) Inspector() *Inspector { return &Inspector{pool: s.pool} }

// DirectInspector returns an Inspector of the connections that last.
func (s *Store) DirectInspector() *Inspector { return &Inspector{pool: s.direct} }

// DB reads outside a transaction.
func (i *Inspector) DB() DB { return i.pool }

// Close closes the connections that OpenInspector made.
func (i *Inspector) Close() {
	if i.owned {
		i.pool.Close()
	}
}

// ServerFacts describes a database server, the login role and the database.
type ServerFacts struct {
	Version        int // server_version_num, such as 170005
	User           string
	Database       string
	Superuser      bool // whether row-level security does not apply to the role
	CreatesRoles   bool
	OwnsDatabase   bool
	Encoding       string // such as UTF8
	Vector         string // installed version of pgvector; empty if there is none
	VectorPackage  bool   // whether pgvector could be installed in the database
	FindsSimilar   bool   // whether typing errors are corrected: the indexes are there, and the functions find the extension
	TrigramSchema  string // the schema of the extension pg_trgm, quoted where SQL needs it; empty if it is not installed
	MaxConnections int    // for plain roles
	Connections    int    // in use by all clients
	OtherDatabases int    // databases of the server that belong to others
	Open           bool   // whether every role of the server may connect to the database
	HasContactRole bool   // whether the role can become the role of contacts' reads, by the name of migrations.ContactRole
}

const serverFactsSQL = `select current_setting('server_version_num')::int as version, current_user::text as "user", current_database()::text as database,
	r.rolsuper or r.rolbypassrls as superuser, r.rolcreaterole as creates_roles, pg_has_role(d.datdba, 'usage') as owns_database, pg_encoding_to_char(d.encoding)::text as encoding,
	coalesce((select extversion from pg_extension where extname = 'vector'), '') as vector, exists (select from pg_available_extensions where name = 'vector') as vector_package,
	to_regclass('public.term_stats_similar') is not null and to_regclass('public.message_terms_similar') is not null
		and exists (select from pg_proc s join pg_namespace n on n.oid = s.pronamespace, pg_proc f where s.proname = 'similarity'
			and f.proname = 'similar_words' and (n.nspname = 'pg_catalog' or array_to_string(f.proconfig, ' ') like '%' || quote_ident(n.nspname) || '%')) as finds_similar,
	coalesce((select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'), '') as trigram_schema,
	current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max_connections,
	(select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
	(select count(*)::int from pg_database o where not o.datistemplate and o.datname not in ('postgres', d.datname) and o.datdba <> d.datdba) as other_databases,
	has_database_privilege('public', d.oid, 'connect') as open,
	coalesce((select pg_has_role(current_user, c.oid, 'member') from pg_roles c where c.rolname = $1), false) as has_contact_role
	from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`

// Server reads ServerFacts.
func (i *Inspector) Server(ctx context.Context) (ServerFacts, error) {
	login := i.pool.Config().ConnConfig
	database := cmp.Or(login.Database, login.User)
	return row.One[ServerFacts](ctx, i.pool, "facts about the database", serverFactsSQL, migrations.ContactRole(database))
}

// Schema reports whether the database was migrated, and whether a newer multis did.
func (i *Inspector) Schema(ctx context.Context) (migrations.State, error) {
	return migrations.Inspect(ctx, i.pool)
}

// IsPooled reports whether another server connection may serve each transaction, as with PgBouncer's pool_mode transaction. Then LISTEN and
// session locks, which multis needs, do not work. It asks one connection for its server process, keeps that process busy from a second
// connection, and asks the first one again.
func (i *Inspector) IsPooled(ctx context.Context) (bool, error) {
	listener, err := i.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("connect to the database: %w", err)
	}
	defer listener.Release()
	var pid uint32
	if err := listener.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
		return false, fmt.Errorf("ask for the server process: %w", err)
	}
	if pid == listener.Conn().PgConn().PID() {
		return false, nil // a direct connection; a pooler invents the number
	}
	other, err := i.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("connect to the database: %w", err)
	}
	defer other.Release()
	pooled := false
	err = pgx.BeginTxFunc(ctx, other, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var busy, now uint32
		if err := tx.QueryRow(ctx, "select pg_backend_pid()").Scan(&busy); err != nil {
			return fmt.Errorf("keep a connection busy: %w", err)
		}
		if err := listener.QueryRow(ctx, "select pg_backend_pid()").Scan(&now); err != nil {
			return fmt.Errorf("ask for the server process: %w", err)
		}
		pooled = busy == pid || now != pid
		return nil
	})
	return pooled, err
}

// rowSecuritySQL lists the tables whose row-level security is off or does not bind their owner, and policies that are missing.
const rowSecuritySQL = `select t.name || ': ' || case when not c.relrowsecurity then 'row-level security is off' when t.force and not c.relforcerowsecurity then 'its owner is not bound'
		else 'the policy for contacts is missing' end
	from (values ('messages', false), ('chat_summaries', false), ('chunks', true), ('notes', true)) t (name, force) join pg_class c on c.oid = to_regclass('public.' || t.name)
	where not c.relrowsecurity or t.force and not c.relforcerowsecurity
		or not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = t.name || '_contact')
	order by 1`

// CheckRowSecurity checks that a contact cannot read the texts of others: it looks at the policies, then reads as a
// contact without a scope and with the scope of no chat. It returns what is wrong; empty means nothing.
func (i *Inspector) CheckRowSecurity(ctx context.Context) ([]string, error) {
	wrong, err := row.Values[string](ctx, i.pool, "policies", rowSecuritySQL)
	if err != nil {
		return wrong, err
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	role, err := row.Value[string](ctx, i.pool, "role of contacts", contactRoleSQL)
	if err != nil {
		return nil, err
	}
	for _, scope := range []string{"", "user:0"} {
		for _, table := range []string{"messages", "chat_summaries", "chunks", "notes"} {
			seen, err := i.readsAs(ctx, role, scope, table)
			if err != nil {
				return nil, err
			}
			if seen {
				wrong = append(wrong, table+": a contact reads the texts of others")
			}
		}
	}
	return wrong, nil
}

// readsAs reports whether a role can read any row of a table with a scope.
func (i *Inspector) readsAs(ctx context.Context, role, scope, table string) (seen bool, err error) {
	err = pgx.BeginTxFunc(ctx, i.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := row.Exec(ctx, tx, "set the scope", row.ScopeSQL("'"+scope+"'")); err != nil {
			return err
		}
		if err := row.Exec(ctx, tx, "become a contact", "set local role "+role); err != nil {
			return err
		}
		seen, err = row.Value[bool](ctx, tx, "texts of others", "select exists (select from "+pgx.Identifier{table}.Sanitize()+")")
		return err
	})
	if hasState(err, "42501") { // the right is missing, or there is no scope: both keep a contact out
		return false, nil
	}
	return seen, err
}

// Unreachable returns a one-line error that says why the database cannot be reached. It returns all other errors
// unchanged. pgx lists the error of each address that it tried; the last one is the clearest.
func Unreachable(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	causes := strings.Split(failed.Unwrap().Error(), "\n")
	return fmt.Errorf("no database at %s: %s; check database.url", net.JoinHostPort(failed.Config.Host, strconv.Itoa(int(failed.Config.Port))),
		causes[len(causes)-1])
}
