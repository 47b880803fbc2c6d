package store

import (
	"context"
	"regexp"
	"strings"

	"multis/internal/text"
	"multis/policy"
	"multis/store/index"
	"multis/store/row"
)

// Correction is a learned answer that corrects a sentence of a public document.
type Correction struct {
	LearnedAnswer

	DocumentID   DocumentID // 0 if the document is gone
	DocumentName string     // empty if the document is gone
}

const correctionsSQL = "select " + learnedColumns +
	`, coalesce(d.id, 0) as document_id, coalesce(d.name, '') as document_name from learned_answers l left join documents d on d.origin = l.corrects_origin
	where l.corrects_quote <> '' order by l.id`

// Corrections returns the learned answers that correct documents, in their order.
func Corrections(ctx context.Context, db DB) ([]Correction, error) {
	return row.All[Correction](ctx, db, "corrections", correctionsSQL)
}

// Covers reports whether c corrects a part of a quote of a passage of a document. whole is true if c corrects all of the
// quote and nothing else: of several corrected sentences, another one may be what the answer is about. White space does
// not count, as where the quote is compared with the passage.
func (c Correction) Covers(document DocumentID, passage, quote string) (covers, whole bool) {
	passage = text.CollapseSpaces(passage)
	quote = text.CollapseSpaces(quote)
	old := text.CollapseSpaces(c.CorrectsQuote)
	if document != c.DocumentID || quote == "" || old == "" {
		return false, false
	}
	if strings.Contains(old, quote) {
		return true, !sentenceEnd.MatchString(old)
	}
	for from := 0; ; from++ { // the quote may begin or end within the sentence
		i := strings.Index(passage[from:], old)
		if i < 0 {
			return false, false
		}
		from += i
		near := passage[max(0, from-len(quote)+1):min(len(passage), from+len(old)+len(quote)-1)]
		if strings.Contains(near, quote) {
			return true, false
		}
	}
}

// sentenceEnd matches the end of a sentence before another one.
var sentenceEnd = regexp.MustCompile(`[.!?…:;] +\S`)

// Cut returns a passage of a document without the sentence that c corrects. found is false if the passage does not contain it.
func (c Correction) Cut(document DocumentID, passage string) (rest string, found bool) {
	passage, old := text.CollapseSpaces(passage), text.CollapseSpaces(c.CorrectsQuote)
	if document != c.DocumentID || old == "" || !strings.Contains(passage, old) {
		return passage, false
	}
	return strings.ReplaceAll(passage, old, " "), true
}

// SplitPassage returns the parts of a passage of a document between the sentences that corrections correct, each a
// substring of it, and how many lines of the passage are before each. It returns the corrected sentences themselves as
// corrected.
func SplitPassage(corrections []Correction, document DocumentID, passage string) (rest, corrected []PassagePart) {
	var words []string
	for _, c := range corrections {
		if old := strings.Fields(c.CorrectsQuote); c.DocumentID == document && len(old) > 0 {
			for i, word := range old {
				old[i] = regexp.QuoteMeta(word)
			}
			words = append(words, strings.Join(old, `\s+`))
		}
	}
	if len(words) == 0 {
		return []PassagePart{{Text: passage}}, nil
	}
	add := func(parts []PassagePart, from, to int) []PassagePart {
		if strings.TrimSpace(passage[from:to]) == "" {
			return parts
		}
		return append(parts, PassagePart{passage[from:to], strings.Count(passage[:from], "\n")})
	}
	from := 0
	for _, at := range regexp.MustCompile(strings.Join(words, "|")).FindAllStringIndex(passage, -1) {
		rest = add(rest, from, at[0])
		corrected = add(corrected, at[0], at[1])
		from = at[1]
	}
	return add(rest, from, len(passage)), corrected
}

// PassagePart is a part of a passage.
type PassagePart struct {
	Text  string
	Lines int // how many lines of the passage are before it
}

// OnlySource returns the correction of a sentence without which the cited passages do not support what an answer says: a
// model may say what one sentence says and quote another. found is false if there is none.
func OnlySource(said string, cited []index.ChunkText, corrections []Correction) (_ Correction, found bool) {
	for _, c := range corrections {
		var rest []string
		isCut := false
		for _, t := range cited {
			passage, found := c.Cut(DocumentID(t.DocID), t.Content)
			rest, isCut = append(rest, t.Title+"\n"+t.Section+"\n"+passage), isCut || found
		}
		if isCut && policy.FindUnsupported(said, rest...) != "" {
			return c, true
		}
	}
	return Correction{}, false
}

const endCorrectionSQL = "update learned_answers set corrects_origin = '', corrects_quote = '' where id = $1 and corrects_quote <> ''"

// EndCorrection makes a correction an ordinary learned answer. It returns false if there is no such correction.
func EndCorrection(ctx context.Context, tx Tx, answer int64) (bool, error) {
	n, err := row.Changed(ctx, tx, "end a correction", endCorrectionSQL, answer)
	return n > 0, err
}

const removeLearnedAnswerSQL = "delete from learned_answers where id = $1"

// RemoveLearnedAnswer deletes a learned answer. It returns false if there is none.
func RemoveLearnedAnswer(ctx context.Context, tx Tx, answer int64) (bool, error) {
	n, err := row.Changed(ctx, tx, "remove learned answer", removeLearnedAnswerSQL, answer)
	return n > 0, err
}
