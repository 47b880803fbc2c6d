package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
)

// hostile is a name of 10 kB with markup, and with marks of the writing direction around it.
var hostile = "\u202e<script>alert(1)</script>\u2066\"'><img src=x onerror=alert(1)>{{.Session.Hash}}\u2069" + strings.Repeat("x", 10_000)

// fill stores a chat with an answered question, silence, a draft, an escalation and an approval. Every text of others is name.
func (r *rig) fill(name string) {
	r.t.Helper()
	at := r.now.Add(-10 * time.Minute)
	r.exec(`insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot, room_id, mode, delivery, labels, last_message_at)
		values ('whatsapp', '1', '', 'dm', $1, '@bot:x', '!a:x', 'business', 'draft', array['regular'], $2)`, name, at)
	r.exec(`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, citations, state, created_at, sent_at, delivered_at) values
		('00000000-0000-0000-0000-000000000001', 1, 'owner', 'reply', 'm.room.message', jsonb_build_object('body', '[Nora] ' || $1::text), 'allowed', '', jsonb_build_array(jsonb_build_object('source', 'prices.md › ' || $1::text, 'quote', $1::text)), 'delivered', $2::timestamptz, $2, $2::timestamptz + interval '2 s'),
		('00000000-0000-0000-0000-000000000002', 1, 'owner', 'reply', 'm.room.message', jsonb_build_object('body', $1::text), 'draft', '', '[]', 'draft', $2::timestamptz + interval '1 min', null, null)`, name, at)
	r.exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason, answered_at, outbox_id) values
		(1, '$1', 'contact', '@whatsapp_1:x', 'text', $1, $2::timestamptz - interval '1 s', $2, 'answer', 'question',
			'The contact asked something.' || $1, $2, '00000000-0000-0000-0000-000000000001'),
		(1, '$2', 'contact', '@whatsapp_1:x', 'text', 'Thank you!', $2::timestamptz - interval '2 h', $2::timestamptz - interval '1 h',
			'archive', 'thanks', 'It only says thanks.', null, null),
		(1, '$3', 'owner_phone', '@you:x', 'text', 'See you at 10.', $2::timestamptz - interval '3 h', $2, 'archive', 'owner_wrote', 'You wrote it.', null, null)`, name, at)
	r.exec(`insert into escalations (chat_id, message_id, reason, opened_at, proposals) values (1, 1, $1, $2,
		jsonb_build_array(jsonb_build_object('text', $1::text, 'citations', jsonb_build_array(jsonb_build_object('source', $1::text, 'quote', $1::text)))))`, name, at)
	r.exec("insert into tasks (key, kind, chat_id, input, agent, state) values ('ask:1', 'ask', 1, $1, left($1, 40), 'queued')", name)
	r.exec(`insert into approvals (task_id, call_id, tool, arguments, note, expires_at, created_at)
		values (1, 'c1', 'fetch_url', jsonb_build_object('url', $1::text)::text, $1, $2::timestamptz + interval '20 min', $2)`, name, at)
	r.exec("insert into usage (day, chat_id, purpose, model, reserved, cost, settled_at) values (current_date, 1, 'reply', 'm', 500, 20000, now())")
	r.questions = []web.Question{{
		ID:        5,
		Text:      "Save this answer? " + name,
		Version:   "abc",
		AskedAt:   at,
		ExpiresAt: r.now.Add(time.Hour),
		Choices:   []web.Choice{{Word: "yes", Label: "Save for me"}, {Word: "public", Label: "Save for customers"}},
		Words:     name,
	}}
	title := name[:min(len(name), 200)]
	_, err := knowledge.New(r.st).Index(r.t.Context(), knowledge.File{
		Name: strings.ReplaceAll(strings.ReplaceAll(name, "/", ""), "\u202e", "")[:min(len(name), 100)] + ".md",
		Data: []byte("# " + title + "\n\nA consultation costs 80 EUR. " + title + "\n"),
		Role: policy.RolePublic,
	})
	require.NoError(r.t, err)
}

// pages are the addresses of all pages of a rig that is filled.
var pages = []string{
	"/", "/chats", "/chats/1", "/chats/1/mode?to=silent", "/chats/1/memory", "/notes/1/forget", "/search", "/search?q=deposit",
	"/documents", "/documents/1", "/preview", "/numbers", "/numbers?days=30", "/doctor", "/jobs", "/rehearsal", "/sessions",
}

func TestChats_ListsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/chats"), "Chats appear here when your bridges bring them.")
	r.fill("Ana Ribeiro")
	r.exec("insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot, mode) values ('signal', '2', '', 'group', 'Bank', '@bot:x', 'off')")
	page := r.get("/chats")
	for _, want := range []string{
		"<h1>2 chats</h1>", `<a href="/chats/1" dir="auto">Ana Ribeiro</a> <span class="net">WhatsApp · regular</span>`,
		`<span class="tag business">business</span> <span class="sub">draft</span>`, "<i>13:22</i>", `<span class="t-warn">draft</span>`,
		`<span class="t-warn">waiting</span>`,
		"Nora: Ana Ribeiro", "0.02", "not stored", `>business <span class="num">1</span></a>`, `>off <span class="num">1</span></a>`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, r.get("/chats?mode=off"), "Ana Ribeiro")
	require.NotContains(t, r.get("/chats?q=ana"), "Bank")
	require.Contains(t, r.get("/chats?q=zzz"), "No chat has this in its name.")
	require.Contains(t, r.get("/chats?page=99&mode=%22%3E&q=%00"), "No chat has this mode.")
}

func TestChat_ShowsReasonOfAnswerAndSilence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	page := r.get("/chats/1")
	for _, want := range []string{
		`<b class="t-good">Answered.</b> <span dir="auto">The contact asked something.Ana</span>`,
		"<b>Silent.</b> <span dir=\"auto\">It only says thanks.</span>", "It arrived after 60 min.",
		"Source <span dir=\"auto\">prices.md › Ana: “Ana”</span>", "Delivered 2.0 s after it was written.",
		"[Nora] Ana", "(a draft: not sent)", "See you at 10.", "You wrote it.", "Waits for a person",
	} {
		require.Contains(t, page, want)
	}
	require.Less(t, strings.Index(page, "Answered."), strings.Index(page, "Silent."), "the newest turn is first")
	require.Less(t, strings.Index(page, "The contact asked"), strings.Index(page, "See you at 10."))
	r.exec("update chats set mode = 'off'")
	off := r.get("/chats/1")
	require.Contains(t, off, "This chat is off")
	require.NotContains(t, off, "Thank you!")
	for _, path := range []string{"/chats/2", "/chats/0", "/chats/-1", "/chats/x", "/chats/99999999999999999999"} {
		require.Equal(t, http.StatusNotFound, r.do(http.MethodGet, path, "", as(r.session(owner))).Code, path)
	}
}

func TestChat_PagesThroughLongLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason)
		select 1, '$m' || n, 'contact', '@a:x', 'text', 'message ' || n || '.', $1::timestamptz - interval '1 day' - n * interval '1 minute', 'archive', 'x', 'Because.' from generate_series(1, 250) n`, r.now)
	seen := map[string]int{}
	path := "/chats/1"
	for pages := 0; path != ""; pages++ {
		require.Less(t, pages, 4)
		page := r.get(path)
		for _, m := range regexp.MustCompile(`message \d+\.`).FindAllString(page, -1) {
			seen[m]++
		}
		path = ""
		if next := regexp.MustCompile(`\?before=\d+`).FindString(page); next != "" {
			path = "/chats/1" + next
		}
	}
	require.Len(t, seen, 250)
	for m, n := range seen {
		require.Equal(t, 1, n, m)
	}
}

func TestDocuments_ShowsPassages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/documents"), "No documents yet")
	r.fill("prices")
	list := r.get("/documents")
	require.Contains(t, list, "1 public (I quote them to customers), 0 only for you.")
	require.Contains(t, list, `<a href="/documents/1" dir="auto">prices.md</a>`)
	require.Contains(t, r.get("/documents/1"), "A consultation costs 80 EUR.")
	require.Equal(t, http.StatusNotFound, r.do(http.MethodGet, "/documents/2", "", as(r.session(owner))).Code)
}

func TestDocument_SaysWhatIsNotSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("prices")
	require.NotContains(t, r.get("/documents/1"), "What I can’t see")
	require.NotContains(t, r.get("/documents"), "not all of it was read")
	_, err := knowledge.New(r.st).Index(t.Context(), knowledge.File{
		Name: "hours.html", Role: policy.RolePublic,
		Data: []byte(`<html><body><p>We open at nine.</p><p style="display:none">Closed in secret.</p></body></html>`),
	})
	require.NoError(t, err)
	require.Contains(t, r.get("/documents"), "not all of it was read")
	page := r.get("/documents/2")
	require.Contains(t, page, "What I can’t see")
	require.Contains(t, page, "1 line of it cannot be seen, so I left it out: “Closed in secret.”.")
	require.NotContains(t, page[strings.Index(page, "passages-h"):], "Closed in secret")
}

func TestPreview_ShowsAnswerWithItsSource(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("prices")
	token := r.session(owner)
	ask := func(form string) string {
		w := r.do(http.MethodPost, "/preview", form, as(token))
		require.Equal(t, http.StatusOK, w.Code)
		requireSafeHeaders(t, w.Header())
		return w.Body.String()
	}
	passage, err := strconv.ParseInt(regexp.MustCompile(`id="p-(\d+)"`).FindStringSubmatch(r.get("/documents/1"))[1], 10, 64)
	require.NoError(t, err)
	r.previewed = web.Preview{
		Text: "It costs 80 EUR.",
		Why:  "Cited.",
		Citations: []store.Citation{{
			Ref:    store.Ref{Kind: store.RefChunk, ID: passage},
			Source: "[prices.md]",
			Quote:  "A consultation costs 80 EUR.",
		}},
	}
	page := ask("q=+What+does+it+cost%3F%00+")
	for _, want := range []string{
		"A customer would get this answer", "It costs 80 EUR.", "Cited.", "<mark>A consultation costs 80 EUR.</mark>", "The answer, not sent",
		fmt.Sprintf(`<a href="/documents/1#p-%d">prices.md</a>`, passage), `required>What does it cost?</textarea>`,
	} {
		require.Contains(t, page, want)
	}
	require.Equal(t, []string{`preview "What does it cost?"`}, r.told)

	r.previewed = web.Preview{Text: hostile, Why: hostile, Escalates: true, Citations: []store.Citation{{Source: hostile, Quote: hostile}}}
	page = ask("q=" + url.QueryEscape(hostile[:1000]))
	require.Contains(t, page, "A person would answer")
	require.Contains(t, page, "The customer would read, not sent")
	require.NotContains(t, scriptTag.ReplaceAllString(page, ""), "<script")
	require.NotRegexp(t, `[\x{202a}-\x{202e}\x{2066}-\x{2069}]|<img`, page)
	r.previewed = web.Preview{Why: "It is thanks."}
	page = ask("q=Thanks")
	require.Contains(t, page, "A customer would get no answer")
	require.Contains(t, page, "No document of yours is quoted.")

	r.refused = "Nothing answers customers here."
	w := r.do(http.MethodPost, "/preview", "q=My+words", as(token))
	require.Contains(t, w.Body.String(), r.refused)
	require.Contains(t, w.Body.String(), "My words")
	asked := len(r.told)
	require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/preview", "q=+", as(token)).Code)
	require.Len(t, r.told, asked)
	require.Less(t, len(r.get("/preview")), 10_000)
}

func TestNumbers_CountByDay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	page := r.get("/numbers")
	for _, want := range []string{
		"<dt>answered alone</dt><dd>1</dd><dd>before: 0</dd>", "<dt>escalated</dt><dd>1</dd>", "Thu 26 Nov 0, Fri 27 Nov 1",
		`aria-current="page">7 days`,
		"<h3>Why I escalated <span class=\"net\">1</span></h3>",
	} {
		require.Contains(t, page, want)
	}
	require.Contains(t, r.get("/numbers?days=30"), "<h1>Numbers of the last 30 days</h1>")
	require.Contains(t, r.get("/numbers?days=-5"), "<h1>Numbers of the last 7 days</h1>")
}

// TestPages_HostileTextIsInert has markup, direction marks and names of 10 kB in every text of others.
func TestPages_HostileTextIsInert(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(hostile)
	r.know(hostile)
	r.report.Sections = append(r.report.Sections, hostileSection())
	tag := regexp.MustCompile(`(?i)<(script|img|iframe|object|base|form action="?http)|\son[a-z]+\s*=\s*["'a-z]*[^<]*>|style=|javascript:`)
	for _, path := range append([]string{"/chats?q=" + "%3Cscript%3E%E2%80%AE"}, pages...) {
		page := r.get(path)
		require.NotRegexp(t, `[\x{202a}-\x{202e}\x{2066}-\x{2069}\x{200e}\x{200f}\x{061c}]`, page, path)
		page = scriptTag.ReplaceAllString(page, "")
		outside := regexp.MustCompile(`>[^<]*<`).ReplaceAllString(page, "><") // the tags without their texts
		require.NotRegexp(t, tag, outside, path)
		require.NotContains(t, page, "<script", path)
		require.NotContains(t, page, "<img", path)
	}
	require.Less(t, len(r.get("/chats")), 10_000, "a name is clipped in a list")
	require.Contains(t, r.get("/chats/1"), strings.Repeat("x", 10_000), "and whole on its page")
}

// scriptTag is the only script of a page.
var scriptTag = regexp.MustCompile(`<script src="/page\.js\?(?:[0-9a-f]{16}|\{\{\.Script\}\})" defer></script>`)

// TestPages_ChangeNothing compares the whole database before and after each page.
func TestPages_ChangeNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.know("Ana")
	token := r.session(owner)
	rows := func() (sums []string) {
		require.NoError(t, r.st.Snapshot(t.Context(), func(snapshot store.Snapshot) error {
			tables, err := snapshot.Tables(t.Context())
			for _, table := range tables {
				contents, err := snapshot.Copy(t.Context(), table, true, io.Discard)
				if err != nil {
					return err
				}
				sums = append(sums, table.String()+" "+contents.SHA256)
			}
			return err
		}))
		return sums
	}
	before := rows()
	require.Greater(t, len(before), 50)
	for _, path := range append(pages, "/sign-in", "/sign-in/"+strings.Repeat("a", 64)) {
		r.do(http.MethodGet, path, "", as(token))
		r.do(http.MethodHead, path, "", as(token))
	}
	require.Equal(t, before, rows())
}

func TestPages_HaveSafeHeadersAndValidParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.know("Ana")
	for _, path := range pages {
		w := r.do(http.MethodGet, path, "", as(r.session(owner)))
		require.Equal(t, http.StatusOK, w.Code, path)
		requireSafeHeaders(t, w.Header())
		page := w.Body.String()
		require.Equal(t, 1, strings.Count(page, "<h1"), path)
		require.Equal(t, 1, strings.Count(page, "<main"), path)
		ids := map[string]bool{}
		for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			require.False(t, ids[id[1]], "%s: %s is there twice", path, id[1])
			ids[id[1]] = true
		}
		for _, name := range regexp.MustCompile(` (?:aria-labelledby|for|popovertarget)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			for one := range strings.FieldsSeq(name[1]) {
				require.True(t, ids[one], "%s: there is no %s", path, one)
			}
		}
	}
}

// TestPages_AreSmallAndFast has 300 chats with 60 messages each in 90 days. With MULTIS_TEST_MESSAGES it has that many messages
// in all, and measures how long each page takes: nothing else should run beside it then.
func TestPages_AreSmallAndFast(t *testing.T) {
	t.Parallel()
	const chats = 300
	messages, isMeasured := 60*chats, false
	if n, err := strconv.Atoi(os.Getenv("MULTIS_TEST_MESSAGES")); err == nil {
		messages = n
		isMeasured = true
	}
	r := newRig(t)
	r.fill("Ana")
	r.know("Ana")
	r.exec(`insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot, last_message_at)
		select 'whatsapp', 'c' || n, '', 'dm', 'Contact with a name ' || n, '@bot:x', $1::timestamptz - n * interval '1 minute' from generate_series(1, $2::int) n`, r.now, chats)
	r.exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason)
		select c.id, '$' || c.id || 'x' || n, 'contact', '@a:x', 'text', 'Hello, how much does the winter service cost for an e-bike? ' || n, $1::timestamptz - n * interval '90 days' / $2::int, 'archive', 'x', 'Because.'
		from chats c, generate_series(1, $2::int) n`, r.now, messages/chats)
	r.exec("analyze")
	token := r.session(owner)
	slowest := time.Duration(0)
	for _, path := range pages {
		page := r.get(path)
		limit := 50_000
		if path == "/chats" || strings.HasPrefix(path, "/chats/") {
			limit = 100_000
		}
		require.Less(t, len(page), limit, path)
		queries := regexp.MustCompile(`(\d+) queries`).FindStringSubmatch(page)
		require.NotNil(t, queries, path)
		require.LessOrEqual(t, len(queries[1]), 1, "%s: %s queries", path, queries[1])
		if !isMeasured {
			continue
		}
		took := make([]time.Duration, 20)
		for i := range took {
			begin := time.Now()
			r.do(http.MethodGet, path, "", as(token))
			took[i] = time.Since(begin)
		}
		slices.Sort(took)
		p95 := took[len(took)*95/100]
		t.Logf("%s: %d bytes, at best %s, %s at the median, %s at the 95th percentile", path, len(page), took[0], took[len(took)/2], p95)
		slowest = max(slowest, p95)
	}
	require.Less(t, slowest, 100*time.Millisecond)
	require.Contains(t, r.get("/chats"), "Older chats")
}

// TestTemplates_HaveNoScriptOrStyle reads the sources of the pages.
func TestTemplates_HaveNoScriptOrStyle(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("pages")
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile("pages/" + f.Name())
		require.NoError(t, err)
		if strings.HasSuffix(f.Name(), ".css") {
			require.Less(t, len(data), 26_000, "the style sheet is small")
			require.NotRegexp(t, `@import|url\(`, string(data))
			continue
		}
		if strings.HasSuffix(f.Name(), ".js") {
			require.Less(t, len(data), 4096, "the script is small")
			require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacent|eval|Function|https?://|document\.write|import`, string(data))
			continue
		}
		data = scriptTag.ReplaceAll(data, nil)
		require.NotRegexp(t, `(?i)<script|<style|style=|\son[a-z]+=|javascript:|https?://`, string(data), f.Name())
		require.NotContains(t, string(data), "{{/*")
	}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, f := range sources {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NotRegexp(t, `template\.(HTML|JS|CSS|URL|HTMLAttr|Srcset)\b`, string(data), f)
	}
}
