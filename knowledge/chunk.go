package knowledge

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/knowledge/search"
	"multis/store/index"
)

const (
	chunkSize    = 2000 // maximum, in characters
	chunkOverlap = 200  // maximum length of the text that a chunk repeats from the one before, in characters
)

// chunksOf cuts the sections of a document into passages.
func chunksOf(row index.Document, sections []section) []index.Chunk {
	var chunks []index.Chunk
	for _, s := range sections {
		heading := strings.Join(s.Path, search.SectionSeparator)
		line, counted := s.Line, 0
		for _, p := range cutText(s.Text) {
			content := s.Text[p.from:p.to]
			chunk := index.Chunk{
				Key: digest(string(row.Role), row.Origin, strconv.Itoa(len(chunks)), content)[:32],
				Ord: len(chunks), Section: heading, PageFrom: s.pageAt(p.from), PageTo: s.pageAt(p.to - 1),
				Content: content, SearchText: search.IndexText(row.Name, heading, content), Usage: s.Used,
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

// byteRange is a part of a text between two byte offsets.
type byteRange struct{ from, to int }

// cutText divides a text into parts of at most chunkSize characters: at the ends of sentences if possible, else between words, else
// anywhere. Each part repeats a little of the one before and has new text.
func cutText(text string) []byteRange {
	breaks := search.BreakOffsets(text)
	var pieces []byteRange
	start, fresh := 0, 0 // where the part begins, and where the text begins that no earlier part has
	for fresh < len(text) {
		end := lastBreak(breaks, fresh, advance(text, start, chunkSize))
		if end == 0 && start < fresh {
			start = fresh // there is no room for an overlap
			end = lastBreak(breaks, fresh, advance(text, start, chunkSize))
		}
		if end == 0 {
			end = lastSpace(text, fresh, advance(text, start, chunkSize))
		}
		if strings.TrimSpace(text[fresh:end]) != "" {
			pieces = append(pieces, trimSpace(text, start, end))
		}
		start = overlapStart(text, breaks, max(retreat(text, end, chunkOverlap), fresh), end)
		fresh = end
	}
	return pieces
}

// lastBreak returns the last break after from and not after to, or 0.
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

// lastSpace returns the offset after the last space between from and to, or to.
func lastSpace(text string, from, to int) int {
	i := strings.LastIndexFunc(text[from:to], unicode.IsSpace)
	if i < 0 {
		return to
	}
	_, size := utf8.DecodeRuneInString(text[from+i:])
	return from + i + size
}

// overlapStart returns the offset at which the next part begins, so that it repeats the end of the part before: the first
// sentence start in text[from:end], else the first space there, else end.
func overlapStart(text string, breaks []int, from, end int) int {
	i, _ := slices.BinarySearch(breaks, from)
	if i < len(breaks) && breaks[i] < end {
		return breaks[i]
	}
	if i := strings.IndexFunc(text[from:end], unicode.IsSpace); i >= 0 {
		return from + i
	}
	return end
}

// advance returns the offset a number of characters after from.
func advance(text string, from, characters int) int {
	for ; characters > 0 && from < len(text); characters-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// retreat returns the offset a number of characters before to.
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
