package web_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
)

// know gives the chat that fill makes two notes, one of which was changed. Their texts are text.
func (r *rig) know(text string) {
	r.t.Helper()
	r.notes = []store.Note{
		{Role: policy.UserRole(1), ChatID: 1, Kind: store.NoteFact, Body: text},
		{Role: policy.UserRole(1), ChatID: 1, Kind: store.NotePreference, Body: text},
	}
	require.NoError(r.t, r.st.AsOwner(r.t.Context(), policy.ContactScope(1), func(tx store.Tx) (err error) {
		for i := range r.notes {
			n := &r.notes[i]
			n.Was, n.ValidFrom = text, r.now
			n.Sources = []store.MessageID{store.MessageID(i + 1)}
			if n.ID, err = store.InsertNote(r.t.Context(), tx, *n); err != nil {
				return err
			}
		}
		return nil
	}))
	r.former = map[store.NoteID]store.Note{1: {Body: text}}
	r.found.Documents = []web.Passage{{Source: text, Path: "/documents/1#p-1", Before: text, Match: text, After: text}}
	r.found.Memory = []web.Passage{
		{Source: text, Path: "/chats/1#m-1", Match: text, Private: true},
		{Source: text, Match: text, Private: true},
	}
}

func TestSearch_ShowsWhatIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/search"), "You search your documents, your notes, and all chats that are not off.")
	require.Contains(t, r.get("/search?q=zzz"), "Nothing found")
	r.fill("Ana")
	r.know("Ana")
	page := r.get("/search?q=%22%3Edeposit")
	for _, want := range []string{
		`value="&#34;&gt;deposit"`, `<a href="/documents/1#p-1">Ana</a>`, "Ana<mark>Ana</mark>Ana", `<a href="/chats/1#m-1">Ana</a>`,
		`Documents <span class="num">1</span>`, `Chats and notes <span class="num">2</span>`,
	} {
		require.Contains(t, page, want)
	}
	require.Equal(t, 1, strings.Count(page, `<span class="tag public">public</span>`))
}

func TestMemory_ShowsNotesWithSources(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	require.Contains(t, r.get("/chats/1/memory"), "No notes yet")
	r.know("Ana")
	page := r.get("/chats/1/memory")
	for _, want := range []string{
		`Notes <span class="num">2</span>`, `action="/notes/1/undo"`, `action="/notes/2"`, `href="/notes/1/forget"`, "changed, before: “Ana”",
		`<a href="/chats/1#m-1" dir="auto">Ana</a>`, "Thank you!", `<input type="hidden" name="chat" value="1">`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, `action="/notes/2/undo"`)
	require.Equal(t, http.StatusNotFound, r.do(http.MethodGet, "/memory", "", as(r.session(owner))).Code, "there is no admin room")
	r.exec("insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot) values ('', 'admin', '', 'admin', 'Admin', '')")
	require.Contains(t, r.get("/memory"), "<h1>Your own notes</h1>")
	require.NotContains(t, r.get("/memory"), `name="chat"`)
	for _, path := range []string{"/chats/2/memory", "/chats/99/memory", "/chats/x/memory", "/notes/99/forget", "/notes/x/forget"} {
		require.Equal(t, http.StatusNotFound, r.do(http.MethodGet, path, "", as(r.session(owner))).Code, path)
	}
}

func TestNote_IsChangedByItsForms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	r.know("Ana")
	token := r.session(owner)
	rows, err := r.st.FindNote(t.Context(), 1)
	require.NoError(t, err)
	asked := r.get("/notes/1/forget")
	require.Contains(t, asked, "1 message that it comes from")
	require.Contains(t, asked, `name="version" value="`+web.DeletionVersion(rows)+`"`)
	for _, c := range []struct{ path, body, want, next string }{
		{"/notes/1", "chat=1&text=+Two+seats+", `change note 1 "Two seats"`, "/chats/1/memory"},
		{"/notes/1", "text=x", `change note 1 "x"`, "/memory"},
		{"/notes/1/undo", "chat=1", "undo note 1", "/chats/1/memory"},
		{"/notes/1/forget", "chat=1&version=v", "forget note 1 v", "/chats/1/memory"},
		{"/notes/1/undo", "chat=//evil.example", "undo note 1", "/memory"},
	} {
		r.told = nil
		w := r.do(http.MethodPost, c.path, c.body, as(token))
		require.Equal(t, c.next, w.Header().Get("Location"), c.body)
		require.Equal(t, []string{c.want}, r.told)
	}
	r.refused = "That note was changed."
	w := r.do(http.MethodPost, "/notes/1", "chat=1&text=My+words", as(token))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "My words</textarea>")
	require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/notes/1", "text=+", as(token)).Code)
}

func TestMode_IsChangedAfterConfirmation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill("Ana")
	token := r.session(owner)
	require.Contains(t, r.get("/chats/1"), `href="/chats/1/mode?to=silent"`)
	require.NotContains(t, r.get("/chats/1"), `mode?to=business`, "it is business")
	asked := r.get("/chats/1/mode?to=silent")
	for _, want := range []string{
		"Make Ana silent?", "now business", `name="was" value="business"`, `<p dir="auto">I remember.</p>`, ">Make it silent<",
	} {
		require.Contains(t, asked, want)
	}
	require.NotContains(t, asked, `name="pin"`)
	require.Contains(t, r.get("/chats/1/mode?to=off"), `name="pin" type="password"`)
	for _, path := range []string{"/chats/1/mode", "/chats/1/mode?to=x", "/chats/9/mode?to=off", "/chats/x/mode?to=off"} {
		require.Equal(t, http.StatusNotFound, r.do(http.MethodGet, path, "", as(token)).Code, path)
	}
	require.Empty(t, r.told, "a GET changes nothing")

	w := r.do(http.MethodPost, "/chats/1/mode", "was=business&to=off&pin=+1234", as(token))
	require.Equal(t, "/chats/1", w.Header().Get("Location"))
	require.Equal(t, []string{`mode 1 business off "1234"`}, r.told)
	for body, status := range map[string]int{"": 422, "was=business&to=": 422, "was=x&to=off": 422} {
		require.Equal(t, status, r.do(http.MethodPost, "/chats/1/mode", body, as(token)).Code, body)
	}
	require.Equal(t, http.StatusNotFound, r.do(http.MethodPost, "/chats/9/mode", "was=business&to=off", as(token)).Code)
	r.refused = "It has changed."
	require.Equal(t, http.StatusConflict, r.do(http.MethodPost, "/chats/1/mode", "was=silent&to=off", as(token)).Code)
}

// upload sends a form with a file.
func (r *rig) upload(name, data, role string, options ...option) *httptest.ResponseRecorder {
	r.t.Helper()
	body, kind := uploadForm(r.t, name, data, role)
	return r.do(http.MethodPost, "/documents", body, append([]option{with("Content-Type", kind)}, options...)...)
}

// uploadForm returns the form that uploads a document, and its type.
func uploadForm(t *testing.T, name, data, role string) (body, kind string) {
	t.Helper()
	var b strings.Builder
	form := multipart.NewWriter(&b)
	require.NoError(t, form.WriteField("role", role))
	part, err := form.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = io.WriteString(part, data)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	return b.String(), form.FormDataContentType()
}

func TestUpload_AddsDocument(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := as(r.session(owner))
	require.Contains(t, r.get("/documents"), `enctype="multipart/form-data"`)
	w := r.upload("prices.md", strings.Repeat("x", 200_000), "public", token)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "prices.md: ")
	require.Len(t, r.told, 1)
	require.True(t, strings.HasSuffix(r.told[0], `" public`))

	r.told = nil
	for _, role := range []string{"", "everybody", "user:1"} {
		require.Equal(t, http.StatusUnprocessableEntity, r.upload("a.md", "x", role, token).Code, "who may see it has no default")
	}
	require.Equal(t, http.StatusUnprocessableEntity, r.do(http.MethodPost, "/documents", "role=public", token).Code, "there is no file")
	require.Empty(t, r.told)
	r.upload("../../<b>\u202eetc/passwd", "x", "admin", token)
	require.Equal(t, fmt.Sprintf("add %q %q admin", "passwd", "x"), r.told[0])
	r.refused = "It is empty."
	w = r.upload("<b>.md", "x", "admin", token)
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, w.Body.String(), "&lt;b&gt;.md: It is empty.")
}

func TestUpload_IsRefusedWithoutSessionAndElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	big := strings.Repeat("x", 300_000)
	require.Equal(t, http.StatusUnauthorized, r.upload("a.md", big, "public").Code)
	token := as(r.session(owner))
	w := r.upload("a.md", "x", "public", token, with("Sec-Fetch-Site", "cross-site"), with("Origin", "https://evil.example"))
	require.Equal(t, http.StatusForbidden, w.Code)
	w = r.do(http.MethodPost, "/sessions/end", "--b\r\n\r\n--b--", token, with("Content-Type", "multipart/form-data; boundary=b"))
	require.Equal(t, http.StatusUnsupportedMediaType, w.Code, "only the form with a file has that type")
	w = r.upload("a.md", strings.Repeat("x", knowledge.MaxSize+100_000), "public", token)
	require.Equal(t, http.StatusUnprocessableEntity, w.Code, "it is too big")
	require.Empty(t, r.told)
}
