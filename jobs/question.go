package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// EndQuestionArgs asks to write on the message of a question of the admin room that it has expired, or, without a time,
// that nobody waits for its answer any more.
type EndQuestionArgs struct {
	DialogID int64     `json:"dialog"`
	At       time.Time `json:"at,omitzero"` // when the question expires
}

// Kind names the job.
func (EndQuestionArgs) Kind() string { return "end_question" }

// InsertOpts sets the queue, the attempts and the time.
func (a EndQuestionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5, ScheduledAt: a.At}
}

// QuestionEnder ends questions that nobody has answered. isExpired says that their time is over.
type QuestionEnder interface {
	EndQuestion(ctx context.Context, dialog int64, isExpired bool) error
}
