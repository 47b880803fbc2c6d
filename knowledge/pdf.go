package knowledge

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"multis/internal/text"
)

// pdfText is what a PDF engine extracts from a file.
type pdfText struct {
	pages   []string
	outline []bookmark // in the order of the file
	scans   []int      // pages, from 1, that are pictures with the text of a text recognition
	unseen  unseen
	// isUnchecked says that the file has too many objects to look for text that cannot be seen in all of them.
	isUnchecked bool
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
	read, err := engine(ctx, src, watch)
	if err != nil {
		return document{}, err
	}
	return pdfDocument(read)
}

func pdfDocument(file pdfText) (document, error) {
	doc := document{Format: formatPDF, Pages: len(file.pages)}
	said := wordsOf(file.pages)
	var blank, garbled []int
	for i, page := range file.pages {
		page = unwrapHyphens(page, said)
		switch {
		case strings.TrimSpace(page) == "":
			blank = append(blank, i+1)
		case isGarbled(page):
			garbled = append(garbled, i+1)
			page = ""
		}
		file.pages[i] = tableRows(page)
	}
	switch {
	case doc.Pages == 0:
		return document{}, ErrEmpty
	case len(blank) == doc.Pages && file.unseen.lines > 0:
		return document{}, emptyError(file.unseen.notes())
	case len(blank) == doc.Pages:
		return document{}, ErrScan
	case len(blank)+len(garbled) == doc.Pages:
		return document{}, ErrGarbled
	case len(file.outline) == 0:
		doc.Sections = pageSections(file.pages)
	default:
		doc.Sections = outlineSections(file)
	}
	doc.Notes = slices.Concat(pdfNotes(file, blank, garbled), file.unseen.notes())
	return doc, nil
}

// pdfNotes says which pages are not read, or may be read wrongly.
func pdfNotes(read pdfText, blank, garbled []int) []string {
	var notes []string
	if n := len(blank); n > 0 {
		notes = append(notes, pageList(blank)+text.Plural(n, " has", " have")+" no text layer (a scan, or nothing on it).")
	}
	if len(garbled) > 0 {
		notes = append(notes, "The text layer of "+strings.ToLower(pageList(garbled))+" is not readable, so I left it out.")
	}
	if n := len(read.scans); n > 0 {
		notes = append(notes, pageList(read.scans)+text.Plural(n, " is a scan", " are scans")+
			"; the words come from text recognition (OCR), which makes mistakes.")
	}
	if read.isUnchecked {
		notes = append(notes, "It has too many parts to look for hidden text in all of them.")
	}
	return notes
}

// pageList names pages, which are in order: "Pages 1, 3-5 and 9".
func pageList(pages []int) string { return numberList("Page", pages) }

// numberList names pages or lines, which are in order.
func numberList(noun string, numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	if more := len(parts) - maxNumbers; more > 0 {
		parts = append(parts[:maxNumbers], text.Count(more, "more part"))
	}
	return text.Plural(len(numbers), noun+" ", noun+"s ") + text.List(parts)
}

// maxNumbers is how many pages or lines, or runs of them, a note names.
const maxNumbers = 20

const (
	// maxUnknown is the maximum share of characters without a meaning in a text that people can read.
	maxUnknown = 0.2
	// minVowels is the minimum share of vowels among the Latin letters of such a text. All languages have more than twice of that.
	minVowels = 0.17
	// minLetters is how many letters are enough to tell.
	minLetters = 100
)

// isGarbled reports whether the text layer of a page is nonsense, because the font does not say which letters its signs are.
func isGarbled(page string) bool {
	all := 0
	unknown := 0
	latin := 0
	vowels := 0
	for _, r := range norm.NFD.String(page) {
		if unicode.IsSpace(r) || unicode.Is(unicode.Mn, r) {
			continue
		}
		all++
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Co, r) || !unicode.IsGraphic(r):
			unknown++
		case unicode.Is(unicode.Latin, r):
			latin++
			if strings.ContainsRune("aeiouyæœøı", unicode.ToLower(r)) {
				vowels++
			}
		}
	}
	if float64(unknown) > maxUnknown*float64(all) {
		return true
	}
	return latin >= minLetters && 2*latin > all && float64(vowels) < minVowels*float64(latin)
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
