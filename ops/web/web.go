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

	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/policy"
	"multis/store"
)

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
	Memory    Memory
	Questions Questions
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
	looks  *limiter // openings of links to sign in, by address
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
		looks:   newLimiter(maxTries, o.Now),
		tries:   newLimiter(maxTries, o.Now),
		posts:   newLimiter(maxPosts, o.Now),
		mux:     http.NewServeMux(),
		pages:   parsePages(o.Now, o.Zone, o.Currency),
	}
	for _, r := range s.routes() {
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
	do   func(v *visit) error
	// takesFile says that its form has a file.
	takesFile bool
}

// uploadPattern is the route of the only form with a file.
const uploadPattern = "POST /documents"

// routes returns all routes.
func (s *Site) routes() []route {
	sign, notes := sessionPages{s}, notePages{s}
	chats, waiting := chatPages{s}, waitingPages{s}
	return []route{
		{pattern: "GET /style.css", open: true, do: s.style},
		{pattern: "GET /page.js", open: true, do: s.sendScript},
		{pattern: livePattern, do: s.live},
		{pattern: "GET /sign-in", open: true, do: sign.signInSteps},
		{pattern: "GET /sign-in/{link}", open: true, do: sign.askToSignIn},
		{pattern: "POST /sign-in", open: true, do: sign.signIn},
		{pattern: "POST /sign-out", do: sign.signOut},
		{pattern: "GET /sessions", do: sign.sessions},
		{pattern: "POST /sessions/end", do: sign.endSessions},
		{pattern: "POST /sessions/{id}/end", do: sign.endSession},
		{pattern: "GET /{$}", do: waiting.waiting},
		{pattern: "POST /drafts/{id}", do: waiting.decideDraft},
		{pattern: "POST /approvals/{id}", do: waiting.decideCalls},
		{pattern: "POST /escalations/{id}", do: waiting.actOnEscalation},
		{pattern: "POST /escalations/{id}/replies", do: waiting.replyToEscalation},
		{pattern: "POST /questions/{id}", do: waiting.answerQuestion},
		{pattern: "GET /chats", do: chats.chats},
		{pattern: "GET /chats/{id}", do: chats.chat},
		{pattern: "GET /chats/{id}/mode", do: chats.askMode},
		{pattern: "POST /chats/{id}/mode", do: chats.setMode},
		{pattern: "GET /chats/{id}/memory", do: notes.memory},
		{pattern: "GET /memory", do: notes.ownMemory},
		{pattern: "POST /notes/{id}", do: notes.changeNote},
		{pattern: "POST /notes/{id}/undo", do: notes.undoNote},
		{pattern: "GET /notes/{id}/forget", do: notes.askToForget},
		{pattern: "POST /notes/{id}/forget", do: notes.forgetNote},
		{pattern: "GET /search", do: s.search},
		{pattern: "GET /documents", do: s.documents},
		{pattern: uploadPattern, do: s.addDocument, takesFile: true},
		{pattern: "GET /documents/{id}", do: s.document},
		{pattern: "GET /preview", do: s.askAsCustomer},
		{pattern: "POST /preview", do: s.preview},
		{pattern: "GET /numbers", do: s.numbers},
		{pattern: "GET /doctor", do: s.doctor},
		{pattern: "GET /jobs", do: s.jobs},
		{pattern: "GET /rehearsal", do: s.rehearsal},
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
		body := r.Body
		r.Body = http.MaxBytesReader(w, body, maxBody)
		if !rt.open && !s.isSignedIn(v) { //nolint:contextcheck // it is that of the request
			return
		}
		if rt.takesFile { // only the owner may send so much
			r.Body = http.MaxBytesReader(w, body, knowledge.MaxSize+maxBody)
		}
		if err := rt.do(v); err != nil {
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
