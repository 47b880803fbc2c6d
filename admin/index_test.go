package admin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// work carries out the index jobs that were asked for and returns what was sent for them.
func (r *rig) work() []heard {
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
		require.NoError(r.t, r.admin.Index(r.ctx, args, false))
	}
	return r.flush()
}

const asksRole = "📄 **prices.md** — who may see it? **1** public (customers get answers from it) · **2** only you · **3** skip. Reply with a number. Open until 18:15."

func TestAFileAloneAsksWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer, says, outcome string
		role                        policy.Role
	}{
		{"public by number", "1", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, public.", policy.Public},
		{"public by word", "kb", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, public.", policy.Public},
		{"only the owner", "2", "[👀]", "[✅]\n📄 **prices.md** — done: 2 passages, only you.", policy.Admin},
		{"skipped", "3", "**prices.md** is not indexed.", "", ""},
		{"skipped by word", "skip", "**prices.md** is not indexed.", "", ""},
		{"neither", "4", "1 to 3, please: public, only you, or skip.", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			require.Equal(t, asksRole, said(r.sends("prices.md", prices, "")))
			require.Empty(t, r.work(), "without an answer nothing is indexed")
			r.restart()
			require.Equal(t, test.says, r.owner(test.answer))
			require.Equal(t, test.outcome, said(r.work()))
			require.Equal(t, min(1, len(test.role)), r.count("select count(*) from documents"))
			require.Equal(t, min(1, len(test.role)), r.count("select count(*) from documents where role = $1", test.role))
		})
	}
}

func TestAReactionAnswersWhoMaySeeAFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	asked := r.sends("prices.md", prices, "")
	file := r.events
	require.Equal(t, "[👀]", r.reacts(asked[0].Event, "2️⃣"))
	done := r.work()
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, only you.", said(done))
	require.EqualValues(t, "$in"+itoa(int64(file)), done[0].On, "the mark is on the file")
}

func TestIndexNamesTheFileItMeans(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "[👀]", said(r.sends("prices.md", prices, "/index public")))
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, public.", said(r.work()))
	require.Equal(t, "[👀]", said(r.sends("prices.md", prices, "public")), "the caption alone says enough")
	require.Equal(t, "[✅]\n📄 **prices.md** — unchanged: 2 passages, public.", said(r.work()))
	require.Equal(t, asksRole, said(r.sends("prices.md", prices, "/index")))
	require.Equal(t, "[👀]", r.owner("/index admin"), "a bare command means the last file")
	require.Equal(t, "[✅]\n📄 **prices.md** — done: 2 passages, only you.", said(r.work()))
	require.Equal(t, 1, r.count("select count(*) from documents"), "it moved")

	r.sends("other.md", "# Other\n\nThings.\n", "")
	replied := r.do(store.Message{Body: "/index public", RelatesTo: "$in3"})
	require.Equal(t, "[👀]", said(replied))
	require.Contains(t, said(r.work()), "**prices.md** — done", "a reply means the file it replies to")

	r.now = r.now.Add(48 * time.Hour)
	r.exec("update messages set received_at = received_at - interval '1 year'")
	require.Equal(t, "Send me a file here, or name one in the documents folder: `/index prices.md public`.", r.owner("/index"))
}

func TestIndexReadsTheDocumentsFolderAndNothingElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	write := func(name, data string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(r.rules.Documents, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(r.rules.Documents, name), []byte(data), 0o600))
	}
	write("my prices.md", prices)
	write("sub/terms.txt", "Terms apply.")
	outside := filepath.Join(filepath.Dir(r.rules.Documents), "passwords.txt")
	require.NoError(t, os.WriteFile(outside, []byte("hunter2"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(r.rules.Documents, "link.txt")))

	require.Equal(t, "[👀]", r.owner("/index my prices.md public"))
	require.Equal(t, "📄 **my prices.md** — done: 2 passages, public.", said(r.work()))
	require.Contains(t, r.owner("/index sub/terms.txt"), "📄 **terms.txt** — who may see it?")
	require.Equal(t, "[👀]", r.owner("admin"))
	require.Equal(t, "📄 **terms.txt** — done: 1 passage, only you.", said(r.work()))

	there := " There: `my prices.md`."
	require.Equal(t, "Send me a file here, or name one in the documents folder: `/index prices.md public`."+there, r.owner("/index public"))
	require.Equal(t, "⚠️ `nothing.md`: there is no such file in the documents folder."+there, r.owner("/index nothing.md public"))
	require.Equal(t, "⚠️ `sub`: it is not a file."+there, r.owner("/index sub public"))
	for _, path := range []string{"../passwords.txt", outside, "link.txt", "sub/../../passwords.txt"} {
		require.Contains(t, r.owner("/index "+path+" public"), "path escapes from parent", path)
	}
	require.Zero(t, r.count("select count(*) from river.river_job where kind = 'index'"))

	require.NoError(t, r.admin.Index(r.ctx, jobs.IndexArgs{Path: "link.txt", Role: policy.Public, Chat: r.room.ID}, false))
	require.Equal(t, "⚠️ **link.txt** is not indexed: path escapes from parent.", said(r.flush()), "the job looks for itself")
	require.Zero(t, r.count("select count(*) from chunk_index where tsv @@ 'hunter2'"))

	r.rules.Documents = ""
	r.restart()
	require.Equal(t, "⚠️ `a.md`: there is no documents folder.", r.owner("/index a.md public"))
}

func TestIndexSaysWhatIsWrongWithAFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, data, says string }{
		{"not text", "a.md", "\xff\xfe\x00", "⚠️ **a.md** is not indexed: I read PDF, Word (.docx), HTML, Markdown, CSV and plain text."},
		{"nothing in it", "a.md", "  \n", "⚠️ **a.md** is not indexed: there is nothing in it."},
		{"a picture", "a.txt", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", "⚠️ **a.txt** is not indexed: I read PDF, Word (.docx), HTML, Markdown, CSV and plain text; this is a .png file."},
		{"broken", "a.docx", "PK\x03\x04", "⚠️ **a.docx** is not indexed: it is broken or cut off: open it, save it again and send that."},
		{"too big", "a.txt", strings.Repeat("x", 10<<20+1), "⚠️ **a.txt** is too big: 10 MB at most."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			got := said(r.sends(test.file, test.data, "/index public"))
			if got == "[👀]" {
				got = said(r.work())
			}
			require.Equal(t, test.says, got)
			require.Zero(t, r.count("select count(*) from documents"))
		})
	}
}

func TestAFileThatCannotBeFetchedIsTriedAgainAndThenTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	file := r.write(store.Message{Kind: "file", Body: "[file a.md]", Attachment: &store.Attachment{URL: "mxc://example.com/gone", Name: "a.md"}})
	args := jobs.IndexArgs{Message: file, Role: policy.Public, Chat: r.room.ID}
	require.ErrorContains(t, r.admin.Index(r.ctx, args, false), "M_NOT_FOUND")
	require.Empty(t, r.flush())
	require.NoError(t, r.admin.Index(r.ctx, args, true))
	require.Equal(t, "⚠️ **a.md** is not indexed: download the file: M_NOT_FOUND.", said(r.flush()))

	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.room.ID, "$in2", r.now)
		return err
	})
	require.NoError(t, r.admin.Index(r.ctx, args, false))
	require.Equal(t, "⚠️ **The file** is not indexed: the message with it was deleted.", said(r.flush()))
}
