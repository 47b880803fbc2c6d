package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/policy"
)

// draft is the draft that fill makes.
const draft = "00000000-0000-0000-0000-000000000002"

func TestNow_ShowsWhatWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/"), "Nothing waits for you")
	r.fill("Ana")
	page := r.get("/")
	for _, want := range []string{
		"<h1>4 waiting for you</h1>", "waits since 13:22", `action="/approvals/1"`, `action="/escalations/1/replies"`,
		"Task 1 of Ana wants to use <code>fetch_url</code>", `<dt>url</dt><dd dir="ltr">Ana</dd>`, "Send suggestion 1",
		`action="/drafts/` + draft + `"`,
		`action="/questions/5"`, "<p>Save this answer? Ana</p>", `name="do" value="public" type="submit">Save for customers`,
		`<blockquote class="said nora" dir="auto"><p>Ana</p></blockquote>`,
	} {
		require.Contains(t, page, want)
	}
}

// TestNow_ShowsSourceInItsPassage has a draft and a suggestion that quote a long passage, and one that is gone.
func TestNow_ShowsSourceInItsPassage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	const quote = "A cargo bike costs 45 euro a day."
	before, after := "The shop. "+strings.Repeat("We look after bikes. ", 15), strings.Repeat(" Bring it back by six.", 15)+" The end."
	_, err := knowledge.New(r.st).Index(t.Context(), knowledge.File{
		Name: "rental.md", Data: []byte("# Rental\n\n" + before + quote + after + "\n"), Role: policy.RolePublic,
	})
	require.NoError(t, err)
	passage := regexp.MustCompile(`id="p-(\d+)"`).FindStringSubmatch(r.get("/documents/2"))[1]
	r.exec(`update outbox set citations = jsonb_build_array(
			jsonb_build_object('ref', jsonb_build_object('kind', 'chunk', 'id', $3::int), 'source', '[rental.md › Rental]', 'quote', $2::text),
			jsonb_build_object('ref', jsonb_build_object('kind', 'chunk', 'id', 99), 'source', '[old.md]', 'quote', 'It was cheaper.')
		) where id = $1`, draft, quote, passage)
	r.exec(`update escalations set proposals = (select jsonb_build_array(jsonb_build_object('text', '45 euro.', 'citations', citations)) from outbox where id = $1)`, draft)

	page := r.get("/")
	for _, part := range []string{page[strings.Index(page, `id="escalation-1"`):strings.Index(page, `id="draft-`)], page[strings.Index(page, `id="draft-`):]} {
		require.Regexp(t, `<a href="/documents/\d+#p-\d+">rental.md › Rental</a></span> · public`, part)
		require.Regexp(t, `>…[^<]+We look after bikes\. <mark>`+quote+`</mark> Bring it back by six\.[^<]+…</p>`, part, "what is near it")
		require.Contains(t, part, "<details><summary>The whole passage</summary>")
		require.Contains(t, part, before+"<mark>"+quote+"</mark>"+after+"</p>")
		require.Contains(t, part, `<span dir="auto">old.md</span>`)
		require.Contains(t, part, "<mark>It was cheaper.</mark></p>", "a quote is shown though its passage is gone")
	}
	require.Contains(t, page, `<p dir="auto">45 euro.</p>`, "the words of a suggestion that is no quote")
}

func TestDraft_IsDecidedByItsForm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	token := r.session(owner)
	for body, want := range map[string]string{
		"do=send":                   "@you:example.com send " + draft,
		"do=drop&text=x":            "@you:example.com drop " + draft,
		"do=change&text=+Hi+Ana%21": "@you:example.com change " + draft + " Hi Ana!",
	} {
		r.told = nil
		w := r.do(http.MethodPost, "/drafts/"+draft, body, as(token))
		require.Equal(t, "/?done=draft-"+draft, w.Header().Get("Location"), body)
		require.Equal(t, []string{want}, r.told)
	}
	r.told = nil
	for body, status := range map[string]int{"": 422, "do=": 422, "do=sendall": 422, "do=change&text=+": 422} {
		require.Equal(t, status, r.do(http.MethodPost, "/drafts/"+draft, body, as(token)).Code, body)
	}
	require.Equal(t, http.StatusNotFound, r.do(http.MethodPost, "/drafts/1", "do=send", as(token)).Code)
	require.Empty(t, r.told)
}

func TestDraft_ChangedMeanwhileIsAConflict(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.exec("update outbox set state = 'dropped', reason = 'The chat has moved on.' where id = $1", draft)
	w := r.do(http.MethodPost, "/drafts/"+draft, "do=change&text=%3Cb%3EMy+words", as(r.session(owner)))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "The draft was not sent: The chat has moved on.")
	require.Contains(t, w.Body.String(), "&lt;b&gt;My words</textarea>", "the typed words are kept")
	require.Contains(t, r.get("/?done=draft-"+draft), "The draft was not sent: The chat has moved on.")

	w = r.do(http.MethodPost, "/drafts/"+draft, "do=change&text=My+words")
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Contains(t, w.Body.String(), "My words</textarea>", "also without a session")
}

func TestApproval_IsDecidedByItsForm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	token := r.session(owner)
	for body, want := range map[string]string{
		"version=v&do=yes&pin=+1234+":              `allow=true numbers=[] hour=false why="" pin="1234"`,
		"version=v&do=hour":                        `allow=true numbers=[] hour=true why="" pin=""`,
		"version=v&do=no&why=+Too+much+":           `allow=false numbers=[] hour=false why="Too much" pin=""`,
		"version=v&several=1&do=yes&call=1&call=3": `allow=true numbers=[1 3] hour=false why="" pin=""`,
	} {
		r.told = nil
		w := r.do(http.MethodPost, "/approvals/1", body, as(token))
		require.Equal(t, "/?done=approval-1", w.Header().Get("Location"), body)
		require.Equal(t, []string{"@you:example.com calls 1 version=true " + want}, r.told)
	}
	r.told = nil
	for _, body := range []string{"", "do=", "do=maybe", "version=v&several=1&do=yes", "version=v&several=1&do=yes&call=x"} {
		require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/approvals/1", body, as(token)).Code, body)
	}
	require.Empty(t, r.told)

	r.refused = "It has changed <b>since</b>."
	w := r.do(http.MethodPost, "/approvals/1", "version=v&do=no&why=My+words&pin=1234", as(token))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "It has changed &lt;b&gt;since&lt;/b&gt;.")
	require.Contains(t, w.Body.String(), "My words</textarea>", "the typed words are kept")
	require.NotContains(t, w.Body.String(), "1234", "but not the PIN")
}

func TestApproval_ShowsSeveralCallsAndTheirResult(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.exec(`insert into approvals (task_id, call_id, tool, arguments, expires_at, card, tier)
		values (1, 'c2', 'fetch_url', '{"url": "b  c", "url": 2}', $1::timestamptz + interval '1 h', 1, 'pin')`, r.now)
	page := r.get("/")
	for _, want := range []string{
		"<h1>4 waiting for you</h1>", "2 times", `name="call" value="2" checked`, `<dd dir="ltr">b \x20c</dd>`, `<dd dir="ltr">2</dd>`,
		"Approve the marked", "Decline all",
	} {
		require.Contains(t, page, want)
	}
	r.exec("update approvals set allowed = (id = 1), how = 'text', decided_at = now()")
	require.Contains(t, r.get("/?done=approval-1"), "Approved: fetch_url, 1 of 2.")
	require.NotContains(t, r.get("/"), "Approvals <span")
	r.exec("update approvals set allowed = false")
	require.Contains(t, r.get("/?done=approval-1"), "Declined: fetch_url.")
}

func TestQuestion_IsAnsweredByItsForms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	token := r.session(owner)
	for body, want := range map[string]string{
		"version=v&do=public":                "public \"\"",
		"version=v&do=yes&text=x":            "yes \"\"",
		"version=v&do=words&text=+By+bike.+": "words \"By bike.\"",
	} {
		r.told = nil
		w := r.do(http.MethodPost, "/questions/5", body, as(token))
		require.Equal(t, "/?done=question-5", w.Header().Get("Location"), body)
		require.Equal(t, []string{"@you:example.com question 5 version=true " + want}, r.told)
	}
	r.told = nil
	for _, body := range []string{"", "version=v&do=", "version=v&do=words&text=+"} {
		require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/questions/5", body, as(token)).Code, body)
	}
	require.Empty(t, r.told)
	r.refused = "It has changed."
	w := r.do(http.MethodPost, "/questions/5", "version=v&do=words&text=My+words", as(token))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "My words</textarea>", "the typed words are kept")
}

func TestEscalation_IsAnsweredByItsForms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	token := r.session(owner)
	for _, c := range []struct{ path, body, want string }{
		{"", "version=v&suggestion=2", `suggest 2 ""`},
		{"", "version=v&do=claim", `claim 0 ""`},
		{"", "version=v&do=resolve&text=x", `resolve 0 ""`},
		{"", "version=v&do=pause", `pause 0 ""`},
		{"/replies", "version=v&text=+Hi+Ana%21", `reply 0 "Hi Ana!"`},
	} {
		r.told = nil
		w := r.do(http.MethodPost, "/escalations/1"+c.path, c.body, as(token))
		require.Equal(t, "/?done=escalation-1", w.Header().Get("Location"), c.body)
		require.Equal(t, []string{"@you:example.com escalation 1 version=true " + c.want}, r.told)
	}
	r.told = nil
	for _, c := range [][2]string{{"", ""}, {"", "do=reply&text=x"}, {"", "do=suggest"}, {"", "suggestion=-1"}, {"/replies", "text=+"}} {
		require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/escalations/1"+c[0], c[1], as(token)).Code, c)
	}
	require.Empty(t, r.told)
	r.refused = "It has changed."
	w := r.do(http.MethodPost, "/escalations/1/replies", "version=v&text=My+words", as(token))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "My words</textarea>", "the typed words are kept")
}

func TestEscalation_ShowsWhatWasSaidAndItsResult(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason) values
		(1, '$9', 'contact', '@whatsapp_1:x', 'text', 'Are you there?', $1, $1, 'archive', 'x', 'x')`, r.now)
	page := r.get("/")
	require.Contains(t, page, "Are you there?")
	first := r.version("/escalations/1")
	require.NotEmpty(t, first)
	require.Equal(t, first, r.version("/escalations/1"))
	r.exec("update escalations set claimed_by = '@eva:example.com'")
	require.NotEqual(t, first, r.version("/escalations/1"), "it has changed")
	require.Contains(t, r.get("/?done=escalation-1"), "The escalation is claimed by eva.")
	require.NotContains(t, r.get("/"), `value="claim"`)
	r.exec("update escalations set answered_at = now()")
	require.Contains(t, r.get("/?done=escalation-1"), "The escalation is answered.")
	r.exec("update escalations set closed_at = now()")
	require.Contains(t, r.get("/?done=escalation-1"), "The escalation is resolved.")
	for _, done := range []string{"escalation-7", "approval-0", "approval-x", "draft-1", "draft", "", "x-1"} {
		require.NotContains(t, r.get("/?done="+done), `class="flash"`, done)
	}
}

// version is the version in the first form of the first page that is sent to a path.
func (r *rig) version(action string) string {
	r.t.Helper()
	found := regexp.MustCompile(`action="` + action +
		`">\s*<input type="hidden" name="version" value="([0-9a-f]+)"`).FindStringSubmatch(r.get("/"))
	require.NotNil(r.t, found)
	return found[1]
}
