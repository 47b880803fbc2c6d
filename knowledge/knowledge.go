// Package knowledge turns files into passages that can be searched and cited, and checks citations.
package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"multis/fetch"
	"multis/policy"
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
	return isPermanent(err) || slices.ContainsFunc(final, func(known error) bool { return errors.Is(err, known) })
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
