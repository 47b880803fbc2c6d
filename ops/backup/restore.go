package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"multis/jobs"
	"multis/migrations"
	"multis/store"
)

// Report is the result of Verify or Restore.
type Report struct {
	Tables int
	Rows   int64
	// Skipped are the tables of the backup that were left out: they do not exist in this database or version, or are none of multis.
	Skipped []string
	Files   int // number of files in the backup that was verified, or that Restore wrote
}

// restorer fills a database from a backup; see migrations.Rows.
type restorer struct {
	archive *Archive
	dsn     string
	files   []File // say to which paths the files of the backup are written
	report  Report
	filled  []TableEntry
	// check says whether what was restored is compared with the backup.
	check bool
}

// Load fills the tables.
func (r *restorer) Load(ctx context.Context) error {
	err := store.Load(ctx, r.dsn, func(l store.Loader) error {
		if t, lacks := l.Lacking(r.tables()); lacks {
			return damaged(fmt.Errorf("it has not all of %s", t))
		}
		err := r.archive.eachTable(ctx, func(t TableEntry, content io.Reader) error {
			if !l.Has(t.Table) {
				return r.skip(t, l.HasName(t.Table))
			}
			got, err := l.Fill(ctx, t.Table, content)
			if err != nil {
				return err
			}
			if got != t.Contents {
				return fmt.Errorf("%w (%s has %d rows instead of %d)", ErrDamaged, t.Table, got.Rows, t.Rows)
			}
			r.filled = append(r.filled, t)
			r.report.Tables++
			r.report.Rows += got.Rows
			return nil
		})
		if err != nil {
			return err
		}
		for _, s := range r.archive.Manifest.Sequences {
			if err := l.SetSequence(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !r.check {
		return nil
	}
	return r.compare(ctx)
}

// tables returns the tables of the backup.
func (r *restorer) tables() (all []store.Table) {
	for _, t := range r.archive.Manifest.Tables {
		all = append(all, t.Table)
	}
	return all
}

// skip leaves out a table that somebody added to the database of multis, or that can be done without. One of multis with
// columns of somebody else would lose its rows.
func (r *restorer) skip(t TableEntry, isKnown bool) error {
	if isKnown && !t.IsOptional() {
		return fmt.Errorf("the backup has columns of %s that this multis does not know", t.Table)
	}
	if t.Rows > 0 {
		r.report.Skipped = append(r.report.Skipped, t.Name)
	}
	return nil
}

// compare reads every table and compares the checksum of its rows with that of the backup.
func (r *restorer) compare(ctx context.Context) error {
	st, err := store.Open(ctx, r.dsn)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Snapshot(ctx, func(s store.Snapshot) error {
		for _, t := range r.filled {
			got, err := s.Copy(ctx, t.Table, true, io.Discard)
			if err != nil {
				return err
			}
			if got != t.Contents {
				return fmt.Errorf("%s was restored with %d rows, but had %d", t.Table, got.Rows, t.Rows)
			}
		}
		return nil
	})
}

// Finish writes the files, puts everything outgoing on hold and enqueues the question to the owner. The files are written
// while the database still counts as unfinished: if the restore is interrupted, the same command writes the missing ones.
func (r *restorer) Finish(ctx context.Context, tx store.Tx) error {
	written, err := r.archive.RestoreFiles(ctx, r.files)
	if err != nil {
		return err
	}
	r.report.Files = len(written)
	if err := store.HoldRestored(ctx, tx, r.archive.Manifest.CreatedAt); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicRestored})
}

// Verify restores a backup into an empty scratch database and compares each table with the backup.
func Verify(ctx context.Context, a *Archive, scratch string) (Report, error) {
	r := &restorer{archive: a, dsn: scratch, check: true}
	if err := migrations.Restore(ctx, scratch, a.Manifest.Schema, r); err != nil {
		return Report{}, err
	}
	st, err := store.Open(ctx, scratch) // which checks row-level security
	if err != nil {
		return Report{}, err
	}
	st.Close()
	r.report.Files = len(a.Manifest.Files) // Open has compared them
	return r.report, nil
}

// Restore restores the database of a backup into an empty one, and the files that are missing. Everything outgoing is on hold afterwards.
func Restore(ctx context.Context, a *Archive, dsn string, files ...File) (Report, error) {
	r := &restorer{archive: a, dsn: dsn, files: files}
	err := migrations.Restore(ctx, dsn, a.Manifest.Schema, r)
	return r.report, err
}

// RestoreFiles writes the files of a backup to their present paths. An existing file is kept as it is. It returns the paths of the written
// files.
func (a *Archive) RestoreFiles(ctx context.Context, to []File) (written []string, err error) {
	err = a.eachFile(ctx, func(path string, content io.Reader) error {
		for _, f := range to {
			inside, ok := relativePath(f.Name, path)
			if !ok {
				continue
			}
			name, err := f.restore(inside, content)
			if name != "" {
				written = append(written, name)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return written, fmt.Errorf("restore the files: %w", err)
	}
	return written, nil
}

// restore writes a file of the backup to its path, or moves its corrected copy there, and returns the path. If a file
// exists there, it does nothing and returns an empty path.
func (f File) restore(inside string, content io.Reader) (string, error) {
	if f.Corrected == "" {
		return writeMissing(f.Path, inside, content)
	}
	if _, err := os.Lstat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return f.Path, os.Rename(f.Corrected, f.Path)
}

// relativePath returns the path of a file relative to the File with a name; empty if it is that file itself.
func relativePath(name, path string) (inside string, ok bool) {
	if name == path {
		return "", true
	}
	return strings.CutPrefix(path, name+"/")
}

// writeMissing writes a file and returns its path. If the file exists, it does nothing and returns an empty path. inside
// is the path relative to top; it is empty if top is the file itself.
func writeMissing(top, inside string, content io.Reader) (string, error) {
	folder := top
	if inside == "" {
		folder, inside = filepath.Dir(top), filepath.Base(top)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(folder) // so that a symbolic link inside cannot lead outside
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(inside), 0o750); err != nil {
		return "", err
	}
	if _, err := root.Lstat(inside); !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	partial := inside + ".restoring"
	f, err := root.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(partial, inside)
	}
	if err != nil { // the disk is full, for example
		return "", errors.Join(err, root.Remove(partial))
	}
	return filepath.Join(folder, inside), nil
}
