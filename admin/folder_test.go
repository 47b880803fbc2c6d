package admin_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"multis/jobs"
	"multis/policy"
)

// setFileAge sets the age of all files in the documents folder.
func (r *rig) setFileAge(ago time.Duration, names ...string) {
	r.t.Helper()
	for _, name := range names {
		at := r.now.Add(-ago)
		require.NoError(r.t, os.Chtimes(filepath.Join(r.documents, name), at, at))
	}
}

// syncFolders indexes the watched folders and returns what was sent.
func (r *rig) syncFolders() string {
	r.t.Helper()
	require.NoError(r.t, r.admin.Documents.IndexFolders(r.ctx))
	return bodies(r.sendQueued())
}

func TestFolder_FollowsChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/prices.md", prices)
	r.putFile("shop/deep/terms.txt", "Terms apply.")
	r.putFile("other.md", "# Other\n\nNot watched.\n")
	r.setFileAge(time.Minute, "shop/prices.md", "shop/deep/terms.txt")

	require.Equal(t,
		"📄 `shop` and what comes into it — who may see it? **1** public (customers get answers from it) · **2** only you · **3** skip. Reply with a number. Open until 18:15.", r.asOwner("/docs watch shop"))
	require.Equal(t, "`shop` is not watched.", r.asOwner("3"))
	require.Empty(t, r.syncFolders())
	require.Equal(t,
		"📂 `shop` is watched: its files are public, now and whenever they change. What you made private stays private. `/docs unwatch shop` ends it.", r.asOwner("/docs watch shop public"))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'index_folders'"), "it is looked at now")
	require.Equal(t, "📂 `shop` — 2 new: 3 passages, public.", r.syncFolders())
	require.Empty(t, r.syncFolders(), "nothing happened, nothing is told")
	require.Contains(t, r.asOwner("/docs"), text("**Watched folders**", "`shop` — public"))
	require.NotContains(t, r.asOperator("/docs"), "Watched")

	r.putFile("shop/prices.md", prices+"\n# More\n\nA gate costs 90 EUR.\n")
	r.putFile("shop/new.md", "# New\n\nSomething new.\n")
	require.NoError(t, os.Remove(filepath.Join(r.documents, "shop/deep/terms.txt")))
	r.setFileAge(30*time.Second, "shop/prices.md")
	r.setFileAge(time.Second, "shop/new.md")
	require.Equal(t, "📂 `shop` — 1 changed, 1 removed: 3 passages, public.", r.syncFolders(), "who writes is not disturbed")
	r.now = r.now.Add(10 * time.Second)
	require.Equal(t, "📂 `shop` — 1 new: 1 passage, public.", r.syncFolders())
	require.Equal(t, 2, r.count("select count(*) from documents"))

	r.setFileAge(20*time.Second, "shop/new.md")
	require.Empty(t, r.syncFolders(), "a file that only looks newer is the same")
	require.Contains(t, r.asOperator("/docs unwatch shop"), "Only the owner can use")
	require.Equal(t, "📂 `shop` is watched: its files are only for you, now and whenever they change. `/docs unwatch shop` ends it.",
		r.asOwner("/docs watch shop admin"))
	require.Equal(t, "📂 `shop` — 2 new: 4 passages, only you.", r.syncFolders())
	require.Equal(t, 0, r.count("select count(*) from documents where role = 'public'"))
	require.Equal(t, "📂 `shop` is not watched any more. What I know of it stays; `/docs remove` takes a document out.",
		r.asOwner("/docs unwatch shop"))
	require.NoError(t, os.RemoveAll(filepath.Join(r.documents, "shop")))
	require.Empty(t, r.syncFolders())
	require.Equal(t, 2, r.count("select count(*) from documents"))
}

func TestFolder_BecomesPrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"shop/1.md", "shop/2.md", "shop/3.md"} {
		r.putFile(name, "# Margins of "+name+"\n\nThey are secret.\n")
		r.setFileAge(time.Minute, name)
	}
	r.asOwner("/docs watch shop public")
	// The owner says so while the first file is indexed.
	r.exec(`create function changes_his_mind() returns trigger language plpgsql as $$ begin
		update watched_folders set role = 'admin'; delete from watched_files; return null; end $$`)
	r.exec("create trigger says_so after insert on documents execute function changes_his_mind()")
	require.Equal(t, "📂 `shop` — 1 new: 1 passage, public.", r.syncFolders())
	require.Equal(t, 1, r.count("select count(*) from documents"))
	r.exec("drop trigger says_so on documents")
	require.Equal(t, "📂 `shop` — 3 new: 3 passages, only you.", r.syncFolders())
	require.Equal(t, 0, r.count("select count(*) from documents where role = 'public'"))
}

func TestFolder_MissingKeepsDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/prices.md", prices)
	r.setFileAge(time.Minute, "shop/prices.md")
	r.asOwner("/docs watch shop public")
	r.syncFolders()
	shop := filepath.Join(r.documents, "shop")
	require.NoError(t, os.Rename(shop, shop+"-away"))
	require.Equal(t,
		"⚠️ I cannot look at the watched folder `shop`: there is no such file in the documents folder. What I know of it stays; `/docs unwatch shop` ends the watching.", r.syncFolders())
	require.Empty(t, r.syncFolders(), "it is told once")
	require.Equal(t, 1, r.count("select count(*) from documents"))
	require.NoError(t, os.Rename(shop+"-away", shop))
	require.Empty(t, r.syncFolders())
	require.NotContains(t, r.asOwner("/docs"), "⚠️")
}

func TestFolder_PrivateFileStaysPrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/margins.md", "# Margins\n\nForty percent.\n")
	r.putFile("shop/prices.md", prices)
	r.setFileAge(time.Minute, "shop/margins.md", "shop/prices.md")
	r.asOwner("/docs watch shop public")
	r.syncFolders()
	r.now = r.now.Add(time.Minute)
	r.asOwner("/index shop/margins.md admin")
	r.runIndexing()
	r.putFile("shop/margins.md", "# Margins\n\nFifty percent.\n")
	r.setFileAge(10*time.Second, "shop/margins.md")
	require.Equal(t, "🔒 Left private (only you): `shop/margins.md`. To make one public, name it: `/index NAME public`.", r.syncFolders())
	require.Equal(t, 1, r.count("select count(*) from documents where role = 'admin'"))
	require.Contains(t, r.asOwner("/search margins"), "Fifty")
	require.NotContains(t, r.asOperator("/search margins"), "Fifty")
}

func TestFolder_PrivateDocumentStaysPrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("salaries.csv", "Name,Salary\nEva,4000\n")
	r.putFile("shop/margins.md", "# Margins\n\nForty percent.\n")
	r.putFile("shop/prices.md", prices)
	r.setFileAge(time.Minute, "salaries.csv", "shop/margins.md", "shop/prices.md")
	for _, private := range []string{"salaries.csv", "shop/margins.md"} {
		r.asOwner("/index " + private + " admin")
		r.runIndexing()
	}
	r.now = r.now.Add(time.Minute)
	left := "🔒 Left private (only you): `salaries.csv` and `shop/margins.md`. To make one public, name it: `/index NAME public`."
	private := "select count(*) from documents where role = 'admin'"

	r.asOwner("/index . public")
	require.Equal(t, text("📄 `.` — done: 1 document, 2 passages, public.", left)+makePrivateText("."), bodies(r.runIndexing()))
	r.asOwner("/index *.csv public")
	require.Contains(t, bodies(r.runIndexing()), "🔒 Left private (only you): `salaries.csv`.")
	require.Equal(t, 2, r.count(private))

	r.asOwner("/docs watch . public")
	require.Contains(t, r.syncFolders(), left)
	r.putFile("salaries.csv", "Name,Salary\nEva,5000\n")
	require.NoError(t, os.Rename(filepath.Join(r.documents, "shop/margins.md"), filepath.Join(r.documents, "shop/gains.md")))
	r.setFileAge(10*time.Second, "salaries.csv", "shop/gains.md")
	require.Contains(t, r.syncFolders(), "Left private (only you): `salaries.csv` and `shop/gains.md`.",
		"neither a change nor another name makes it public")
	require.Equal(t, 2, r.count(private))

	r.asOwner("/index salaries.csv public")
	require.Contains(t, bodies(r.runIndexing()), "public")
	require.Equal(t, 1, r.count(private), "it was named by itself")
}

func TestFolder_NewerReaderRereads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/prices.md", prices)
	r.setFileAge(time.Minute, "shop/prices.md")
	r.asOwner("/docs watch shop public")
	r.syncFolders()
	r.exec("update watched_files set reader = '4'")
	r.exec("update documents set hash = 'of the older one'")
	require.Equal(t, "📂 `shop` — 1 changed: 2 passages, public.", r.syncFolders())
	require.Empty(t, r.syncFolders())
}

func TestFolder_LateIndexKeepsPrivate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("margins.md", "# Margins\n\nForty percent.\n")
	early := jobs.IndexArgs{Path: "margins.md", Role: policy.RolePublic, RoleSetAt: r.now, ChatID: r.room.ID}
	r.now = r.now.Add(time.Minute)
	r.asOwner("/index margins.md admin")
	require.Equal(t, "📄 **margins.md** — done: 1 passage, only you.", bodies(r.runIndexing()))
	require.NoError(t, r.admin.Documents.Index(r.ctx, early, false))
	require.Equal(t, "📄 **margins.md** — unchanged: 1 passage, only you.", bodies(r.sendQueued()))
	require.Equal(t, 0, r.count("select count(*) from documents where role = 'public'"))
}

func TestFolder_UnreadableKeepsDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"shop/prices.md", "shop/deep/terms.md"} {
		r.putFile(name, prices)
		r.setFileAge(time.Minute, name)
	}
	r.asOwner("/docs watch shop public")
	r.syncFolders()
	require.Equal(t, 2, r.count("select count(*) from documents"))

	// The files of this thread are no longer root's, whose tests these may be.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, name := range []string{"shop/deep", "shop"} {
		folder := filepath.Join(r.documents, name)
		require.NoError(t, os.Chmod(folder, 0))
		withoutRoot(t, func() { require.Empty(t, r.syncFolders(), name) })
		require.NoError(t, os.Chmod(folder, 0o700))
		require.Equal(t, 2, r.count("select count(*) from documents"), name)
	}
}

// withoutRoot runs fn on the thread of the test without root's right to read every file.
func withoutRoot(t *testing.T, fn func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		fn()
		return
	}
	const readsAll = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	require.NoError(t, unix.Capget(&header, &has[0]))
	less := has
	less[0].Effective &^= readsAll
	require.NoError(t, unix.Capset(&header, &less[0]))
	defer func() { require.NoError(t, unix.Capset(&header, &has[0])) }()
	fn()
}

func TestFolder_UnreadableFileReportedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/broken.docx", "PK\x03\x04")
	r.putFile("shop/prices.md", prices)
	r.setFileAge(time.Minute, "shop/broken.docx", "shop/prices.md")
	r.asOwner("/docs watch shop public")
	require.Equal(t, text("📂 `shop` — 1 new: 2 passages, public.",
		"⚠️ **broken.docx** is not indexed: it is broken or cut off: open it, save it again and send that."), r.syncFolders())
	require.Empty(t, r.syncFolders())
}

func TestFolder_RefusesOverlap(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.putFile("shop/deep/prices.md", prices)
	r.asOwner("/docs watch shop public")
	require.Equal(t, "`shop` is watched already (public), and one file cannot belong to two: `/docs unwatch shop` ends that.",
		r.asOwner("/docs watch shop/deep admin"))
	require.Contains(t, r.asOwner("/docs watch . admin"), "`shop` is watched already")
	require.Contains(t, r.asOwner("/docs watch ../.. admin"), "it lies outside the documents folder")
	require.Contains(t, r.asOwner("/docs watch shop/deep/prices.md admin"), "that's not a folder; for a file use `/index`")
	require.Contains(t, r.asOwner("/docs watch nothing admin"), "there is no such file in the documents folder")
	require.Contains(t, r.asOwner("/docs watch"), "Which folder of the documents folder?")
	require.Equal(t, "`deep` is not watched. `/docs` lists what is.", r.asOwner("/docs unwatch deep"))
}
