package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrRole is returned by Run when the database lets multis neither use nor create the role that contacts' reads run
// under. Its text holds the SQL that fixes it.
var ErrRole = errors.New("the role of contacts' reads is missing")

// roleInFiles is what the SQL files call the role of contacts' reads. Each database has a role of its own: roles belong
// to the whole server, and whoever may use a shared one could read as a contact in every database that has it.
const roleInFiles = "multis_contact"

// unquotedName matches a database name that needs no quotes, so that a role's name can contain it.
var unquotedName = regexp.MustCompile(`^[a-z0-9_]+$`)

// ContactRole names the role that contacts' reads run under in a database. It needs no quotation marks.
func ContactRole(database string) string {
	const maxNameLen = 63 // of a name in Postgres, in bytes
	role := roleInFiles + "_" + database
	if unquotedName.MatchString(database) && len(role) <= maxNameLen {
		return role
	}
	return fmt.Sprintf("%s_%x", roleInFiles, sha256.Sum256([]byte(database)))[:maxNameLen]
}

// prepareRoles creates the role of contacts' reads and lets the login role switch to it. It moves the grants of an older
// role (of an older version, or of the database that this one is a copy of) to it, and revokes everybody else's right to
// connect.
func prepareRoles(ctx context.Context, pool *pgxpool.Pool) (role string, err error) {
	var user, database string
	if err := pool.QueryRow(ctx, "select current_user, current_database()").Scan(&user, &database); err != nil {
		return "", fmt.Errorf("look at the database: %w", err)
	}
	role = ContactRole(database)
	if err := ensureRole(ctx, pool, role, pgx.Identifier{user}.Sanitize()); err != nil {
		return "", err
	}
	if err := replaceRoles(ctx, pool, role); err != nil {
		return "", fmt.Errorf("give the rights of contacts' reads to %s: %w", role, err)
	}
	if err := disableJIT(ctx, pool, pgx.Identifier{database}.Sanitize()); err != nil {
		return "", err
	}
	return role, closeDatabase(ctx, pool, pgx.Identifier{database}.Sanitize())
}

// disableJIT makes the new connections of this login compile no queries: all of them are short, even if the planner estimates a high cost.
// It is a setting of the role in this database and not of a connection, because a pooler shares its connections and refuses parameters.
func disableJIT(ctx context.Context, pool *pgxpool.Pool, database string) error {
	var on bool
	err := pool.QueryRow(ctx, "select current_setting('jit')::bool").Scan(&on)
	if err == nil && on {
		_, err = pool.Exec(ctx, "alter role current_user in database "+database+" set jit = off")
	}
	if err != nil {
		return fmt.Errorf("turn off the compilation of queries: %w", err)
	}
	return nil
}

const roleSQL = `select count(*) > 0, coalesce(bool_or(pg_has_role(current_user, oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)), false)
	from pg_roles where rolname = $1`

func ensureRole(ctx context.Context, pool *pgxpool.Pool, role, user string) error {
	var exists, usable bool
	if err := pool.QueryRow(ctx, roleSQL, role).Scan(&exists, &usable); err != nil {
		return fmt.Errorf("look for the role %s: %w", role, err)
	}
	var err error
	if !exists {
		_, err = pool.Exec(ctx, "create role "+role+" nologin")
	}
	if err == nil && !usable {
		_, err = pool.Exec(ctx, "grant "+role+" to "+user)
	}
	if err != nil {
		return fmt.Errorf("%w; run as a database administrator: CREATE ROLE %s NOLOGIN; GRANT %s TO %s; (%w)", ErrRole, role, role, user, err)
	}
	return nil
}

// replaceSQL lists the statements that replace other contact roles by this database's: in policies, grants and functions.
const replaceSQL = `with other as (select distinct r.oid, r.rolname from pg_policy p join pg_roles r on r.oid = any (p.polroles)
		where r.rolname ~ '^multis_contact(_|$)' and r.rolname <> $1::text)
	select format('alter policy %I on %s to %I', p.polname, p.polrelid::regclass, $1::text) from pg_policy p join other o on o.oid = any (p.polroles)
	union all select format('grant %s on %s to %I', a.privilege_type, c.oid::regclass, $1::text) from pg_class c, aclexplode(c.relacl) a join other o on o.oid = a.grantee
	union all select distinct format('revoke all on %s from %I', c.oid::regclass, o.rolname) from pg_class c, aclexplode(c.relacl) a join other o on o.oid = a.grantee
	union all select format('grant execute on function %s to %I', p.oid::regprocedure, $1::text) from pg_proc p, aclexplode(p.proacl) a join other o on o.oid = a.grantee
	union all select format('revoke all on function %s from %I', p.oid::regprocedure, o.rolname) from pg_proc p, aclexplode(p.proacl) a join other o on o.oid = a.grantee
	union all select regexp_replace(pg_get_functiondef(p.oid), '\m' || o.rolname || '\M', $1::text, 'g') from pg_proc p join other o on p.prosrc ~ ('\m' || o.rolname || '\M')
		where p.pronamespace = 'public'::regnamespace`

func replaceRoles(ctx context.Context, pool *pgxpool.Pool, role string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, replaceSQL, role)
		if err != nil {
			return err
		}
		statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// openSQL returns whether PUBLIC may connect to the database, and whether this login may revoke that.
const openSQL = "select has_database_privilege('public', oid, 'connect') and pg_has_role(datdba, 'usage') from pg_database where datname = current_database()"

func closeDatabase(ctx context.Context, pool *pgxpool.Pool, database string) error {
	var open bool
	err := pool.QueryRow(ctx, openSQL).Scan(&open)
	if err == nil && open {
		_, err = pool.Exec(ctx, "revoke connect on database "+database+" from public")
	}
	if err != nil {
		return fmt.Errorf("close the database to others: %w", err)
	}
	return nil
}

// filesWithRole are the migrations, with the name of a database's contact role in place of roleInFiles.
type filesWithRole struct {
	files embed.FS
	role  string
}

// Open opens a file. In a *.sql file it replaces the role's name in the files by that of this database.
func (f filesWithRole) Open(name string) (fs.File, error) {
	file, err := f.files.Open(name)
	if err != nil {
		return file, err
	}
	if path.Ext(name) != ".sql" {
		return file, nil
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return sqlFile{File: file, text: strings.NewReader(strings.ReplaceAll(string(text), roleInFiles, f.role))}, nil
}

type sqlFile struct {
	fs.File
	text *strings.Reader
}

func (f sqlFile) Read(p []byte) (int, error) { return f.text.Read(p) }
