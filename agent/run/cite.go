package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"multis/agent/tools"
	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/policy/proof"
	"multis/store"
	"multis/store/index"
)

// Evidence is what an answer may rest on, and for whom it is.
type Evidence struct {
	Caller tools.Caller
	// Passages are what an answer may cite, counted from 1, in the order in which the model saw them.
	Passages []search.Hit
	// Question is what a contact asks; an answer may repeat the facts in it.
	Question string
	// Instructions are the model's instructions. A sentence that quotes them is never cited.
	Instructions string

	inventedCitations int // invalid citations of the model
}

// Cite returns the citation of a sentence, or false if the sentence has no valid one. It counts invalid citations.
func (e *Evidence) Cite(s Sentence) (store.Citation, bool) {
	span, ok := e.FindCitation(s)
	if !ok && s.Cites() {
		e.inventedCitations++
	}
	return span, ok
}

// FindCitation is Cite without the count. All that a sentence cites supports it together; the citation is the first one.
func (e *Evidence) FindCitation(s Sentence) (store.Citation, bool) {
	said := WithoutMarkup(s.Text)
	cited := e.resolve(s)
	if said == "" || len(cited) == 0 {
		return store.Citation{}, false
	}
	var hits []search.Hit
	for _, c := range cited {
		hit := e.Passages[c.passage]
		if !e.isCitable(hit) || !e.Caller.Owner && policy.GivesOrders(c.text()) {
			return store.Citation{}, false
		}
		hits = append(hits, hit)
	}
	if !e.isSupported(said, hits) {
		return store.Citation{}, false
	}
	return cited[0].citation(hits[0]), true
}

// citedUnits are the units of one passage that a sentence cites.
type citedUnits struct {
	passage int // from 0
	units   []knowledge.Unit
	numbers []int // of the units in the passage, from 0
}

// text returns the passage's own words.
func (c citedUnits) text() string {
	parts := make([]string, len(c.units))
	for i, u := range c.units {
		parts[i] = u.Text
	}
	return strings.Join(parts, "\n")
}

func (c citedUnits) citation(hit search.Hit) store.Citation {
	return store.Citation{Ref: hit.Ref, Source: knowledge.Cite(hit), Quote: c.text()}
}

// resolve returns what a sentence cites: the units that it names, or those with the words that it quotes. A quote may
// stand in another passage than the sentence says. It returns none if the sentence names a unit that does not exist.
func (e *Evidence) resolve(s Sentence) []citedUnits {
	if len(s.Cite) > 0 {
		return e.unitsByNumber(s.Cite)
	}
	if strings.TrimSpace(s.Quote) == "" {
		return nil
	}
	order := make([]int, 0, len(e.Passages)+1)
	if s.Source >= 1 && s.Source <= len(e.Passages) {
		order = append(order, s.Source-1)
	}
	for i := range e.Passages {
		order = append(order, i)
	}
	for _, i := range order {
		units := knowledge.Units(e.Passages[i].Text)
		found := knowledge.FindQuote(units, s.Quote)
		if len(found) == 0 || !e.isCitable(e.Passages[i]) {
			continue
		}
		cited := citedUnits{passage: i}
		for _, n := range found {
			cited.units = append(cited.units, units[n])
			cited.numbers = append(cited.numbers, n)
		}
		return []citedUnits{cited}
	}
	return nil
}

// citedNumbers matches the numbers with which a citation begins: "1.3", "[1.3, 1.4]", "line 1.3 | Breakfast".
var citedNumbers = regexp.MustCompile(`^\D{0,12}\d+\.\d+(?:[\s\])]*[,;&/–-][\s\[(]*\d+\.\d+)*`)

// unitNumber matches the number of a unit.
var unitNumber = regexp.MustCompile(`\d+\.\d+`)

// unitNumbers returns the numbers of units in citations. A citation without one stands for itself.
func unitNumbers(citations []string) (numbers []string) {
	for _, c := range citations {
		found := unitNumber.FindAllString(citedNumbers.FindString(c), -1)
		if len(found) == 0 {
			found = []string{c}
		}
		numbers = append(numbers, found...)
	}
	return numbers
}

// unitsByNumber returns the units with numbers such as "1.3", by passage.
func (e *Evidence) unitsByNumber(numbers []string) []citedUnits {
	var all []citedUnits
	for _, number := range unitNumbers(numbers) {
		passage, unit, _ := strings.Cut(number, ".")
		p, err := strconv.Atoi(passage)
		if err != nil {
			return nil
		}
		if p < 1 || p > len(e.Passages) {
			return nil
		}
		units := knowledge.Units(e.Passages[p-1].Text)
		n, err := strconv.Atoi(unit)
		if err != nil {
			return nil
		}
		if n < 1 || n > len(units) {
			return nil
		}
		at := slices.IndexFunc(all, func(c citedUnits) bool { return c.passage == p-1 })
		if at < 0 {
			all = append(all, citedUnits{passage: p - 1})
			at = len(all) - 1
		}
		all[at].units = append(all[at].units, units[n-1])
		all[at].numbers = append(all[at].numbers, n-1)
	}
	return all
}

// Cited returns the citations of a sentence, whether it follows from them or not. It leaves out what may not be cited.
func (e *Evidence) Cited(s Sentence) (citations []store.Citation) {
	for _, c := range e.resolve(s) {
		if hit := e.Passages[c.passage]; e.isCitable(hit) && !policy.GivesOrders(c.text()) {
			citations = append(citations, c.citation(hit))
		}
	}
	return citations
}

// CountInvented counts the citation of a sentence if nothing that it cites exists.
func (e *Evidence) CountInvented(s Sentence) {
	if s.Cites() && len(e.resolve(s)) == 0 {
		e.inventedCitations++
	}
}

// Prove returns the citations of a sentence to a contact, or why the sentence does not follow from what it cites. The judge
// is not asked.
func (e *Evidence) Prove(s Sentence) (citations []store.Citation, gap string) {
	if _, finding := e.examine(s, nil); finding.Reason != "" {
		return nil, finding.Reason
	}
	return e.Cited(s), ""
}

// limitsBeside returns the lines that limit cited units of a passage and that neither the sentence nor the rest of its answer cites: they
// stand right behind them.
func (e *Evidence) limitsBeside(cited citedUnits, answer []Sentence) (lines []string) {
	known := slices.Clone(cited.numbers)
	for _, s := range answer {
		for _, c := range e.resolve(s) {
			if c.passage == cited.passage {
				known = append(known, c.numbers...)
			}
		}
	}
	passage := e.Passages[cited.passage].Text
	units := knowledge.Units(passage)
	limits := func(n int) bool { return n < len(units) && proof.Limits(units[n].Shown(), passage) }
	for _, n := range cited.numbers {
		isList := limits(n) // the next ones are lines of the same list, unless they begin with "only"
		for next := n + 1; limits(next) && !slices.Contains(known, next); next++ {
			if line := units[next].Shown(); !isList || proof.Restricts(line, passage) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// examine returns a sentence to a contact with what it cites, and whether it follows from that. It is one of those of an answer.
func (e *Evidence) examine(s Sentence, answer []Sentence) (proof.Claim, proof.Finding) {
	claim := proof.Claim{Sentence: WithoutMarkup(s.Text), Question: e.Question}
	wrong := func(reason string) (proof.Claim, proof.Finding) {
		return claim, proof.Finding{Outcome: proof.Contradicts, Reason: reason}
	}
	cited := e.resolve(s)
	switch {
	case claim.Sentence == "":
		return wrong("it is empty")
	case len(claim.Sentence) > maxSentence:
		return wrong("it is too long")
	case len(cited) == 0 && s.Cites():
		return wrong("no passage has the line or the words that it cites")
	case len(cited) == 0:
		return wrong("it cites nothing")
	case quotesInstructions(claim.Sentence, e.Instructions+" "+FenceRule+" "+AnswerForm):
		return wrong("it repeats your instructions")
	}
	sources := []string{policy.OwnNumbers(e.Question)}
	for _, c := range cited {
		hit := e.Passages[c.passage]
		if !e.isCitable(hit) || policy.GivesOrders(c.text()) {
			return wrong("its source may not be cited")
		}
		for _, u := range c.units {
			if title := DenyingTitle(hit, u.From); title != "" {
				claim.Headings = append(claim.Headings, title)
				claim.Denied = title
			}
			claim.Units = append(claim.Units, u.Shown())
		}
		claim.Headings = append(claim.Headings, hit.Title, hit.Section)
		claim.Beside = append(claim.Beside, e.limitsBeside(c, answer)...)
		sources = append(sources, hit.Title, hit.Section, c.text())
	}
	finding := proof.Check(claim)
	if missing := policy.FindUnsupported(claim.Sentence, sources...); missing != "" && finding.Outcome != proof.Contradicts {
		return wrong(fmt.Sprintf("“%s” is not in what you cite", missing))
	}
	return claim, finding
}

// DenyingTitle returns the title above a place of a passage, a byte offset, if it denies what stands under it, such as "What we do not
// do": without it the passage says the opposite. It is empty if no title denies, and for a whole sentence in brackets, which says
// something beside the list.
func DenyingTitle(hit search.Hit, at int) string {
	if aside.MatchString(hit.Text[at:]) {
		return ""
	}
	const fewWords, someWords = 1, 2 // with content, of a line that may be no title, and of one that is
	line := hit.TitleLine(at)
	most := fewWords
	if strings.HasSuffix(line, ":") || line == strings.ToUpper(line) {
		most = someWords
	}
	if proof.Denial(line, hit.Text, most) && !search.IsQuestion(line) {
		return strings.TrimRight(line, ": ")
	}
	for _, heading := range hit.Headings() {
		if proof.Denial(heading, hit.Text, someWords) && !search.IsQuestion(heading) {
			return heading
		}
	}
	return ""
}

// aside matches a whole sentence in brackets: some words and a full stop, and nothing behind it in its line.
var aside = regexp.MustCompile(`^\((?:[^()\n\s]+[ \t]){3,}[^()\n]*[.!]\)[ \t]*(?:\n|$)`)

// isCitable reports whether an answer may cite a passage. An answer to the owner may cite any passage that he may read.
// One to a contact may cite only public documents, because the contact's messages and the notes about him prove nothing.
func (e *Evidence) isCitable(hit search.Hit) bool {
	return e.Caller.Owner || (hit.Role == policy.RolePublic && hit.Kind == index.KindKnowledge)
}

// maxSentence is the maximum length of a sentence that is cited, in bytes.
const maxSentence = 400

// isSupported reports whether passages can prove a sentence: they or their headings contain every number and address of
// the sentence, and the sentence is at most maxSentence long and does not quote the instructions. For the owner a number
// may also be computed from those of the passages, because he sees the quote.
func (e *Evidence) isSupported(sentence string, by []search.Hit) bool {
	if len(sentence) > maxSentence || quotesInstructions(sentence, e.Instructions+" "+FenceRule+" "+AnswerForm) {
		return false
	}
	var texts []string
	for _, hit := range by {
		texts = append(texts, hit.Title, hit.Section, hit.Text)
	}
	source := strings.Join(texts, "\n")
	factors := ""
	if e.Caller.Owner {
		sentence, factors = withoutComputed(sentence, source)
	}
	return policy.FindUnsupported(sentence, source, factors) == ""
}

// minLeakWords is the number of consecutive words of the instructions that count as a quote of them.
const minLeakWords = 6

// quotesInstructions reports whether a sentence contains minLeakWords consecutive words of the instructions.
func quotesInstructions(sentence, instructions string) bool {
	instructions = " " + strings.Join(search.Words(instructions), " ") + " "
	words := search.Words(sentence)
	for i := 0; i+minLeakWords <= len(words); i++ {
		if strings.Contains(instructions, " "+strings.Join(words[i:i+minLeakWords], " ")+" ") {
			return true
		}
	}
	return false
}

// BreakLinks makes an address in a model's text unusable as a link if it occurs in no text that the model was given.
func (a *Attempt) BreakLinks(text string) string { return policy.BreakLinks(text, a.modelInput...) }

// StoreInventedCount stores the number of invalid citations.
func (a *Attempt) StoreInventedCount(ctx context.Context) {
	if a.inventedCitations == 0 {
		return
	}
	if err := store.AddInventedCitations(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.inventedCitations); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot count invalid citations")
	}
	a.inventedCitations = 0
}

// CitedHits returns the hits that citations quote.
func CitedHits(hits []search.Hit, spans []store.Citation) []search.Hit {
	var used []search.Hit
	for _, h := range hits {
		if slices.ContainsFunc(spans, func(s store.Citation) bool { return s.Ref == h.Ref }) {
			used = append(used, h)
		}
	}
	return used
}

// SourceMessages returns the messages among hits, and those that notes among them were learned from.
func SourceMessages(hits []search.Hit) []store.MessageID {
	var ids []store.MessageID
	for _, h := range hits {
		ids = append(ids, h.Messages...)
		if message, ok := h.Ref.Message(); ok {
			ids = append(ids, message)
		}
	}
	return ids
}

// WithoutMarkup removes emphasis marks and invisible characters, for networks without markup.
func WithoutMarkup(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, markupRemover.Replace(text.Clean(s))))
}

var markupRemover = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "")
