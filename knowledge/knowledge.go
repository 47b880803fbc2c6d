// Package knowledge turns files into passages that can be searched and cited, and checks citations.
package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/fetch"
	"multis/jobs"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// Why a file was not indexed. Index returns them, sometimes with more behind them; each goes on a sentence about the file
// that begins with its name, for the person who sent it.
var (
	ErrUnknownType  = errors.New("I read " + FormatList())
	ErrTooBig       = errors.New("it is too big (" + MaxSizeText + " and 20,000 passages at most): send it in parts")
	ErrTooManyPages = errors.New("it has more than 2,000 pages: send it in parts")
	ErrEmpty        = errors.New("there is nothing in it")
	ErrPassword     = errors.New("it is locked with a password: save it without one and send that")
	ErrScan         = errors.New("it has no text layer, only pictures of pages (a scan): run it through text recognition (OCR) and send that")
	ErrBroken       = errors.New("it is broken or cut off: open it, save it again and send that")
	ErrBomb         = errors.New("it unpacks to far more than it should: it is broken or meant to do harm")
	ErrTooSlow      = errors.New("reading it took longer than 30 seconds, so I stopped: send it in parts")
	ErrUnreadable   = errors.New("my reader broke down on it, so the file is broken or meant to do harm")
	ErrLicence      = errors.New("unipdf cannot check its licence key (documents.unidoc_key)")
	ErrRole         = errors.New("no such role")
	ErrLongName     = errors.New("its name or address is longer than 2,000 characters")
)

// sentinels are the errors that keep what they are when they cross from the reading process to this one.
func sentinels() []error {
	return []error{
		ErrUnknownType, ErrTooBig, ErrTooManyPages, ErrEmpty, ErrPassword, ErrScan, ErrBroken, ErrBomb, ErrTooSlow, ErrUnreadable, ErrLicence,
	}
}

// IsFinal tells whether another attempt at the same file would fail the same way.
func IsFinal(err error) bool {
	if errors.Is(err, ErrLicence) {
		return false // the server that checks it may be back later
	}
	final := append(sentinels(), ErrRole, ErrLongName, ErrNoFiles, ErrTooManyFiles, ErrNoFile, ErrFileName)
	return goneForGood(err) || slices.ContainsFunc(final, func(known error) bool { return errors.Is(err, known) })
}

// MaxSize is the size of the biggest file that is indexed, in bytes. MaxSizeText is the same for people.
const (
	MaxSize     = 10 << 20
	MaxSizeText = "10 MB"
)

// maxChunks is the most passages of one file. A file of nothing but headings would have a hundred times as many.
const maxChunks = 20_000

// maxOrigin is how long a name or an address may be, in bytes: the database keeps an index of them, which takes no longer ones.
const maxOrigin = 2000

// ReaderVersion changes when the same file would be cut or normalised otherwise, so that indexing it again is not skipped.
const ReaderVersion = "6"

// File is what is to be indexed.
type File struct {
	Name   string // as cited; its ending tells what it is where the content does not
	Origin string // what it replaces when indexed again: a path or an address. Defaults to Name.
	Type   string // the media type, as the server says that sent it; empty if nobody did
	Data   []byte
	Role   policy.Role
	// Said is when somebody said that it has this role. A document of which another role was said later keeps that one.
	Said time.Time
	// Swept says that nobody named the file: it was found in a folder or by a pattern. What was made private then stays so.
	Swept bool
	// Progress, unless nil, is told how many pages of a file are read.
	Progress func(done, all int)

	validator fetch.Validator // of a page
}

// Report says what Index did.
type Report struct {
	Name      string
	Role      policy.Role
	Chunks    int
	Pages     int   // 0 if the file has none
	Blank     []int // pages, from 1, without a text layer; there is nothing of them in the library
	Unchanged bool  // nothing was done, because the same file was there; then Pages and Blank are not known
}

// Options say how files are read.
type Options struct {
	// Reader is the command of a process of its own, in which each file is read: a program that calls Serve. A file that
	// makes its reader hang, crash or eat memory ends that process and nothing else. Empty: files are read in this process,
	// which only catches panics.
	Reader []string
	// CacheDir is where the compiled PDF engine is kept. Empty: it is compiled for each PDF, which takes seconds.
	CacheDir string
	// UnidocKey is a metered licence key of unipdf, which then reads PDFs instead of pdfium.
	UnidocKey string
	// Vectors says that passages get vectors, by a job that is asked for whenever there are new ones.
	Vectors bool
	// Folder is the documents folder, whose files are named by path. Empty: there is none.
	Folder string
	// Fetch gets pages. Defaults to a client of its own.
	Fetch *fetch.Client
}

// Library holds the documents.
type Library struct {
	st      *store.Store
	options Options
}

// New returns the library in st, which reads files in this process.
func New(st *store.Store) *Library { return Open(st, Options{}) }

// Open returns the library in st.
func Open(st *store.Store, o Options) *Library {
	if o.Fetch == nil {
		o.Fetch = fetch.New(fetch.Options{})
	}
	return &Library{st: st, options: o}
}

// Index reads a file, cuts it into passages and puts them in place of what was there from the same origin, all or nothing.
// A file that was there in another role moves to the new one, unless that role was said later, or it is private and was not named by
// itself; the report names its role.
func (l *Library) Index(ctx context.Context, f File) (Report, error) {
	report, err := l.index(ctx, f)
	if err != nil {
		return Report{}, fmt.Errorf("index %s: %w", f.Name, err)
	}
	return report, nil
}

func (l *Library) index(ctx context.Context, f File) (Report, error) {
	if f.Origin == "" {
		f.Origin = f.Name
	}
	if len(f.Origin) > maxOrigin {
		return Report{}, ErrLongName
	}
	old, err := store.DocumentByOrigin(ctx, l.st.DB(), f.Origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Report{}, err
	}
	doc := store.Document{
		Origin: f.Origin, Name: f.Name, Role: f.Role, Kind: store.KindKnowledge, Size: int64(len(f.Data)),
		Validator: versioned(f.validator), Hash: l.hash(f), RoleSaid: f.Said, Swept: f.Swept,
	}
	if old.RoleSaid.After(f.Said) || old.ID != 0 && old.KeepsRole(doc) {
		doc.Role, doc.RoleSaid = old.Role, old.RoleSaid
	}
	if old.ID == 0 {
		copied, err := l.isPrivateCopy(ctx, f)
		if err != nil {
			return Report{}, err
		}
		if copied {
			doc.Role = policy.Admin
		}
	}
	f.Role, f.Said = doc.Role, doc.RoleSaid
	scope, err := scopeOf(f.Role)
	if err != nil {
		return Report{}, err
	}
	if old.Role == doc.Role && old.Hash == doc.Hash {
		return Report{Name: old.Name, Role: f.Role, Chunks: old.Chunks, Unchanged: true}, store.SayRole(ctx, l.st.DB(), doc)
	}
	content, err := l.read(ctx, f)
	if err != nil && old.ID != 0 && IsFinal(err) {
		err = fmt.Errorf("%w; what was indexed of it before stays as it was", err)
	}
	if err != nil {
		return Report{}, err
	}
	doc.Element = content.Format
	report, err := l.write(ctx, scope, doc, chunksOf(f, content.Sections))
	if errors.Is(err, store.ErrRoleKept) {
		return l.index(ctx, f) // while it was read
	}
	report.Pages, report.Blank = content.Pages, content.Blank
	return report, err
}

// hash tells whether a file has to be read anew: it is the same for the same content under the same name, read in the same way.
func (l *Library) hash(f File) string {
	return digest(ReaderVersion, strconv.FormatBool(l.options.UnidocKey != ""), f.Name, f.Type, string(f.Data))
}

// isPrivateCopy reports whether a file that nobody named has the content of a private document: one that was renamed or moved into a
// public folder does not become public by that.
func (l *Library) isPrivateCopy(ctx context.Context, f File) (bool, error) {
	if !f.Swept || f.Role == policy.Admin {
		return false, nil
	}
	private, err := store.PrivateDocumentsOfSize(ctx, l.st.DB(), int64(len(f.Data)))
	return slices.ContainsFunc(private, func(d store.Document) bool {
		other := f
		other.Name = d.Name
		return d.Hash == l.hash(other)
	}), err
}

// write puts a document in place of what was there from its origin.
func (l *Library) write(ctx context.Context, scope policy.Scope, doc store.Document, chunks []store.Chunk) (Report, error) {
	switch {
	case len(chunks) == 0:
		return Report{}, ErrEmpty
	case len(chunks) > maxChunks:
		return Report{}, ErrTooBig
	}
	report := Report{Name: doc.Name, Role: doc.Role, Chunks: len(chunks)}
	err := l.st.AsOwner(ctx, scope, func(tx store.Tx) error {
		changed, err := store.AddDocument(ctx, tx, doc, chunks)
		report.Unchanged = !changed
		if err != nil || !changed {
			return err
		}
		if l.options.Vectors {
			if err := jobs.Enqueue(ctx, tx, jobs.EmbedArgs{}); err != nil {
				return err
			}
		}
		return jobs.Emit(ctx, tx, store.HookIndex, doc.Origin)
	})
	return report, err
}

// read reads a file where the options say.
func (l *Library) read(ctx context.Context, f File) (document, error) {
	src := source{Name: f.Name, Type: f.Type, Data: f.Data, CacheDir: l.options.CacheDir, UnidocKey: l.options.UnidocKey}
	if len(l.options.Reader) == 0 {
		return read(ctx, src, reporter{progress: f.Progress})
	}
	return readApart(ctx, l.options.Reader, src, f.Progress)
}

// reporter passes progress on.
type reporter struct{ progress func(done, all int) }

func (reporter) ready() {}

func (r reporter) page(done, all int) {
	if r.progress != nil {
		r.progress(done, all)
	}
}

// Named lists the files and pages that go by a name, or come from there.
func (l *Library) Named(ctx context.Context, name string, limit int) ([]store.Document, error) {
	return store.DocumentsByName(ctx, l.st.DB(), name, limit)
}

// Remove deletes the document of an origin. store.ErrNotFound when there is none.
func (l *Library) Remove(ctx context.Context, origin string) error {
	err := l.st.InTx(ctx, func(tx store.Tx) error { return store.RemoveDocument(ctx, tx, origin) })
	if err != nil {
		return fmt.Errorf("remove %s: %w", origin, err)
	}
	return nil
}

// Overview is what the library holds.
type Overview struct {
	Groups  []store.DocumentGroup // by kind, element and role
	Biggest []store.Document      // by number of chunks
}

// Documents says what the library holds of what scope may see, with the given number of documents by name.
func (l *Library) Documents(ctx context.Context, scope policy.Scope, biggest int) (Overview, error) {
	groups, err := store.DocumentGroups(ctx, l.st.DB(), scope)
	if err != nil {
		return Overview{}, err
	}
	docs, err := store.BiggestDocuments(ctx, l.st.DB(), scope, biggest)
	if err != nil {
		return Overview{}, err
	}
	return Overview{Groups: groups, Biggest: docs}, nil
}

// scopeOf is the scope to write data of a role in.
func scopeOf(role policy.Role) (policy.Scope, error) {
	if !role.Valid() {
		return policy.Scope{}, fmt.Errorf("%w: %q", ErrRole, role)
	}
	if role == policy.Public || role == policy.Admin {
		return policy.OwnerScope(), nil
	}
	chat, err := strconv.ParseInt(strings.TrimPrefix(string(role), "user:"), 10, 64)
	if err != nil {
		return policy.Scope{}, fmt.Errorf("%w: %q", ErrRole, role)
	}
	return policy.OwnerScope(chat), nil
}

func chunksOf(f File, sections []section) []store.Chunk {
	var chunks []store.Chunk
	for _, s := range sections {
		heading := strings.Join(s.Path, search.SectionSeparator)
		line, counted := s.Line, 0
		for _, p := range cut(s.Text) {
			content := s.Text[p.from:p.to]
			chunk := store.Chunk{
				Key: digest(string(f.Role), f.Origin, strconv.Itoa(len(chunks)), content)[:32],
				Ord: len(chunks), Section: heading, PageFrom: s.pageAt(p.from), PageTo: s.pageAt(p.to - 1),
				Content: content, Words: search.IndexText(f.Name, heading, content), Used: s.Used,
			}
			if s.Line > 0 {
				line += strings.Count(s.Text[counted:p.from], "\n")
				counted = p.from
				chunk.LineFrom, chunk.LineTo = line, line+strings.Count(content, "\n")
			}
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// digest is a hash of several strings, told apart.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + "\x1f" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}
