package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	utf "golang.org/x/text/encoding/unicode"

	"multis/store"
)

const (
	// maxPages is how many pages of a file are read.
	maxPages = 2000
	// maxText is the most text that is taken out of a file, in bytes. It is more than maxChunks hold.
	maxText = 40 << 20
	// maxHeading is how much of a heading is kept, in bytes.
	maxHeading = 300
)

// source is a file that is to be read, with what its reader has to know. It crosses from process to process.
type source struct {
	Name      string
	Type      string // as the server says that sent it; empty if nobody did
	Data      []byte
	CacheDir  string
	UnidocKey string
}

// watcher is told how the reading of a file goes on.
type watcher interface {
	// ready: everything that takes time before a file can be looked at is done.
	ready()
	// page: so many of all pages are read.
	page(done, all int)
}

// document is a file as it was read.
type document struct {
	Format   string // the id of its Format
	Title    string // as the file itself says; empty if it does not
	Sections []section
	Pages    int   // 0 if the file has none
	Blank    []int // pages, from 1, with nothing on them that can be read
}

// section is the text below one heading, word for word, up to the next heading of any level.
type section struct {
	Path  []string // headings, the outermost first
	Text  string
	Line  int        // where Text begins in the file, from 1; 0 if the file has no lines
	Pages []pageMark // in order; empty if the file has no pages
	Used  store.Uses // of one that another program kept
}

// pageMark says that a page begins, or goes on, at an offset of a section's text.
type pageMark struct{ At, Page int }

// pageAt is the page that an offset is on; 0 if there are none.
func (s section) pageAt(at int) int {
	page := 0
	for _, mark := range s.Pages {
		if mark.At > at {
			break
		}
		page = mark.Page
	}
	return page
}

// headings are those above a place in a document.
type headings struct {
	path   []string
	levels []int
}

// below tells whether a heading of this level would stand below the innermost one.
func (h *headings) below(level int) bool {
	return len(h.levels) > 0 && level > h.levels[len(h.levels)-1]
}

// open goes on to the next heading. The path before it stays as it was for those who hold it.
func (h *headings) open(level int, title string) {
	for len(h.levels) > 0 && !h.below(level) {
		h.levels = h.levels[:len(h.levels)-1]
		h.path = h.path[:len(h.path)-1]
	}
	h.levels = append(h.levels, level)
	h.path = append(slices.Clip(h.path), title)
}

// read tells what a file is and cuts it into sections. What the file holds decides before its name: a PDF called .txt is
// a PDF. A reader that panics has met a broken file.
func read(ctx context.Context, src source, watch watcher) (doc document, err error) {
	defer func() {
		if recover() != nil {
			doc, err = document{}, ErrUnreadable
		}
	}()
	switch {
	case len(src.Data) > MaxSize:
		return document{}, ErrTooBig
	case len(bytes.TrimSpace(src.Data)) == 0:
		return document{}, ErrEmpty
	}
	kind := mimetype.Detect(src.Data)
	isPDF := isFormat(kind, formatPDF)
	if !isPDF {
		watch.ready()
	}
	switch {
	case isPDF:
		doc, err = readPDF(ctx, src, watch)
	case isFormat(kind, formatWord), kind.Is("application/zip") && isNamed(src.Name, formatWord):
		doc, err = readDOCX(src.Data)
	case isText(src.Data, kind):
		doc, err = readText(src, kind.Is("text/html"))
	default:
		err = unknownType(src.Data, kind)
	}
	if err != nil {
		return document{}, err
	}
	return tidy(doc)
}

// isFormat reports whether the content of a file is of a format.
func isFormat(kind *mimetype.MIME, id string) bool {
	f, _ := FormatByID(id)
	return slices.ContainsFunc(f.media, kind.Is)
}

// isNamed reports whether the name of a file stands for a format.
func isNamed(name, id string) bool {
	f, _ := formatByName(name)
	return f.ID == id
}

// isText tells whether a file is for people to read as it is. Some types are text only for programs, and some are taken
// for pictures because of two letters they begin with.
func isText(data []byte, kind *mimetype.MIME) bool {
	if kind.Is("text/rtf") || kind.Is("application/postscript") || kind.Is("image/svg+xml") {
		return false
	}
	if utf8.Valid(data) && bytes.IndexFunc(data, isBinary) < 0 {
		return true
	}
	for ; kind != nil; kind = kind.Parent() {
		if kind.Is("text/plain") {
			return true
		}
	}
	return false
}

// isBinary tells whether no text has this character.
func isBinary(r rune) bool { return r < ' ' && !unicode.IsSpace(r) && r != '\x1b' }

// encryptedPackage is the name, in a file of the kind Word had before .docx, under which a locked .docx is kept.
var encryptedPackage = []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")

func unknownType(data []byte, kind *mimetype.MIME) error {
	if bytes.Contains(data, encryptedPackage) {
		return ErrPassword
	}
	if ending := kind.Extension(); ending != "" {
		return fmt.Errorf("%w; this is a %s file", ErrUnknownType, ending)
	}
	return ErrUnknownType
}

// readText reads what is made of characters. Who sent it may say what it is, else its name does, else what it looks like.
func readText(src source, looksLikeHTML bool) (document, error) {
	data, err := decode(src.Data, src.Type)
	if err != nil {
		return document{}, err
	}
	switch format := textFormat(src.Type, src.Name); {
	case format.ID == formatMarkdown:
		return document{Format: formatMarkdown, Sections: markdown(data)}, nil
	case format.ID == formatCSV:
		return document{Format: formatCSV, Sections: csvRows(data)}, nil
	case format.ID == formatHTML, looksLikeHTML && format.ID != formatText:
		return readHTML(data)
	default:
		return document{Format: formatText, Sections: []section{{Text: string(data), Line: 1}}}, nil
	}
}

// decode makes UTF-8 with plain line ends of a text. What is valid UTF-8 is taken for that, whatever is said about it.
func decode(data []byte, contentType string) ([]byte, error) {
	encoded := encoding.Encoding(nil)
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		encoded = utf.UTF16(utf.LittleEndian, utf.ExpectBOM)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, ErrUnknownType
	case !utf8.Valid(data):
		said, name, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
		switch {
		case certain && name != "utf-8":
			encoded = said
		case mostlyUTF8(data):
			encoded = utf.UTF8
		default:
			encoded = guess(data)
		}
	}
	if encoded != nil {
		decoded, err := encoded.NewDecoder().Bytes(data)
		if err != nil || bytes.IndexByte(decoded, 0) >= 0 || bytes.Count(decoded, []byte("\uFFFD")) > len(decoded)/100 {
			return nil, ErrUnknownType // the guess was wrong
		}
		data = decoded
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// tidy keeps what a database and a terminal can take, and refuses what has no end or no beginning.
func tidy(doc document) (document, error) {
	size := 0
	var kept []section
	for _, s := range doc.Sections {
		for i, title := range s.Path {
			s.Path[i] = heading(title)
		}
		if len(s.Pages) == 0 { // which are marked at places in the text
			s.Text = tableRows(s.Text)
		}
		if s.Text = printableText(s); strings.TrimSpace(s.Text) == "" {
			continue
		}
		if size += len(s.Text); size > maxText {
			return document{}, ErrTooBig
		}
		kept = append(kept, s)
	}
	if len(kept) == 0 {
		return document{}, ErrEmpty
	}
	doc.Sections, doc.Title = kept, heading(doc.Title)
	return doc, nil
}

// printableText is a section's text without control characters. Nothing moves: each makes room for a blank of its length.
func printableText(s section) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			return r
		case r < utf8.RuneSelf:
			return ' '
		default:
			return '\u00a0'
		}
	}, strings.ToValidUTF8(s.Text, "?"))
}

// heading is a title on one line, cut where it is endless.
func heading(title string) string {
	title = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(title[:min(len(title), maxHeading)], ""))
	return strings.Join(strings.Fields(title), " ")
}
