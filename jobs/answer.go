package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// PublishAnswersArgs asks to write the owner's answers into their documents. It is enqueued by whatever changes them, and
// is also a periodic job.
type PublishAnswersArgs struct{}

// Kind names the job.
func (PublishAnswersArgs) Kind() string { return "publish_answers" }

// InsertOpts sets the queue and the attempts.
func (PublishAnswersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 20}
}

// FindAnswersArgs asks to look for questions that no document answers and that a person has answered. It is a periodic job.
type FindAnswersArgs struct{}

// Kind names the job.
func (FindAnswersArgs) Kind() string { return "find_answers" }

// InsertOpts allows one such job at a time.
func (FindAnswersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// AnswerDocuments makes documents of the owner's answers, and finds answers of people to learn.
type AnswerDocuments interface {
	PublishAnswers(ctx context.Context) error
	// HasAnswers reports whether FindAnswers may find anything.
	HasAnswers(ctx context.Context) (bool, error)
	FindAnswers(ctx context.Context) error
}
