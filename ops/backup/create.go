// Package backup makes backups of everything that multis keeps, checks them and restores them. A backup is one file: the
// rows of all tables as they were at one moment, the configuration and the files beside it. It needs neither pg_dump nor
// another program of Postgres.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/store"
)

// ErrRunning is returned by Create while another process makes a backup.
var ErrRunning = errors.New("another backup is being made")

// File is a file, or a folder with all its files, that is backed up in addition to the database.
type File struct {
	Name string // name in the backup, with slashes
	Path string // path on this machine. If nothing is there, File is left out.
	// Max is the size in bytes above which a folder is left out; zero means no limit.
	Max int64
	// RemoveSecrets returns the content for a backup without secrets. Only files have it.
	RemoveSecrets func(content []byte) []byte
	// Corrected is the path of a file that a restore moves to Path instead of writing the one in the backup; empty for none.
	Corrected string
}

// CreateOptions are the options of Create. Files, Omitted, WithoutSecrets and Now are optional.
type CreateOptions struct {
	Store   *store.Store
	Folder  string // where the backup is written
	Program string // the version of multis
	Files   []File
	Omitted []string // what the caller leaves out; see Manifest
	// WithoutSecrets leaves out encryption keys, tokens and passwords. After such a backup is restored, encrypted rooms
	// cannot be read until their keys have been received again.
	WithoutSecrets bool
	// Now defaults to time.Now.
	Now func() time.Time
}

func (o CreateOptions) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Info is a backup that was made.
type Info struct {
	Path     string
	Size     int64
	Manifest Manifest
}

// Names of backups sort by time.
const (
	namePrefix = "multis-"
	nameSuffix = ".tar.gz"
	// partialPrefix begins the names of backups without secrets, which do not belong to a Series.
	partialPrefix = "multis-without-secrets-"
	nameTime      = "20060102T150405.000Z"
	// unfinished is the beginning of the name of a backup that is being made.
	unfinished = ".multis-unfinished-"
)

// Create makes a backup. The database can be read and written meanwhile. The file gets its final name when all of it is
// on the disk. An error or a crash leaves at most a file with the prefix unfinished, which the next Create removes.
func Create(ctx context.Context, o CreateOptions) (info Info, err error) {
	lock, alone, err := o.Store.TryLock(ctx, store.LockBackup, 0)
	if err != nil {
		return Info{}, err
	}
	if !alone {
		return Info{}, ErrRunning
	}
	defer lock.Release(ctx)
	if o.Folder, err = filepath.Abs(o.Folder); err != nil { // the path is stored, for processes that work elsewhere
		return Info{}, fmt.Errorf("make the folder of backups: %w", err)
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return Info{}, fmt.Errorf("make the folder of backups: %w", err)
	}
	if err := removeUnfinished(o.Folder); err != nil {
		return Info{}, err
	}
	now := o.now().UTC()
	name := namePrefix + now.Format(nameTime) + nameSuffix
	if o.WithoutSecrets {
		name = partialPrefix + now.Format(nameTime) + nameSuffix
	}
	f, err := os.OpenFile(filepath.Join(o.Folder, unfinished+name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Info{}, fmt.Errorf("make the backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(explain(err), removeFile(f))
		}
	}()
	info = Info{Path: filepath.Join(o.Folder, name), Manifest: Manifest{
		Format:         format,
		CreatedAt:      now,
		Program:        o.Program,
		WithoutSecrets: o.WithoutSecrets,
		Omitted:        slices.Clone(o.Omitted),
	}}
	w := newWriter(f, now)
	if err := w.files(ctx, o, &info.Manifest); err != nil {
		return Info{}, err
	}
	if err := w.database(ctx, o, &info.Manifest); err != nil {
		return Info{}, err
	}
	if err := w.close(info.Manifest); err != nil {
		return Info{}, err
	}
	info.Size, err = finish(f, info.Path)
	return info, err
}

// explain adds to an error how to fix it, for known errors.
func explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("make the backup: the disk is full, and the older backups were kept; make room or choose another folder (backup.folder): %w", err)
	}
	return fmt.Errorf("make the backup: %w", err)
}

func removeFile(f *os.File) error {
	_ = f.Close() // it may be closed already
	err := os.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeUnfinished removes what interrupted backups left in a folder. The caller holds the lock of backups.
func removeUnfinished(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove an unfinished backup: %w", err)
	}
	return nil
}

// finish flushes a file to disk, gives it its final name, and returns its size.
func finish(f *os.File, name string) (int64, error) {
	if err := f.Sync(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return 0, err
	}
	return info.Size(), syncFolder(filepath.Dir(name))
}

// syncFolder flushes a folder to disk, so that new names in it survive a power failure.
func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// database writes all rows and lists the tables in the manifest.
func (w *writer) database(ctx context.Context, o CreateOptions, m *Manifest) error {
	return o.Store.Snapshot(ctx, func(s store.Snapshot) (err error) {
		if m.Schema, err = s.Version(ctx); err != nil {
			return err
		}
		tables, err := s.Tables(ctx)
		if err != nil {
			return err
		}
		for _, t := range tables {
			rows := w.table(t)
			contents, err := s.Copy(ctx, t, !o.WithoutSecrets, rows)
			if err != nil {
				return err
			}
			if err := rows.flush(); err != nil {
				return err
			}
			m.Tables = append(m.Tables, TableEntry{t, contents})
		}
		m.Sequences, err = s.Sequences(ctx) // read after the rows, so that a restored sequence does not return the number of a stored row
		return err
	})
}

// files writes the files and lists them in the manifest.
func (w *writer) files(ctx context.Context, o CreateOptions, m *Manifest) error {
	for _, f := range o.Files {
		if f.Max > 0 && isLarger(f.Path, f.Max) {
			m.Omitted = append(m.Omitted, fmt.Sprintf("%s: it has more than %s", f.Path, text.Bytes(f.Max)))
			continue
		}
		err := filepath.WalkDir(f.Path, func(source string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // a path below a file
				return nil
			case errors.Is(err, fs.ErrPermission):
				m.Omitted = append(m.Omitted, source+": "+err.Error())
				return nil
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir():
				return nil
			}
			inside, err := filepath.Rel(f.Path, source)
			if err != nil {
				return err
			}
			name := validName(path.Join(f.Name, filepath.ToSlash(inside)))
			entry, err := w.oneFile(name, source, f, o.WithoutSecrets)
			switch {
			case errors.Is(err, plainfile.ErrNotRegular), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
				m.Omitted = append(m.Omitted, source+": "+err.Error())
				return nil
			case err != nil:
				return err
			}
			m.Files = append(m.Files, entry)
			return nil
		})
		if err != nil {
			return fmt.Errorf("back up %s: %w", f.Path, err)
		}
	}
	return nil
}

// validName returns the name of a file as a manifest can hold it: bytes that are no UTF-8 become %XX. The file is restored with that name.
func validName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if _, size := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", name[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isLarger reports whether the files of a folder have more than a number of bytes together.
func isLarger(folder string, limit int64) bool {
	var size int64
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not backed up either
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		if size > limit {
			return fs.SkipAll
		}
		return nil
	})
	return size > limit
}

// oneFile writes a file, without its secrets if withoutSecrets is true and f says how.
func (w *writer) oneFile(name, source string, f File, withoutSecrets bool) (FileEntry, error) {
	if f.RemoveSecrets == nil || !withoutSecrets {
		return w.file(name, source)
	}
	content, err := os.ReadFile(source)
	if err != nil {
		return FileEntry{}, err
	}
	content = f.RemoveSecrets(content)
	return w.stream(name, strings.NewReader(string(content)), int64(len(content)))
}

// Series is the backups in a folder, with limits on what is kept.
type Series struct {
	Folder string
	Keep   int   // the number of backups
	Max    int64 // bytes of all of them together; 0 for no limit
}

// Prune removes the oldest full backups of the folder until the others are within the limits. It keeps the newest in any
// case, and all files with other names. It returns the names of the removed files. Those that a clock which was wrong
// dated after now count as the oldest, so that they do not push out the others.
func (s Series) Prune(now time.Time) (removed []string, err error) {
	names, err := s.List()
	if err != nil {
		return nil, err
	}
	present := filepath.Join(s.Folder, namePrefix+now.UTC().Format(nameTime)+nameSuffix)
	if i := slices.IndexFunc(names, func(name string) bool { return name > present }); i > 0 {
		names = slices.Concat(names[i:], names[:i])
	}
	var size int64
	for i, name := range slices.Backward(names) {
		info, err := os.Stat(name)
		if err != nil {
			return removed, fmt.Errorf("remove old backups: %w", err)
		}
		size += info.Size()
		if newest := i == len(names)-1; newest || (len(names)-i <= s.Keep && (s.Max == 0 || size <= s.Max)) {
			continue
		}
		if err := os.Remove(name); err != nil {
			return removed, fmt.Errorf("remove old backups: %w", err)
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// List returns the paths of the full backups in the folder, the oldest first.
func (s Series) List() ([]string, error) {
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var names []string
	for _, e := range entries {
		if at, ok := strings.CutPrefix(e.Name(), namePrefix); ok && e.Type().IsRegular() {
			if _, err := time.Parse(nameTime+nameSuffix, at); err == nil {
				names = append(names, filepath.Join(s.Folder, e.Name()))
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
