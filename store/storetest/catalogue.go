package storetest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// catalogueSQL describes everything in the schema public that is not part of an extension, a line each, comments apart.
// It leaves out the owners.
const catalogueSQL = `
with own as (
	select c.* from pg_class c where c.relnamespace = 'public'::regnamespace
		and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), functions as (
	select p.* from pg_proc p where p.pronamespace = 'public'::regnamespace
		and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
)
select concat_ws(' ', 'table', relname, relkind, relpersistence, reloptions::text,
		case when relrowsecurity then 'row security' end, case when relforcerowsecurity then 'forced' end)
	from own where relkind not in ('i', 'I', 'S', 't')
union all
select concat_ws(' ', 'column', relname || '.' || attname, 'at ' || row_number() over (partition by attrelid order by attnum), format_type(atttypid, atttypmod),
		case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid), 'identity ' || nullif(attidentity::text, ''), 'generated ' || nullif(attgenerated::text, ''),
		'collation ' || nullif(attcollation, 0)::regcollation::text, 'storage ' || attstorage::text, 'compression ' || nullif(attcompression::text, ''),
		'statistics ' || nullif(coalesce(attstattarget, -1), -1), attoptions::text)
	from own join pg_attribute on attrelid = own.oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
	where relkind not in ('i', 'I', 'S', 't') and attnum > 0 and not attisdropped
union all
-- "not null" is part of the columns, because its constraints have names in some versions of Postgres only.
select concat_ws(' ', 'constraint', relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid), case when not convalidated then 'not validated' end)
	from own join pg_constraint on conrelid = own.oid where contype <> 'n'
union all
select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), case when not indisvalid then 'invalid' end, case when indisreplident then 'identity' end, case when indisclustered then 'clustered' end)
	from own join pg_index on indexrelid = own.oid
union all
select concat_ws(' ', 'sequence', relname, format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle,
		(select 'of ' || refobjid::regclass || '.' || attname from pg_depend join pg_attribute on attrelid = refobjid and attnum = refobjsubid
			where classid = 'pg_class'::regclass and objid = own.oid and deptype in ('a', 'i')))
	from own join pg_sequence on seqrelid = own.oid
union all
select concat_ws(' ', 'view', relname, pg_get_viewdef(oid)) from own where relkind in ('v', 'm')
union all
select concat_ws(' ', 'policy', tablename || '.' || policyname, permissive, cmd, 'to', roles::text, 'using', qual, 'with check', with_check)
	from pg_policies where schemaname = 'public'
union all
select concat_ws(' ', 'trigger', relname, pg_get_triggerdef(t.oid), tgenabled) from own join pg_trigger t on tgrelid = own.oid where not tgisinternal
union all
select concat_ws(' ', 'rule', relname, pg_get_ruledef(r.oid)) from own join pg_rewrite r on ev_class = own.oid where rulename <> '_RETURN'
union all
select concat_ws(' ', 'function', pg_get_functiondef(oid)) from functions where prokind <> 'a'
union all
select concat_ws(' ', 'aggregate', oid::regprocedure) from functions where prokind = 'a'
union all
select concat_ws(' ', 'grant on', relname, privilege_type, 'to', coalesce(nullif(grantee, 0)::regrole::text, 'public'), is_grantable)
	from own, aclexplode(coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))) where relkind not in ('i', 'I', 't') and grantee <> relowner
union all
select concat_ws(' ', 'grant on', relname || '.' || attname, privilege_type, 'to', coalesce(nullif(grantee, 0)::regrole::text, 'public'), is_grantable)
	from own join pg_attribute on attrelid = own.oid, aclexplode(attacl)
union all
select concat_ws(' ', 'grant on', f.oid::regprocedure, privilege_type, 'to', coalesce(nullif(grantee, 0)::regrole::text, 'public'), is_grantable)
	from functions f, aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee <> proowner
union all
select concat_ws(' ', 'grant on the schema', privilege_type, 'to', coalesce(nullif(grantee, 0)::regrole::text, 'public'), is_grantable)
	from pg_namespace, aclexplode(nspacl) where nspname = 'public' and grantee <> nspowner
union all
select concat_ws(' ', 'default grant', defaclobjtype, defaclacl::text) from pg_default_acl
union all
select concat_ws(' ', 'type', typname, typtype, format_type(nullif(typbasetype, 0), typtypmod), (select string_agg(enumlabel, ', ' order by enumsortorder) from pg_enum where enumtypid = t.oid))
	from pg_type t where typnamespace = 'public'::regnamespace and typtype in ('d', 'e', 'r')
		and not exists (select from pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
union all
select concat_ws(' ', 'text search', cfgname) from pg_ts_config where cfgnamespace = 'public'::regnamespace
union all
select concat_ws(' ', 'extension', extname) from pg_extension
order by 1`

var (
	sqlComment = regexp.MustCompile(`--[^\n]*`)
	sqlSpace   = regexp.MustCompile(`\s+`)
	sqlRole    = regexp.MustCompile(`multis_contact_\w+`)
)

// Catalogue describes the schema public of a database, a line for each table, column, constraint, index, sequence, view, policy, trigger,
// function, right and extension, in order. It leaves out comments, the layout of SQL, and
// the name of the contact role. dsn is the server administrator's.
func Catalogue(t testing.TB, dsn string) []string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, catalogueSQL)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	for i, line := range lines {
		line = sqlRole.ReplaceAllString(sqlComment.ReplaceAllString(line, ""), "multis_contact")
		lines[i] = strings.TrimSpace(sqlSpace.ReplaceAllString(line, " "))
	}
	slices.Sort(lines)
	return lines
}
