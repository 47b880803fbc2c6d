package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/language"
	"multis/store"
)

// MinSupport is the share of what a question is about that must stand in a quote for the quote to be an answer.
const MinSupport = 0.6

const (
	quotedHits   = 10  // hits that are looked through for a quote
	windowUnits  = 3   // sentences of one paragraph that are weightedCell together
	shortBlock   = 300 // a paragraph of so many characters is quoted whole
	shortSection = 400 // so much of a section is quoted when its heading is what was asked for
)

// Quote is a piece of a passage, word for word.
type Quote struct {
	Hit      Hit
	Text     string // stands in Hit.Text as it is
	Lead     string // what introduces it there: the head of its table, the line before its list; empty if nothing does
	LineFrom int    // 0 if the source has no lines
	LineTo   int
	Coverage float64 // the share of what the question is about that stands in the quote, its lead and its headings
}

// Answer finds the quote that answers the question without a model. It reports false when none is good enough: what the
// question is about must stand in one quote and its headings by at least MinSupport, its most telling word among it, and
// a question for a price, a time, a number or a place needs one in the quote.
func (s *Searcher) Answer(ctx context.Context, r Result) (Quote, bool, error) {
	var likely []Hit
	for _, h := range r.Hits[:min(len(r.Hits), quotedHits)] {
		if h.Coverage >= MinSupport {
			likely = append(likely, h)
		}
	}
	if len(likely) == 0 {
		return Quote{}, false, nil
	}
	found, err := s.quoteCandidates(ctx, r, likely)
	if err != nil {
		return Quote{}, false, err
	}
	found = slices.DeleteFunc(found, func(c candidate) bool {
		return c.coverage < MinSupport || !c.telling || c.fits == unfit
	})
	if len(found) == 0 {
		return Quote{}, false, nil
	}
	return best(found).quote(), true, nil
}

// BestSentences quotes what says most about the question in one hit, however little that is.
func (s *Searcher) BestSentences(ctx context.Context, r Result, h Hit) (Quote, error) {
	found, err := s.quoteCandidates(ctx, r, []Hit{h})
	if err != nil {
		return Quote{}, err
	}
	if len(found) == 0 {
		return Quote{Hit: h, Text: h.Text, LineFrom: h.LineFrom, LineTo: h.LineTo}, nil
	}
	return best(found).quote(), nil
}

// candidate is a piece of a hit that may be quoted.
type candidate struct {
	hit        Hit
	rank       int // of the hit
	from, to   int // in the hit's text
	text, lead string
	coverage   float64 // with headings and lead
	own        float64 // without
	titled     float64 // in the innermost heading
	telling    bool    // the question's most telling word is there
	fits       fitness // whether it holds the sort of thing that is asked for
	pairs      int     // how many words stand beside each other in the question and here or in the heading
	units      int
	place      int // of the first word that is asked for
}

func best(found []candidate) candidate {
	return slices.MinFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.coverage, a.coverage), cmp.Compare(b.fits, a.fits), cmp.Compare(b.pairs, a.pairs),
			cmp.Compare(b.own, a.own), cmp.Compare(b.titled, a.titled), cmp.Compare(a.units, b.units),
			cmp.Compare(a.place, b.place), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.rank, b.rank), cmp.Compare(a.from, b.from))
	})
}

func (c candidate) quote() Quote {
	q := Quote{Hit: c.hit, Text: c.text, Lead: c.lead, Coverage: c.coverage}
	if c.hit.LineFrom > 0 {
		q.LineFrom = c.hit.LineFrom + strings.Count(c.hit.Text[:c.from], "\n")
		q.LineTo = q.LineFrom + strings.Count(c.text, "\n")
	}
	return q
}

// candidates lists what can be quoted from hits. One question to the database gives the stems of all of it.
func (s *Searcher) quoteCandidates(ctx context.Context, r Result, hits []Hit) ([]candidate, error) {
	var list store.TextsIn
	cut := make([][]unit, len(hits))
	for i, h := range hits {
		cut[i] = units(h.Text)
		of := cmp.Or(h.Language, language.OrOf(h.Text, language.Unknown))
		list.Texts = append(list.Texts, IndexText(h.Title, h.Section, ""), IndexText("", h.Heading(), ""))
		for _, u := range cut[i] {
			list.Texts = append(list.Texts, strings.Join(words(landmark.ReplaceAllString(h.Text[u.from:u.to], " "), readsEnglish(of)), " "))
		}
		list.Languages = append(list.Languages, slices.Repeat([]language.Language{of}, 2+len(cut[i]))...)
	}
	lexemes, err := store.Lexemes(ctx, s.st.DB(), list)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for i, h := range hits {
		n := 2 + len(cut[i])
		p := page{hit: h, rank: i, units: cut[i], head: lexemes[0], title: lexemes[1], own: lexemes[2:n], asked: r}
		found = append(found, p.candidates()...)
		lexemes = lexemes[n:]
	}
	return found, nil
}

// page is a hit cut into units, with the lexemes of its headings and of each unit.
type page struct {
	hit   Hit
	rank  int
	units []unit
	head  []string // of the document's name and all headings
	title []string // of the innermost heading
	own   [][]string
	asked Result
}

func (p page) candidates() []candidate {
	var found []candidate
	if len(p.units) == 0 {
		return nil
	}
	if c := p.weigh(0, 0, nil); c.coverage >= MinSupport {
		found = append(found, p.section(c))
	}
	for first := range p.units {
		if p.units[first].heads {
			continue
		}
		if p.units[first].row {
			if c, ok := p.row(first); ok {
				found = append(found, c)
			}
			continue
		}
		for last := first; last < min(first+windowUnits, len(p.units)) && p.units[last].block == p.units[first].block; last++ {
			c := p.weigh(first, last, slices.Concat(p.own[first:last+1]...))
			if c.own > 0 {
				if c, ok := p.widen(c, first, last); ok {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// row weighs a row of a table, which is quoted by itself. Rows that say the same about the question are quoted together where they are
// few. False: another row says more, or the question only names columns of a long table.
func (p page) row(at int) (candidate, bool) {
	c := p.weigh(at, at, p.own[at])
	first, last := at, at
	for first > 0 && p.isTable(first-1, at) {
		first--
	}
	for last+1 < len(p.units) && p.isTable(last+1, at) {
		last++
	}
	from, to, same := at, at, 1
	for i := first; i <= last; i++ {
		more, less := p.saysMore(i, at), p.saysMore(at, i)
		switch {
		case i == at || less:
		case more:
			return c, false
		default:
			from, to, same = min(from, i), max(to, i), same+1
		}
	}
	short := to-from+1 == same && p.length(from, to) <= shortSection
	if all := last > first && same == last-first+1; all && !short {
		return c, false
	}
	if !short {
		from, to = at, at
	}
	return p.quoted(c, from, to), c.own > 0
}

// isTable reports whether a unit is a row of the table of another one.
func (p page) isTable(i, of int) bool {
	return p.units[i].row && !p.units[i].heads && p.units[i].lead == p.units[of].lead
}

// saysMore reports whether a row holds a word of the question that another one does not.
func (p page) saysMore(row, other int) bool {
	return slices.ContainsFunc(p.asked.Terms, func(t Term) bool {
		return t.weight != filler && slices.Contains(p.own[row], t.Lexeme) && !slices.Contains(p.own[other], t.Lexeme)
	})
}

// weigh judges the units first to last, which have the given lexemes of their own.
func (p page) weigh(first, last int, own []string) candidate {
	c := candidate{hit: p.hit, rank: p.rank, units: last - first + 1}
	around := p.head
	if len(own) > 0 && p.units[first].lead >= 0 {
		lead := p.units[first].lead
		c.lead = p.hit.Text[p.units[lead].from:p.units[lead].to]
		around = slices.Concat(around, p.own[lead])
	}
	all := slices.Concat(around, own)
	in := func(list []string) func(int) bool {
		return func(t int) bool { return slices.Contains(list, p.asked.Terms[t].Lexeme) }
	}
	c.own = coverage(p.asked.Terms, p.asked.chunks, in(own))
	c.titled = coverage(p.asked.Terms, p.asked.chunks, in(p.title))
	c.coverage = coverage(p.asked.Terms, p.asked.chunks, in(all))
	c.telling = p.asked.telling(in(all))
	if len(own) > 0 {
		said := p.hit.Text[p.units[first].from:p.units[last].to]
		c.pairs, c.place = p.asked.pairs(said), p.asked.place(said)
	}
	c.pairs = max(c.pairs, p.asked.pairs(c.lead), p.asked.pairs(innermost(p.hit.Section)))
	return c
}

// telling tells whether has says yes to the most telling word of the question, or to one of them if several tell the same,
// and to all its numbers. A question of general words and numbers has none.
func (r Result) telling(has func(term int) bool) bool {
	most, there := 0.0, false
	has = inAnyLanguage(r.Terms, has)
	for i, t := range r.Terms {
		if isNumber(t.Lexeme) && !has(i) {
			return false
		}
		if s := t.support(r.chunks); t.weight == specific && !isNumber(t.Lexeme) && s >= most {
			there = has(i) || there && s == most
			most = s
		}
	}
	return there
}

func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// pairs counts the neighbouring words of the question, one of them at least specific, that are neighbours in text.
func (r Result) pairs(text string) int {
	asked := slices.DeleteFunc(slices.Clone(r.words), isDeterminer)
	words := slices.DeleteFunc(Words(text), isDeterminer)
	n := 0
	for i := range len(asked) - 1 {
		if !r.specific(asked[i]) && !r.specific(asked[i+1]) {
			continue
		}
		for j := range len(words) - 1 {
			if asked[i] == words[j] && asked[i+1] == words[j+1] {
				n++
				break
			}
		}
	}
	return n
}

func isDeterminer(word string) bool {
	switch word {
	case "a", "an", "the", "my", "your", "our", "any", "some", "this", "that":
		return true
	}
	return false
}

// place is how many words of text stand before the first that the question asks for.
func (r Result) place(text string) int {
	words := Words(text)
	i := slices.IndexFunc(words, func(w string) bool {
		return slices.ContainsFunc(r.Terms, func(t Term) bool { return t.weight == specific && strings.HasPrefix(w, t.Lexeme) })
	})
	if i < 0 {
		return len(words)
	}
	return i
}

func (r Result) specific(word string) bool {
	return slices.ContainsFunc(r.Terms, func(t Term) bool { return t.weight == specific && slices.Contains(t.words, word) })
}

// section is the quote when the headings are what was asked for: the text begins below them.
func (p page) section(c candidate) candidate {
	last := 0
	for last+1 < len(p.units) && p.length(0, last+1) <= shortSection {
		last++
	}
	return p.quoted(c, 0, last)
}

// widen takes in the whole of a short paragraph, and the answer that follows a question. It reports false for a question
// that nothing follows.
func (p page) widen(c candidate, first, last int) (candidate, bool) {
	start, end := first, last
	for start > 0 && p.units[start-1].block == p.units[first].block {
		start--
	}
	for end+1 < len(p.units) && p.units[end+1].block == p.units[last].block {
		end++
	}
	if p.length(start, end) <= shortBlock {
		first, last = start, end
	}
	said := last
	for p.units[last].introduces || last > said && p.continuesAfter(said+1, last) {
		if last+1 == len(p.units) {
			break
		}
		last++
	}
	return p.quoted(c, first, last), !p.units[last].introduces
}

// continuesAfter tells whether the answer that begins with the unit first should go on behind the unit last.
func (p page) continuesAfter(first, last int) bool {
	return last+1 < len(p.units) && p.units[last+1].block == p.units[last].block && !p.units[last+1].introduces && p.length(first, last+1) <= shortBlock
}

func (p page) length(first, last int) int {
	return utf8.RuneCountInString(p.hit.Text[p.units[first].from:p.units[last].to])
}

func (p page) quoted(c candidate, first, last int) candidate {
	c.from, c.to = p.units[first].from, p.units[last].to
	c.text = p.hit.Text[c.from:c.to]
	c.fits = fits(p.asked.words, c.lead+" "+c.text)
	return c
}

// Heading is the innermost heading above the hit; empty if there is none.
func (h Hit) Heading() string { return innermost(h.Section) }

func innermost(section string) string {
	if i := strings.LastIndex(section, SectionSeparator); i >= 0 {
		return section[i+len(SectionSeparator):]
	}
	return section
}
