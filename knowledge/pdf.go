package knowledge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pdfText is what a PDF engine gets out of a file.
type pdfText struct {
	pages   []string
	outline []bookmark // in the order of the file
}

// bookmark is an entry of a PDF's outline.
type bookmark struct {
	title string
	level int // from 1
	page  int // from 0
}

const (
	// maxBookmarks and maxDepth bound an outline. One that goes beyond them goes in circles, and is not used.
	maxBookmarks = 5000
	maxDepth     = 8
)

// readPDF reads a PDF: by the sections of its outline, else by its pages. With a licence key for it, unipdf does the work.
func readPDF(ctx context.Context, src source, watch watcher) (document, error) {
	engine := readPdfium
	if src.UnidocKey != "" {
		engine = readUnipdf
	}
	text, err := engine(ctx, src, watch)
	if err != nil {
		return document{}, err
	}
	return pdfDocument(text)
}

func pdfDocument(text pdfText) (document, error) {
	doc := document{Format: formatPDF, Pages: len(text.pages)}
	said := wordsOf(text.pages)
	for i, page := range text.pages {
		text.pages[i] = tableRows(unwrapHyphens(page, said))
		if strings.TrimSpace(page) == "" {
			doc.Blank = append(doc.Blank, i+1)
		}
	}
	switch {
	case doc.Pages == 0:
		return document{}, ErrEmpty
	case len(doc.Blank) == doc.Pages:
		return document{}, ErrScan
	case len(text.outline) == 0:
		doc.Sections = pageSections(text.pages)
	default:
		doc.Sections = outlineSections(text)
	}
	return doc, nil
}

// dividedWord is a word with a hyphen at a line end, which pdfium marks.
var dividedWord = regexp.MustCompile(`([\pL\pN'’-]*)[\x02\x{fffe}](?:\r?\n)?([\pL\pN]*)`)

// unwrapHyphens joins the words that were divided at line ends, and makes plain line ends. said holds the words of the document.
func unwrapHyphens(page string, said map[string]bool) string {
	page = dividedWord.ReplaceAllStringFunc(page, func(divided string) string {
		parts := dividedWord.FindStringSubmatch(divided)
		if keepsHyphen(parts[1], parts[2], said) {
			return parts[1] + "-" + parts[2]
		}
		return parts[1] + parts[2]
	})
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\uffff", "").Replace(page)
}

// keepsHyphen tells whether a hyphen at a line end belongs to the word, as in "ready-to-wear": there is another one before it, the
// second half begins like a name or a number, or the document says both halves as words and never both in one.
func keepsHyphen(first, second string, said map[string]bool) bool {
	if first == "" || second == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(first)
	next, _ := utf8.DecodeRuneInString(second)
	if strings.Contains(first, "-") || unicode.IsDigit(next) || unicode.IsLower(last) && unicode.IsUpper(next) {
		return true
	}
	first, second = strings.ToLower(first), strings.ToLower(second)
	return said[first] && said[second] && !said[first+second]
}

// wordsOf are the words of all pages that are not divided at a line end.
func wordsOf(pages []string) map[string]bool {
	said := map[string]bool{}
	for _, page := range pages {
		for _, word := range strings.FieldsFunc(dividedWord.ReplaceAllString(page, " "), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			said[strings.ToLower(word)] = true
		}
	}
	return said
}

func pageSections(pages []string) []section {
	var sections []section
	for i, text := range pages {
		sections = append(sections, section{Text: text, Pages: []pageMark{{Page: i + 1}}})
	}
	return sections
}

// outlineSections cuts the text of all pages where the entries of the outline point to: at the title where it stands on
// the page, else at the page's beginning.
func outlineSections(text pdfText) []section {
	var all strings.Builder
	starts := make([]int, len(text.pages)+1)
	for i, page := range text.pages {
		starts[i] = all.Len()
		all.WriteString(page)
		all.WriteString("\n\n")
	}
	starts[len(text.pages)] = all.Len()
	whole := all.String()

	marks := slices.Clone(text.outline)
	slices.SortStableFunc(marks, func(a, b bookmark) int { return a.page - b.page })
	var above headings
	var sections []section
	from := 0 // where the text of the open section begins
	closeAt := func(end int) {
		if strings.TrimSpace(whole[from:end]) != "" {
			sections = append(sections, section{Path: above.path, Text: whole[from:end], Pages: pagesBetween(starts, from, end)})
		}
	}
	for _, b := range marks {
		title := heading(b.title)
		if title == "" || b.page < 0 || b.page >= len(text.pages) {
			continue
		}
		begin := max(from, starts[b.page])
		end := begin
		if at, size := findTitle(whole[begin:starts[b.page+1]], title); size > 0 {
			begin, end = begin+at, begin+at+size
		}
		closeAt(begin)
		above.open(b.level, title)
		from = end
	}
	closeAt(len(whole))
	return sections
}

// pagesBetween says where pages begin in the text between two offsets of all pages' text.
func pagesBetween(starts []int, from, to int) []pageMark {
	first, found := slices.BinarySearch(starts, from)
	if !found {
		first--
	}
	marks := []pageMark{{Page: first + 1}}
	for page := first + 1; page < len(starts)-1 && starts[page] < to; page++ {
		marks = append(marks, pageMark{At: starts[page] - from, Page: page + 1})
	}
	return marks
}

// findTitle finds the lines of a page that say a title and nothing else, but for a number before it. Size 0: none do.
func findTitle(page, title string) (at, size int) {
	wanted := letters(title)
	if wanted == "" {
		return 0, 0
	}
	for line := 0; line < len(page); {
		text := page[line:]
		number := len(text) - len(strings.TrimLeft(text, " \t0123456789.)§"))
		for _, skip := range []int{0, number} {
			if n := spells(text[skip:], wanted); n > 0 {
				return line, skip + n
			}
		}
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		line += end + 1
	}
	return 0, 0
}

// spells is the length of the lines that text begins with when their letters are exactly wanted, else 0.
func spells(text, wanted string) int {
	for i, r := range text {
		if wanted == "" {
			if r == '\n' {
				return i + 1
			}
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return 0
			}
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		first, size := utf8.DecodeRuneInString(wanted)
		if unicode.ToLower(r) != first {
			return 0
		}
		wanted = wanted[size:]
	}
	if wanted == "" {
		return len(text)
	}
	return 0
}

// letters is a title without all that may be written in several ways.
func letters(title string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, title)
}
