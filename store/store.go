// Package store holds the SQL of all tables but those of the index: one file a family of tables. It knows nothing of Matrix' network or of
// models. The SQL of search is in store/index, and what both use in store/row.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"multis/policy"
	"multis/store/row"
)

// Tx is a transaction. A function takes one if what it writes belongs together, or must be committed with something else.
type Tx = row.Tx

// DB runs queries: see row.DB.
type DB = row.DB

// Writer runs single statements: see row.Writer.
type Writer = row.Writer

// Reader reads within a scope, one round trip a query: see row.Reader.
type Reader = row.Reader

// ErrNotFound is returned by functions that look for one row when there is none.
var ErrNotFound = row.ErrNotFound

// ErrSuperuser is returned by Open if row-level security does not apply to the login role. Its text has the SQL that fixes it.
var ErrSuperuser = errors.New("the database role is not bound by row-level security")

// ErrOwnerScope is returned by AsContact for a scope that contains the owner's role.
var ErrOwnerScope = errors.New("a contact cannot read with the owner's scope")

// Store is the open database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	// direct has the connections that last, for locks, notifications and the tables of encryption. It is pool, unless that is a pooler's.
	direct *pgxpool.Pool
	// contactRole is the database role of reads for a contact. It can read the texts of its scope and nothing else.
	contactRole string
	// notOnHold is what RestoreState returns from now on; nil while that can still change.
	notOnHold atomic.Pointer[policy.Restore]
}

// New returns a Store on an open pool. Like Open, it checks that row-level security applies. Close closes the pool.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	s := &Store{pool: pool, direct: pool}
	if err := s.checkRowSecurity(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes all connections when their transactions are done.
func (s *Store) Close() {
	s.pool.Close()
	if s.direct != s.pool {
		s.direct.Close()
	}
}

// Pool returns the connection pool, for the job queue and the wiring.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// DirectPool returns the pool of the connections that last, for the notifications of the job queue.
func (s *Store) DirectPool() *pgxpool.Pool { return s.direct }

// DB reads outside a transaction.
func (s *Store) DB() DB { return s.pool }

// Writer returns a Writer that runs each statement in its own transaction.
func (s *Store) Writer() Writer { return s.pool }

// AsyncCommit returns a Writer whose commits do not wait for the disk: see row.NewAsyncCommit.
func (s *Store) AsyncCommit() Writer { return row.NewAsyncCommit(s.pool) }

// ScopedAsyncCommit is AsyncCommit for the owner, limited to the texts in scope. It returns policy.ErrNoScope for an empty scope.
func (s *Store) ScopedAsyncCommit(scope policy.Scope) (Writer, error) {
	return row.NewScopedAsyncCommit(s.pool, scope)
}

// ContactReader returns a Reader with a contact's rights. It returns ErrOwnerScope for a scope with the owner's role, and
// policy.ErrNoScope for an empty one.
func (s *Store) ContactReader(scope policy.Scope) (Reader, error) {
	if scope.Allows(policy.RoleAdmin) {
		return Reader{}, ErrOwnerScope
	}
	return row.NewReader(s.pool, scope, s.contactRole)
}

// OwnerReader returns a Reader for the owner, limited to the texts in scope. It returns policy.ErrNoScope for an empty scope.
func (s *Store) OwnerReader(scope policy.Scope) (Reader, error) {
	return row.NewReader(s.pool, scope, "")
}

// InTx runs fn in a transaction and commits if it returns nil. The transaction cannot read the texts of documents and
// notes: see AsOwner. If Postgres ends the transaction because of a deadlock, it is run again, so fn may be called more
// than once.
func (s *Store) InTx(ctx context.Context, fn func(tx Tx) error) error {
	return s.inTx(ctx, pgx.TxOptions{}, fn)
}

func (s *Store) inTx(ctx context.Context, options pgx.TxOptions, fn func(tx Tx) error) error {
	for try := 1; ; try++ {
		err := pgx.BeginTxFunc(ctx, s.pool, options, fn)
		if err == nil || try == maxTries || !hasState(err, "40001", "40P01") {
			return err
		}
	}
}

// maxTries limits how often a transaction is run because of deadlocks.
const maxTries = 4

// IsBadData reports whether err means that Postgres can never store a value. These are the classes "data exception", "integrity constraint
// violation" and "program limit exceeded".
func IsBadData(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains([]string{"22", "23", "54"}, pg.Code[:min(2, len(pg.Code))])
}

func hasState(err error, states ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(states, pg.Code)
}

// AsContact runs fn in a transaction that can read what scope names and nothing else: it has a contact's rights, and row-level security
// applies. It returns ErrOwnerScope for a scope with the owner's role, and policy.ErrNoScope for an empty one.
func (s *Store) AsContact(ctx context.Context, scope policy.Scope, fn func(tx Tx) error) error {
	if scope.Allows(policy.RoleAdmin) {
		return ErrOwnerScope
	}
	return s.scoped(ctx, scope, "set local role "+s.contactRole, fn)
}

// AsOwner runs fn in a transaction that can read and write the texts in scope. It returns policy.ErrNoScope for an empty scope.
func (s *Store) AsOwner(ctx context.Context, scope policy.Scope, fn func(tx Tx) error) error {
	return s.scoped(ctx, scope, "", fn)
}

func (s *Store) scoped(ctx context.Context, scope policy.Scope, role string, fn func(tx Tx) error) error {
	setting, err := scope.Setting()
	if err != nil {
		return err
	}
	// The transaction, its scope and its role begin in one round trip.
	begin := "begin; " + row.ScopeSQL("'"+strings.ReplaceAll(setting, "'", "''")+"'")
	if role != "" {
		begin += "; " + role
	}
	return s.inTx(ctx, pgx.TxOptions{BeginQuery: begin}, fn)
}

// SetScope sets the texts that the rest of a transaction can read and write: see row.SetScope.
func SetScope(ctx context.Context, tx Tx, scope policy.Scope) error {
	return row.SetScope(ctx, tx, scope)
}

// ReadAll runs fn in a read-only transaction that can read the texts of all roles.
func (s *Store) ReadAll(ctx context.Context, fn func(tx Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: "begin read only; " + row.ScopeSQL("'"+row.EveryScope+"'")}, fn)
}

// contactRoleSQL finds the role of the policies, which migrations.Run has made.
const contactRoleSQL = `select quote_ident(r.rolname) from pg_policy p join pg_roles r on r.oid = any (p.polroles)
	where p.polname = 'chunks_contact' and p.polrelid = to_regclass('chunks')`

// checkRowSecurity finds the role for contacts, and returns ErrSuperuser if row-level security does not apply to the login role.
func (s *Store) checkRowSecurity(ctx context.Context) error {
	var user string
	var above bool
	err := s.pool.QueryRow(ctx, "select rolname, rolsuper or rolbypassrls from pg_roles where rolname = current_user").Scan(&user, &above)
	if err != nil {
		return fmt.Errorf("look at the database role: %w", err)
	}
	if above {
		name := pgx.Identifier{user}.Sanitize()
		return fmt.Errorf("%w: use a plain role: CREATE ROLE multis LOGIN CREATEROLE PASSWORD '...'; ALTER DATABASE ... OWNER TO multis; (now: %s)", ErrSuperuser, name)
	}
	if err := s.pool.QueryRow(ctx, contactRoleSQL).Scan(&s.contactRole); err != nil {
		return fmt.Errorf("find the role of contacts' reads; has the database been migrated? %w", err)
	}
	return nil
}
