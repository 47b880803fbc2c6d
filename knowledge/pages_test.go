package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// site is a server with pages below /help/, which counts requests.
func site(t *testing.T, requests *atomic.Int32, gone *atomic.Bool) *httptest.Server {
	t.Helper()
	page := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			if gone.Load() {
				http.NotFound(w, nil)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html><body>" + body + "</body></html>"))
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/help/", page(`<h1>Help</h1><p>Ask us about everything that you need for your bicycle.</p>
		<a href="terms">Terms</a> <a href="delivery">Delivery</a> <a href="../secret">Secret</a> <a href="https://evil.example/help/">Elsewhere</a> <a href="moved">Moved</a>`))
	mux.Handle("/help/delivery", page(`<h1>Delivery</h1><p>Delivery of a bicycle costs 19 euro and takes two days.</p>`))
	mux.Handle("/help/terms", page(`<h1>Terms</h1><p>Goods can be returned within two weeks.</p>`))
	mux.Handle("/secret", page(`<h1>Secret</h1><p>The delivery code of the staff is 4711.</p>`))
	mux.Handle("/help/moved", http.RedirectHandler("/secret", http.StatusFound))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestPages_FetchedWhenNeeded(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var requests atomic.Int32
	var gone atomic.Bool
	server := site(t, &requests, &gone)
	library := Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})})
	p := NewPages(library, []string{server.URL + "/help/"})
	clock := time.Now()
	p.now = func() time.Time { return clock }
	origins := func() int {
		return storetest.Count(t, st, "select count(*) from documents where role = 'public' and starts_with(origin, $1)", server.URL)
	}

	require.True(t, p.Find(t.Context(), "What does delivery cost?"))
	_, err := index.DocumentByOrigin(t.Context(), st.DB(), server.URL+"/help/delivery")
	require.NoError(t, err)
	require.Zero(t, storetest.Count(t, st, "select count(*) from chunks where content like '%4711%'"),
		"neither a link nor a redirect leads out")
	require.Equal(t, 3, origins(), "the named page, and two that it links to")
	before := requests.Load()
	require.False(t, p.Find(t.Context(), "What does delivery cost?"), "just fetched")
	changed, err := p.Refresh(t.Context(), nil)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, before, requests.Load())

	clock = clock.Add(pageAge + time.Hour)
	_, err = p.Refresh(t.Context(), nil)
	require.NoError(t, err)
	require.Greater(t, requests.Load(), before, "old pages are fetched again before they are quoted")
	_, err = library.Index(t.Context(), File{
		Name:      "terms",
		Origin:    server.URL + "/help/terms",
		Data:      []byte("My own copy of the terms, which I keep."),
		Role:      policy.RoleAdmin,
		RoleSetAt: time.Now(),
	})
	require.NoError(t, err)
	gone.Store(true)
	clock = clock.Add(pageAge + time.Hour)
	_, err = st.Pool().Exec(t.Context(), "update documents set indexed_at = now() - interval '1 day'")
	require.NoError(t, err)
	p.now = func() time.Time { return clock }
	_, err = p.Refresh(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, origins(), "what is gone is not quoted")
	require.False(t, p.Find(t.Context(), "What does delivery cost?"))
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from documents where role = $1", policy.RoleAdmin),
		"what the owner indexed for himself stays")
}

func TestPages_NeedAllowedPrefix(t *testing.T) {
	t.Parallel()
	p := NewPages(New(nil), []string{"https://shop.example/help/"})
	for address, allowed := range map[string]bool{
		"https://shop.example/help/": true, "https://shop.example/help/a/b?c=d": true, "https://shop.example/helpless": false,
		"http://shop.example/help/":               false,
		"https://shop.example.evil.example/help/": false, "https://shop.example/help/../secret": false,
		"https://shop.example/help/%2e%2e/secret": false,
		"https://user@shop.example/help/":         false, "": false,
	} {
		require.Equal(t, allowed, p.allows(address), address)
	}
}

// A site that drips, swells, sends other things than pages, or links to pages without end costs a question no more than
// its time, and keeps what is stored small.
func TestPages_HostileSiteIsBounded(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ended := make(chan struct{})
	var pages atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/help/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<p>Delivery of a bicycle costs 19 euro.</p><a href="program">delivery</a> <a href="big">delivery</a> <a href="drip">delivery</a>`))
	})
	mux.HandleFunc("/help/program", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte("\x7fELF\x00\x01"))
	})
	mux.HandleFunc("/help/big", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(bytes.Repeat([]byte("<p>delivery</p>"), 11<<20/15))
	})
	ctx, timeIsOver := context.WithCancel(t.Context())
	mux.HandleFunc("/help/drip", func(w http.ResponseWriter, r *http.Request) { // it is read last
		defer close(ended)
		for drops := 0; r.Context().Err() == nil; drops++ {
			if drops == 1000 {
				timeIsOver()
			}
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/many/", func(w http.ResponseWriter, _ *http.Request) {
		n := pages.Add(1)
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<p>Page %d.</p><a href="a%d">a</a> <a href="b%d">b</a> <a href="c%d">c</a>`, n, n, n, n)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	library := Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})})
	stored := func(prefix string) int {
		return storetest.Count(t, st, "select count(*) from documents where role = 'public' and starts_with(origin, $1)", server.URL+prefix)
	}

	defer timeIsOver()
	require.True(t, NewPages(library, []string{server.URL + "/help/"}).Find(ctx, "What does delivery cost?"))
	<-ended
	require.Equal(t, 1, stored("/help/"), "the page itself, and none of the three")

	p := NewPages(library, []string{server.URL + "/many/"})
	p.maxPages = 10
	clock := time.Now()
	p.now = func() time.Time { return clock }
	for range 10 {
		p.Find(t.Context(), "a")
		clock = clock.Add(pageRetry)
	}
	require.LessOrEqual(t, stored("/many/"), p.maxPages+maxLinked)
	require.GreaterOrEqual(t, stored("/many/"), p.maxPages)
	require.LessOrEqual(t, len(p.fetched), 10)
}

// A site that does not answer, such as one that is moved, takes the time of no other: neither now nor for the next ten minutes.
func TestPages_HangingSiteBlocksNoOther(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var requests atomic.Int32
	var gone atomic.Bool
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(mute.Close)
	server := site(t, &requests, &gone)
	p := NewPages(Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})}), []string{mute.URL + "/", server.URL + "/help/"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.True(t, p.Find(ctx, "What does delivery cost?"))
	require.Equal(t, 3, storetest.Count(t, st, "select count(*) from documents where starts_with(origin, $1)", server.URL))

	p = NewPages(p.documents, p.prefixes)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, p.Find(ended, "What does delivery cost?"))
	require.Empty(t, p.fetched, "what was not begun is not put off")
}

// More pages may be old than are read for one question. Those that would be quoted are read first.
func TestPages_RereadBeforeQuote(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	price := "19"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<html><body><h1>Delivery</h1><p>The thing %s costs %s euro.</p></body></html>", r.URL.Path, price)
	}))
	t.Cleanup(server.Close)
	p := NewPages(Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})}), []string{server.URL + "/"})
	last := ""
	for i := range maxStale + 2 {
		last = fmt.Sprintf("%s/%d", server.URL, i)
		require.True(t, p.update(t.Context(), last))
	}
	p = NewPages(p.documents, p.prefixes) // another process, that has fetched nothing yet
	p.now = func() time.Time { return time.Now().Add(pageAge + time.Hour) }
	price = "29"
	newest, err := index.DocumentByOrigin(t.Context(), st.DB(), last)
	require.NoError(t, err)
	changed, err := p.Refresh(t.Context(), []store.DocumentID{newest.ID})
	require.NoError(t, err)
	require.True(t, changed, "a search finds something else now")
	require.Equal(t, 1, storetest.Count(t, st,
		"select count(*) from chunks c join documents d on d.id = c.doc_id where d.origin = $1 and c.content like '%29 euro%'", last))
	require.Equal(t, maxStale, storetest.Count(t, st, "select count(*) from chunks where content like '%29 euro%'"),
		"and the oldest of the others")
}

// What the owner no longer allows is quoted to nobody. What he indexed by himself was never a page of the configuration.
func TestPages_DisallowedAreForgotten(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var requests atomic.Int32
	var gone atomic.Bool
	old, kept := site(t, &requests, &gone), site(t, &requests, &gone)
	library := Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})})
	require.True(t, NewPages(library, []string{old.URL + "/help/", kept.URL + "/help/"}).Find(t.Context(), "What does delivery cost?"))
	_, err := library.IndexAddress(t.Context(), File{Origin: old.URL + "/help/terms", Role: policy.RolePublic, RoleSetAt: time.Now()})
	require.NoError(t, err)
	_, err = library.Index(t.Context(), File{Name: "prices.md", Data: []byte("Tuning costs 90 euro."), Role: policy.RolePublic})
	require.NoError(t, err)
	count := func(prefix string) int {
		return storetest.Count(t, st, "select count(*) from documents where starts_with(origin, $1)", prefix)
	}

	require.NoError(t, library.ForgetPages(t.Context(), []string{old.URL + "/help/", kept.URL + "/help/"}))
	require.Equal(t, 3, count(old.URL))
	require.NoError(t, library.ForgetPages(t.Context(), []string{kept.URL + "/help/"}))
	require.Equal(t, 1, count(old.URL), "the one that the owner indexed")
	require.Equal(t, 3, count(kept.URL))
	require.NoError(t, library.ForgetPages(t.Context(), nil))
	require.Zero(t, count(kept.URL))
	require.Equal(t, 1, count("prices.md"))
}

// A site that answers with errors, or not at all, is quoted for some days. Then a customer might be told an old price.
func TestPages_StaleIsNotQuoted(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<html><body><h1>Delivery</h1><p>The thing %s costs 19 euro.</p></body></html>", r.URL.Path)
	}))
	t.Cleanup(server.Close)
	p := NewPages(Open(st, Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})}), []string{server.URL + "/"})
	for _, path := range []string{"/a", "/b"} {
		require.True(t, p.update(t.Context(), server.URL+path))
	}
	pages := func() int { return storetest.Count(t, st, "select count(*) from documents") }
	notices := func() int {
		return storetest.Count(t, st,
			"select count(*) from river.river_job where kind = 'notice' and args->>'topic' = 'page_unread' and args->>'page' = $1", server.URL+"/a")
	}
	refresh := func(age time.Duration) bool {
		t.Helper()
		p = NewPages(p.documents, p.prefixes)
		p.now = func() time.Time { return time.Now().Add(age) }
		changed, err := p.Refresh(t.Context(), nil)
		require.NoError(t, err)
		return changed
	}

	status = http.StatusInternalServerError
	require.False(t, refresh(MaxUnread-time.Hour))
	require.Equal(t, 2, pages(), "it may be back tomorrow")
	status = http.StatusOK
	require.False(t, refresh(MaxUnread+time.Hour))
	require.Equal(t, 2, pages(), "it was not read for long because nobody asked")
	require.Zero(t, notices())

	status = http.StatusInternalServerError
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.handleFetchFailure(ended, server.URL+"/a", context.Canceled)
	require.Equal(t, 2, pages(), "the program ends, which says nothing of the page")
	require.True(t, refresh(MaxUnread+time.Hour), "a search finds something else now")
	require.Zero(t, pages())
	require.Equal(t, 1, notices())
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from river.river_job where kind = 'notice'"), "one for a site that is away")

	status = http.StatusOK
	require.True(t, p.update(t.Context(), server.URL+"/c"), "it is read again when a question needs it")
}
