// Package knowledge turns files into passages that can be searched and cited, and checks citations.
package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"multis/policy"
	"multis/search"
	"multis/store"
)

// Why a file was not indexed. Index returns them wrapped with what is to be done; tell the person who sent the file.
var (
	ErrNotText = errors.New("not a text that can be read")
	ErrTooBig  = errors.New("too big: 10 MB and 20,000 passages at most")
	ErrEmpty   = errors.New("nothing in it")
	ErrRole    = errors.New("no such role")
)

// MaxSize is the size of the biggest file that is indexed, in bytes.
const MaxSize = 10 << 20

// maxChunks is the most passages of one file. A file of nothing but headings would have a hundred times as many.
const maxChunks = 20_000

// cutVersion changes when the same file would be cut or normalised otherwise, so that indexing it again is not skipped.
const cutVersion = "1"

// File is what is to be indexed.
type File struct {
	Name   string // as cited; its ending tells what it is
	Origin string // what it replaces when indexed again: a path or an address. Defaults to Name.
	Data   []byte
	Role   policy.Role
}

// Report says what Index did.
type Report struct {
	Name      string
	Role      policy.Role
	Chunks    int
	Unchanged bool // nothing was done, because the same file was there
}

// Library holds the documents.
type Library struct {
	st *store.Store
}

// New returns the library in st.
func New(st *store.Store) *Library { return &Library{st: st} }

// Index reads a file, cuts it into passages and puts them in place of what was there from the same origin, all or nothing.
// A file that was there in another role moves to the new one.
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
	scope, err := scopeOf(f.Role)
	if err != nil {
		return Report{}, err
	}
	element, sections, err := read(f.Name, f.Data)
	if err != nil {
		return Report{}, err
	}
	chunks := chunksOf(f, sections)
	switch {
	case len(chunks) == 0:
		return Report{}, ErrEmpty
	case len(chunks) > maxChunks:
		return Report{}, ErrTooBig
	}
	doc := store.Document{
		Origin: f.Origin, Name: f.Name, Role: f.Role, Kind: store.KindKnowledge, Element: element,
		Size: int64(len(f.Data)), Hash: digest(cutVersion, f.Name, string(f.Data)),
	}
	report := Report{Name: f.Name, Role: f.Role, Chunks: len(chunks)}
	err = l.st.AsOwner(ctx, scope, func(tx store.Tx) error {
		changed, err := store.ReplaceDocument(ctx, tx, doc, chunks)
		report.Unchanged = !changed
		return err
	})
	return report, err
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
		heading := strings.Join(s.path, search.SectionSeparator)
		first, counted := s.line, 0
		for _, p := range cut(s.text) {
			content := s.text[p.from:p.to]
			first += strings.Count(s.text[counted:p.from], "\n")
			counted = p.from
			chunks = append(chunks, store.Chunk{
				Key: digest(string(f.Role), f.Origin, strconv.Itoa(len(chunks)), content)[:32],
				Ord: len(chunks), Section: heading, LineFrom: first, LineTo: first + strings.Count(content, "\n"),
				Content: content, Words: search.IndexText(f.Name, heading, content),
			})
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
