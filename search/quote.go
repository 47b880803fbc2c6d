package search

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/store"
)

// MinSupport is the share of what a question is about that must stand in a quote for the quote to be an answer.
const MinSupport = 0.6

const (
	quotedHits     = 10  // hits that are looked through for a quote
	windowUnits    = 3   // sentences of one paragraph that are weighed together
	shortBlock     = 300 // a paragraph of so many characters is quoted whole
	shortSection   = 400 // so much of a section is quoted when its heading is what was asked for
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
// question is about must stand in one quote and its headings by at least MinSupport, with a word that is more than
// general, and a question for a price or a time needs an amount or a time in the quote.
func (s *Searcher) Answer(ctx context.Context, r Result) (Quote, bool, error) {
	var likely []Hit
	for _, h := range r.Hits[:min(len(r.Hits), quotedHits)] {
		if h.Coverage >= MinSupport {
			likely = append(likely, h)
		}
	}
	found, err := s.candidates(ctx, r, likely)
	if err != nil {
		return Quote{}, false, err
	}
	found = slices.DeleteFunc(found, func(c candidate) bool {
		return c.coverage < MinSupport || !c.specific || !answersWhat(r.words, c.lead+" "+c.text)
	})
	if len(found) == 0 {
		return Quote{}, false, nil
	}
	return best(found).quote(), true, nil
}

// BestSentences quotes what says most about the question in one hit, however little that is.
func (s *Searcher) BestSentences(ctx context.Context, r Result, h Hit) (Quote, error) {
	found, err := s.candidates(ctx, r, []Hit{h})
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
	specific   bool    // a specific word matches
	units      int
}

func best(found []candidate) candidate {
	return slices.MinFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.coverage, a.coverage), cmp.Compare(b.own, a.own), cmp.Compare(a.units, b.units),
			cmp.Compare(a.rank, b.rank), cmp.Compare(a.from, b.from))
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
func (s *Searcher) candidates(ctx context.Context, r Result, hits []Hit) ([]candidate, error) {
	var texts []string
	cut := make([][]unit, len(hits))
	for i, h := range hits {
		cut[i] = units(h.Text)
		texts = append(texts, IndexText(h.Title, h.Section, ""))
		for _, u := range cut[i] {
			texts = append(texts, strings.Join(Words(h.Text[u.from:u.to]), " "))
		}
	}
	lexemes, err := store.Lexemes(ctx, s.st.DB(), texts)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for i, h := range hits {
		n := 1 + len(cut[i])
		p := page{hit: h, rank: i, units: cut[i], head: lexemes[0], own: lexemes[1:n], terms: r.Terms, chunks: r.chunks}
		found = append(found, p.candidates()...)
		lexemes = lexemes[n:]
	}
	return found, nil
}

// page is a hit cut into units, with the lexemes of its headings and of each unit.
type page struct {
	hit    Hit
	rank   int
	units  []unit
	head   []string
	own    [][]string
	terms  []Term
	chunks int64
}

func (p page) candidates() []candidate {
	var found []candidate
	if c := p.weigh(0, 0, nil); c.coverage >= MinSupport && len(p.units) > 0 {
		found = append(found, p.section(c))
	}
	for first := range p.units {
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

// weigh judges the units first to last, which have the given lexemes of their own.
func (p page) weigh(first, last int, own []string) candidate {
	c := candidate{hit: p.hit, rank: p.rank, units: last - first + 1}
	around := p.head
	if len(own) > 0 && p.units[first].lead >= 0 {
		lead := p.units[first].lead
		c.lead = p.hit.Text[p.units[lead].from:p.units[lead].to]
		around = slices.Concat(around, p.own[lead])
	}
	in := func(list []string) func(int) bool {
		return func(t int) bool { return slices.Contains(list, p.terms[t].Lexeme) }
	}
	all := slices.Concat(around, own)
	c.own = coverage(p.terms, p.chunks, in(own))
	c.coverage = coverage(p.terms, p.chunks, in(all))
	c.specific = slices.ContainsFunc(p.terms, func(t Term) bool { return t.weight == specific && slices.Contains(all, t.Lexeme) })
	return c
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
	question := func(i int) bool { return IsQuestion(strings.TrimRight(p.hit.Text[p.units[i].from:p.units[i].to], closers)) }
	if !question(last) {
		return p.quoted(c, first, last), true
	}
	asked := last
	for last+1 < len(p.units) && !question(last+1) && (last == asked || p.length(asked+1, last+1) <= shortBlock) &&
		(last == asked || p.units[last+1].block == p.units[last].block) {
		last++
	}
	return p.quoted(c, first, last), last > asked
}

func (p page) length(first, last int) int {
	return utf8.RuneCountInString(p.hit.Text[p.units[first].from:p.units[last].to])
}

func (p page) quoted(c candidate, first, last int) candidate {
	c.from, c.to = p.units[first].from, p.units[last].to
	c.text = p.hit.Text[c.from:c.to]
	return c
}

var (
	amount = regexp.MustCompile(`(?i)[€$£¥₹₽₺₩]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?|cents?)\b|\d[.,]\d\d\b|\d ?%|\b(?:free|gratis|included|no (?:extra )?charge)\b`)
	moment = regexp.MustCompile(`(?i)\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|january|february|march|april|may|june|july|august|` +
		`september|october|november|december|noon|midnight|mornings?|afternoons?|evenings?|minutes?|hours?|days?|weeks?|months?|years?|daily|always|immediately|today|tomorrow)\b`)
)

// answersWhat tells whether text holds the sort of thing the question asks for: an amount or a moment. Other questions
// take any text.
func answersWhat(question []string, text string) bool {
	asked := strings.Join(question, " ") + " "
	price := slices.ContainsFunc(question, func(w string) bool {
		switch w {
		case "price", "prices", "cost", "costs", "charge", "fee", "fees", "expensive":
			return true
		}
		return false
	})
	if (price || strings.Contains(asked, "how much ")) && !amount.MatchString(text) {
		return false
	}
	when := slices.Contains(question, "when") || strings.Contains(asked, "what time ") || strings.Contains(asked, "how long ")
	return !when || moment.MatchString(text)
}

// Heading is the innermost heading above the quote, or the name of its document without its ending.
func (q Quote) Heading() string {
	if i := strings.LastIndex(q.Hit.Section, " › "); i >= 0 {
		return q.Hit.Section[i+len(" › "):]
	}
	return cmp.Or(q.Hit.Section, strings.TrimSuffix(q.Hit.Title, path.Ext(q.Hit.Title)))
}
