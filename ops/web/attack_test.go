package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attack is something that must not get in, and must change nothing.
type attack struct {
	name string
	want int // the status
	// prepare does what happened before, and try attacks. token is what prepare returns.
	prepare func(r *rig) (token string)
	try     func(r *rig, token string) *httptest.ResponseRecorder
}

func get(path string, options ...option) func(*rig, string) *httptest.ResponseRecorder {
	return func(r *rig, token string) *httptest.ResponseRecorder {
		return r.do(http.MethodGet, strings.ReplaceAll(path, "TOKEN", token), "", options...)
	}
}

func post(path, body string, options ...option) func(*rig, string) *httptest.ResponseRecorder {
	return func(r *rig, token string) *httptest.ResponseRecorder {
		return r.do(http.MethodPost, path, strings.ReplaceAll(body, "TOKEN", token), options...)
	}
}

// signedIn attacks with the cookie of the owner, which a browser may send.
func signedIn(method, path string, options ...option) func(*rig, string) *httptest.ResponseRecorder {
	return func(r *rig, token string) *httptest.ResponseRecorder {
		return r.do(method, path, "", append([]option{as(token)}, options...)...)
	}
}

func nothing(*rig) string { return "" }

func ownerLink(r *rig) string { return r.link(owner) }

func ownerSession(r *rig) string { return r.session(owner) }

func spentLink(r *rig) string {
	token := r.link(owner)
	require.Equal(r.t, http.StatusSeeOther, r.do(http.MethodPost, "/sign-in", "link="+token).Code)
	return token
}

func expiredLink(r *rig) string {
	token := r.link(owner)
	r.now = r.now.Add(5 * time.Minute)
	return token
}

func tried(times int) func(*rig) string {
	return func(r *rig) string {
		for i := range times {
			r.do(http.MethodPost, "/sign-in", "link="+strings.Repeat("0", 64), with("X-Forwarded-For", fmt.Sprintf("198.51.100.%d, 192.0.2.17", i)))
		}
		return r.link(owner)
	}
}

// looked opens links from one address, each with another one before it.
func looked(times int) func(*rig) string {
	return func(r *rig) string {
		for i := range times {
			r.do(http.MethodGet, "/sign-in/"+strings.Repeat("0", 64), "", with("X-Forwarded-For", fmt.Sprintf("198.51.100.%d, 192.0.2.17", i)))
		}
		return r.link(owner)
	}
}

// sniffer is a cookie of plain HTTP, which any program on the way or of a sibling domain could set.
func cookieNamed(name string) func(*rig, string) *httptest.ResponseRecorder {
	return func(r *rig, token string) *httptest.ResponseRecorder {
		return r.do(http.MethodGet, "/doctor", "", with("Cookie", name+"="+token))
	}
}

func attacks() []attack {
	const (
		gone      = http.StatusNotFound
		away      = http.StatusSeeOther // to the sign-in page
		forbidden = http.StatusForbidden
	)
	crossSite, sameSite := with("Sec-Fetch-Site", "cross-site"), with("Sec-Fetch-Site", "same-site")
	host := func(name string) option { return func(r *http.Request) { r.Host = name } }
	noFetch := with("Sec-Fetch-Site", "")
	list := []attack{
		// Links: stolen, guessed, used again, too late.
		{"a guessed link", gone, nothing, post("/sign-in", "link="+strings.Repeat("a", 64))},
		{"a guessed link is opened", gone, nothing, get("/sign-in/" + strings.Repeat("a", 64))},
		{"no link", gone, ownerLink, post("/sign-in", "")},
		{"an empty link", gone, ownerLink, post("/sign-in", "link=")},
		{"a part of the link", gone, ownerLink, func(r *rig, token string) *httptest.ResponseRecorder {
			return r.do(http.MethodPost, "/sign-in", "link="+token[:63])
		}},
		{"the link in capitals", gone, ownerLink, func(r *rig, token string) *httptest.ResponseRecorder {
			return r.do(http.MethodPost, "/sign-in", "link="+strings.ToUpper(token))
		}},
		{"the link with a line end", gone, ownerLink, post("/sign-in", "link=TOKEN%0a")},
		{"the link with a zero byte", gone, ownerLink, post("/sign-in", "link=TOKEN%00")},
		{"the link in the address only", gone, ownerLink, func(r *rig, token string) *httptest.ResponseRecorder {
			return r.do(http.MethodPost, "/sign-in?link="+token, "")
		}},
		{"SQL for a link", gone, ownerLink, post("/sign-in", "link=%27+or+1%3D1+--"+strings.Repeat("+", 52))},
		{"a link that was used", gone, spentLink, post("/sign-in", "link=TOKEN")},
		{"a link that was used is opened", gone, spentLink, get("/sign-in/TOKEN")},
		{"a link that has expired", gone, expiredLink, post("/sign-in", "link=TOKEN")},
		{"a link that has expired is opened", gone, expiredLink, get("/sign-in/TOKEN")},
		{"a link that was replaced", gone, func(r *rig) string {
			old := r.link(owner)
			r.link(owner)
			return old
		}, post("/sign-in", "link=TOKEN")},
		{"a link that was made void", gone, func(r *rig) string {
			token := r.link(owner)
			r.do(http.MethodPost, "/sessions/end", "", as(r.session(owner)))
			return token
		}, post("/sign-in", "link=TOKEN")},
		{"a link of an operator", gone, func(r *rig) string { return r.link(operator) }, post("/sign-in", "link=TOKEN")},
		{"a link of an operator is opened", gone, func(r *rig) string { return r.link(operator) }, get("/sign-in/TOKEN")},
		{"the link as a cookie", away, ownerLink, cookieNamed("__Host-multis")},
		{
			"what the database has of a link",
			gone, func(r *rig) string { return fmt.Sprintf("%x", hash(r.link(owner))) }, post("/sign-in", "link=TOKEN"),
		},
		{
			"the previewer of a homeserver", http.StatusOK, ownerLink,
			get("/sign-in/TOKEN", with("User-Agent", "Synapse (bot; +https://github.com/matrix-org/synapse)")),
		},

		// Sessions: stolen, ended, of others.
		{"no session", away, nothing, get("/doctor")},
		{"a guessed session", away, ownerSession, func(r *rig, _ string) *httptest.ResponseRecorder {
			return r.do(http.MethodGet, "/doctor", "", as(strings.Repeat("a", 64)))
		}},
		{
			"what the database has of a session",
			away, func(r *rig) string { return fmt.Sprintf("%x", hash(r.session(owner))) }, cookieNamed("__Host-multis"),
		},
		{"a session as a link", gone, ownerSession, post("/sign-in", "link=TOKEN")},
		{"a session that has expired", away, func(r *rig) string {
			token := r.session(owner)
			r.now = r.now.Add(12 * time.Hour)
			return token
		}, cookieNamed("__Host-multis")},
		{"a session that was ended", away, func(r *rig) string {
			token := r.session(owner)
			r.do(http.MethodPost, "/sign-out", "", as(token))
			return token
		}, cookieNamed("__Host-multis")},
		{"a session of an operator", away, func(r *rig) string { return r.session(operator) }, cookieNamed("__Host-multis")},
		{"an operator's form", http.StatusUnauthorized, func(r *rig) string {
			r.session(owner)
			return r.session(operator)
		}, signedIn(http.MethodPost, "/sessions/1/end")},
		{
			"the decision about a draft without a session",
			http.StatusUnauthorized, nothing, post("/drafts/00000000-0000-0000-0000-000000000002", "do=send"),
		},
		{
			"the decision about a draft of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/drafts/00000000-0000-0000-0000-000000000002", crossSite, with("Origin", "https://evil.example")),
		},
		{"the yes to a tool call without a session", http.StatusUnauthorized, nothing, post("/approvals/1", "do=yes&version=x")},
		{
			"the yes to a tool call of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/approvals/1", crossSite, with("Origin", "https://evil.example")),
		},
		{"the yes to a tool call by GET", gone, ownerSession, signedIn(http.MethodGet, "/approvals/1?do=yes")},
		{"the answer to a contact without a session", http.StatusUnauthorized, nothing, post("/escalations/1/replies", "text=x&version=x")},
		{
			"the answer to a contact of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/escalations/1/replies", crossSite, with("Origin", "https://evil.example")),
		},
		{
			"the answer to a contact by an operator", http.StatusUnauthorized, func(r *rig) string { return r.session(operator) },
			signedIn(http.MethodPost, "/escalations/1/replies"),
		},
		{"the claim of an escalation by GET", gone, ownerSession, signedIn(http.MethodGet, "/escalations/1?do=claim")},
		{"the change of a mode without a session", http.StatusUnauthorized, nothing, post("/chats/1/mode", "was=silent&to=business")},
		{"the change of a mode by GET", away, nothing, get("/chats/1/mode?was=silent&to=business")},
		{
			"the change of a mode of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/chats/1/mode", crossSite, with("Origin", "https://evil.example")),
		},
		{"a preview without a session", http.StatusUnauthorized, nothing, post("/preview", "q=x")},
		{
			"a preview of another site, which costs money", forbidden, ownerSession,
			signedIn(http.MethodPost, "/preview", crossSite, with("Origin", "https://evil.example")),
		},
		{"the change of a note without a session", http.StatusUnauthorized, nothing, post("/notes/1", "text=x")},
		{
			"the forgetting of a note by GET of a frame", forbidden, ownerSession,
			signedIn(http.MethodGet, "/notes/1/forget", crossSite, with("Sec-Fetch-Dest", "iframe")),
		},
		{
			"the forgetting of a note of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/notes/1/forget", crossSite, with("Origin", "https://evil.example")),
		},
		{
			"a search of another site", forbidden, ownerSession,
			signedIn(http.MethodGet, "/search?q=x", crossSite, with("Sec-Fetch-Mode", "no-cors"), with("Sec-Fetch-Dest", "image")),
		},
		{
			"an upload without a session", http.StatusUnauthorized, nothing,
			post("/documents", "--b--", with("Content-Type", "multipart/form-data; boundary=b")),
		},
		{
			"an upload in another form", http.StatusUnsupportedMediaType, ownerSession,
			signedIn(http.MethodPost, "/notes/1", with("Content-Type", "multipart/form-data; boundary=b")),
		},
		{"a form without a session", http.StatusUnauthorized, ownerSession, post("/sessions/1/end", "")},
		{"a cookie that plain HTTP can set", away, ownerSession, cookieNamed("multis")},
		{"a cookie with another prefix", away, ownerSession, cookieNamed("__Secure-multis")},
		{"the session in a header", away, ownerSession, func(r *rig, token string) *httptest.ResponseRecorder {
			return r.do(http.MethodGet, "/doctor", "", with("Authorization", "Bearer "+token))
		}},
		{"the session in the address", away, ownerSession, get("/doctor?__Host-multis=TOKEN")},

		// Other sites.
		{
			"a form of another site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", crossSite, with("Origin", "https://evil.example")),
		},
		{
			"a form of a sibling site", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", sameSite, with("Origin", "https://shop.example.com")),
		},
		{
			"a form of another site in an old browser", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", noFetch, with("Origin", "https://evil.example")),
		},
		{
			"a form of no site in an old browser", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", noFetch, with("Origin", "null")),
		},
		{"a form that says not whence", forbidden, ownerSession, signedIn(http.MethodPost, "/sessions/end", noFetch, with("Origin", ""))},
		{
			"a form that says two things", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Origin", "https://evil.example")),
		},
		{
			"a form of this host without TLS", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Origin", "http://multis.example.com")),
		},
		{
			"a form of this host and another port", forbidden, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Origin", address+":8443")),
		},
		{
			"another site signs the owner in",
			forbidden, ownerLink, post("/sign-in", "link=TOKEN", crossSite, with("Origin", "https://evil.example")),
		},
		{
			"a form as plain text", http.StatusUnsupportedMediaType, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Content-Type", "text/plain")),
		},
		{
			"a form as JSON", http.StatusUnsupportedMediaType, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Content-Type", "application/json")),
		},
		{
			"a form without a type", http.StatusUnsupportedMediaType, ownerSession,
			signedIn(http.MethodPost, "/sessions/end", with("Content-Type", "")),
		},
		{"a form by GET", gone, ownerSession, signedIn(http.MethodGet, "/sessions/end")},
		{
			"a form by GET that says it is a POST",
			gone, ownerSession, signedIn(http.MethodGet, "/sessions/end?_method=POST", with("X-HTTP-Method-Override", "POST")),
		},
		{"PUT", http.StatusMethodNotAllowed, ownerSession, signedIn(http.MethodPut, "/sessions/end")},
		{"DELETE", http.StatusMethodNotAllowed, ownerSession, signedIn(http.MethodDelete, "/sessions/1/end")},
		{"TRACE", http.StatusMethodNotAllowed, ownerSession, signedIn(http.MethodTrace, "/doctor")},
		{"a preflight", http.StatusMethodNotAllowed, ownerSession, signedIn(http.MethodOptions, "/doctor", crossSite)},
		{"a frame", forbidden, ownerSession, signedIn(http.MethodGet, "/doctor", crossSite, with("Sec-Fetch-Dest", "iframe"))},
		{"a frame of a sibling site", forbidden, ownerSession, signedIn(http.MethodGet, "/doctor", sameSite, with("Sec-Fetch-Dest", "frame"))},
		{"an object", forbidden, ownerSession, signedIn(http.MethodGet, "/doctor", crossSite, with("Sec-Fetch-Dest", "object"))},
		{"a picture", forbidden, ownerSession, signedIn(http.MethodGet, "/doctor", crossSite, with("Sec-Fetch-Mode", "no-cors"),
			with("Sec-Fetch-Dest", "image"))},
		{"a script", forbidden, ownerSession, signedIn(http.MethodGet, "/style.css", crossSite, with("Sec-Fetch-Mode", "no-cors"),
			with("Sec-Fetch-Dest", "script"))},
		{"a fetch", forbidden, ownerSession, signedIn(http.MethodGet, "/doctor", crossSite, with("Sec-Fetch-Mode", "cors"),
			with("Sec-Fetch-Dest", "empty"))},

		// The address.
		{"a name that points here", http.StatusMisdirectedRequest, ownerSession, signedIn(http.MethodGet, "/doctor", host("evil.example"))},
		{"another port", http.StatusMisdirectedRequest, ownerSession, signedIn(http.MethodGet, "/doctor", host("multis.example.com:29400"))},
		{"the listener itself", http.StatusMisdirectedRequest, ownerSession, signedIn(http.MethodGet, "/doctor", host("127.0.0.1:29400"))},
		{"no host", http.StatusMisdirectedRequest, ownerSession, signedIn(http.MethodGet, "/doctor", host(""))},
		{
			"another host behind the proxy", http.StatusMisdirectedRequest, ownerSession,
			signedIn(http.MethodGet, "/doctor", host("evil.example"), with("X-Forwarded-Host", "multis.example.com")),
		},

		// Paths and headers.
		{"a path with two slashes", gone, ownerSession, signedIn(http.MethodGet, "/x//evil.example/%2e%2e")},
		{"a path that goes up", gone, nothing, get("/sign-in/../doctor")},
		{"a path that goes up, encoded", gone, nothing, get("/sign-in/%2e%2e/doctor")},
		{"a path beside the style sheet", gone, nothing, get("/style.css/../doctor")},
		{"a path with a backslash", gone, nothing, get("/%5cevil.example")},
		{"a path with a zero byte", gone, nothing, get("/doctor%00.css")},
		{"a path with a line end", gone, nothing, get("/sign-in/x%0d%0aSet-Cookie:%20a=b")},
		{"a path of the source", gone, nothing, get("/pages/frame.html")},
		{"the pages of monitors", gone, nothing, get("/metrics")},
		{"a link that pretends to be the second step", away, nothing, get("/doctor?hop=1", crossSite)},
		{"a number that is none", http.StatusSeeOther, ownerSession, signedIn(http.MethodPost, "/sessions/-1/end")},
		{"a number with a sign", http.StatusSeeOther, ownerSession, signedIn(http.MethodPost, "/sessions/+1/end")},
		{"the session of another person", http.StatusSeeOther, func(r *rig) string {
			r.session(operator)
			return r.session(owner)
		}, signedIn(http.MethodPost, "/sessions/1/end")},

		// Too much.
		{"the eleventh try", http.StatusTooManyRequests, tried(10), post("/sign-in", "link=TOKEN")},
		{
			"the eleventh try with a forged address",
			http.StatusTooManyRequests, tried(10), post("/sign-in", "link=TOKEN", with("X-Forwarded-For", "203.0.113.9, 192.0.2.17")),
		},
		{"the eleventh look", http.StatusTooManyRequests, looked(10), get("/sign-in/TOKEN")},
		{"a form of 100 kB", gone, ownerLink, post("/sign-in", "a="+strings.Repeat("a", 100_000)+"&link=TOKEN")},
		{"the 61st form of a minute", http.StatusTooManyRequests, func(r *rig) string {
			token := r.session(owner)
			for range 60 {
				r.do(http.MethodPost, "/sessions/7/end", "", as(token))
			}
			return token
		}, signedIn(http.MethodPost, "/sessions/end")},
	}
	return list
}

// TestAttacks_NoneGetsInOrChangesAnything tries all attacks on signing in and on forms.
func TestAttacks_NoneGetsInOrChangesAnything(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(attacks()), 40)
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			token := a.prepare(r)
			before := r.state()
			w := a.try(r, token)
			require.Equal(t, a.want, w.Code)
			require.Equal(t, before, r.state(), "nothing is changed")
			require.NotContains(t, w.Body.String(), "At work", "nothing of the owner's is shown")
			require.Empty(t, w.Header().Values("Set-Cookie"))
			if to := w.Header().Get("Location"); to != "" {
				require.Contains(t, []string{"/sign-in", "/sessions"}, to)
			}
			requireSafeHeaders(t, w.Header())
		})
	}
}

// requireSafeHeaders checks what keeps a page from being framed, cached, or run with scripts.
func requireSafeHeaders(t *testing.T, h http.Header) {
	t.Helper()
	csp := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		require.Contains(t, csp, part)
	}
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, "no-store", h.Get("Cache-Control"))
	require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
	require.Equal(t, "DENY", h.Get("X-Frame-Options"))
	require.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"))
	require.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"))
}
