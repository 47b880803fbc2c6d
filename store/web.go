package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// WebSessionID identifies a session of the web page.
type WebSessionID int64

// WebSession is a browser that is signed in to the web page.
type WebSession struct {
	ID        WebSessionID
	Hash      []byte // of the token that the browser keeps
	Person    id.UserID
	Browser   string // such as "Firefox on Linux"
	Address   string
	CreatedAt time.Time
	UsedAt    time.Time
	ExpiresAt time.Time
}

const putWebLinkSQL = `insert into web_links (person, hash, expires_at) values ($1, $2, $3)
	on conflict (person) do update set hash = excluded.hash, expires_at = excluded.expires_at`

// PutWebLink stores the hash of a link by which a person signs in, in the place of the person's earlier link.
func PutWebLink(ctx context.Context, tx Tx, person id.UserID, hash []byte, expires time.Time) error {
	return row.Exec(ctx, tx, "store the link", putWebLinkSQL, person, hash, expires)
}

// WebLink is a link that signs in, while nobody has used it.
type WebLink struct {
	Person    id.UserID
	ExpiresAt time.Time
}

const (
	webLinkSQL      = "select person, expires_at from web_links where hash = $1 and expires_at > $2"
	spendWebLinkSQL = "delete from web_links where hash = $1 and expires_at > $2 returning person, expires_at"
)

// ReadWebLink returns the link with a hash, or ErrNotFound if there is none or it has expired.
func ReadWebLink(ctx context.Context, db DB, hash []byte, now time.Time) (WebLink, error) {
	return row.One[WebLink](ctx, db, "link", webLinkSQL, hash, now)
}

// SpendWebLink deletes the link with a hash and returns it. It returns ErrNotFound if there is none, as for one that was spent.
func SpendWebLink(ctx context.Context, tx Tx, hash []byte, now time.Time) (WebLink, error) {
	return row.One[WebLink](ctx, tx, "link", spendWebLinkSQL, hash, now)
}

const (
	webSessionColumns  = "id, hash, person, browser, address, created_at, used_at, expires_at"
	pruneSessionsSQL   = "delete from web_sessions where expires_at <= $1"
	insertSessionSQL   = "insert into web_sessions (hash, person, browser, address, created_at, used_at, expires_at) values ($1, $2, $3, $4, $5, $5, $6) returning id"
	webSessionSQL      = "select " + webSessionColumns + " from web_sessions where hash = $1 and expires_at > $2"
	webSessionsSQL     = "select " + webSessionColumns + " from web_sessions where person = $1 and expires_at > $2 order by id"
	useWebSessionSQL   = "update web_sessions set used_at = $2 where id = $1"
	endWebSessionSQL   = "delete from web_sessions where person = $1 and id = $2"
	endWebSessionsSQL  = "delete from web_sessions where person = $1"
	endOthersSQL       = "delete from web_sessions where person <> $1"
	endOthersLinksSQL  = "delete from web_links where person <> $1"
	endLinksOfOwnerSQL = "delete from web_links where person = $1"
)

// InsertWebSession stores a session and returns its id. Sessions that have expired are deleted.
func InsertWebSession(ctx context.Context, tx Tx, s WebSession) (WebSessionID, error) {
	if err := row.Exec(ctx, tx, "delete old sessions", pruneSessionsSQL, s.CreatedAt); err != nil {
		return 0, err
	}
	return row.Value[WebSessionID](ctx, tx, "session", insertSessionSQL, s.Hash, s.Person, s.Browser, s.Address, s.CreatedAt, s.ExpiresAt)
}

// WebSessionByHash returns the session of a token, or ErrNotFound if there is none or it has expired.
func WebSessionByHash(ctx context.Context, db DB, hash []byte, now time.Time) (WebSession, error) {
	return row.One[WebSession](ctx, db, "session", webSessionSQL, hash, now)
}

// WebSessions returns the sessions of a person, the oldest first.
func WebSessions(ctx context.Context, db DB, person id.UserID, now time.Time) ([]WebSession, error) {
	return row.All[WebSession](ctx, db, "sessions", webSessionsSQL, person, now)
}

// MarkWebSessionUsed stores when a session was last used.
func MarkWebSessionUsed(ctx context.Context, w Writer, session WebSessionID, now time.Time) error {
	return row.Exec(ctx, w, "store the use of a session", useWebSessionSQL, session, now)
}

// EndWebSession ends a session of a person. It returns false if there is none.
func EndWebSession(ctx context.Context, tx Tx, person id.UserID, session WebSessionID) (bool, error) {
	n, err := row.Changed(ctx, tx, "end a session", endWebSessionSQL, person, session)
	return n > 0, err
}

// EndWebSessions ends all sessions of a person, and the link that may begin another, and returns how many sessions there were.
func EndWebSessions(ctx context.Context, tx Tx, person id.UserID) (int, error) {
	if err := row.Exec(ctx, tx, "delete the link", endLinksOfOwnerSQL, person); err != nil {
		return 0, err
	}
	return row.Changed(ctx, tx, "end the sessions", endWebSessionsSQL, person)
}

// KeepWebSessionsOf ends the sessions and links of everybody else, such as of a former owner.
func KeepWebSessionsOf(ctx context.Context, tx Tx, person id.UserID) error {
	if err := row.Exec(ctx, tx, "delete the links of others", endOthersLinksSQL, person); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "end the sessions of others", endOthersSQL, person)
}

// CountingDB counts the queries that are sent through it. It is for one goroutine.
type CountingDB struct {
	db      DB
	queries *int
}

// NewCountingDB returns a DB that counts.
func NewCountingDB(db DB) CountingDB { return CountingDB{db, new(int)} }

// With returns another DB, whose queries are counted together with those of c.
func (c CountingDB) With(db DB) CountingDB { return CountingDB{db, c.queries} }

// Queries returns how many queries there were.
func (c CountingDB) Queries() int { return *c.queries }

// Query counts and passes on.
func (c CountingDB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	*c.queries++
	return c.db.Query(ctx, sql, args...)
}

// QueryRow counts and passes on.
func (c CountingDB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	*c.queries++
	return c.db.QueryRow(ctx, sql, args...)
}
