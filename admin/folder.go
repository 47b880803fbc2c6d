package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// settled is how long a file must have been left alone before it is read: until then somebody may be writing it.
const settled = 3 * time.Second

// watchFolder begins to watch a folder, or asks who may see its files.
func (a *Admin) watchFolder(ctx context.Context, r request, args string) (answer, error) {
	where, role := args, policy.Role("")
	if before, last, found := cutLast(args); found {
		if known, isRole := parseRole(last); isRole {
			where, role = before, known
		}
	}
	where = filepath.ToSlash(filepath.Clean(strings.TrimSpace(where)))
	if args == "" {
		return answer{text: "Which folder of the documents folder? `/docs watch prices public`." + a.folderList()}, nil
	}
	if trouble := a.unwatchable(where); trouble != "" {
		return answer{text: "⚠️ " + code(where) + ": " + trouble + "." + a.folderList()}, nil
	}
	folders, err := store.WatchedFolders(ctx, a.Store.DB())
	if err != nil {
		return answer{}, err
	}
	for _, f := range folders {
		if f.Path != where && (within(where, f.Path) || within(f.Path, where)) {
			return answer{text: fmt.Sprintf("%s is watched already (%s), and one file cannot belong to two: `/docs unwatch %s` ends that.", code(f.Path), whose(f.Role), f.Path)}, nil
		}
	}
	return a.indexOrAsk(r, pickRole{Path: where, Name: where, Watch: true}, role), nil
}

// cutLast cuts the last word off.
func cutLast(s string) (before, last string, found bool) {
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return s, "", false
	}
	last = fields[len(fields)-1]
	return strings.TrimSpace(strings.TrimSuffix(s, last)), last, true
}

// unwatchable says why a folder cannot be watched; empty when it can.
func (a *Admin) unwatchable(where string) string {
	root, err := a.documentsRoot()
	if err != nil {
		return esc(fileTrouble(err))
	}
	defer root.Close()
	info, err := root.Stat(where)
	switch {
	case err != nil:
		return esc(fileTrouble(err))
	case !info.IsDir():
		return "it is no folder; `/index` takes a file"
	default:
		return ""
	}
}

// within tells whether a path is a folder or lies below it.
func within(where, folder string) bool {
	return folder == "." || where == folder || strings.HasPrefix(where, folder+"/")
}

// unwatchFolder ends the watching of a folder. What was indexed stays.
func (a *Admin) unwatchFolder(ctx context.Context, where string) (answer, error) {
	where = filepath.ToSlash(filepath.Clean(where))
	folders, err := store.WatchedFolders(ctx, a.Store.DB())
	if err != nil {
		return answer{}, err
	}
	if !slices.ContainsFunc(folders, func(f store.WatchedFolder) bool { return f.Path == where }) {
		return answer{text: code(where) + " is not watched. `/docs` lists what is."}, nil
	}
	return answer{
		text: "📂 " + code(where) + " is not watched any more. What I know of it stays; `/docs remove` takes a document out.",
		do: func(ctx context.Context, tx store.Tx) error {
			_, err := store.UnwatchFolder(ctx, tx, where)
			return err
		},
	}, nil
}

// watchedDocs names the folders that are watched.
func (a *Admin) watchedDocs(ctx context.Context) ([]string, error) {
	folders, err := store.WatchedFolders(ctx, a.Store.DB())
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	lines := []string{"", "**Watched folders**"}
	for _, f := range folders {
		line := code(f.Path) + " — " + whose(f.Role)
		if f.Trouble != "" {
			line += " · ⚠️ " + esc(f.Trouble)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// LookAtFolders looks at all watched folders once. What was done in one is told in one message.
func (a *Admin) LookAtFolders(ctx context.Context) error {
	folders, err := store.WatchedFolders(ctx, a.Store.DB())
	if err != nil {
		return err
	}
	var failed error
	for _, f := range folders {
		if err := a.lookAtFolder(ctx, f); err != nil {
			failed = errors.Join(failed, fmt.Errorf("look at the folder %s: %w", f.Path, err))
		}
	}
	return failed
}

func (a *Admin) lookAtFolder(ctx context.Context, f store.WatchedFolder) error {
	found, err := a.folderNow(f.Path)
	if err != nil {
		return a.folderTrouble(ctx, f, fileTrouble(err))
	}
	known, err := store.WatchedFiles(ctx, a.Store.DB(), f.Path)
	if err != nil {
		return err
	}
	d := compare(found, known, a.Now())
	if d.gone, err = a.reallyGone(d.gone); err != nil {
		return err
	}
	if len(d.changed)+len(d.gone) == 0 && f.Trouble == "" {
		return nil
	}
	told, looked, err := a.indexChanged(ctx, f, d)
	if err != nil && len(looked) == 0 {
		return err
	}
	gone, errGone := a.removeGone(ctx, d.gone)
	failed := errors.Join(err, errGone)
	ctx = context.WithoutCancel(ctx)
	return errors.Join(failed, a.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.NoteTrouble(ctx, tx, f.Path, ""); err != nil {
			return err
		}
		if err := store.NoteWatched(ctx, tx, f, looked, gone); err != nil {
			return err
		}
		text := d.sentence(f, told, gone)
		if text == "" {
			return nil
		}
		room, err := store.ChatByID(ctx, tx, f.ChatID)
		if err != nil {
			return err
		}
		_, err = a.say(ctx, tx, room, outbox.Quiet, text, nil)
		return err
	}))
}

// folderNow lists the files of a folder as they are. A folder that is not there is an error: nothing of it is called gone.
func (a *Admin) folderNow(where string) ([]store.WatchedFile, error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(where)
	if err != nil {
		return nil, fmt.Errorf("look at it: %w", err)
	}
	if !info.IsDir() {
		return nil, knowledge.ErrNoFile
	}
	names, err := knowledge.Files(root.FS(), where)
	if err != nil && !errors.Is(err, knowledge.ErrNoFiles) {
		return nil, err
	}
	var files []store.WatchedFile
	for _, name := range names {
		if info, err := root.Stat(name); err == nil {
			files = append(files, store.WatchedFile{Path: name, Size: info.Size(), Modified: info.ModTime().UTC().Truncate(time.Microsecond), Reader: knowledge.ReaderVersion})
		}
	}
	return files, nil
}

// difference is what happened in a folder.
type difference struct {
	changed []store.WatchedFile // or new
	gone    []string
	known   map[string]store.WatchedFile
}

// compare tells what happened in a folder since it was looked at. Files that somebody may still be writing are left for the
// next time.
func compare(found []store.WatchedFile, known map[string]store.WatchedFile, now time.Time) difference {
	d := difference{known: known}
	there := make(map[string]bool, len(found))
	for _, f := range found {
		there[f.Path] = true
		old, seen := known[f.Path]
		same := seen && old.Size == f.Size && old.Modified.Equal(f.Modified) && old.Reader == f.Reader
		writing := !f.Modified.After(now) && now.Sub(f.Modified) < settled
		if !same && !writing {
			d.changed = append(d.changed, f)
		}
	}
	for name := range known {
		if !there[name] {
			d.gone = append(d.gone, name)
		}
	}
	slices.Sort(d.gone)
	return d
}

// reallyGone is those of the files which were not found that are not there. A folder that may not be looked into, or whose
// disk is away, does not say that of its files.
func (a *Admin) reallyGone(names []string) (gone []string, err error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.Mode().IsRegular() {
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// indexChanged reads what is new or changed, and names what was looked at: a file that cannot be read is looked at again when
// it has changed.
func (a *Admin) indexChanged(ctx context.Context, f store.WatchedFolder, d difference) (told []outcome, looked []store.WatchedFile, err error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, file := range d.changed {
		if as, err := a.isWatched(ctx, f); err != nil || !as {
			return told, looked, err
		}
		doc := knowledge.File{Name: path.Base(file.Path), Origin: file.Path, Role: f.Role, Said: f.Said, Swept: true}
		var failed error
		doc.Data, failed = knowledge.ReadFile(root, file.Path)
		o := a.indexOne(ctx, doc, failed)
		if ctx.Err() != nil || o.err != nil && !forGood(o.err) {
			return told, looked, o.err
		}
		told, looked = append(told, o), append(looked, file)
	}
	return told, looked, nil
}

// isWatched tells whether a folder is still watched for the same people. It may take long to index, and who says that they
// shall not see it must not wait.
func (a *Admin) isWatched(ctx context.Context, f store.WatchedFolder) (bool, error) {
	folders, err := store.WatchedFolders(ctx, a.Store.DB())
	return slices.ContainsFunc(folders, func(now store.WatchedFolder) bool { return now.Path == f.Path && now.Role == f.Role }), err
}

// removeGone takes the documents of files that are gone out of the library.
func (a *Admin) removeGone(ctx context.Context, paths []string) (gone []string, err error) {
	for _, name := range paths {
		if err := a.Library.Remove(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return gone, err
		}
		gone = append(gone, name)
	}
	return gone, nil
}

// sentence tells what was done; empty when it was nothing.
func (d difference) sentence(f store.WatchedFolder, told []outcome, gone []string) string {
	added, changed, passages := 0, 0, 0
	var troubles []string
	for i, o := range told {
		_, seen := d.known[d.changed[i].Path]
		switch {
		case o.err != nil:
			troubles = append(troubles, o.trouble())
			continue
		case o.isLeftPrivate(f.Role), o.report.Unchanged:
			continue
		case seen:
			changed++
		default:
			added++
		}
		passages += o.report.Chunks
		if o.report.Role != f.Role {
			troubles = append(troubles, o.keeps())
		}
		if blank := blankPages(o.report.Blank); blank != "" {
			troubles = append(troubles, "**"+esc(o.name)+"**:"+blank)
		}
	}
	if len(troubles) > pageSize {
		troubles = append(troubles[:pageSize], "and "+count(len(troubles)-pageSize, "more line"))
	}
	if left := leftPrivate(f.Role, told); left != "" {
		troubles = append([]string{left}, troubles...)
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{added, "new"}, {changed, "changed"}, {len(gone), "removed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) == 0 {
		return strings.Join(troubles, "\n")
	}
	first := "📂 " + code(f.Path) + " — " + strings.Join(parts, ", ")
	if added+changed > 0 {
		first += ": " + count(passages, "passage") + ", " + whose(f.Role)
	}
	return strings.Join(append([]string{first + "."}, troubles...), "\n")
}

// folderTrouble tells once that a folder cannot be looked at. What was indexed of it stays.
func (a *Admin) folderTrouble(ctx context.Context, f store.WatchedFolder, why string) error {
	if f.Trouble == why {
		return nil
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.NoteTrouble(ctx, tx, f.Path, why); err != nil {
			return err
		}
		room, err := store.ChatByID(ctx, tx, f.ChatID)
		if err != nil {
			return err
		}
		_, err = a.say(ctx, tx, room, outbox.Ring, "⚠️ I cannot look at the watched folder "+code(f.Path)+": "+esc(why)+". What I know of it stays; `/docs unwatch "+f.Path+"` ends the watching.", nil)
		return err
	})
}

// startWatching begins it in the background.
func (p pickRole) startWatching(r request, role policy.Role) answer {
	seen, stays := "for you alone", ""
	if role == policy.Public {
		seen, stays = "public", " What you made private stays private."
	}
	return answer{
		text: fmt.Sprintf("📂 %s is watched: its files are %s, now and whenever they change.%s `/docs unwatch %s` ends it.", code(p.Path), seen, stays, p.Path),
		do: func(ctx context.Context, tx store.Tx) error {
			if err := store.WatchFolder(ctx, tx, store.WatchedFolder{Path: p.Path, Role: role, Said: r.now, ChatID: r.room.ID}); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.FoldersArgs{})
		},
	}
}
