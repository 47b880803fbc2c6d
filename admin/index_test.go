package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// runIndexing runs the index jobs and returns what was sent.
func (r *rig) runIndexing() []sentEvent {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx, "delete from river.river_job where kind = 'index' returning args")
	require.NoError(r.t, err)
	var all []jobs.IndexArgs
	for rows.Next() {
		var raw []byte
		require.NoError(r.t, rows.Scan(&raw))
		var args jobs.IndexArgs
		require.NoError(r.t, json.Unmarshal(raw, &args))
		all = append(all, args)
	}
	require.NoError(r.t, rows.Err())
	for _, args := range all {
		require.NoError(r.t, r.admin.Documents.Index(r.ctx, args, false))
	}
	return r.sendQueued()
}

// What is said to a public document.
const repliedBack = "\nShared by mistake? Reply `/index admin` to the file to make it private."

func makePrivateText(where string) string {
	return "\nShared by mistake? `/index " + where + " admin` makes it private."
}

const asksRole = "📄 **prices.md** — who may see it? **1** public (customers get answers from it) · **2** only you · **3** skip. Reply with a number. Open until 18:15."

func TestIndex_RefusesTypeFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "⚠️ I cannot read **prices.xlsx**: I read PDF, Word (.docx), HTML, Markdown, CSV and plain text.",
		bodies(r.sendFile("prices.xlsx", "PK", "")))
	require.NoError(t, os.WriteFile(filepath.Join(r.documents, "photo.JPG"), []byte("x"), 0o600))
	require.Contains(t, r.asOwner("/index photo.JPG"), "I cannot read **photo.JPG**")
	require.Contains(t, bodies(r.sendFile("nginx.conf", "listen 80;", "")), "who may see it?", "any text may be read")
}

func TestIndex_AsksForAudience(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer, says, outcome string
		role                        policy.Role
	}{
		{"public by number", "1", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, public." + repliedBack, policy.RolePublic},
		{"public by word", "kb", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, public." + repliedBack, policy.RolePublic},
		{"only the owner", "2", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, only you.", policy.RoleAdmin},
		{"skipped", "3", "**prices.md** is not indexed.", "", ""},
		{"skipped by word", "skip", "**prices.md** is not indexed.", "", ""},
		{"neither", "4", "1 to 3, please: public, only you, or skip.", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			require.Equal(t, asksRole, bodies(r.sendFile("prices.md", prices, "")))
			require.Empty(t, r.runIndexing(), "without an answer nothing is indexed")
			r.restart()
			require.Equal(t, test.says, r.asOwner(test.answer))
			require.Equal(t, test.outcome, bodies(r.runIndexing()))
			require.Equal(t, min(1, len(test.role)), r.count("select count(*) from documents"))
			require.Equal(t, min(1, len(test.role)), r.count("select count(*) from documents where role = $1", test.role))
		})
	}
}

func TestIndex_ReactionSetsAudience(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	asked := r.sendFile("prices.md", prices, "")
	file := r.events
	require.Equal(t, "[👀]", r.react(asked[0].Event, "2️⃣"))
	done := r.runIndexing()
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, only you.", bodies(done))
	require.EqualValues(t, "$in"+formatInt(int64(file)), done[0].ReactedTo, "the mark is on the file")
}

func TestIndex_NamesFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "[👀]", bodies(r.sendFile("prices.md", prices, "/index public")))
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, public."+repliedBack, bodies(r.runIndexing()))
	require.Equal(t, "[👀]", bodies(r.sendFile("prices.md", prices, "public")), "the caption alone says enough")
	require.Equal(t, "[✅]\n📄 **prices.md** — unchanged: 2 passages, public."+repliedBack, bodies(r.runIndexing()))
	require.Equal(t, asksRole, bodies(r.sendFile("prices.md", prices, "/index")))
	require.Equal(t, "[👀]", r.asOwner("/index admin"), "a bare command means the last file")
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, only you.", bodies(r.runIndexing()))
	require.Equal(t, 1, r.count("select count(*) from documents"), "it moved")

	r.sendFile("other.md", "# Other\n\nThings.\n", "")
	replied := r.handle(store.Message{Body: "/index public", RelatesTo: "$in3"})
	require.Equal(t, "[👀]", bodies(replied))
	require.Contains(t, bodies(r.runIndexing()), "**prices.md** — done", "a reply means the file it replies to")

	r.now = r.now.Add(48 * time.Hour)
	r.exec("update messages set received_at = received_at - interval '1 year'")
	require.Equal(t, "Send me a file here, or name one in the documents folder, or a page: `/index prices.pdf public`.", r.asOwner("/index"))
}

func TestIndex_StaysInDocumentsFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	write := func(name, data string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(r.documents, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(r.documents, name), []byte(data), 0o600))
	}
	write("my prices.md", prices)
	write("sub/terms.txt", "Terms apply.")
	outside := filepath.Join(filepath.Dir(r.documents), "passwords.txt")
	require.NoError(t, os.WriteFile(outside, []byte("hunter2"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(r.documents, "link.txt")))

	require.Equal(t, "[👀]", r.asOwner("/index my prices.md public"))
	require.Equal(t, "📄 **my prices.md** — done: 2 passages, public."+makePrivateText("my prices.md"), bodies(r.runIndexing()))
	require.Contains(t, r.asOwner("/index sub/terms.txt"), "📄 **terms.txt** — who may see it?")
	require.Equal(t, "[👀]", r.asOwner("admin"))
	require.Equal(t, "📄 **terms.txt** — done: 1 passage, only you.", bodies(r.runIndexing()))

	there := " There: `my prices.md`, `sub/`."
	require.Equal(t, "Send me a file here, or name one in the documents folder, or a page: `/index prices.pdf public`."+there,
		r.asOwner("/index public"))
	require.Equal(t, "⚠️ `nothing.md`: there is no such file in the documents folder."+there, r.asOwner("/index nothing.md public"))
	require.Equal(t, "⚠️ `*.pdf`: there is nothing there that I read."+there, r.asOwner("/index *.pdf public"))
	require.Equal(t, "Public, or only you? `/index public` or `/index admin`.", r.asOwner("/index public admin"))
	write("nothing.txt", "")
	require.Equal(t, "⚠️ **nothing.txt** is empty.", r.asOwner("/index nothing.txt"))
	require.NoError(t, os.Remove(filepath.Join(r.documents, "nothing.txt")))
	for _, path := range []string{"../passwords.txt", outside, "link.txt", "sub/../../passwords.txt"} {
		require.Contains(t, r.asOwner("/index "+path+" public"), "it lies outside the documents folder", path)
	}
	require.Zero(t, r.count("select count(*) from river.river_job where kind = 'index'"))

	require.NoError(t, r.admin.Documents.Index(r.ctx, jobs.IndexArgs{Path: "link.txt", Role: policy.RolePublic, ChatID: r.room.ID}, false))
	require.Equal(t, "⚠️ **link.txt** is not indexed: it lies outside the documents folder.", bodies(r.sendQueued()),
		"the job looks for itself")
	require.Zero(t, r.count("select count(*) from chunk_index where tsv @@ 'hunter2'"))

	r.documents = ""
	r.restart()
	require.Equal(t, "⚠️ `a.md`: there is no documents folder.", r.asOwner("/index a.md public"))
}

// putFile writes a file into the documents folder.
func (r *rig) putFile(name, data string) {
	r.t.Helper()
	full := filepath.Join(r.documents, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o700))
	require.NoError(r.t, os.WriteFile(full, []byte(data), 0o600))
}

func TestIndex_FolderAndPattern(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/prices.md", prices)
	r.putFile("shop/old/terms.txt", "Terms apply.")
	r.putFile("shop/logo.png", "no text")
	r.putFile("shop/.git/config.txt", "hidden")
	r.putFile("other.md", "# Other\n\nThings.\n")
	require.NoError(t, os.Symlink(".", filepath.Join(r.documents, "shop", "round")))

	require.Equal(t,
		"📄 `shop` (2 files) — who may see it? **1** public (customers get answers from it) · **2** only you · **3** skip. Reply with a number. Open until 18:15.", r.asOwner("/index shop"))
	require.Equal(t, "[👀]", r.asOwner("1"))
	require.Equal(t, "📄 `shop` — done: 2 documents, 3 passages, public."+makePrivateText("shop"), bodies(r.runIndexing()))

	r.putFile("shop/broken.docx", "PK\x03\x04")
	require.Equal(t, "[👀]", r.asOwner("/index shop/** public"))
	require.Equal(t, text("📄 `shop/**` — done: 2 documents, 3 passages, public. 2 were unchanged.",
		"⚠️ **broken.docx** is not indexed: it is broken or cut off: open it, save it again and send that.")+makePrivateText("shop/**"),
		bodies(r.runIndexing()))
	require.Equal(t, "[👀]", r.asOwner("/index *.md admin"))
	require.Equal(t, "📄 **other.md** — done: 1 passage, only you.", bodies(r.runIndexing()), "a pattern that means one file")
}

func TestIndex_FetchesPage(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/prices" {
			http.NotFound(w, q)
			return
		}
		asked++
		w.Header().Set("Content-Type", "text/markdown")
		w.Header().Set("ETag", `"1"`)
		if q.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, prices)
	}))
	t.Cleanup(server.Close)
	r := newRig(t)
	r.fetch = fetch.New(fetch.Options{AllowPrivate: true})
	r.restart()
	require.Contains(t, r.asOwner("/index "+server.URL+"/prices"), "📄 **127.0.0.1/prices** — who may see it?")
	require.Equal(t, "[👀]", r.asOwner("1"))
	require.Equal(t, "📄 **127.0.0.1/prices** — done: 2 passages, public."+makePrivateText(server.URL+"/prices"), bodies(r.runIndexing()))
	require.Equal(t, "[👀]", r.asOwner("/index "+server.URL+"/prices public"))
	require.Equal(t, "📄 **127.0.0.1/prices** — unchanged: 2 passages, public."+makePrivateText(server.URL+"/prices"), bodies(r.runIndexing()))
	require.Equal(t, 2, asked)
	require.Equal(t, "[👀]", r.asOwner("/index "+server.URL+"/prices admin"))
	require.Equal(t, "📄 **127.0.0.1/prices** — done: 2 passages, only you.", bodies(r.runIndexing()), "another role needs the whole page")
	require.Equal(t, "[👀]", r.asOwner("/index "+server.URL+"/nothing admin"))
	require.Equal(t, "⚠️ **127.0.0.1/nothing** is not indexed: the server says 404 Not Found.", bodies(r.runIndexing()))

	r.fetch = nil
	r.restart()
	require.Equal(t, "[👀]", r.asOwner("/index "+server.URL+"/prices public"))
	require.Equal(t, "⚠️ **127.0.0.1/prices** is not indexed: it leads to this machine or into a private network, where I read nothing.",
		bodies(r.runIndexing()))
	require.Equal(t, 1, r.count("select count(*) from documents where role = 'admin'"), "what was there stays")
}

func TestDocs_NamesStaleAndRemoves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("prices.md", prices)
	r.putFile("shop/terms.txt", "Terms apply.")
	r.putFile("shop/prices.md", prices)
	r.asOwner("/index ** public")
	r.runIndexing()
	r.exec("update documents set indexed_at = $1", r.now.Add(-time.Hour))
	for _, name := range []string{"prices.md", "shop/prices.md", "shop/terms.txt"} {
		full := filepath.Join(r.documents, name)
		require.NoError(t, os.Chtimes(full, time.Time{}, r.now.Add(-2*time.Hour)))
	}
	require.NotContains(t, r.asOwner("/docs"), "Outdated")
	require.NoError(t, os.Chtimes(filepath.Join(r.documents, "prices.md"), time.Time{}, r.now.Add(-10*time.Minute)))
	require.NoError(t, os.Remove(filepath.Join(r.documents, "shop/terms.txt")))
	r.exec("insert into documents (origin, name, role, kind, element, size, hash, chunks, indexed_at) values ('https://a.b/c', 'a.b/c', 'public', 'kb', 'html', 3000000, '', 1, $1)", r.now.AddDate(0, 0, -40))
	listed := r.asOwner("/docs")
	require.Contains(t, listed, "**a.b/c** — public, 1 passage, 2.9 MB")
	require.Contains(t, listed, text("**Outdated** (add them again)", "**prices.md** — changed 10 min ago", "**a.b/c** — fetched 11 Oct",
		"**terms.txt** — no longer in the documents folder"))
	require.NotContains(t, r.asOperator("/docs"), "Outdated")

	require.Equal(t, "Customers read “from our price list” below what is quoted from **prices.md**. Undo: `/docs title prices.md \"none\"`",
		r.asOwner("/docs title prices.md \"our price list\""))
	require.Contains(t, r.asOwner("/docs"), "**prices.md** “our price list” — public")
	require.Contains(t, r.asOwner("/docs title prices.md see evil.example/x"), "That is not a title for customers")
	require.Contains(t, r.asOwner("/docs title"), "Name the document and its title")
	require.Contains(t, r.asOperator("/docs title prices.md none"), "Only the owner can use")
	r.asOwner("/docs title prices.md none")
	require.NotContains(t, r.asOwner("/docs"), "our price list")
	require.Equal(t, "🗑 **prices.md** is removed: 2 passages, public.", r.asOwner("/docs remove prices.md"),
		"an exact place comes before a name")
	require.Equal(t, 3, r.count("select count(*) from documents"))
	r.putFile("x/prices.md", prices)
	r.asOwner("/index x public")
	r.runIndexing()
	require.Equal(t, "There are several: `shop/prices.md`, `x/prices.md`. Which one?", r.asOwner("/docs remove prices.md"))
	require.Equal(t, "I know no document called `nothing.md`. `/docs` lists them.", r.asOwner("/docs remove nothing.md"))
	require.Contains(t, r.asOperator("/docs remove x/prices.md"), "Only the owner can use")
	require.Equal(t, 4, r.count("select count(*) from documents"))
}

func TestIndex_ExplainsBadFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, data, says string }{
		{"not text", "a.md", "\xff\xfe\x00", "⚠️ **a.md** is not indexed: I read PDF, Word (.docx), HTML, Markdown, CSV and plain text."},
		{"nothing in it", "a.md", "  \n", "⚠️ **a.md** is not indexed: there is nothing in it."},
		{
			"a picture", "a.txt", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
			"⚠️ **a.txt** is not indexed: I read PDF, Word (.docx), HTML, Markdown, CSV and plain text; this is a .png file.",
		},
		{"broken", "a.docx", "PK\x03\x04", "⚠️ **a.docx** is not indexed: it is broken or cut off: open it, save it again and send that."},
		{"too big", "a.txt", strings.Repeat("x", 10<<20+1), "⚠️ **a.txt** is too big: at most 10 MB."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			got := bodies(r.sendFile(test.file, test.data, "/index public"))
			if got == "[👀]" {
				got = bodies(r.runIndexing())
			}
			require.Equal(t, test.says, got)
			require.Zero(t, r.count("select count(*) from documents"))
		})
	}
}

func TestIndex_FetchFailureIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	file := r.storeCommand(store.Message{
		Kind:       "file",
		Body:       "[file a.md]",
		Attachment: &store.Attachment{URL: "mxc://example.com/gone", Name: "a.md"},
	})
	args := jobs.IndexArgs{MessageID: file, Role: policy.RolePublic, ChatID: r.room.ID}
	require.ErrorContains(t, r.admin.Documents.Index(r.ctx, args, false), "M_NOT_FOUND")
	require.Empty(t, r.sendQueued())
	require.NoError(t, r.admin.Documents.Index(r.ctx, args, true))
	require.Equal(t, "⚠️ **a.md** is not indexed: download the file: M_NOT_FOUND.", bodies(r.sendQueued()))

	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.room.ID, "$in2", r.now)
		return err
	})
	require.NoError(t, r.admin.Documents.Index(r.ctx, args, false))
	require.Equal(t, "⚠️ **The file** is not indexed: the message with it was deleted.", bodies(r.sendQueued()))
}

func TestDocs_NamesBiggest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addDocument("big.txt", strings.Repeat("A sentence about nothing much. ", 400), policy.RolePublic)
	for i := range 11 {
		r.addDocument(fmt.Sprintf("%d.md", i), "# Small\n\nSomething.\n", policy.RoleAdmin)
	}
	r.exec("update documents set indexed_at = $1 where name = 'big.txt'", r.now.AddDate(0, -1, 0))
	listed := r.asOwner("/docs")
	require.Contains(t, listed, "public: 1 document (1 text), 7 passages · only you: 11 documents (11 Markdown), 11 passages")
	require.Contains(t, listed, "and 2 older ones · the biggest is **big.txt** — 7 passages, 12 KB")
	require.NotContains(t, r.asOperator("/docs"), "Markdown", "operators learn nothing of what is only the owner's")
}

func TestIndex_ShowsProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 3 {
		r.putFile(fmt.Sprintf("shop/%d.md", i), prices)
	}
	require.Equal(t, "[👀]", r.asOwner("/index shop admin"))
	r.time = func() time.Time { // each look at the clock takes a second
		r.now = r.now.Add(time.Second)
		return r.now
	}
	before := len(r.homeserver.sent)
	outcome := r.runIndexing()
	shown := r.homeserver.sent[before : len(r.homeserver.sent)-len(outcome)]
	require.NotEmpty(t, shown)
	for i, s := range shown {
		require.Contains(t, s.Body, "`shop` ▸ ")
		require.Contains(t, s.Body, " of 3 ▸ ")
		if i > 0 {
			require.Equal(t, shown[0].Event, s.ReactedTo, "one message, changed")
		}
	}
	require.Equal(t, "* 📄 `shop` — done: 3 documents, 6 passages, only you.", bodies(outcome))
	require.Equal(t, shown[0].Event, outcome[0].ReactedTo, "the outcome takes its place")
	require.Len(t, outcome, 1)
	require.Zero(t, r.count("select count(*) from settings where key like 'indexing:%'"))
}

func TestIndex_ResumesInSameMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("prices.md", prices)
	r.tx(func(tx store.Tx) error {
		return store.PutSetting(r.ctx, tx, store.Setting(fmt.Sprintf("indexing:%d:0:prices.md", r.room.ID)), "$shown-before")
	})
	require.Equal(t, "[👀]", r.asOwner("/index prices.md admin"))
	outcome := r.runIndexing()
	require.Equal(t, "* 📄 **prices.md** — done: 2 passages, only you.", bodies(outcome))
	require.EqualValues(t, "$shown-before", outcome[0].ReactedTo)
}
