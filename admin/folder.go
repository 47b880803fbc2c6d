package admin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// watchFolder starts to watch a folder, or asks who may see its files.
func (dc *DocumentCommands) watchFolder(ctx context.Context, r request, args string) (answer, error) {
	where, role := args, policy.Role("")
	if before, last, found := cutLast(args); found {
		if known, isRole := parseRole(last); isRole {
			where, role = before, known
		}
	}
	where = filepath.ToSlash(filepath.Clean(strings.TrimSpace(where)))
	if args == "" {
		return answer{text: "Which folder of the documents folder? `/docs watch prices public`." + dc.folderList()}, nil
	}
	if trouble := dc.folderProblem(where); trouble != "" {
		return answer{text: "⚠️ " + code(where) + ": " + trouble + "." + dc.folderList()}, nil
	}
	folders, err := store.WatchedFolders(ctx, dc.store.DB())
	if err != nil {
		return answer{}, err
	}
	for _, f := range folders {
		if f.Path != where && (isWithin(where, f.Path) || isWithin(f.Path, where)) {
			return answer{text: fmt.Sprintf("%s is watched already (%s), and one file cannot belong to two: `/docs unwatch %s` ends that.",
				code(f.Path), visibility(f.Role), f.Path)}, nil
		}
	}
	return dc.indexOrAsk(r, pickRole{Path: where, Name: where, Watch: true}, role), nil
}

// cutLast splits off the last word.
func cutLast(s string) (before, last string, found bool) {
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return s, "", false
	}
	last = fields[len(fields)-1]
	return strings.TrimSpace(strings.TrimSuffix(s, last)), last, true
}

// folderProblem says why a folder cannot be watched; empty when it can.
func (dc *DocumentCommands) folderProblem(where string) string {
	root, err := dc.library.OpenFolder()
	if err != nil {
		return esc(fileErrorText(err))
	}
	defer root.Close()
	info, err := root.Stat(where)
	switch {
	case err != nil:
		return esc(fileErrorText(err))
	case !info.IsDir():
		return "that's not a folder; for a file use `/index`"
	default:
		return ""
	}
}

// isWithin reports whether a path is a folder or is below it.
func isWithin(where, folder string) bool {
	return folder == "." || where == folder || strings.HasPrefix(where, folder+"/")
}

// unwatchFolder ends the watching of a folder. Its documents stay.
func (dc *DocumentCommands) unwatchFolder(ctx context.Context, where string) (answer, error) {
	where = filepath.ToSlash(filepath.Clean(where))
	folders, err := store.WatchedFolders(ctx, dc.store.DB())
	if err != nil {
		return answer{}, err
	}
	if !slices.ContainsFunc(folders, func(f store.WatchedFolder) bool { return f.Path == where }) {
		return answer{text: code(where) + " is not watched. `/docs` lists what is."}, nil
	}
	return answer{
		text: "📂 " + code(where) + " is not watched any more. What I know of it stays; `/docs remove` takes a document out.",
		change: func(ctx context.Context, tx store.Tx) error {
			_, err := store.UnwatchFolder(ctx, tx, where)
			return err
		},
	}, nil
}

// watchedLines lists the watched folders.
func (dc *DocumentCommands) watchedLines(ctx context.Context) ([]string, error) {
	folders, err := store.WatchedFolders(ctx, dc.store.DB())
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		return nil, nil
	}
	lines := []string{"", "**Watched folders**"}
	for _, f := range folders {
		line := code(f.Path) + " — " + visibility(f.Role)
		if f.Error != "" {
			line += " · ⚠️ " + esc(f.Error)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// HasFolders reports whether folders are watched.
func (dc *DocumentCommands) HasFolders(ctx context.Context) (bool, error) {
	return store.HasWatchedFolders(ctx, dc.store.DB())
}

// IndexFolders updates the documents of all watched folders, and notifies the owner of the changes in each.
func (dc *DocumentCommands) IndexFolders(ctx context.Context) error {
	folders, err := store.WatchedFolders(ctx, dc.store.DB())
	if err != nil {
		return err
	}
	var failed error
	for _, f := range folders {
		if err := dc.syncFolder(ctx, f); err != nil {
			failed = errors.Join(failed, fmt.Errorf("look at the folder %s: %w", f.Path, err))
		}
	}
	return failed
}

// syncFolder updates the documents of one folder and notifies the owner of the changes.
func (dc *DocumentCommands) syncFolder(ctx context.Context, f store.WatchedFolder) error {
	changes, err := dc.library.SyncFolder(ctx, f, dc.room.now())
	switch {
	case changes.Err != nil:
		return dc.reportFolderError(ctx, f, fileErrorText(changes.Err))
	case changes.IsEmpty():
		return err
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(err, dc.store.InTx(ctx, func(tx store.Tx) error {
		if err := changes.Save(ctx, tx); err != nil {
			return err
		}
		text := changesText(changes)
		if text == "" {
			return nil
		}
		room, err := store.ChatByID(ctx, tx, f.ChatID)
		if err != nil {
			return err
		}
		_, err = dc.room.notify(ctx, tx, room, outbox.Quiet, text, nil)
		return err
	}))
}

// changesText says what changed in a folder; empty when nothing did.
func changesText(c knowledge.FolderChanges) string {
	f := c.Folder
	added := 0
	changed := 0
	passages := 0
	var problems []string
	for _, o := range c.Outcomes {
		switch {
		case o.Err != nil:
			problems = append(problems, outcomeErrorText(o))
			continue
		case o.StayedPrivate(f.Role), o.Report.Unchanged:
			continue
		case c.IsNew(o.Origin):
			added++
		default:
			changed++
		}
		passages += o.Report.Chunks
		if o.Report.Role != f.Role {
			problems = append(problems, keptRoleText(o))
		}
		if notes := notesText(o.Report.Notes); notes != "" {
			problems = append(problems, "**"+esc(o.Name)+"**:"+notes)
		}
	}
	if len(problems) > pageSize {
		problems = append(problems[:pageSize], "and "+text.Count(len(problems)-pageSize, "more line"))
	}
	if left := leftPrivateText(f.Role, c.Outcomes); left != "" {
		problems = append([]string{left}, problems...)
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{added, "new"}, {changed, "changed"}, {len(c.Removed), "removed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) == 0 {
		return strings.Join(problems, "\n")
	}
	first := "📂 " + code(f.Path) + " — " + strings.Join(parts, ", ")
	if added+changed > 0 {
		first += ": " + text.Count(passages, "passage") + ", " + visibility(f.Role)
	}
	return strings.Join(append([]string{first + "."}, problems...), "\n")
}

// reportFolderError notifies the owner once that a folder cannot be read. Its documents stay.
func (dc *DocumentCommands) reportFolderError(ctx context.Context, f store.WatchedFolder, why string) error {
	if f.Error == why {
		return nil
	}
	return dc.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SetFolderError(ctx, tx, f.Path, why); err != nil {
			return err
		}
		room, err := store.ChatByID(ctx, tx, f.ChatID)
		if err != nil {
			return err
		}
		_, err = dc.room.notify(ctx, tx, room, outbox.Alert,
			"⚠️ I cannot look at the watched folder "+code(f.Path)+": "+esc(why)+". What I know of it stays; `/docs unwatch "+f.Path+
				"` ends the watching.", nil)
		return err
	})
}
