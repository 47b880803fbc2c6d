package knowledge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pdfText is what a PDF engine extracts from a file.
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
	// maxBookmarks and maxDepth limit an outline. A larger one is probably cyclic and is not used.
	maxBookmarks = 5000
	maxDepth     = 8
)

// readPDF reads a PDF and cuts it by its outline, else by its pages. With a licence key it uses unipdf, else pdfium.
func readPDF(ctx context.Context, src readRequest, watch watcher) (document, error) {
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

// dividedWord matches a word that is hyphenated at a line end, which pdfium marks.
var dividedWord = regexp.MustCompile(`([\pL\pN'’-]*)[\x02\x{fffe}](?:\r?\n)?([\pL\pN]*)`)

// unwrapHyphens joins words that are hyphenated at line ends, and normalizes line ends. said is the set of words that the
// document has elsewhere (wordsOf).
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

// keepsHyphen reports whether a hyphen at a line end belongs to the word, as in "ready-to-wear": the word has another
// hyphen, the second half begins like a name or a number, or the document has both halves as words but not the joined
// word.
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

// wordsOf returns the words of all pages, without those that are hyphenated at a line end.
func wordsOf(pages []string) map[string]bool {
	said := map[string]bool{}
	for _, page := range pages {
		for _, word := range strings.FieldsFunc(dividedWord.ReplaceAllString(page, " "), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
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

// outlineSections cuts the text of all pages at the entries of the outline: where the title is on the page, else at the beginning of the
// page.
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

// pagesBetween returns where pages begin between two offsets of the whole text. starts are the offsets of all pages.
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

// findTitle finds the lines of a page that contain only a title, possibly after a section number. It returns their offset
// and length; the length is 0 if there are none.
func findTitle(page, title string) (at, size int) {
	wanted := letters(title)
	if wanted == "" {
		return 0, 0
	}
	for line := 0; line < len(page); {
		text := page[line:]
		number := len(text) - len(strings.TrimLeft(text, " \t0123456789.)§"))
		for _, skip := range []int{0, number} {
			if n := matchTitle(text[skip:], wanted); n > 0 {
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

// matchTitle returns the length of the first lines of text if their letters are exactly wanted, else 0.
func matchTitle(text, wanted string) int {
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

// letters returns a title in lower case without spaces and punctuation.
func letters(title string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, title)
}
