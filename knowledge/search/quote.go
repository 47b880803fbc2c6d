package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/language"
)

// MinCoverage is the smallest coverage of a quote that counts as an answer.
const MinCoverage = 0.6

const (
	quotedHits   = 10  // the number of hits in which a quote is looked for
	windowUnits  = 3   // the most sentences of a paragraph that are scored together
	shortBlock   = 300 // the length in characters up to which a paragraph is quoted whole
	shortSection = 400 // the length in characters that is quoted of a section whose heading matches the question
)

// Quote is a verbatim part of a passage.
type Quote struct {
	Hit      Hit
	Text     string // a substring of Hit.Text
	From     int    // the byte offset at which Text begins in Hit.Text
	Lead     string // the text that introduces the quote in its passage, such as a table header or the line before a list; may be empty
	LineFrom int    // 0 if the source has no lines
	LineTo   int
	Coverage float64 // the share of the question's topical terms that occur in the quote, its lead and its headings
}

// HasValues reports whether a quote has a value of each type that some questions ask for, such as a price and a time.
func (q Quote) HasValues(questions []string) bool {
	return !slices.ContainsFunc(questions, func(asked string) bool {
		return matchAnswerType(Words(asked), q.Lead+" "+q.Text, q.Hit.Language) != fullMatch
	})
}

// Answer returns the quote that answers the question, without a language model; false if none does. It is the one that
// MatchQuotes found. If MatchQuotes found only near ones, it is the best of them that covers most of the question's weight
// (MinCoverage) and has no rival that matches as well with other values; never for a follow-up.
func (s *Searcher) Answer(ctx context.Context, r Result) (Quote, bool, error) {
	m := r.Match()
	if m.Found {
		return m.Quote, true, nil
	}
	if len(m.Near) == 0 || r.Asked.isFollowUp() {
		return Quote{}, false, nil
	}
	found, err := s.answerCandidates(ctx, r)
	if err != nil {
		return Quote{}, false, err
	}
	if len(found) == 0 {
		return Quote{}, false, nil
	}
	best := bestCandidate(found)
	quote := best.quote()
	isNear := slices.ContainsFunc(m.Near, func(n Quote) bool { return overlaps(n, quote) })
	if !isNear || hasManyRows(quote.Text) || len(rivals(best, found)) > 0 {
		return Quote{}, false, nil
	}
	return quote, true, nil
}

// hasManyRows reports whether a quote has several rows of a table: which of them is asked for is not known then.
func hasManyRows(quote string) bool {
	_, rest, hasMore := strings.Cut(quote, "\n") // the first row begins behind its mark
	return hasMore && isRow(rest)
}

// answerCandidates lists the quotes that may answer a question.
func (s *Searcher) answerCandidates(ctx context.Context, r Result) ([]candidate, error) {
	var likely []Hit
	for _, h := range r.Hits[:min(len(r.Hits), quotedHits)] {
		if h.Coverage >= MinCoverage || r.asksForDay() && namesDays(h.Text) {
			likely = append(likely, h)
		}
	}
	if len(likely) == 0 {
		return nil, nil
	}
	found, err := s.quoteCandidates(ctx, r, likely)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(c candidate) bool {
		// the match is in the document's name or an outer heading, which other passages share
		onlyDocument := c.textCoverage == 0 && c.headingCoverage == 0
		return c.coverage < MinCoverage || !c.hasKeyTerm || c.answerMatch == noMatch || onlyDocument
	}), nil
}

// BestSentences returns the best quote of one hit, however low its coverage is.
func (s *Searcher) BestSentences(ctx context.Context, r Result, h Hit) (Quote, error) {
	found, err := s.quoteCandidates(ctx, r, []Hit{h})
	if err != nil {
		return Quote{}, err
	}
	if len(found) == 0 {
		return Quote{Hit: h, Text: h.Text, LineFrom: h.LineFrom, LineTo: h.LineTo}, nil
	}
	return bestCandidate(found).quote(), nil
}

// candidate is a possible quote.
type candidate struct {
	hit             Hit
	rank            int // rank of the hit, from 0
	from, to        int // byte offsets in the hit's text
	text, lead      string
	core            string  // the units that match the question, without what is quoted around them
	coverage        float64 // share of the question that the text covers, together with its headings and lead
	textCoverage    float64 // coverage of the text alone
	headingCoverage float64 // coverage of the innermost heading
	matched         []int   // the question's terms that the text with headings and lead contains
	hasKeyTerm      bool    // contains the question's most specific term
	answerMatch     answerMatch
	pairs           int // the number of adjacent words of the question that are also adjacent in the quote or its heading
	units           int
	leadWords       int // the number of words before the first specific word of the question
}

func bestCandidate(found []candidate) candidate {
	return slices.MinFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.coverage, a.coverage), cmp.Compare(b.answerMatch, a.answerMatch), cmp.Compare(b.pairs, a.pairs),
			cmp.Compare(b.textCoverage, a.textCoverage), cmp.Compare(b.headingCoverage, a.headingCoverage), cmp.Compare(a.units, b.units),
			cmp.Compare(a.leadWords, b.leadWords), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.rank, b.rank), cmp.Compare(a.from, b.from))
	})
}

func (c candidate) quote() Quote { return newQuote(c.hit, c.from, c.text, c.lead, c.coverage) }

// newQuote returns a quote whose text begins at a byte offset in its passage.
func newQuote(h Hit, from int, text, lead string, coverage float64) Quote {
	q := Quote{
		Hit:      h,
		Text:     text,
		From:     from,
		Lead:     lead,
		Coverage: coverage,
	}
	if h.LineFrom > 0 {
		q.LineFrom = h.LineFrom + strings.Count(h.Text[:from], "\n")
		q.LineTo = q.LineFrom + strings.Count(text, "\n")
	}
	return q
}

// quoteCandidates lists the possible quotes of hits. It stems all of them with one query.
func (s *Searcher) quoteCandidates(ctx context.Context, r Result, hits []Hit) ([]candidate, error) {
	var texts []languageWords
	split := make([][]unit, len(hits))
	for i, h := range hits {
		split[i] = units(h.Text)
		lang := cmp.Or(h.Language, language.DetectPart(h.Text, language.Unknown))
		texts = append(texts, languageWords{lang, indexWords(h.Title, h.Section, "")}, languageWords{lang, indexWords("", h.Heading(), "")})
		for _, u := range split[i] {
			texts = append(texts, languageWords{lang, words(withoutLandmarks(h.Text[u.from:u.to]), replacesEnglishForms(lang))})
		}
	}
	lexemes, err := s.cache.lexemes(ctx, s.st.DB(), texts)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for i, h := range hits {
		n := 2 + len(split[i])
		p := splitHit{
			hit:          h,
			rank:         i,
			units:        split[i],
			headLexemes:  lexemes[0],
			titleLexemes: lexemes[1],
			unitLexemes:  lexemes[2:n],
			headingPairs: r.countPairs(Words(innermost(h.Section))),
			result:       r,
		}
		found = append(found, p.candidates()...)
		lexemes = lexemes[n:]
	}
	return found, nil
}

// splitHit is a hit split into units, with the lexemes of its headings and units.
type splitHit struct {
	hit          Hit
	rank         int
	units        []unit
	headLexemes  []string   // lexemes of the document's name and all headings
	titleLexemes []string   // lexemes of the innermost heading
	unitLexemes  [][]string // lexemes of each unit
	headingPairs int        // countPairs of the innermost heading
	result       Result
}

func (p splitHit) candidates() []candidate {
	var found []candidate
	if len(p.units) == 0 {
		return nil
	}
	if c := p.evaluate(0, 0, nil); c.coverage >= MinCoverage {
		found = append(found, p.sectionCandidate(c))
	}
	for first := range p.units {
		if p.units[first].isHeader {
			continue
		}
		if p.units[first].isRow {
			if c, ok := p.rowCandidate(first); ok {
				found = append(found, c)
			}
			continue
		}
		for last := first; last < min(first+windowUnits, len(p.units)) && p.units[last].block == p.units[first].block; last++ {
			c := p.evaluate(first, last, slices.Concat(p.unitLexemes[first:last+1]...))
			if c.textCoverage > 0 {
				if c, ok := p.widen(c, first, last); ok {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// rowCandidate returns the candidate of a table row. Rows with the same terms of the question are quoted together if they
// are short and adjacent. It reports false if another row has more of the question's terms, or if all rows of a long
// table have the same.
func (p splitHit) rowCandidate(at int) (candidate, bool) {
	c := p.evaluate(at, at, p.unitLexemes[at])
	first, last := at, at
	for first > 0 && p.isSameTable(first-1, at) {
		first--
	}
	for last+1 < len(p.units) && p.isSameTable(last+1, at) {
		last++
	}
	from := at
	to := at
	same := 1
	for i := first; i <= last; i++ {
		more, less := p.hasTermMissingIn(i, at), p.hasTermMissingIn(at, i)
		switch {
		case i == at || less:
		case more:
			return c, false
		default:
			from = min(from, i)
			to = max(to, i)
			same++
		}
	}
	short := to-from+1 == same && p.length(from, to) <= shortSection
	if all := last > first && same == last-first+1; all && !short {
		return c, false
	}
	if !short {
		from, to = at, at
	}
	return p.withText(c, from, to), c.textCoverage > 0
}

// isSameTable reports whether unit i is a body row of the same table as unit of.
func (p splitHit) isSameTable(i, of int) bool {
	return p.units[i].isRow && !p.units[i].isHeader && p.units[i].lead == p.units[of].lead
}

// hasTermMissingIn reports whether row contains a term of the question that other does not contain.
func (p splitHit) hasTermMissingIn(row, other int) bool {
	return slices.ContainsFunc(p.result.Terms, func(t Term) bool {
		return t.class != filler && slices.Contains(p.unitLexemes[row], t.Lexeme) && !slices.Contains(p.unitLexemes[other], t.Lexeme)
	})
}

// evaluate returns units first to last as a candidate for a quote, with its scores. own are the lexemes of these units.
// Without any, only the headings are scored; if own contains no term of the question, all scores are zero.
func (p splitHit) evaluate(first, last int, own []string) candidate {
	c := candidate{hit: p.hit, rank: p.rank, units: last - first + 1}
	in := func(list []string) func(int) bool {
		return func(t int) bool { return slices.Contains(list, p.result.Terms[t].Lexeme) }
	}
	if c.textCoverage = coverage(p.result.Terms, p.result.corpusSize, in(own)); len(own) > 0 && c.textCoverage == 0 {
		return c
	}
	around := p.headLexemes
	if len(own) > 0 && p.units[first].lead >= 0 {
		lead := p.units[first].lead
		c.lead = p.hit.Text[p.units[lead].from:p.units[lead].to]
		around = slices.Concat(around, p.unitLexemes[lead])
	}
	all := slices.Concat(around, own)
	c.headingCoverage = coverage(p.result.Terms, p.result.corpusSize, in(p.titleLexemes))
	c.coverage = coverage(p.result.Terms, p.result.corpusSize, in(all))
	isCovered := in(all)
	if len(own) > 0 && p.result.asksForDay() && p.namesDays(first, last) {
		isCovered = func(t int) bool { return in(all)(t) || p.result.Terms[t].isDay() }
		c.coverage += dayShare * (coverage(p.result.Terms, p.result.corpusSize, isCovered) - c.coverage)
	}
	c.hasKeyTerm = p.result.hasKeyTerm(isCovered)
	for t := range p.result.Terms {
		if p.result.Terms[t].class != filler && in(all)(t) {
			c.matched = append(c.matched, t)
		}
	}
	if len(own) > 0 {
		c.core = p.hit.Text[p.units[first].from:p.units[last].to]
		said := Words(c.core)
		c.pairs, c.leadWords = p.result.countPairs(said), p.result.leadWords(said)
	}
	c.pairs = max(c.pairs, p.result.countPairs(Words(c.lead)), p.headingPairs)
	return c
}

// hasKeyTerm reports whether has is true for each number and each day of the question and for its key term: the specific term with the most
// support. Of several terms with the same support, one is enough. It is false for a question without a specific term.
func (r Result) hasKeyTerm(has func(term int) bool) bool {
	most, found := 0.0, false
	has = inAnyLanguage(r.Terms, has)
	for i, t := range r.Terms {
		if (isNumber(t.Lexeme) || t.isDay()) && !has(i) {
			return false
		}
		if s := t.support(r.corpusSize); t.class == specific && !isNumber(t.Lexeme) && s >= most {
			found = has(i) || found && s == most
			most = s
		}
	}
	return found
}

func isNumber(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// countPairs counts the pairs of adjacent words of the question that are adjacent in words as well. Determiners are ignored,
// and at least one word of a pair must be specific.
func (r Result) countPairs(words []string) int {
	asked := slices.DeleteFunc(slices.Clone(r.words), isDeterminer)
	words = slices.DeleteFunc(slices.Clone(words), isDeterminer)
	n := 0
	for i := range len(asked) - 1 {
		if !r.isSpecific(asked[i]) && !r.isSpecific(asked[i+1]) {
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

// leadWords returns the number of words before the first specific word of the question.
func (r Result) leadWords(words []string) int {
	i := slices.IndexFunc(words, func(w string) bool {
		return slices.ContainsFunc(r.Terms, func(t Term) bool { return t.class == specific && strings.HasPrefix(w, t.Lexeme) })
	})
	if i < 0 {
		return len(words)
	}
	return i
}

func (r Result) isSpecific(word string) bool {
	return slices.ContainsFunc(r.Terms, func(t Term) bool { return t.class == specific && slices.Contains(t.words, word) })
}

// sectionCandidate returns a candidate that quotes the beginning of the text below the headings. It is used if the
// question matches the headings.
func (p splitHit) sectionCandidate(c candidate) candidate {
	last := 0
	for last+1 < len(p.units) && p.length(0, last+1) <= shortSection {
		last++
	}
	return p.withText(c, 0, last)
}

// widen extends a quote to the whole paragraph if that is short. If its last line only introduces the next one (a
// question, a title, a line that ends with a colon), it also extends the quote by what follows, and reports false if
// nothing does.
func (p splitHit) widen(c candidate, first, last int) (candidate, bool) {
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
	answer := last
	for p.units[last].introduces || last > answer && p.continuesAfter(answer+1, last) {
		if last+1 == len(p.units) {
			break
		}
		last++
	}
	introduces := p.units[last].introduces
	first, last = withLimits(p.hit.Text, p.units, first, last)
	return p.withText(c, first, last), !introduces
}

// continuesAfter reports whether an answer from unit first to unit last should be extended by the next unit.
func (p splitHit) continuesAfter(first, last int) bool {
	return last+1 < len(p.units) && p.units[last+1].block == p.units[last].block && !p.units[last+1].introduces &&
		p.length(first, last+1) <= shortBlock
}

func (p splitHit) length(first, last int) int {
	return utf8.RuneCountInString(p.hit.Text[p.units[first].from:p.units[last].to])
}

func (p splitHit) withText(c candidate, first, last int) candidate {
	c.from, c.to = p.units[first].from, p.units[last].to
	c.text = p.hit.Text[c.from:c.to]
	c.core = cmp.Or(c.core, c.text)
	c.answerMatch = matchAnswerType(p.result.words, c.lead+" "+c.text, p.hit.Language)
	return c
}

// Answers reports whether the passage covers enough of the question to answer it.
func (h Hit) Answers() bool { return h.Coverage >= MinCoverage }

// Heading returns the innermost heading above the hit; empty if there is none.
func (h Hit) Heading() string { return innermost(h.Section) }

func innermost(section string) string {
	if i := strings.LastIndex(section, SectionSeparator); i >= 0 {
		return section[i+len(SectionSeparator):]
	}
	return section
}
