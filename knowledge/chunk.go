package knowledge

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/search"
	"multis/store"
)

const (
	chunkSize    = 2000 // characters at most
	chunkOverlap = 200  // characters at most that a chunk repeats of the one before
)

// chunksOf cuts the sections of a document into passages.
func chunksOf(row store.Document, sections []section) []store.Chunk {
	var chunks []store.Chunk
	for _, s := range sections {
		heading := strings.Join(s.Path, search.SectionSeparator)
		line, counted := s.Line, 0
		for _, p := range cutText(s.Text) {
			content := s.Text[p.from:p.to]
			chunk := store.Chunk{
				Key: digest(string(row.Role), row.Origin, strconv.Itoa(len(chunks)), content)[:32],
				Ord: len(chunks), Section: heading, PageFrom: s.pageAt(p.from), PageTo: s.pageAt(p.to - 1),
				Content: content, Words: search.IndexText(row.Name, heading, content), Used: s.Used,
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

// byteRange is a part of a text, as byte offsets.
type byteRange struct{ from, to int }

// cutText divides text into pieces of chunkSize characters at most, at the ends of sentences where that is possible, else
// between words, else anywhere. Every piece begins with a little of the one before and has something new.
func cutText(text string) []byteRange {
	breaks := search.Breaks(text)
	var pieces []byteRange
	start, fresh := 0, 0 // where the piece begins, and where its new text begins
	for fresh < len(text) {
		end := lastBreak(breaks, fresh, advance(text, start, chunkSize))
		if end == 0 && start < fresh {
			start = fresh // too long to repeat anything before it
			end = lastBreak(breaks, fresh, advance(text, start, chunkSize))
		}
		if end == 0 {
			end = lastSpace(text, fresh, advance(text, start, chunkSize))
		}
		if strings.TrimSpace(text[fresh:end]) != "" {
			pieces = append(pieces, trimSpace(text, start, end))
		}
		start = overlap(text, breaks, max(retreat(text, end, chunkOverlap), fresh), end)
		fresh = end
	}
	return pieces
}

// lastBreak is the last break after from and not after to, or 0.
func lastBreak(breaks []int, from, to int) int {
	i, found := slices.BinarySearch(breaks, to)
	if !found {
		i--
	}
	if i < 0 || breaks[i] <= from {
		return 0
	}
	return breaks[i]
}

// lastSpace is the offset behind the last blank between from and to, or to.
func lastSpace(text string, from, to int) int {
	i := strings.LastIndexFunc(text[from:to], unicode.IsSpace)
	if i < 0 {
		return to
	}
	_, size := utf8.DecodeRuneInString(text[from+i:])
	return from + i + size
}

// overlap is where the next piece begins to repeat text[from:end]: at a sentence, else at a word, else not at all.
func overlap(text string, breaks []int, from, end int) int {
	i, _ := slices.BinarySearch(breaks, from)
	if i < len(breaks) && breaks[i] < end {
		return breaks[i]
	}
	if i := strings.IndexFunc(text[from:end], unicode.IsSpace); i >= 0 {
		return from + i
	}
	return end
}

// advance is the offset so many characters after from.
func advance(text string, from, characters int) int {
	for ; characters > 0 && from < len(text); characters-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// retreat is the offset so many characters before to.
func retreat(text string, to, characters int) int {
	for ; characters > 0 && to > 0; characters-- {
		_, size := utf8.DecodeLastRuneInString(text[:to])
		to -= size
	}
	return to
}

func trimSpace(text string, from, to int) byteRange {
	inner := strings.TrimLeftFunc(text[from:to], unicode.IsSpace)
	from = to - len(inner)
	return byteRange{from, from + len(strings.TrimRightFunc(inner, unicode.IsSpace))}
}
