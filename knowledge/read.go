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

	"multis/store/index"
)

const (
	// maxText is the maximum size of the text of a file, in bytes. It is more than maxChunks passages have.
	maxText = 40 << 20
	// maxHeading is the length to which headings are cut, in bytes.
	maxHeading = 300
)

// readRequest is a file for the reader, with its settings. It is sent to the reader process.
type readRequest struct {
	Name      string
	Type      string // the media type that the server gave; empty if unknown
	Data      []byte
	CacheDir  string
	UnidocKey string
}

// watcher observes the reading of a file.
type watcher interface {
	// ready is called when the reader has started and begins to read the file.
	ready()
	// pageRead is called after each page, with the number of pages read so far and the number of all pages.
	pageRead(done, all int)
}

// document is the content of a file.
type document struct {
	Format   string // the id of its Format
	Title    string // the title in the file's metadata; empty if none
	Sections []section
	Pages    int      // 0 if the format has no pages
	Notes    []string // what of the file is not indexed or may be wrong, and why; a sentence each
}

// section is the text below one heading, word for word, up to the next heading of any level.
type section struct {
	Path  []string // headings, the outermost first
	Text  string
	Line  int         // where Text begins in the file, from 1; 0 if the file has no lines
	Pages []pageMark  // in order; empty if the file has no pages
	Used  index.Usage // of an imported passage
}

// pageMark says that a page begins, or continues, at an offset of a section's text.
type pageMark struct{ At, Page int }

// pageAt returns the page of an offset; 0 if there are no pages.
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

// headings are the headings above a place in a document.
type headings struct {
	path   []string
	levels []int
}

// below reports whether a heading of this level is below the innermost one.
func (h *headings) below(level int) bool {
	return len(h.levels) > 0 && level > h.levels[len(h.levels)-1]
}

// open adds the next heading. It does not change a path that was returned before.
func (h *headings) open(level int, title string) {
	for len(h.levels) > 0 && !h.below(level) {
		h.levels = h.levels[:len(h.levels)-1]
		h.path = h.path[:len(h.path)-1]
	}
	h.levels = append(h.levels, level)
	h.path = append(slices.Clip(h.path), title)
}

// read detects the format of a file and cuts it into sections. The content counts more than the name: a PDF called .txt
// is a PDF. If a reader panics, the file is reported as broken.
func read(ctx context.Context, src readRequest, watch watcher) (doc document, err error) {
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
	isPDF := isFormat(kind, formatPDF) && !namesPDF(src.Data, src.Name)
	if !isPDF {
		watch.ready()
	}
	switch {
	case isPDF:
		doc, err = readPDF(ctx, src, watch)
	case isFormat(kind, formatWord), kind.Is("application/zip") && isNamed(src.Name, formatWord):
		doc, err = readDOCX(src.Data)
	case containerOf(src.Data, src.Name) != "":
		err = fmt.Errorf("%w; this is %s: send the text or the file in it", ErrUnknownType, containerOf(src.Data, src.Name))
	case isText(src.Data, kind):
		doc, err = readText(src, kind.Is("text/html"))
	default:
		err = unknownType(src.Data, kind)
	}
	if err != nil {
		return document{}, err
	}
	return sanitize(doc)
}

// pdfMark is how a PDF begins. Some programs write other bytes before it.
var pdfMark = []byte("%PDF-")

// namesPDF reports whether a file that has the mark of a PDF only mentions it, as a text about PDFs does: the text neither begins with the
// mark, nor ends as a PDF, nor is it named so.
func namesPDF(data []byte, name string) bool {
	tail := data[max(len(data)-1024, 0):]
	return isPlain(data) && !bytes.HasPrefix(bytes.TrimSpace(data), pdfMark) && !bytes.Contains(tail, []byte("startxref")) &&
		!isNamed(name, formatPDF)
}

// isFormat reports whether the content of a file is of a format.
func isFormat(kind *mimetype.MIME, id string) bool {
	f, _ := FormatByID(id)
	return slices.ContainsFunc(f.media, kind.Is)
}

// isNamed reports whether a file's name has the ending of a format.
func isNamed(name, id string) bool {
	f, _ := formatByName(name)
	return f.ID == id
}

// isText reports whether a file is plain text for people. It excludes text formats for programs, and includes texts that
// are detected as pictures because of their first two letters.
func isText(data []byte, kind *mimetype.MIME) bool {
	if kind.Is("text/rtf") || kind.Is("application/postscript") || kind.Is("image/svg+xml") {
		return false
	}
	if isPlain(data) {
		return true
	}
	for ; kind != nil; kind = kind.Parent() {
		if kind.Is("text/plain") {
			return true
		}
	}
	return false
}

// isPlain reports whether a file has nothing but characters of text.
func isPlain(data []byte) bool { return utf8.Valid(data) && bytes.IndexFunc(data, isBinary) < 0 }

// isBinary reports whether a character does not occur in text.
func isBinary(r rune) bool { return r < ' ' && !unicode.IsSpace(r) && r != '\x1b' }

// encryptedPackage is the name, in UTF-16, of the stream that contains a .docx with a password. Such a file has the
// format that Word used before .docx.
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

// readText reads a text file. Its media type decides the format, else its name, else its content.
func readText(src readRequest, looksLikeHTML bool) (document, error) {
	data, err := decode(src.Data, src.Type)
	if err != nil {
		return document{}, err
	}
	switch format := textFormat(src.Type, src.Name); {
	case format.ID == formatMarkdown:
		return document{Format: formatMarkdown, Sections: markdown(data)}, nil
	case format.ID == formatCSV:
		rows, notes := csvRows(data)
		return document{Format: formatCSV, Sections: rows, Notes: notes}, nil
	case format.ID == formatHTML, looksLikeHTML && format.ID != formatText:
		return readHTML(data)
	default:
		return document{Format: formatText, Sections: []section{{Text: string(data), Line: 1}}}, nil
	}
}

// decode converts a text to UTF-8 with \n as line ends. Valid UTF-8 is taken as such, whatever contentType says.
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
			encoded = guessEncoding(data)
		}
	}
	if encoded != nil {
		decoded, err := encoded.NewDecoder().Bytes(data)
		if err != nil || bytes.IndexByte(decoded, 0) >= 0 || bytes.Count(decoded, []byte("\uFFFD")) > len(decoded)/100 {
			return nil, ErrUnknownType // the declared or guessed encoding is wrong
		}
		data = decoded
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// sanitize removes characters that the database and terminals do not accept, and returns an error for a document that is too big or empty.
func sanitize(doc document) (document, error) {
	size := 0
	var kept []section
	for _, s := range doc.Sections {
		for i, title := range s.Path {
			s.Path[i] = heading(title)
		}
		if len(s.Pages) == 0 { // page marks are offsets in the text, which must not change
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
		return document{}, emptyError(doc.Notes)
	}
	doc.Sections, doc.Title = kept, heading(doc.Title)
	return doc, nil
}

// emptyError returns ErrEmpty with what was left out.
func emptyError(notes []string) error {
	if len(notes) == 0 {
		return ErrEmpty
	}
	return fmt.Errorf("%w that a reader sees. %s", ErrEmpty, strings.TrimSuffix(strings.Join(notes, " "), "."))
}

// printableText returns a section's text with control characters replaced by spaces of the same length, so that offsets stay valid.
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

// heading returns a title on one line, cut to maxHeading.
func heading(title string) string {
	title = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(title[:min(len(title), maxHeading)], ""))
	return strings.Join(strings.Fields(title), " ")
}
