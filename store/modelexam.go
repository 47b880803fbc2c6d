package store

import (
	"context"
	"encoding/json"
	"time"

	"multis/store/row"
)

// ModelExam is the newest exam of a model.
type ModelExam struct {
	Model      string // "provider/name"
	ExaminedAt time.Time
	Summary    string          // the result in a few words, such as "may answer customers (46 of 49 tasks right)"
	Card       json.RawMessage // the whole scorecard
}

const putModelExamSQL = `insert into model_exams (model, examined_at, summary, card) values ($1, $2, $3, $4)
	on conflict (model) do update set examined_at = excluded.examined_at, summary = excluded.summary, card = excluded.card`

// PutModelExam stores the exam of a model in place of an earlier one.
func PutModelExam(ctx context.Context, w Writer, e ModelExam) error {
	return row.Exec(ctx, w, "store the exam of a model", putModelExamSQL, e.Model, e.ExaminedAt, e.Summary, e.Card)
}

const modelExamSQL = "select model, examined_at, summary, card from model_exams where model = $1"

// ModelExamOf returns the newest exam of a model, or ErrNotFound.
func ModelExamOf(ctx context.Context, db DB, model string) (ModelExam, error) {
	return row.One[ModelExam](ctx, db, "exam of a model", modelExamSQL, model)
}
