// Package web is the web page: what waits for the owner, the chats with the reason of every answer and silence, documents, numbers and the
// state of multis. It shows what commands of the admin room show, and calls what they call. Who is signed in is decided in
// session.go, what a request must be in guard.go. A GET changes nothing.
package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/policy"
	"multis/store"
)

// Room is the admin room, which is told who signs in.
type Room interface {
	// SignedIn tells the owner, in the transaction in which a session begins.
	SignedIn(ctx context.Context, tx store.Tx, s store.WebSession) error
	// SignedOut records that a session was ended on the page, or all if it is zero.
	SignedOut(ctx context.Context, tx store.Tx, person id.UserID, session store.WebSessionID) error
	// SendDraft, DropDraft and ChangeDraft carry out what the owner decided about a draft, as the admin room does. They report whether it was
	// done: a draft that is no longer open, or may not be sent, is left as it is.
	SendDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error)
	DropDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error)
	ChangeDraft(ctx context.Context, s store.WebSession, draft uuid.UUID, words string) (done bool, err error)
}

// Examiner checks the installation.
type Examiner interface {
	Examine(ctx context.Context) doctor.Report
}

// Health checks the work of multis.
type Health interface {
	Report(ctx context.Context) health.Report
}

// Documents lists what answers are based on.
type Documents interface {
	Documents(ctx context.Context, scope policy.Scope, biggest int) (knowledge.Overview, error)
}

// Options are what the page works with. All are required.
type Options struct {
	Store     *store.Store
	Room      Room
	Examiner  Examiner
	Health    Health
	Documents Documents
	// Address is how browsers reach the page: scheme, host and port, without a slash at its end.
	Address  string
	Owner    id.UserID
	Name     string // the assistant's name
	Defaults policy.Defaults
	Zone     *time.Location
	Currency string
	Now      func() time.Time
}

// Site is the page. It is safe for concurrent use.
type Site struct {
	Options

	host   string // of Address, with its port
	secure bool   // whether Address is https
	origin *http.CrossOriginProtection
	tries  *limiter // sign-ins, by address
	posts  *limiter // POSTs, by session
	mux    *http.ServeMux
	pages  map[string]*template.Template

	mu     sync.Mutex
	report doctor.Report // the last one
}

// New returns the page. It ends the sessions of everybody but the owner, such as of a former one.
func New(ctx context.Context, o Options) (*Site, error) {
	address, err := url.Parse(o.Address)
	if err != nil {
		return nil, err
	}
	s := &Site{
		Options: o,
		host:    address.Host,
		secure:  address.Scheme == "https",
		origin:  http.NewCrossOriginProtection(),
		tries:   newLimiter(maxTries, o.Now),
		posts:   newLimiter(maxPosts, o.Now),
		mux:     http.NewServeMux(),
		pages:   parsePages(o.Now, o.Zone, o.Currency),
	}
	for _, r := range routes() {
		s.mux.Handle(r.pattern, s.handler(r))
	}
	return s, o.Store.InTx(ctx, func(tx store.Tx) error { return store.KeepWebSessionsOf(ctx, tx, o.Owner) })
}

// Host returns the host that browsers use, without a port.
func (s *Site) Host() string {
	u, _ := url.Parse(s.Address) // New has parsed it
	return u.Hostname()
}

// ServeHTTP answers a request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if status := s.refuse(r); status != 0 {
		s.fail(w, r, status) //nolint:contextcheck // it is that of the request
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if _, pattern := s.mux.Handler(r); pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
		s.fail(w, r, http.StatusNotFound) //nolint:contextcheck // it is that of the request
		return
	}
	s.mux.ServeHTTP(w, r)
}

// route is a page, or a thing to do.
type route struct {
	pattern string // of http.ServeMux
	// open says that nobody needs to be signed in.
	open bool
	do   func(s *Site, v *visit) error
}

// routes returns all routes.
func routes() []route {
	return []route{
		{"GET /style.css", true, (*Site).style},
		{"GET /sign-in", true, (*Site).signInSteps},
		{"GET /sign-in/{link}", true, (*Site).askToSignIn},
		{"POST /sign-in", true, (*Site).signIn},
		{"POST /sign-out", false, (*Site).signOut},
		{"GET /sessions", false, (*Site).sessions},
		{"POST /sessions/end", false, (*Site).endSessions},
		{"POST /sessions/{id}/end", false, (*Site).endSession},
		{"GET /{$}", false, (*Site).waiting},
		{"POST /drafts/{id}", false, (*Site).decideDraft},
		{"GET /chats", false, (*Site).chats},
		{"GET /chats/{id}", false, (*Site).chat},
		{"GET /documents", false, (*Site).documents},
		{"GET /documents/{id}", false, (*Site).document},
		{"GET /numbers", false, (*Site).numbers},
		{"GET /doctor", false, (*Site).doctor},
	}
}

// visit is a request that passed the guard, with its answer.
type visit struct {
	http.ResponseWriter

	r       *http.Request
	db      store.CountingDB
	now     time.Time
	began   time.Time
	session store.WebSession // zero where nobody needs to be signed in
}

// handler returns the handler of a route.
func (s *Site) handler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{
			ResponseWriter: w,
			r:              r,
			db:             store.NewCountingDB(s.Store.DB()),
			now:            s.Now(),
			began:          time.Now(),
		}
		if !rt.open && !s.isSignedIn(v) { //nolint:contextcheck // it is that of the request
			return
		}
		if err := rt.do(s, v); err != nil {
			s.report500(v, err) //nolint:contextcheck // it is that of the request
		}
	})
}

// id returns the number in the path, or 0 if it is none.
func (v *visit) id() int64 { return parseID(v.r.PathValue("id")) }

// count returns a DB whose queries count as those of the page.
func (v *visit) count(db store.DB) store.DB { return v.db.With(db) }

// see answers a POST: the browser shows another page.
func (v *visit) see(path string) error {
	http.Redirect(v, v.r, path, http.StatusSeeOther)
	return nil
}
