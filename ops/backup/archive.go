package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	"multis/internal/plainfile"
	"multis/migrations"
	"multis/store"
)

// A backup is a .tar.gz file that any program can read. It ends with a seal: a second, empty gzip member whose comment is
// the checksum of all bytes before it.
const (
	manifestName = "manifest.json" // the last entry
	tablesDir    = "tables/"       // then schema.table/000001 and so on: a table is stored in parts, because its size is not known in advance
	filesDir     = "files/"
	partSize     = 4 << 20
	// maxManifest is the maximum size of a manifest that is read.
	maxManifest = 64 << 20
)

// ErrDamaged is returned for a file that is not a complete, unchanged backup.
var ErrDamaged = errors.New("the backup is damaged: it was cut off or changed since it was made")

// ErrNoBackup is returned for a file that multis did not make as a backup.
var ErrNoBackup = errors.New("this is not a backup of multis")

// Manifest describes what is in a backup.
type Manifest struct {
	Format         int                `json:"format"`
	CreatedAt      time.Time          `json:"created_at"`
	Program        string             `json:"program"` // the version of multis
	Schema         migrations.Version `json:"schema"`
	WithoutSecrets bool               `json:"without_secrets"`
	Tables         []TableEntry       `json:"tables"`
	Sequences      []store.Sequence   `json:"sequences"`
	Files          []FileEntry        `json:"files"`
	// Omitted lists what belongs to the installation but is not in the backup, each with the reason.
	Omitted []string `json:"omitted,omitempty"`
}

// format is the version of the backup format.
const format = 1

// TableEntry is a table of a backup.
type TableEntry struct {
	store.Table
	store.Contents
}

// FileEntry is a file of a backup.
type FileEntry struct {
	Path   string `json:"path"` // with slashes; begins with File.Name
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Rows returns the number of rows in all tables.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// sealComment begins the comment of the seal.
const sealComment = "sha256 "

// seal returns the last bytes of a backup: an empty gzip member whose comment is the checksum of all bytes before it. sum is that checksum.
func seal(sum []byte) []byte {
	head := []byte{0x1f, 0x8b, 8, 1 << 4, 0, 0, 0, 0, 0, 0xff} // a comment follows
	empty := []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0}              // no data, its checksum and its size
	return bytes.Join([][]byte{head, []byte(sealComment + hex.EncodeToString(sum) + "\x00"), empty}, nil)
}

// checkSeal returns ErrDamaged if the seal of a file does not match its content. It leaves the file at its beginning.
func checkSeal(ctx context.Context, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	sum := sha256.New()
	end := make([]byte, len(seal(sum.Sum(nil))))
	size := info.Size() - int64(len(end))
	if size > 0 {
		if _, err := f.ReadAt(end, size); err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
	}
	if !beginsAsBackup(f) && !bytes.Contains(end, []byte(sealComment)) {
		return ErrNoBackup
	}
	if size < 0 {
		return ErrDamaged
	}
	if _, err := io.Copy(sum, cancellable{ctx, io.NewSectionReader(f, 0, size)}); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	if !bytes.Equal(end, seal(sum.Sum(nil))) {
		return ErrDamaged
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// beginsAsBackup reports whether a file may be a backup, as far as its beginning tells: it is empty, or compressed as
// one, and its first entry, if it can be read, is one of a backup.
func beginsAsBackup(f *os.File) bool {
	const head = 64 << 10
	magic := []byte{0x1f, 0x8b} // of gzip
	begin := make([]byte, len(magic))
	n, _ := f.ReadAt(begin, 0) // of an empty file nothing is read
	if !bytes.Equal(begin[:n], magic[:n]) {
		return false
	}
	unzipped, err := gzip.NewReader(io.NewSectionReader(f, 0, head))
	if err != nil {
		return true
	}
	first, err := tar.NewReader(unzipped).Next()
	return err != nil || first.Name == manifestName || strings.HasPrefix(first.Name, tablesDir) || strings.HasPrefix(first.Name, filesDir)
}

// writer writes a backup. It buffers at most partSize bytes.
type writer struct {
	out  io.Writer
	sum  hash.Hash
	gzip *gzip.Writer
	tar  *tar.Writer
	at   time.Time
	part []byte
}

func newWriter(out io.Writer, at time.Time) *writer {
	w := &writer{out: out, sum: sha256.New(), at: at, part: make([]byte, 0, partSize)}
	w.gzip, _ = gzip.NewWriterLevel(io.MultiWriter(out, w.sum), gzip.BestSpeed) // the level is valid
	w.tar = tar.NewWriter(w.gzip)
	return w
}

func (w *writer) entry(name string, size int64) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg,
		Name:     name,
		Size:     size,
		Mode:     0o600,
		ModTime:  w.at,
		Format:   tar.FormatPAX,
	})
}

// partWriter writes a table in parts, because its size is not known in advance.
type partWriter struct {
	w    *writer
	name string
	n    int
}

func (p *partWriter) Write(data []byte) (int, error) {
	written := len(data)
	for len(data) > 0 {
		n := min(len(data), cap(p.w.part)-len(p.w.part))
		p.w.part = append(p.w.part, data[:n]...)
		if data = data[n:]; len(p.w.part) == cap(p.w.part) {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

// flush writes the buffered bytes as a part.
func (p *partWriter) flush() error {
	if len(p.w.part) == 0 {
		return nil
	}
	p.n++
	if err := p.w.entry(fmt.Sprintf("%s/%06d", p.name, p.n), int64(len(p.w.part))); err != nil {
		return err
	}
	_, err := p.w.tar.Write(p.w.part)
	p.w.part = p.w.part[:0]
	return err
}

// table returns a writer for the rows of a table. The caller must call flush after the last row.
func (w *writer) table(t store.Table) *partWriter {
	return &partWriter{w: w, name: tableDir(t)}
}

func tableDir(t store.Table) string { return tablesDir + t.Schema + "." + t.Name }

// file adds the file source to the backup, under a path.
func (w *writer) file(path, source string) (FileEntry, error) {
	f, info, err := plainfile.Open(source)
	if err != nil {
		return FileEntry{}, err
	}
	defer f.Close()
	return w.stream(path, f, info.Size())
}

// stream adds size bytes of r to the backup, as a file.
func (w *writer) stream(path string, r io.Reader, size int64) (FileEntry, error) {
	if err := w.entry(filesDir+path, size); err != nil {
		return FileEntry{}, err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(w.tar, sum), r, size); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s became shorter while it was read: %w", path, errChanged)
		}
		return FileEntry{}, err
	}
	return FileEntry{Path: path, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// errChanged is returned for a file that changed while it was read.
var errChanged = errors.New("make the backup again")

// close writes the manifest and the seal.
func (w *writer) close(m Manifest) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if len(text) > maxManifest { // it could not be restored
		return fmt.Errorf("there are %d files, which is more than a backup can list: keep some of them elsewhere", len(m.Files))
	}
	if err := w.entry(manifestName, int64(len(text))); err != nil {
		return err
	}
	if _, err := w.tar.Write(text); err != nil {
		return err
	}
	if err := errors.Join(w.tar.Close(), w.gzip.Close()); err != nil {
		return err
	}
	_, err = w.out.Write(seal(w.sum.Sum(nil)))
	return err
}

// Archive is an opened backup that is complete and unchanged.
type Archive struct {
	Manifest Manifest
	// Size is the size of the file.
	Size int64

	file *os.File
}

// Open opens a backup and checks that it is complete and unchanged.
func Open(ctx context.Context, path string) (*Archive, error) {
	f, info, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	a := &Archive{file: f, Size: info.Size()}
	if err = checkSeal(ctx, f); err == nil {
		err = a.checkContents(ctx)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// entryIterator iterates over the entries of a backup.
type entryIterator struct {
	unzipped io.Reader
	tar      *tar.Reader
	name     string // of the entry that is being read
}

// cancellable is a reader that fails once ctx is done, because reading a large backup takes long.
type cancellable struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to get one
	io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// rewind returns an iterator that starts before the first entry.
func (a *Archive) rewind(ctx context.Context) (*entryIterator, error) {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(cancellable{ctx, a.file}, 1<<20))
	if err != nil {
		return nil, damaged(err)
	}
	return &entryIterator{unzipped: unzipped, tar: tar.NewReader(unzipped)}, nil
}

// next advances to the next entry. It returns io.EOF after the last one, if nothing follows it.
func (e *entryIterator) next() error {
	e.name = ""
	header, err := e.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		if n, err := io.ReadFull(e.unzipped, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w (something follows its last entry)", ErrDamaged)
		}
		return io.EOF
	case err != nil:
		return damaged(err)
	case !isPlain(header):
		return fmt.Errorf("%w (%s is not a plain file)", ErrDamaged, header.Name)
	}
	e.name = header.Name
	return nil
}

// damaged returns ErrDamaged with the reason why a backup cannot be read, unless that is an interruption.
func damaged(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

// isPlain reports whether an entry is a file that is stored as it is: no link and no device, and not sparse, so that a
// small backup cannot hold an endless file.
func isPlain(header *tar.Header) bool {
	for record := range header.PAXRecords {
		if strings.HasPrefix(record, "GNU.sparse.") {
			return false
		}
	}
	return header.Typeflag == tar.TypeReg
}

// each calls do with each entry, from the first on.
func (a *Archive) each(ctx context.Context, do func(name string, r io.Reader) error) error {
	e, err := a.rewind(ctx)
	for err == nil {
		if err = e.next(); err == nil {
			err = do(e.name, e.tar)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// tableReader joins the parts of a table.
type tableReader struct {
	e   *entryIterator
	dir string
}

func (r tableReader) Read(p []byte) (int, error) {
	for strings.HasPrefix(r.e.name, r.dir) {
		n, err := r.e.tar.Read(p)
		if n > 0 {
			return n, nil // the next read returns an error again
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err := r.e.next(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// eachTable calls do with the rows of each table, in the order of the manifest.
func (a *Archive) eachTable(ctx context.Context, do func(t TableEntry, r io.Reader) error) error {
	e, err := a.rewind(ctx)
	for err == nil && !strings.HasPrefix(e.name, tablesDir) && e.name != manifestName {
		err = e.next()
	}
	for _, t := range a.Manifest.Tables {
		if err != nil {
			return err
		}
		rows := tableReader{e, tableDir(t.Table) + "/"}
		if err = do(t, rows); err == nil {
			_, err = io.Copy(io.Discard, rows)
		}
	}
	return err
}

// eachFile calls do with each file.
func (a *Archive) eachFile(ctx context.Context, do func(path string, r io.Reader) error) error {
	return a.each(ctx, func(name string, r io.Reader) error {
		path, ok := strings.CutPrefix(name, filesDir)
		if !ok {
			return nil
		}
		return do(path, r)
	})
}
