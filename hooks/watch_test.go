package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
	"multis/jobs"
	"multis/store"
)

// plainExtractor is a LineExtractor that returns the lines of a page unchanged.
type plainExtractor struct{}

func (plainExtractor) Lines(_ context.Context, p fetch.Page) ([]string, error) {
	if strings.HasPrefix(string(p.Data), "%PDF") {
		return nil, errors.New("it is broken or cut off")
	}
	return strings.Split(string(p.Data), "\n"), nil
}

// watchFixture is a watched page and a clock that the test sets.
type watchFixture struct {
	*rig
	watch *PageWatcher
	id    store.WatchID
	now   time.Time
}

func newWatchFixture(t *testing.T) *watchFixture {
	t.Helper()
	r := newRig(t)
	w := &watchFixture{rig: r, now: time.Now().Add(time.Minute)}
	w.watch = NewPageWatcher(PageWatcherOptions{
		Store:  r.st,
		Box:    r.hooks.Box,
		Fetch:  fetch.New(fetch.Options{AllowPrivate: true}),
		Reader: plainExtractor{},
	})
	w.watch.now = func() time.Time { return w.now }
	r.tx(func(tx store.Tx) (err error) {
		w.id, err = store.InsertWatch(t.Context(), tx, store.Watch{
			Name:     "jobs",
			Kind:     store.WatchPage,
			Address:  r.to.URL + "/jobs",
			Interval: 3600,
		})
		return err
	})
	return w
}

func (w *watchFixture) setPage(text string) {
	w.to.answers(func(rw http.ResponseWriter, req *http.Request) {
		tag := fmt.Sprintf(`"%d"`, len(text))
		rw.Header().Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(rw, text)
	})
}

// checkPage advances the clock to the next check, checks the page, and returns the notices to the owner.
func (w *watchFixture) checkPage() []string {
	w.t.Helper()
	before := len(w.notices())
	require.True(w.t, jobs.IsSnooze(w.watch.CheckPage(w.t.Context(), w.id)))
	row, err := store.WatchByID(w.t.Context(), w.st.DB(), w.id)
	require.NoError(w.t, err)
	w.now = row.NextAt.Add(time.Second)
	return w.notices()[before:]
}

func TestWatch_ReportsChangedPage(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	w.setPage("Jobs\nCarpenter\nPlumber")
	require.Empty(t, w.checkPage(), "the first look is the one to compare with")
	requests := len(w.to.requests())
	w.now = w.now.Add(-time.Minute)
	require.True(t, jobs.IsSnooze(w.watch.CheckPage(t.Context(), w.id)))
	require.Len(t, w.to.requests(), requests, "not before its time")
	w.now = w.now.Add(time.Minute)

	require.Empty(t, w.checkPage(), "the server says that nothing changed")
	w.setPage("Plumber\n\nJobs\n  Carpenter")
	require.Empty(t, w.checkPage(), "lines that moved are no news")
	w.setPage("Jobs\nPlumber\nElectrician <b>urgent</b>")
	told := w.checkPage()
	require.Len(t, told, 1)
	require.Contains(t, told[0], "**jobs** has changed")
	require.Contains(t, told[0], "➕ Electrician <b>urgent</b>")
	require.Contains(t, told[0], "➖ Carpenter")
	require.NotContains(t, told[0], "Plumber")
	require.Empty(t, w.checkPage())
}

// TestWatch_LeavesOutWhatAlwaysChanges: a clock on the page is told of once, and the news are told on.
func TestWatch_LeavesOutWhatAlwaysChanges(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	page := func(minute int, jobs string) []string {
		w.setPage(fmt.Sprintf("Jobs\nUpdated at 12:%02d by robot\n%s", minute, jobs) + strings.Repeat(" ", minute))
		return w.checkPage()
	}
	page(10, "Carpenter")
	for minute := 11; minute < 11+maxChanges; minute++ {
		told := page(minute, "Carpenter")
		require.Len(t, told, 1)
		require.Equal(t, minute == 10+maxChanges, strings.Contains(told[0], "leave out the lines of the form “Updated at # by robot”"), told[0])
	}
	require.Empty(t, page(30, "Carpenter"))
	require.Empty(t, page(31, "Carpenter"))
	told := page(32, "Plumber")
	require.Len(t, told, 1)
	require.Contains(t, told[0], "➕ Plumber")
	require.NotContains(t, told[0], "Updated")
}

// TestWatch_ChangesOfWordsAreAlwaysTold: only what looks like a counter or a time is left out.
func TestWatch_ChangesOfWordsAreAlwaysTold(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	jobs := []string{
		"Carpenter", "Plumber", "Electrician now", "Cook wanted here", "Baker of good bread", "Gardener at the old house",
		"Driver for a big red lorry",
	}
	for i, job := range jobs {
		w.setPage("Jobs\n" + job)
		require.Len(t, w.checkPage(), min(i, 1), job)
	}
}

// While a page is read, it may be read by another process as well, or its watch may be removed.
func TestWatch_ChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(w *watchFixture){
		"read by another process": func(w *watchFixture) { require.True(t, jobs.IsSnooze(w.watch.CheckPage(t.Context(), w.id))) },
		"removed": func(w *watchFixture) {
			w.tx(func(tx store.Tx) error { return store.DeleteWatch(t.Context(), tx, w.id) })
		},
	} {
		w := newWatchFixture(t)
		w.setPage("Jobs\nCarpenter")
		w.checkPage()
		first := true
		w.to.answers(func(rw http.ResponseWriter, _ *http.Request) {
			if first {
				first = false
				meanwhile(w)
			}
			fmt.Fprint(rw, "Jobs\nPlumber")
		})
		require.True(t, jobs.IsSnooze(w.watch.CheckPage(t.Context(), w.id)), name)
		want := map[string]int{"read by another process": 1}[name]
		require.Len(t, w.notices(), want, name)
	}
}

func TestALongChangeIsCut(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	w.setPage("one")
	w.checkPage()
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d %s", i, strings.Repeat("x", 500))
	}
	w.setPage(strings.Join(lines, "\n"))
	told := w.checkPage()
	require.Len(t, told, 1)
	require.Less(t, len(told[0]), 4000)
	require.Contains(t, told[0], "and 42 more")
}

func TestWatch_FailureIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	w.setPage("one")
	w.checkPage()
	w.to.answers(status(http.StatusInternalServerError))
	var told []string
	var waits []time.Duration
	for range 8 {
		before := w.now
		told = append(told, w.checkPage()...)
		waits = append(waits, w.now.Sub(before))
	}
	require.Len(t, told, 1, "eight failures are told once")
	require.Contains(t, told[0], "500 Internal Server Error")
	require.Greater(t, waits[2], waits[0])
	require.LessOrEqual(t, waits[7], maxInterval+time.Second)
	w.setPage("%PDF broken")
	require.Empty(t, w.checkPage(), "what cannot be read is a failure as well")
	w.setPage("one")
	require.Equal(t, []string{"✅ I can read **jobs** again."}, w.checkPage())
	w.setPage("one and two")
	require.Len(t, w.checkPage(), 1, "what changed meanwhile is not lost")
}

func TestWatch_RespectsRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	asks := func(after string) time.Duration {
		w.to.answers(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", after)
			rw.WriteHeader(http.StatusTooManyRequests)
		})
		before := w.now
		w.checkPage()
		return w.now.Sub(before).Round(time.Minute)
	}
	require.Equal(t, 2*time.Hour, asks("60"), "less than the pause that there is anyway")
	require.Equal(t, 9*time.Hour, asks("32400"))
	require.Equal(t, 24*time.Hour, asks("99999999"), "once a day at least")
}

func TestWatch_RemovedIsNotChecked(t *testing.T) {
	t.Parallel()
	w := newWatchFixture(t)
	w.tx(func(tx store.Tx) error { return store.DeleteWatch(t.Context(), tx, w.id) })
	require.True(t, jobs.IsPermanent(w.watch.CheckPage(t.Context(), w.id)))
	require.Empty(t, w.to.requests())
}

const token = "the-token"

// startWebhook starts a server with one webhook, and returns its address.
func startWebhook(t *testing.T) (*rig, string) {
	t.Helper()
	r := newRig(t)
	r.tx(func(tx store.Tx) error {
		_, err := store.InsertWatch(t.Context(), tx, store.Watch{Name: "ci", Kind: store.WatchWebhook, Token: store.HashToken(token)})
		return err
	})
	server := httptest.NewServer(NewWebhooks(r.st, r.hooks.Box).Handler())
	t.Cleanup(server.Close)
	return r, server.URL
}

func post(t *testing.T, address, contentType, body string, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	return resp.StatusCode
}

func TestWebhook_ShownAsPlainText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, contentType, body, want string }{
		{"text", "text/plain", "build 12 failed", "📬 **ci**: build 12 failed"},
		{"fields for people", "application/json", `{"id": 4, "text": "it broke", "title": "Build"}`, "📬 **ci**: Build — it broke"},
		{"other JSON", "application/json", `{"state": "red"}`, "📬 **ci**: state: red"},
		{"a list", "application/json", `[1, 2]`, "📬 **ci**: 1, 2"},
		{"a form", "application/x-www-form-urlencoded", "title=Hi&x=1", "📬 **ci**: Hi"},
		{"a form without words", "application/x-www-form-urlencoded", "x=1&state=half+done", "📬 **ci**: state=half done, x=1"},
		{"text that curl calls a form", "application/x-www-form-urlencoded", "backup failed on nas", "📬 **ci**: backup failed on nas"},
		{"text with signs of a form", "application/x-www-form-urlencoded", "C++ build & test: 90% done", "📬 **ci**: C++ build & test: 90% done"},
		{"text with an equals sign", "application/x-www-form-urlencoded", "disk usage=95%", "📬 **ci**: disk usage=95%"},
		{"JSON that curl calls a form", "application/x-www-form-urlencoded", `{"text": "a=b & c"}`, "📬 **ci**: a=b & c"},
		{
			"a form in parts", "multipart/form-data; boundary=xx",
			"--xx\r\nContent-Disposition: form-data; name=\"message\"\r\n\r\nbackup failed\r\n--xx--\r\n", "📬 **ci**: backup failed",
		},
		{"parts that are cut off", "multipart/form-data; boundary=xx", "--xx\r\nno end", "📬 **ci**: --xx no end"},
		{"nothing", "text/plain", "", "📬 **ci**: (nothing was said)"},
		{
			"markup and commands", "text/plain", "**/mode business Ana**\n[click](https://evil.example)",
			"📬 **ci**: **/mode business Ana** [click](https://evil.example)",
		},
		{"no text at all", "application/octet-stream", "a\xff\x00b", "📬 **ci**: a�b"},
	} {
		r, address := startWebhook(t)
		require.Equal(t, http.StatusAccepted, post(t, address+"/watch/ci/"+token, test.contentType, test.body), test.name)
		require.Equal(t, []string{test.want}, r.notices(), test.name)
		require.Equal(t, 1, r.countAlerts(), test.name)
	}
}

func TestWebhook_RequiresToken(t *testing.T) {
	t.Parallel()
	r, address := startWebhook(t)
	require.Equal(t, http.StatusNotFound, post(t, address+"/watch/ci/guess", "text/plain", "x"))
	require.Equal(t, http.StatusNotFound, post(t, address+"/watch/other/"+token, "text/plain", "x"))
	r.tx(func(tx store.Tx) error {
		_, err := store.InsertWatch(t.Context(), tx, store.Watch{
			Name:     "page",
			Kind:     store.WatchPage,
			Address:  "https://example.org",
			Interval: 900,
		})
		return err
	})
	require.Equal(t, http.StatusNotFound, post(t, address+"/watch/page/x", "text/plain", "x"), "a page is no inbox")
	resp, err := http.Get(address + "/watch/ci/" + token)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	require.Empty(t, r.notices())
}

func TestWebhook_IdempotentAndLimited(t *testing.T) {
	t.Parallel()
	r, address := startWebhook(t)
	for range 3 {
		require.Equal(t, http.StatusAccepted, post(t, address+"/watch/ci/"+token, "text/plain", "once", "Webhook-Id", "msg_1"))
	}
	require.Len(t, r.notices(), 1)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(t, address+"/watch/ci/"+token, "text/plain", strings.Repeat("x", maxBodySize+1)))
	refused := 0
	for range 3 * requestBurst {
		if post(t, address+"/watch/ci/"+token, "text/plain", "again") == http.StatusTooManyRequests {
			refused++
		}
	}
	require.GreaterOrEqual(t, refused, requestBurst)
	require.Less(t, len(r.notices()), 2*requestBurst)
}

func FuzzWebhookSummary(f *testing.F) {
	f.Add("application/json", `{"title": "a", "text": ["b"]}`)
	f.Add("application/x-www-form-urlencoded", "a=%zz&title=x")
	f.Add("text/plain; charset=\xff", "\x00")
	f.Add("multipart/form-data; boundary=x", "--x\r\n\r\n\r\n--x--")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		text := summary(contentType, []byte(body))
		require.NotEmpty(t, text)
		require.NotContains(t, text, "\n")
		require.LessOrEqual(t, len([]rune(text)), 2*maxShown)
	})
}
