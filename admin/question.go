package admin

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"multis/store"
)

// question is a question to the admin room. It is stored with the message that asks it, so that it can be answered after a restart.
type question interface {
	traits() traits
	// accepts reports whether a word can be an answer to this question.
	accepts(word string) bool
	// answer returns the reply to a choice. done is false if the choice does not fit; then the question stays open.
	answer(ctx context.Context, r request, c choice) (ans answer, done bool, err error)
}

// traits describe a question.
type traits struct {
	kind string // as it is stored
	// command is the name of the command to which the question belongs. Everyone who may use that command may answer.
	command string
	// lifetime is how long the question can be answered; zero for questionLifetime.
	lifetime time.Duration
	// askedAt is when the question was asked; zero if that is its lifetime before it expires.
	askedAt time.Time
	// needsReference says that only a reply or a reaction answers the question. It is shown without a request of the owner,
	// and often: a word that does not refer to it may be meant for another question, and must not decide it.
	needsReference bool
	// unrequested says that the question was shown without a request of the owner, or long after it. A word that does not
	// refer to it decides it only if no other question is open.
	unrequested bool
	// queues says that several such questions are asked at once, and are answered one after the other, the newest first.
	queues bool
	// repeats says that a later question of the same kind asks the same again.
	repeats bool
	// takesText says that words which accepts does not know may answer the question.
	takesText bool
	// onlyCancel says that the answer never comes here: only "cancel" is meant for the question.
	onlyCancel bool
	// opinion says that the question only asks for an opinion, so that no word is unclear because of it.
	opinion bool
	// draft is the draft that the question is about, and message the message; zero for none. The question ends with them.
	draft   uuid.UUID
	message store.MessageID
}

// questionLifetime is how long a question without a lifetime of its own can be answered.
const questionLifetime = 15 * time.Minute

// lifetimeOf returns how long a question can be answered; zero for no question.
func lifetimeOf(q question) time.Duration {
	if q == nil {
		return 0
	}
	return cmp.Or(q.traits().lifetime, questionLifetime)
}

// yesOrNo is embedded by questions that are answered by yes or no.
type yesOrNo struct{}

func (yesOrNo) accepts(word string) bool { return word == wordYes || word == wordNo }

// openQuestion is a stored question with its row, whether it is still open or not.
type openQuestion struct {
	store.Dialog

	question question
	traits   traits
}

// askedAt returns when the question was asked.
func (q openQuestion) askedAt() time.Time {
	if !q.traits.askedAt.IsZero() {
		return q.traits.askedAt
	}
	return q.ExpiresAt.Add(-lifetimeOf(q.question))
}

// isOpen reports whether the question can be answered at a time.
func (q openQuestion) isOpen(now time.Time) bool { return !q.Done && q.ExpiresAt.After(now) }

// isSame reports whether two rows are about the same question.
func (q openQuestion) isSame(other openQuestion) bool {
	return q.ID == other.ID || q.traits.repeats && q.Kind == other.Kind
}

// mayMean reports whether a choice that refers to no question may be meant for this one.
func (q openQuestion) mayMean(c choice, now time.Time) bool {
	switch {
	case !q.isOpen(now), q.traits.opinion, q.traits.onlyCancel:
		return false
	case c.word == "":
		return !q.traits.needsReference
	default:
		return q.traits.takesText || q.question.accepts(c.word)
	}
}
