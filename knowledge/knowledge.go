// Package knowledge is the library of documents: it reads files and web pages, cuts them into passages that are searched and cited, keeps
// watched folders up to date, and checks citations.
package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"multis/internal/fetch"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// Index returns these errors, maybe wrapped, for a file that cannot be indexed. Each is the second half of a sentence that begins with the
// file's name and is shown to the person who sent it.
var (
	ErrUnknownType  = errors.New("I read " + FormatList())
	ErrTooBig       = errors.New("it is too big (at most " + MaxSizeText + " and " + maxChunksText + " passages): send it in parts")
	ErrTooManyPages = errors.New("it has more than " + MaxPagesText + " pages: send it in parts")
	ErrEmpty        = errors.New("there is nothing in it")
	ErrPassword     = errors.New("it is locked with a password: save it without one and send that")
	ErrScan         = errors.New("it has no text layer, only pictures of pages (a scan): run it through text recognition (OCR) and send that")
	ErrGarbled      = errors.New("its text layer is nonsense, because its fonts do not say which letters they show: run it through text recognition (OCR) and send that")
	ErrBroken       = errors.New("it is broken or cut off: open it, save it again and send that")
	ErrZipBomb      = errors.New("it unpacks to far more than it should: it is broken or meant to do harm")
	ErrTooSlow      = errors.New("reading it took longer than 30 seconds, so I stopped: send it in parts")
	ErrUnreadable   = errors.New("the document parser crashed; the file is damaged or malicious")
	ErrLicence      = errors.New("unipdf cannot check its licence key (documents.unidoc_key)")
	ErrRole         = errors.New("no such role")
	ErrLongName     = errors.New("its name or address is longer than 2,000 characters")
)

// sentinels returns the errors that the reader process can send so that errors.Is recognizes them here.
func sentinels() []error {
	return []error{
		ErrUnknownType, ErrTooBig, ErrTooManyPages, ErrEmpty, ErrPassword, ErrScan, ErrGarbled, ErrBroken, ErrZipBomb, ErrTooSlow, ErrUnreadable,
		ErrLicence,
	}
}

// IsPermanent reports whether another attempt at the same file would fail the same way.
func IsPermanent(err error) bool {
	if errors.Is(err, ErrLicence) {
		return false // the server that checks the licence may be reachable later
	}
	final := append(sentinels(), ErrRole, ErrLongName, ErrNoFiles, ErrTooManyFiles, ErrNoFile, ErrFileName)
	return isPermanent(err) || slices.ContainsFunc(final, func(known error) bool { return errors.Is(err, known) })
}

// The limits of a file that is indexed: its size in bytes, its pages, and its passages. A file of only headings has a
// hundred times as many passages as others. The constants with Text in their names are the same limits as text for
// people.
const (
	MaxSize       = 10 << 20
	MaxSizeText   = "10 MB"
	maxPages      = 2000
	MaxPagesText  = "2,000"
	maxChunks     = 20_000
	maxChunksText = "20,000"
)

// maxOrigin is the maximum length of a name or an address, in bytes. It is limited by the database index on origins.
const maxOrigin = 2000

// ReaderVersion must be changed with every change of how files are read or cut, so that they are indexed again.
const ReaderVersion = "13"

// File is a file to index.
type File struct {
	Name   string // as cited. Its ending decides the format where the content does not.
	Origin string // identifies the document: a path or an address. A file replaces what has the same origin. Defaults to Name.
	Type   string // the media type that the server gave; empty if unknown
	Title  string // for customers; empty for the one in the document
	Data   []byte
	Role   policy.Role
	// RoleSetAt is when the role was chosen. If the stored document's role was chosen later, it stays.
	RoleSetAt time.Time
	// FoundInBulk is true if the file was found in a folder or by a pattern, instead of being named. Then a document that is
	// private stays private.
	FoundInBulk bool
	// Progress, unless nil, is called with the number of pages read so far and the number of all pages.
	Progress func(done, all int)

	validator fetch.Validator // of a web page
	// isAllowed, unless nil, says where a web page and its redirects may be.
	isAllowed func(address string) bool
}

// Report is the result of Index.
type Report struct {
	Name   string
	Role   policy.Role
	Chunks int
	Pages  int // 0 if the format has no pages
	// Notes says what of the file is not indexed, such as hidden text, or may be wrong; a sentence each.
	Notes     []string
	Unchanged bool // the same file was indexed before; Pages and Notes are not set
}

// Options are the settings of a Library.
type Options struct {
	// Reader is the command that starts a reader process, which calls Serve. Each file is read in a separate process, so
	// that a file that makes the reader hang, crash or use all memory does no harm. If Reader is empty, files are read in
	// this process, which only recovers from panics.
	Reader []string
	// CacheDir is the folder for the compiled PDF engine. If it is empty, the engine is compiled for each PDF, which takes seconds.
	CacheDir string
	// UnidocKey is a metered licence key of unipdf. With one, PDFs are read with unipdf instead of pdfium.
	UnidocKey string
	// Vectors says that new passages get embeddings. A job (jobs.EmbedArgs) computes them.
	Vectors bool
	// Folder is the documents folder. The path below it is the origin of its files. If it is empty, there is no documents folder.
	Folder string
	// Fetch fetches web pages. Defaults to a new client.
	Fetch *fetch.Client
}

// Library is the library of documents.
type Library struct {
	st      *store.Store
	options Options
}

// New returns the library in st with default options: it reads files in this process.
func New(st *store.Store) *Library { return Open(st, Options{}) }

// Open returns the library in st.
func Open(st *store.Store, o Options) *Library {
	if o.Fetch == nil {
		o.Fetch = fetch.New(fetch.Options{})
	}
	return &Library{st: st, options: o}
}

// DocumentsNamed returns the documents with a name or origin, at most limit of them.
func (l *Library) DocumentsNamed(ctx context.Context, name string, limit int) ([]index.Document, error) {
	return index.DocumentsByName(ctx, l.st.DB(), name, limit)
}

// Remove deletes the document with an origin. It returns store.ErrNotFound when there is none.
func (l *Library) Remove(ctx context.Context, origin string) error {
	err := l.st.InTx(ctx, func(tx store.Tx) error { return index.RemoveDocument(ctx, tx, origin) })
	if err != nil {
		return fmt.Errorf("remove %s: %w", origin, err)
	}
	return nil
}

// Overview is an overview of the documents in the library.
type Overview struct {
	Groups  []index.DocumentGroup // by kind, element and role
	Biggest []index.Document      // by number of chunks
}

// Documents returns an overview of what scope may see, with the given number of the biggest documents.
func (l *Library) Documents(ctx context.Context, scope policy.Scope, biggest int) (Overview, error) {
	groups, err := index.DocumentGroups(ctx, l.st.DB(), scope)
	if err != nil {
		return Overview{}, err
	}
	docs, err := index.BiggestDocuments(ctx, l.st.DB(), scope, biggest)
	if err != nil {
		return Overview{}, err
	}
	return Overview{Groups: groups, Biggest: docs}, nil
}
