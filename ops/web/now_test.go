package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
		"<h1>2 waiting for you</h1>", "waits since 13:22", `action="/drafts/` + draft + `"`,
		`<blockquote class="said nora" dir="auto"><p>Ana</p></blockquote>`,
	} {
		require.Contains(t, page, want)
	}
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
		require.Equal(t, "/?done="+draft, w.Header().Get("Location"), body)
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
	require.Contains(t, r.get("/?done="+draft), "The draft was not sent: The chat has moved on.")

	w = r.do(http.MethodPost, "/drafts/"+draft, "do=change&text=My+words")
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Contains(t, w.Body.String(), "My words</textarea>", "also without a session")
}
