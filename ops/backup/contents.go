package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"multis/store"
)

// checkContents reads the whole backup, sets a.Manifest, and returns ErrDamaged if the entries differ from the manifest.
// Open calls it before anything is restored. The seal alone finds accidental damage only, because whoever changes a
// backup can seal it again.
func (a *Archive) checkContents(ctx context.Context) error {
	var c contents
	if err := a.each(ctx, c.read); err != nil {
		return err
	}
	if c.manifest == nil {
		return fmt.Errorf("%w: it has no %s", ErrNoBackup, manifestName)
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(c.manifest, &version); err != nil {
		return damaged(fmt.Errorf("%s: %w", manifestName, err))
	}
	if version.Format != format {
		return fmt.Errorf("its form is of version %d, and this multis reads version %d: restore it with the multis that made it", version.Format,
			format)
	}
	if err := json.Unmarshal(c.manifest, &a.Manifest); err != nil {
		return damaged(fmt.Errorf("%s: %w", manifestName, err))
	}
	if wrong := c.compare(a.Manifest); wrong != "" {
		return fmt.Errorf("%w (%s is not as %s says)", ErrDamaged, wrong, manifestName)
	}
	return nil
}

// contents is what the entries of a backup hold.
type contents struct {
	files    []FileEntry
	tables   []foundTable
	manifest []byte
	wrong    string // the first entry that is where no backup has one; empty for none
}

// foundTable is what the parts of a table hold.
type foundTable struct {
	dir string
	sum *contentSum
}

// maxEntries is the maximum number of files of a backup, each of which takes more than a hundred bytes of its manifest.
const maxEntries = maxManifest / 100

var errTooMany = errors.New("it has too many entries")

// read reads one entry.
func (c *contents) read(name string, r io.Reader) error {
	file, isFile := strings.CutPrefix(name, filesDir)
	switch {
	case len(c.files)+len(c.tables) > maxEntries:
		return damaged(errTooMany)
	case c.manifest != nil: // which is the last entry
	case name == manifestName:
		text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
		switch {
		case err != nil:
			return damaged(err)
		case len(text) > maxManifest:
			return damaged(errTooMany)
		}
		c.manifest = text
		return nil
	case isFile && len(c.tables) == 0:
		sum := newContentSum()
		if _, err := io.Copy(sum, r); err != nil {
			return damaged(err)
		}
		c.files = append(c.files, FileEntry{Path: file, Size: sum.bytes, SHA256: sum.hex()})
		return nil
	case strings.HasPrefix(name, tablesDir):
		dir := path.Dir(name)
		if last := len(c.tables) - 1; last < 0 || c.tables[last].dir != dir {
			c.tables = append(c.tables, foundTable{dir, newContentSum()})
		}
		if _, err := io.Copy(c.tables[len(c.tables)-1].sum, r); err != nil {
			return damaged(err)
		}
		return nil
	}
	if c.wrong == "" {
		c.wrong = name
	}
	return nil
}

// compare returns the name of the first thing that differs from what a manifest says, and empty if nothing does.
func (c *contents) compare(m Manifest) (wrong string) {
	if c.wrong != "" {
		return c.wrong
	}
	seen := map[string]bool{}
	for i, f := range c.files {
		if i >= len(m.Files) || m.Files[i] != f || seen[f.Path] || !fs.ValidPath(f.Path) {
			return f.Path
		}
		seen[f.Path] = true
	}
	if more := m.Files[len(c.files):]; len(more) > 0 {
		return more[0].Path
	}
	found := c.tables
	for _, t := range m.Tables {
		dir, got := tableDir(t.Table), newContentSum() // an empty table has no parts
		if len(found) > 0 && found[0].dir == dir {
			got, found = found[0].sum, found[1:]
		}
		if t.Contents != got.contents() || seen[dir] {
			return dir
		}
		seen[dir] = true
	}
	if len(found) > 0 {
		return found[0].dir
	}
	return ""
}

// contentSum counts and sums up what is written to it.
type contentSum struct {
	hash.Hash

	bytes, lines int64
}

func newContentSum() *contentSum { return &contentSum{Hash: sha256.New()} }

func (s *contentSum) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	s.lines += int64(bytes.Count(p, []byte{'\n'}))
	return s.Hash.Write(p)
}

func (s *contentSum) hex() string { return hex.EncodeToString(s.Sum(nil)) }

// contents returns what a table holds, each of whose rows is a line in the format of COPY.
func (s *contentSum) contents() store.Contents {
	return store.Contents{Rows: s.lines, Bytes: s.bytes, SHA256: s.hex()}
}
