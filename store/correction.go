package store

import (
	"context"
	"strings"

	"multis/store/row"
)

// Correction is a learned answer that corrects a sentence of a public document.
type Correction struct {
	LearnedAnswer

	DocumentID   DocumentID // 0 if the document is gone
	DocumentName string     // empty if the document is gone
}

const correctionsSQL = "select " + learnedColumns + `, coalesce(d.id, 0) as document_id, coalesce(d.name, '') as document_name from learned_answers l left join documents d on d.origin = l.corrects_origin
	where l.corrects_quote <> '' order by l.id`

// Corrections returns the learned answers that correct documents, in their order.
func Corrections(ctx context.Context, db DB) ([]Correction, error) {
	return row.All[Correction](ctx, db, "corrections", correctionsSQL)
}

// Covers reports whether c corrects at least a part of a quote of a document. whole is true if c corrects all of the quote.
func (c Correction) Covers(document DocumentID, quote string) (covers, whole bool) {
	if document != c.DocumentID || quote == "" {
		return false, false
	}
	whole = strings.Contains(c.CorrectsQuote, quote)
	return whole || strings.Contains(quote, c.CorrectsQuote), whole
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
