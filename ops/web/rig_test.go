package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

const (
	owner    = id.UserID("@you:example.com")
	operator = id.UserID("@eva:example.com")
	address  = "https://multis.example.com"
	// marker is on every page that only the owner may see.
	marker = "As of "
)

// rig is a page over a database, with a clock that stands still.
type rig struct {
	t     *testing.T
	st    *store.Store
	site  *web.Site
	now   time.Time
	links int
	told  []string // what the admin room was told
	// report and checks are what the doctor and the checks of the work say.
	report doctor.Report
	checks health.Report
	// found, notes and former are what the admin room finds and knows.
	found     web.Found
	notes     []store.Note
	former    map[store.NoteID]store.Note
	questions []web.Question
	previewed web.Preview
	// refused is why the admin room does nothing; empty if it does what it is asked.
	refused string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, st: storetest.New(t), now: time.Date(2026, 11, 27, 13, 32, 5, 0, time.UTC)}
	r.report.At, r.checks.Status = r.now, health.OK
	r.open(address, owner)
	return r
}

// open opens the page as it is at an address for an owner.
func (r *rig) open(address string, owner id.UserID) {
	r.t.Helper()
	site, err := web.New(r.t.Context(), web.Options{
		Store:     r.st,
		Room:      r,
		Memory:    r,
		Questions: r,
		Examiner:  r,
		Health:    r,
		Documents: r,
		Address:   address,
		Owner:     owner,
		Name:      "Nora",
		Zone:      time.UTC,
		Currency:  "€",
		Defaults:  policy.Defaults{Profile: policy.ProfilePersonal},
		Now:       func() time.Time { return r.now },
	})
	require.NoError(r.t, err)
	r.site = site
}

func (r *rig) SignedIn(_ context.Context, _ store.Tx, s store.WebSession) error {
	r.told = append(r.told, fmt.Sprintf("in %s %s", s.Browser, s.Address))
	return nil
}

func (r *rig) SignedOut(_ context.Context, _ store.Tx, _ id.UserID, s store.WebSessionID) error {
	r.told = append(r.told, fmt.Sprintf("out %d", s))
	return nil
}

func (r *rig) SendDraft(_ context.Context, s store.WebSession, draft uuid.UUID) (bool, error) {
	return r.decide(s, "send", draft, "")
}

func (r *rig) DropDraft(_ context.Context, s store.WebSession, draft uuid.UUID) (bool, error) {
	return r.decide(s, "drop", draft, "")
}

func (r *rig) ChangeDraft(_ context.Context, s store.WebSession, draft uuid.UUID, words string) (bool, error) {
	return r.decide(s, "change", draft, words)
}

// decide records a decision about a draft. It is done if the draft is open.
func (r *rig) decide(s store.WebSession, what string, draft uuid.UUID, words string) (bool, error) {
	r.told = append(r.told, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", s.Person, what, draft, words)))
	o, err := store.OutboxMessageByID(context.Background(), r.st.DB(), draft)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return o.State == store.OutboxDraft, err
}

func (r *rig) DecideCalls(_ context.Context, s store.WebSession, d web.CallDecision) (string, error) {
	r.told = append(r.told, fmt.Sprintf("%s calls %d version=%t allow=%t numbers=%v hour=%t why=%q pin=%q", s.Person, d.Card, d.Version != "",
		d.Allow, d.Numbers, d.ForHour, d.Why, d.PIN))
	return r.refused, nil
}

func (r *rig) ActOnEscalation(_ context.Context, s store.WebSession, a web.EscalationAction) (string, error) {
	r.told = append(r.told, fmt.Sprintf("%s escalation %d version=%t %s %d %q", s.Person, a.Escalation, a.Version != "", a.Step, a.Suggestion,
		a.Text))
	return r.refused, nil
}

func (r *rig) Questions(context.Context) ([]web.Question, error) { return r.questions, nil }

func (r *rig) AnswerQuestion(_ context.Context, s store.WebSession, a web.QuestionAnswer) (string, error) {
	r.told = append(r.told, fmt.Sprintf("%s question %d version=%t %s %q", s.Person, a.Question, a.Version != "", a.Word, a.Words))
	return r.refused, nil
}

func (r *rig) Search(context.Context, string) (web.Found, error) { return r.found, nil }

func (r *rig) Notes(context.Context, store.Chat) ([]store.Note, map[store.NoteID]store.Note, error) {
	return r.notes, r.former, nil
}

func (r *rig) ChangeNote(_ context.Context, _ store.WebSession, note store.NoteID, words string) (string, error) {
	r.told = append(r.told, fmt.Sprintf("change note %d %q", note, words))
	return r.refused, nil
}

func (r *rig) UndoNote(_ context.Context, _ store.WebSession, note store.NoteID) (string, error) {
	r.told = append(r.told, fmt.Sprintf("undo note %d", note))
	return r.refused, nil
}

func (r *rig) ForgetNote(_ context.Context, _ store.WebSession, note store.NoteID, version string) (string, error) {
	r.told = append(r.told, fmt.Sprintf("forget note %d %s", note, version))
	return r.refused, nil
}

func (r *rig) ExplainMode(_ context.Context, c store.Chat, to policy.Mode) (string, bool, error) {
	return c.Name + " becomes " + string(to) + ".\nI remember.", to == policy.ModeOff, nil
}

func (r *rig) SetMode(_ context.Context, _ store.WebSession, c web.ModeChange) (string, error) {
	r.told = append(r.told, fmt.Sprintf("mode %d %s %s %q", c.Chat, c.Was, c.To, c.PIN))
	return r.refused, nil
}

func (r *rig) AddDocument(_ context.Context, _ store.WebSession, u web.Upload) (string, bool, error) {
	r.told = append(r.told, fmt.Sprintf("add %q %q %s", u.Name, u.Data, u.Role))
	return u.Name + ": " + r.refused, r.refused == "", nil
}

func (r *rig) Preview(_ context.Context, _ store.WebSession, question string) (web.Preview, string, error) {
	r.told = append(r.told, fmt.Sprintf("preview %q", question))
	return r.previewed, r.refused, nil
}

func (r *rig) Examine(context.Context) doctor.Report { return r.report }

func (r *rig) Report(context.Context) health.Report { return r.checks }

func (r *rig) Documents(ctx context.Context, scope policy.Scope, biggest int) (knowledge.Overview, error) {
	groups, err := index.DocumentGroups(ctx, r.st.DB(), scope)
	if err != nil {
		return knowledge.Overview{}, err
	}
	docs, err := index.BiggestDocuments(ctx, r.st.DB(), scope, biggest)
	return knowledge.Overview{Groups: groups, Biggest: docs}, err
}

// hash is what the database keeps of a token.
func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// link gives a person a link, and returns its token.
func (r *rig) link(person id.UserID) string {
	r.t.Helper()
	r.links++
	sum := sha256.Sum256(fmt.Append(nil, "link", r.links))
	token := hex.EncodeToString(sum[:])
	require.NoError(r.t, r.st.InTx(r.t.Context(), func(tx store.Tx) error {
		return store.PutWebLink(r.t.Context(), tx, person, hash(token), r.now.Add(5*time.Minute))
	}))
	return token
}

// session gives a person a session, and returns its token.
func (r *rig) session(person id.UserID) string {
	r.t.Helper()
	r.links++
	sum := sha256.Sum256(fmt.Append(nil, "session", r.links))
	token := hex.EncodeToString(sum[:])
	require.NoError(r.t, r.st.InTx(r.t.Context(), func(tx store.Tx) error {
		_, err := store.InsertWebSession(r.t.Context(), tx, store.WebSession{
			Hash:      hash(token),
			Person:    person,
			Browser:   "Firefox on Linux",
			Address:   "192.0.2.17",
			CreatedAt: r.now,
			ExpiresAt: r.now.Add(12 * time.Hour),
		})
		return err
	}))
	return token
}

// option changes a request.
type option func(*http.Request)

// with sets a header; an empty value removes it.
func with(name, value string) option {
	return func(r *http.Request) {
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
}

// as sends the cookie of a session.
func as(token string) option { return with("Cookie", "__Host-multis="+token) }

// do sends a request as a browser sends it that shows this page.
func (r *rig) do(method, path, body string, options ...option) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), method, address+"/", strings.NewReader(body))
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = splitPath(r.t, path)
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
	req.Header.Set("X-Forwarded-For", "192.0.2.17")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	if method == http.MethodPost {
		req.Header.Set("Origin", address)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, o := range options {
		o(req)
	}
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, req)
	return w
}

// splitPath parses a path as a server does that reads it from a request.
func splitPath(t *testing.T, path string) (plain, raw, query string) {
	t.Helper()
	u, err := url.ParseRequestURI(path)
	require.NoError(t, err)
	return u.Path, u.RawPath, u.RawQuery
}

// get shows a page to the owner and returns it.
func (r *rig) get(path string, options ...option) string {
	r.t.Helper()
	w := r.do(http.MethodGet, path, "", append([]option{as(r.session(owner))}, options...)...)
	require.Equal(r.t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}

// state is all that signing in changes.
func (r *rig) state() string {
	r.t.Helper()
	var state string
	require.NoError(r.t, r.st.Pool().QueryRow(r.t.Context(),
		`select coalesce((select string_agg(l::text, ' ' order by person) from web_links l), '')
		|| '/' || coalesce((select string_agg(s::text, ' ' order by id) from web_sessions s), '')`).Scan(&state))
	return state
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.st.Pool().Exec(r.t.Context(), sql, args...)
	require.NoError(r.t, err)
}
