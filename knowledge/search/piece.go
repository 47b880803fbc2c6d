package search

import (
	"cmp"
	"maps"
	"strings"
	"unicode/utf8"

	"multis/internal/language"
)

// piece is a part of a passage that may be quoted.
type piece struct {
	hit         Hit
	rank        int
	units       []unit
	first, last int      // its units
	own         content  // its words
	near        content  // the words of the innermost heading and of what introduces it
	far         content  // the words of the outer headings and of the document's name
	paragraph   content  // the words of its paragraph
	passage     content  // the words of its passage, with the headings
	isSection   bool     // all below a heading
	labelWords  []string // the words of a row's first cell
	score       float64
	coverage    float64 // the share of the question's weight that it has
	about       float64
	answerMatch answerMatch
}

func (p *piece) text() string { return p.hit.Text[p.units[p.first].from:p.units[p.last].to] }

func (p *piece) leadText() string {
	lead := p.units[p.first].lead
	if lead < 0 {
		return ""
	}
	return p.hit.Text[p.units[lead].from:p.units[lead].to]
}

// quote returns the piece as a quote: with the rest of its paragraph if that is short, and with what follows a line that
// only introduces it.
func (p *piece) quote() Quote {
	first, last := p.first, p.last
	length := func(first, last int) int {
		return utf8.RuneCountInString(p.hit.Text[p.units[first].from:p.units[last].to])
	}
	if !p.units[first].isRow && !p.isSection {
		start, end := first, last
		for start > 0 && p.units[start-1].block == p.units[first].block {
			start--
		}
		for end+1 < len(p.units) && p.units[end+1].block == p.units[last].block {
			end++
		}
		if length(start, end) <= shortBlock {
			first, last = start, end
		}
		for p.units[last].introduces && last+1 < len(p.units) {
			last++
		}
	}
	if !p.units[first].isRow {
		first, last = withLimits(p.hit.Text, p.units, first, last)
	}
	from := p.units[first].from
	return newQuote(p.hit, from, p.hit.Text[from:p.units[last].to], p.leadText(), p.coverage)
}

// splitHits are passages split into pieces.
type splitHits struct {
	pieces     []piece
	everything []content    // the words of each passage with its headings
	spoken     []dictionary // of the language of the passages
}

// split splits passages into pieces.
func split(hits []Hit) (s splitHits) {
	var all []token
	for _, h := range hits {
		all = append(all, tokens(h.Text)...)
	}
	s.spoken = dictionariesOf(all)
	for rank, h := range hits {
		dictionaries := dictionariesOf(tokens(h.Text))
		if len(dictionaries) > 2 {
			dictionaries = s.spoken
		}
		r := newReader(dictionaries)
		h.Language = cmp.Or(h.Language, language.DetectPart(h.Text, language.Unknown))
		list := units(h.Text)
		heading := newContent(r, h.Heading())
		outer := newContent(r, strings.TrimSuffix(h.Section, h.Heading()))
		s.everything = append(s.everything, newContent(r, h.Section+"\n"+h.Text+"\n"+h.learnedWords(h.Text)))
		contents := make([]content, len(list))
		for i, u := range list {
			contents[i] = newContent(r, withoutLandmarks(h.Text[u.from:u.to]))
		}
		for i, u := range list {
			if u.isHeader {
				continue
			}
			p := piece{
				hit:   h,
				rank:  rank,
				units: list,
				first: i,
				last:  i,
				own:   contents[i],
				near:  heading,
				far:   outer,

				passage: s.everything[rank],
			}
			if u.lead >= 0 {
				p.near = joinContents(heading, contents[u.lead])
			}
			if label := blockLabel(h.Text, list, i); label != "" {
				p.near = joinContents(p.near, newContent(r, label))
			}
			if learned := h.learnedWords(h.Text[u.from:u.to]); learned != "" {
				p.near = joinContents(p.near, newContent(r, learned))
			}
			if u.isRow {
				p.labelWords = rowLabel(r, h.Text[u.from:u.to])
			}
			p.paragraph = paragraphAround(list, contents, i)
			if u.introduces && i+1 == len(list) {
				continue
			}
			s.pieces = append(s.pieces, p)
		}
		if last := sectionEnd(h, list); last > 0 {
			s.pieces = append(s.pieces, piece{
				hit:       h,
				rank:      rank,
				units:     list,
				last:      last,
				own:       heading,
				near:      newContent(r, h.learnedWords(h.Text[list[0].from:list[last].to])),
				far:       outer,
				passage:   s.everything[rank],
				isSection: true,
			})
		}
	}
	return s
}

// rowLabel returns the words of a row's first cell.
func rowLabel(r *reader, row string) (words []string) {
	cell, _, _ := strings.Cut(row, ";")
	if _, value, isNamed := strings.Cut(cell, ": "); isNamed {
		cell = value
	}
	for _, t := range tokens(cell) {
		if !r.isSide(t.text) {
			words = append(words, t.text)
		}
	}
	return words
}

// paragraphAround returns the words that stand beside a unit in its paragraph.
func paragraphAround(list []unit, contents []content, at int) content {
	var paragraph []content
	for i := range list {
		if i != at && list[i].block == list[at].block && max(i-at, at-i) <= 2 && !list[at].isRow {
			paragraph = append(paragraph, contents[i])
		}
	}
	return joinContents(paragraph...)
}

// sectionEnd returns the last unit of a short section, or as much of it as may be quoted; 0 if it is no section.
func sectionEnd(h Hit, list []unit) (last int) {
	if h.Section == "" {
		return 0
	}
	for last+1 < len(list) && utf8.RuneCountInString(h.Text[list[0].from:list[last+1].to]) <= shortSection {
		last++
	}
	return last
}

// maxLabel is the number of words up to which the beginning of a paragraph may be its title.
const maxLabel = 6

// blockLabel returns the title that the paragraph of a unit begins with, if the unit is not the first one: a sentence of few
// words, or what stands before a colon.
func blockLabel(text string, list []unit, at int) string {
	first := at
	for first > 0 && list[first-1].block == list[at].block {
		first--
	}
	if first == at || list[at].isRow {
		return ""
	}
	label := text[list[first].from:list[first].to]
	if before, _, found := strings.Cut(label, ":"); found {
		label = before
	}
	if len(tokens(label)) > maxLabel {
		return ""
	}
	return label
}

// joinContents returns the words of several texts.
func joinContents(list ...content) content {
	joined := emptyContent()
	for _, c := range list {
		for w := range c.words {
			joined.words[w] = true
		}
		for w := range c.concepts {
			joined.concepts[w] = true
		}
		maps.Copy(joined.side, c.side)
		maps.Copy(joined.joined, c.joined)
		joined.days |= c.days
		joined.months |= c.months
		joined.numbers = append(joined.numbers, c.numbers...)
		joined.hasLimit = joined.hasLimit || c.hasLimit
	}
	return joined
}
