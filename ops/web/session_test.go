package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/ops/web"
	"multis/store"
)

func TestSignIn_ByLinkAndButton(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "/sign-in", r.do(http.MethodGet, "/", "").Header().Get("Location"))
	require.Contains(t, r.do(http.MethodGet, "/sign-in", "").Body.String(), "Write <code>/web</code> there")

	token := r.link(owner)
	before := r.state()
	for range 3 { // the homeserver previews the link, then the owner opens it twice
		shown := r.do(http.MethodGet, "/sign-in/"+token, "", with("Sec-Fetch-Site", "cross-site"))
		require.Equal(t, http.StatusOK, shown.Code)
		require.Contains(t, shown.Body.String(), "@you:example.com, the owner")
		require.Contains(t, shown.Body.String(), "Firefox on Linux, 192.0.2.17")
		require.Empty(t, shown.Header().Values("Set-Cookie"))
	}
	require.Equal(t, before, r.state(), "a GET spends and binds nothing")

	done := r.do(http.MethodPost, "/sign-in", "link="+token, with("Origin", "null"))
	require.Equal(t, http.StatusSeeOther, done.Code)
	require.Equal(t, "/", done.Header().Get("Location"))
	require.Equal(t, []string{"in Firefox on Linux 192.0.2.17"}, r.told)
	cookie := done.Result().Cookies()[0]
	require.Equal(t, "__Host-multis", cookie.Name)
	require.True(t, cookie.HttpOnly)
	require.True(t, cookie.Secure)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.Empty(t, cookie.Domain)
	require.Equal(t, 12*60*60, cookie.MaxAge)
	require.NotContains(t, r.state(), cookie.Value, "only a hash is stored")

	first := r.do(http.MethodGet, "/", "", as(cookie.Value))
	require.Equal(t, http.StatusOK, first.Code)
	require.Contains(t, first.Body.String(), marker)

	out := r.do(http.MethodPost, "/sign-out", "", as(cookie.Value))
	require.Equal(t, "/sign-in", out.Header().Get("Location"))
	require.Equal(t, -1, out.Result().Cookies()[0].MaxAge)
	require.Equal(t, "/sign-in", r.do(http.MethodGet, "/", "", as(cookie.Value)).Header().Get("Location"))
}

// TestSignIn_LooksLeaveTries has a link opened as often as it may be, as by programs that preview links.
func TestSignIn_LooksLeaveTries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := looked(11)(r)
	require.Equal(t, http.StatusTooManyRequests, r.do(http.MethodGet, "/sign-in/"+token, "").Code)
	require.Equal(t, http.StatusSeeOther, r.do(http.MethodPost, "/sign-in", "link="+token).Code)
}

func TestSignIn_ReplacesSessionOfBrowser(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.session(owner)
	done := r.do(http.MethodPost, "/sign-in", "link="+r.link(owner), as(old))
	require.Equal(t, http.StatusSeeOther, done.Code)
	require.NotEqual(t, old, done.Result().Cookies()[0].Value)
	require.Equal(t, http.StatusSeeOther, r.do(http.MethodGet, "/doctor", "", as(old)).Code)
}

func TestSignIn_OnLoopbackWithoutTLS(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.open("http://127.0.0.1:29400", owner)
	local := func(req *http.Request) { req.Host = "127.0.0.1:29400" }
	done := r.do(http.MethodPost, "/sign-in", "link="+r.link(owner), local, with("Origin", "http://127.0.0.1:29400"))
	require.Equal(t, http.StatusSeeOther, done.Code)
	cookie := done.Result().Cookies()[0]
	require.Equal(t, "multis", cookie.Name)
	require.False(t, cookie.Secure)
	shown := r.do(http.MethodGet, "/doctor", "", local, with("Cookie", "multis="+cookie.Value))
	require.Equal(t, http.StatusOK, shown.Code)
}

func TestSession_LinkOfOtherSiteGetsThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fromElement := with("Sec-Fetch-Site", "cross-site")
	hop := r.do(http.MethodGet, "/doctor", "", fromElement) // the browser sends no strict cookie
	require.Equal(t, http.StatusOK, hop.Code)
	require.Contains(t, hop.Body.String(), `<meta http-equiv="refresh" content="0; url=/doctor?hop=1">`)
	require.NotContains(t, hop.Body.String(), marker)
	require.Equal(t, http.StatusOK, r.do(http.MethodGet, "/doctor?hop=1", "", as(r.session(owner))).Code)
	require.Equal(t, "/sign-in", r.do(http.MethodGet, "/doctor?hop=1", "", fromElement).Header().Get("Location"))
}

func TestSession_EndsWhenOwnerChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.session(owner)
	r.link(owner)
	r.open(address, "@new:example.com")
	require.Equal(t, "/", r.state(), "neither session nor link is left")
	require.Equal(t, http.StatusSeeOther, r.do(http.MethodGet, "/doctor", "", as(token)).Code)
}

func TestSessions_ListsAndEndsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mine, other := r.session(owner), r.session(owner)
	r.now = r.now.Add(2 * time.Hour)
	page := r.do(http.MethodGet, "/sessions", "", as(mine)).Body.String()
	require.Equal(t, 1, strings.Count(page, "this browser"))
	require.Equal(t, 1, strings.Count(page, `action="/sessions/2/end"`))
	require.Contains(t, page, "last used 15:32")

	require.Equal(t, "/sessions", r.do(http.MethodPost, "/sessions/2/end", "", as(mine)).Header().Get("Location"))
	require.Equal(t, http.StatusSeeOther, r.do(http.MethodGet, "/doctor", "", as(other)).Code)
	require.Equal(t, http.StatusOK, r.do(http.MethodGet, "/doctor", "", as(mine)).Code)

	r.link(owner)
	require.Equal(t, "/sign-in", r.do(http.MethodPost, "/sessions/end", "", as(mine)).Header().Get("Location"))
	require.Equal(t, "/", r.state(), "the last link is void as well")
	require.Equal(t, []string{"out 2", "out 0"}, r.told)
}

func TestSession_StoresUseOnceAMinute(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.session(owner)
	before := r.state()
	r.now = r.now.Add(30 * time.Second)
	require.Equal(t, http.StatusOK, r.do(http.MethodGet, "/doctor", "", as(token)).Code)
	require.Equal(t, before, r.state())
	r.now = r.now.Add(time.Minute)
	require.Equal(t, http.StatusOK, r.do(http.MethodGet, "/doctor", "", as(token)).Code)
	require.NotEqual(t, before, r.state())
}

func TestSignIn_ShowsNothingThatRequestSays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const evil = `<script>alert(1)</script> Firefox/1`
	page := r.do(http.MethodGet, "/sign-in/"+r.link(owner), "", with("User-Agent", evil), with("X-Forwarded-For", evil)).Body.String()
	require.NotContains(t, page, "script")
	require.NotContains(t, page, "alert")
	require.Contains(t, page, "Firefox, 192.0.2.1")
}

func TestSignIn_LinkIsSpentOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.link(owner)
	codes := make(chan int)
	for i := range 8 {
		go func() {
			codes <- r.do(http.MethodPost, "/sign-in", "link="+token, with("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))).Code
		}()
	}
	counts := map[int]int{}
	for range 8 {
		counts[<-codes]++
	}
	require.Equal(t, map[int]int{http.StatusSeeOther: 1, http.StatusNotFound: 7}, counts)
}

func TestSession_EndsInRestoredBackup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.session(owner)
	r.link(owner)
	require.NoError(t, r.st.InTx(t.Context(), func(tx store.Tx) error { return store.HoldRestored(t.Context(), tx, r.now) }))
	require.Equal(t, "/", r.state())
}

func TestRoutes_NeedSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for pattern, open := range web.Routes() {
		if open {
			continue
		}
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{$}", "", "{id}", "1").Replace(path)
		w := r.do(method, path, "")
		if method == http.MethodPost {
			require.Equal(t, http.StatusUnauthorized, w.Code, pattern)
			continue
		}
		require.Equal(t, http.StatusSeeOther, w.Code, pattern)
		require.Equal(t, "/sign-in", w.Header().Get("Location"), pattern)
	}
}
