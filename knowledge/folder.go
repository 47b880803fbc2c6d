package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"multis/store"
)

// ErrNoFolder is returned when no documents folder is configured, or it does not exist.
var ErrNoFolder = errors.New("there is no documents folder")

// minQuiet is how long a file of a watched folder must be unchanged before it is indexed: until then it may still be written.
const minQuiet = 3 * time.Second

// OpenFolder opens the documents folder. The caller closes it.
func (l *Library) OpenFolder() (*os.Root, error) {
	if l.options.Folder == "" {
		return nil, ErrNoFolder
	}
	root, err := os.OpenRoot(l.options.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoFolder
	}
	if err != nil {
		return nil, fmt.Errorf("open the documents folder: %w", err)
	}
	return root, nil
}

// Folder returns the path of the documents folder; empty when there is none.
func (l *Library) Folder() string { return l.options.Folder }

// Find lists the files of the documents folder that a path refers to, as Files does, and returns the size of the first one.
func (l *Library) Find(where string) (files []string, size int64, err error) {
	root, err := l.OpenFolder()
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	if files, err = Files(root.FS(), where); err != nil {
		return nil, 0, err
	}
	info, err := root.Stat(files[0])
	if err != nil {
		return nil, 0, fmt.Errorf("look at it: %w", err)
	}
	return files, info.Size(), nil
}

// FolderChanges is the result of SyncFolder.
type FolderChanges struct {
	Folder   store.WatchedFolder
	Err      error     // why the folder could not be read; then nothing was done
	Outcomes []Outcome // of the files that are new or changed
	Removed  []string  // the paths of files that no longer exist and whose documents were removed

	indexed []store.WatchedFile // the files of Outcomes, with their state before they were read
	known   map[string]store.WatchedFile
}

// IsEmpty reports whether there is nothing to save and nothing to report.
func (c FolderChanges) IsEmpty() bool {
	return len(c.indexed)+len(c.Removed) == 0 && c.Folder.Error == ""
}

// IsNew reports whether the file with an origin was not in the folder before.
func (c FolderChanges) IsNew(origin string) bool {
	_, found := c.known[origin]
	return !found
}

// Save stores the state in which SyncFolder found the files, so that the next SyncFolder finds only later changes.
func (c FolderChanges) Save(ctx context.Context, tx store.Tx) error {
	if err := store.SetFolderError(ctx, tx, c.Folder.Path, ""); err != nil {
		return err
	}
	return store.RecordWatchedFiles(ctx, tx, c.Folder, c.indexed, c.Removed)
}

// SyncFolder indexes the new and changed files of a watched folder, and removes the documents of files that no longer exist. A file that
// cannot be indexed is tried again when it has changed. If SyncFolder returns an error, it also returns the changes that it made before.
func (l *Library) SyncFolder(ctx context.Context, f store.WatchedFolder, now time.Time) (FolderChanges, error) {
	found, err := l.listFolder(f.Path)
	if err != nil {
		return FolderChanges{Folder: f, Err: err}, nil //nolint:nilerr // Err holds it
	}
	known, err := store.WatchedFiles(ctx, l.st.DB(), f.Path)
	if err != nil {
		return FolderChanges{}, err
	}
	missing, err := l.confirmMissing(missingFiles(found, known))
	if err != nil {
		return FolderChanges{}, err
	}
	c := FolderChanges{Folder: f, known: known}
	err = l.indexChanged(ctx, &c, changedFiles(found, known, now))
	if err != nil && len(c.indexed) == 0 {
		return FolderChanges{}, err
	}
	var errRemove error
	c.Removed, errRemove = l.removeAll(ctx, missing)
	return c, errors.Join(err, errRemove)
}

// listFolder lists the readable files of a folder with their current state. It returns an error for a folder that does not exist, because
// an empty list would mean that all files were deleted.
func (l *Library) listFolder(where string) ([]store.WatchedFile, error) {
	root, err := l.OpenFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(where)
	if err != nil {
		return nil, fmt.Errorf("look at it: %w", err)
	}
	if !info.IsDir() {
		return nil, ErrNoFile
	}
	names, err := Files(root.FS(), where)
	if err != nil && !errors.Is(err, ErrNoFiles) {
		return nil, err
	}
	var files []store.WatchedFile
	for _, name := range names {
		if info, err := root.Stat(name); err == nil {
			files = append(files, store.WatchedFile{
				Path:     name,
				Size:     info.Size(),
				Modified: info.ModTime().UTC().Truncate(time.Microsecond),
				Reader:   ReaderVersion,
			})
		}
	}
	return files, nil
}

// changedFiles returns the found files that are new or differ from the known ones, without those that another program may still be writing.
func changedFiles(found []store.WatchedFile, known map[string]store.WatchedFile, now time.Time) []store.WatchedFile {
	var changed []store.WatchedFile
	for _, f := range found {
		old, seen := known[f.Path]
		isSame := seen && old.Size == f.Size && old.Modified.Equal(f.Modified) && old.Reader == f.Reader
		isWritten := !f.Modified.After(now) && now.Sub(f.Modified) < minQuiet
		if !isSame && !isWritten {
			changed = append(changed, f)
		}
	}
	return changed
}

// missingFiles returns the paths of known files that were not found.
func missingFiles(found []store.WatchedFile, known map[string]store.WatchedFile) []string {
	var missing []string
	for name := range known {
		if !slices.ContainsFunc(found, func(f store.WatchedFile) bool { return f.Path == name }) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// confirmMissing returns those of the paths at which there is certainly no file. It leaves out paths whose folder may not
// be read or whose disk is not mounted.
func (l *Library) confirmMissing(names []string) (missing []string, err error) {
	root, err := l.OpenFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.Mode().IsRegular() {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// indexChanged indexes files and adds them and their outcomes to c. Indexing may take long, so it stops as soon as the
// owner ends the watch or changes the role of the folder.
func (l *Library) indexChanged(ctx context.Context, c *FolderChanges, files []store.WatchedFile) error {
	for _, file := range files {
		watched, err := l.isWatched(ctx, c.Folder)
		if err != nil {
			return err
		}
		if !watched {
			return nil
		}
		o := l.indexSource(ctx, Source{
			File: File{
				Name:        path.Base(file.Path),
				Origin:      file.Path,
				Role:        c.Folder.Role,
				RoleSetAt:   c.Folder.RoleSetAt,
				FoundInBulk: true,
			},
			Folder: l.options.Folder, Path: file.Path,
		})
		if ctx.Err() != nil || o.Err != nil && !o.IsPermanent() {
			return o.Err
		}
		c.Outcomes, c.indexed = append(c.Outcomes, o), append(c.indexed, file)
	}
	return nil
}

// isWatched reports whether a folder is still watched, for the same role.
func (l *Library) isWatched(ctx context.Context, f store.WatchedFolder) (bool, error) {
	folders, err := store.WatchedFolders(ctx, l.st.DB())
	return slices.ContainsFunc(folders, func(now store.WatchedFolder) bool { return now.Path == f.Path && now.Role == f.Role }), err
}

// removeAll removes the documents with these origins and returns those that are removed, up to the first error.
func (l *Library) removeAll(ctx context.Context, origins []string) (removed []string, err error) {
	for _, origin := range origins {
		if err := l.Remove(ctx, origin); err != nil && !errors.Is(err, store.ErrNotFound) {
			return removed, err
		}
		removed = append(removed, origin)
	}
	return removed, nil
}
