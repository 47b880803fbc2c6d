package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"multis/internal/text"
	"multis/migrations"
	"multis/store"
)

// ProbeDatabase checks the database at an address: that it answers, its version, the rights of the role, row-level
// security and the pooling mode. It need not be migrated.
func ProbeDatabase(ctx context.Context, dsn string) Result {
	db, err := store.OpenInspector(ctx, dsn)
	if err != nil {
		return PostgresAt(dsn).unreachable(err, "")
	}
	defer db.Close()
	return probeDatabase(ctx, db, db, PostgresAt(dsn), false)
}

// unreachable returns the result when the server does not answer or refuses the login. start is the line that starts
// multis, empty in multis init.
func (p Postgres) unreachable(err error, start string) Result {
	var fix string
	switch {
	case p.Start != "":
		fix = p.Start + "   (" + p.Log + " says more)"
	case p.IsLocal && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)): // the second one is a socket that is not there
		fix = AsRoot("systemctl start "+p.unit()) + "   (or correct database.url)"
	case start == "":
		fix = "correct the address " + p.Address
	default:
		fix = "database.url: " + p.Address + "   (in config.yaml, with the right password, host and name; then " + start + ")"
	}
	return oneFinding(DatabaseUnreachable, strings.TrimSuffix(store.Unreachable(err).Error(), "; check database.url")+".", fix)
}

// unreachableDirect returns the result when database.direct cannot be reached.
func unreachableDirect(err error, start string) Result {
	return oneFinding(DatabaseUnreachable, "database.direct: "+strings.TrimSuffix(store.Unreachable(err).Error(), "; check database.url")+".",
		"database.direct: postgres://user:password@host/name   (in config.yaml, with the right password, host and name; then "+start+")")
}

const (
	minPostgres = 15 // major version
	// spareConnections are for commands, and for the administrator.
	spareConnections = 4
)

// connections returns how many connections one multis has at most.
func (p Postgres) connections() int {
	return cmp.Or(p.Connections, store.DefaultConnections) + store.LastingConnections
}

// probeDatabase checks an open database. direct has the connections that last; it is db, unless that is a pooler's. embeds says whether
// pgvector is needed.
func probeDatabase(ctx context.Context, db, direct *store.Inspector, server Postgres, embeds bool) Result {
	facts, err := db.Server(ctx)
	if err != nil {
		return failedCheck(err)
	}
	r := Result{Fact: describeDatabase(facts), Findings: server.check(facts, embeds)}
	if pooled, err := direct.IsPooled(ctx); err == nil && pooled {
		r.Findings = append(r.Findings, newFinding(DatabasePooling, "",
			"A pooler gives each transaction another connection, so locks and notifications of multis do not work.",
			"database.direct: postgres://user:password@host/name   (in config.yaml, the address of Postgres itself; then restart multis)"))
	}
	if db != direct {
		r.Fact += ", through a pooler"
	}
	walls, found := checkSchema(ctx, db, server, facts)
	r.Fact += walls
	r.Findings = append(r.Findings, found...)
	return r
}

// check checks the facts about a server. embeds says whether pgvector is needed.
func (p Postgres) check(facts store.ServerFacts, embeds bool) (found []Finding) {
	add := func(id ID, message, fix string) { found = append(found, newFinding(id, "", message, fix)) }
	if facts.Version/10000 < minPostgres {
		add(DatabaseVersion, fmt.Sprintf("Postgres %d is too old; multis needs %d or newer.", facts.Version/10000, minPostgres),
			fmt.Sprintf("pg_upgradecluster, or set database.url to a Postgres of version %d or newer", minPostgres))
	}
	if facts.Encoding != "UTF8" {
		add(DatabaseEncoding, fmt.Sprintf("The database %s is encoded as %s, which cannot hold every text.", facts.Database, facts.Encoding),
			p.psql("", fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", sqlName(facts.Database),
				sqlName(facts.Database+"_"+strings.ToLower(facts.Encoding))),
				fmt.Sprintf("CREATE DATABASE %s OWNER %s ENCODING 'UTF8' TEMPLATE template0", sqlName(facts.Database), sqlName(facts.User)))+
				"   (a new database in its place, the old one stays under the new name; stop multis first)")
	}
	if facts.Superuser {
		fix := p.psql("", "CREATE ROLE multis LOGIN CREATEROLE PASSWORD '...'",
			fmt.Sprintf("ALTER DATABASE %s OWNER TO multis", sqlName(facts.Database))) + "   (then put that role into database.url)"
		if facts.User == "multis" { // the role that the guide makes, which somebody gave too much; another role may be a superuser's own
			fix = p.psql("", "ALTER ROLE multis NOSUPERUSER NOBYPASSRLS CREATEROLE") + "   (then restart multis)"
		}
		add(DatabaseSuperuser, fmt.Sprintf("Row-level security does not apply to the role %s, so the second wall between chats does not stand.",
			facts.User), fix)
	}
	if embeds && facts.Vector == "" {
		found = append(found, p.missingVector(facts))
	}
	if free := facts.MaxConnections - facts.Connections; free < p.connections()+spareConnections {
		add(DatabaseConnections, fmt.Sprintf("Only %d of %d connections to Postgres are free; multis opens up to %d, and its commands some more.",
			max(free, 0), facts.MaxConnections, p.connections()),
			p.psql("", "ALTER SYSTEM SET max_connections = 200")+" && "+p.restart())
	}
	return found
}

// missingVector returns the finding that pgvector is missing, with the commands that install it.
func (p Postgres) missingVector(f store.ServerFacts) Finding {
	create := p.psql(f.Database, "CREATE EXTENSION vector") + "   (then restart multis)"
	if p.IsOurs {
		create = p.Restart
	}
	if !f.VectorPackage {
		create = AsRoot(fmt.Sprintf("apt-get install postgresql-%d-pgvector", f.Version/10000)) + " && " + create
	}
	return newFinding(DatabaseVector, "", "embeddings.model is set, and the database has no pgvector, so it is not used.", create)
}

// checkTrigrams checks that typing errors are corrected. A migration makes the indexes for that, where pg_trgm is installed at that time.
func (p Postgres) checkTrigrams(f store.ServerFacts) []Finding {
	if f.FindsSimilar {
		return nil
	}
	const index = "CREATE INDEX IF NOT EXISTS %s_similar ON %[1]s USING gin (word %s.gin_trgm_ops) WHERE role = '*'"
	schema, then := cmp.Or(f.TrigramSchema, "public"), "(the extension is in Debian's package of Postgres itself)"
	if schema != "public" {
		then = "(then restart multis)"
	}
	return []Finding{newFinding(DatabaseTrigrams, "",
		"The database lacks pg_trgm or its indexes, so typing errors in questions are not corrected.",
		p.psql(f.Database, "CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA "+schema, fmt.Sprintf(index, "term_stats", schema),
			fmt.Sprintf(index, "message_terms", schema))+"   "+then)}
}

// checkSchema checks the schema and, if it is up to date, who else may use the server, and row-level security. walls is
// added to the check's Fact. It is empty unless row-level security applies.
func checkSchema(ctx context.Context, db *store.Inspector, server Postgres, facts store.ServerFacts) (walls string, found []Finding) {
	state, err := db.Schema(ctx)
	switch {
	case err != nil:
		return "", []Finding{newFinding(DatabaseSchema, "", fmt.Sprintf("The schema cannot be read: %v.", err), "multis migrate")}
	case state == migrations.StateRestoring:
		return "", []Finding{Restore{}.finding(DatabaseSchema)}
	case state == migrations.StateNewer:
		return "", []Finding{newFinding(DatabaseSchema, "", "A newer multis has changed this database.",
			"start that version again, or restore a backup made before the upgrade")}
	case state == migrations.StateTooOld:
		return "", []Finding{newFinding(DatabaseSchema, "", "The database is too old to be brought up to date.",
			"multis migrate   (it says which version can do it)")}
	case state == migrations.StateForeign:
		return "", []Finding{newFinding(DatabaseSchema, "", "The database holds tables of another program.",
			"CREATE DATABASE multis OWNER multis;   (then name it in database.url)")}
	case state == migrations.StateEmpty:
		return "", server.checkRights(facts)
	case state == migrations.StateOlder:
		return "", nil // the next start migrates it; see checkUpgrade
	}
	found = append(server.checkShared(facts), server.checkTrigrams(facts)...)
	wrong, err := db.CheckRowSecurity(ctx)
	if err != nil {
		wrong = []string{err.Error()}
	}
	if len(wrong) == 0 {
		return ", two walls between chats", found
	}
	return "", append(found, newFinding(DatabaseRowSecurity, "", "The second wall between chats has a hole: "+strings.Join(wrong, "; ")+".",
		"stop multis, restore the policies from a backup (multis backup restore), and find out who changed them"))
}

// finding returns the finding that a backup is being restored, or that its restore was interrupted.
func (r Restore) finding(id ID) Finding {
	const interrupted = "The restore of a backup was interrupted, and multis does not start before it is done."
	switch {
	case r.Running:
		return newFinding(id, "", fmt.Sprintf("The backup %s is being restored now, and multis does not start before that is done.", r.File),
			"multis doctor   (once more, when multis backup restore has ended)")
	case r.File != "":
		return newFinding(id, "", interrupted, AsRoot("multis backup restore "+text.ShellWord(r.File)))
	default:
		return newFinding(id, "", interrupted, AsRoot("multis backup restore FILE")+"   (the same command again)")
	}
}

// checkUpgrade checks that the next start may migrate a database of an older multis: it needs a recent backup, which it
// makes itself unless backups are off.
func checkUpgrade(ctx context.Context, in *Input) []Finding {
	state, err := in.Database.Schema(ctx)
	if err != nil || state != migrations.StateOlder || in.Config.Backup.Every > 0 {
		return nil // checkSchema reports the error
	}
	last, err := store.LastBackup(ctx, in.Database.DB())
	switch {
	case err != nil:
		return []Finding{newFinding(DatabaseSchema, "", fmt.Sprintf("The last backup cannot be read: %v.", err), "multis backup create")}
	case last.IsRecent(in.Now()):
		return nil
	}
	return []Finding{newFinding(DatabaseSchema, "",
		"An older multis made this database. This one changes it only with a backup of the last 24 hours, and there is none.",
		"multis backup create   (or continue without one: multis migrate --no-backup)")}
}

// limitedCreateRole is the first version of Postgres in which a role with CREATEROLE has no power over roles that others created.
const limitedCreateRole = 160000

// checkShared checks a server that other programs use as well.
func (p Postgres) checkShared(f store.ServerFacts) []Finding {
	switch {
	case f.Open:
		return []Finding{newFinding(DatabaseShared, "", fmt.Sprintf("Every role of this Postgres may connect to the database %s.", f.Database),
			p.psql("", "REVOKE CONNECT ON DATABASE "+sqlName(f.Database)+" FROM PUBLIC"))}
	case f.OtherDatabases > 0 && f.CreatesRoles && f.Version < limitedCreateRole:
		return []Finding{newFinding(DatabaseShared, "",
			fmt.Sprintf("Others use this Postgres as well, and the role %s has power over their roles, which it no longer needs.", f.User),
			p.psql("", "ALTER ROLE "+sqlName(f.User)+" NOCREATEROLE"))}
	}
	return nil
}

// checkRights checks that the role can make the schema in an empty database.
func (p Postgres) checkRights(f store.ServerFacts) []Finding {
	var found []Finding
	add := func(message, fix string) { found = append(found, newFinding(DatabaseRights, "", message, fix)) }
	if !f.OwnsDatabase {
		add(fmt.Sprintf("The role %s does not own the database %s.", f.User, f.Database),
			p.psql("", fmt.Sprintf("ALTER DATABASE %s OWNER TO %s", sqlName(f.Database), sqlName(f.User))))
	}
	if !f.CreatesRoles && !f.Superuser {
		role := migrations.ContactRole(f.Database)
		if !f.HasContactRole {
			add(fmt.Sprintf("The role %s may not create the role %s, which reads for contacts.", f.User, role),
				p.psql("", "CREATE ROLE "+sqlName(role)+" NOLOGIN", fmt.Sprintf("GRANT %s TO %s", sqlName(role), sqlName(f.User))))
		}
	}
	return found
}

// describeDatabase returns the line about a healthy database.
func describeDatabase(f store.ServerFacts) string {
	parts := []string{fmt.Sprintf("postgres %d.%d", f.Version/10000, f.Version%10000)}
	if f.Vector != "" {
		parts = append(parts, "pgvector "+f.Vector)
	}
	return strings.Join(append(parts, "role "+f.User), ", ")
}
