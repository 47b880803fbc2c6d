package answers

import (
	"context"
	"time"

	"multis/shadow"
	"multis/store"
)

const (
	// quietTime is how long a person must have been quiet before what he wrote counts as the whole answer.
	quietTime = 20 * time.Second
	// maxAnswerTime is how long after the first line further lines of a person belong to the answer.
	maxAnswerTime = 30 * time.Minute
	// maxAge is the age up to which escalations are looked at.
	maxAge = 7 * 24 * time.Hour
)

// HasNewAnswers reports whether NewAnswers may return any.
func (b *Keeper) HasNewAnswers(ctx context.Context, now time.Time) (bool, error) {
	return store.HasEscalatedQuestions(ctx, b.Store.DB(), now.Add(-maxAge))
}

// NewAnswers returns the answers of people to escalated questions. The state is UnansweredOpen if the owner should be asked about the answer, else
// UnansweredNotAsked. Answers that a person may still be writing are left for the next call.
func (b *Keeper) NewAnswers(ctx context.Context, now time.Time) ([]store.UnansweredQuestion, error) {
	questions, err := store.EscalatedQuestions(ctx, b.Store.DB(), now.Add(-maxAge))
	if err != nil || len(questions) == 0 {
		return nil, err
	}
	learned, err := store.LearnedAnswers(ctx, b.Store.DB())
	if err != nil {
		return nil, err
	}
	asked, err := store.AskedUnanswered(ctx, b.Store.DB())
	if err != nil {
		return nil, err
	}
	var found []store.UnansweredQuestion
	for _, q := range questions {
		lines, err := store.LinesByPeople(ctx, b.Store.DB(), q.ChatID, q.AskedAt, q.MessageID)
		if err != nil {
			return nil, err
		}
		g, ok := answerIn(q, lines, now)
		if !ok {
			continue
		}
		g.State, g.Contradicts = judge(g, q.Cause.LacksDocument(), learned, asked)
		if g.Contradicts == nil {
			if err := b.checkDocuments(ctx, &g, learned, asked); err != nil {
				return nil, err
			}
		}
		if g.State == store.UnansweredOpen {
			asked = append(asked, g)
		}
		found = append(found, g)
	}
	return found, nil
}

// answerIn returns the first answer of a person in lines, without its state. ok is false if there is none, or if the person may still be writing.
func answerIn(q store.EscalatedQuestion, lines []store.ChatLine, now time.Time) (g store.UnansweredQuestion, ok bool) {
	g = store.UnansweredQuestion{EscalationID: q.EscalationID, ChatID: q.ChatID, MessageIDs: []store.MessageID{q.MessageID}, Question: CleanQuestion(q.Question)}
	var last time.Time
	for _, l := range lines {
		if !l.Person {
			if g.Answer != "" {
				break
			}
			continue
		}
		if g.Answer != "" && l.At.Sub(g.AnsweredAt) > maxAnswerTime {
			break
		}
		if g.Answer == "" {
			g.AnsweredAt, g.Person = l.At, l.Sender
		} else {
			g.Answer += "\n"
		}
		g.Answer += l.Body
		last = l.At
		if l.MessageID != 0 {
			g.MessageIDs = append(g.MessageIDs, l.MessageID)
		}
	}
	g.Answer = CleanAnswer(g.Answer)
	return g, g.Answer != "" && g.Question != "" && len([]rune(g.Answer)) <= MaxAnswer && now.Sub(last) >= quietTime
}

// judge returns the state of an answer, which says whether to ask the owner about it, and the id of the learned answer that it contradicts; nil for
// none. lacksDocument says that no document had the answer.
func judge(g store.UnansweredQuestion, lacksDocument bool, learned []store.LearnedAnswer, asked []store.UnansweredQuestion) (store.UnansweredState, *int64) {
	for _, a := range learned {
		if !sameQuestion(g.Question, a.Question) {
			continue
		}
		if shadow.Match(a.Answer, MaskPersonalData(g.Answer, nil)) != shadow.Different {
			return store.UnansweredNotAsked, nil
		}
		return store.UnansweredOpen, &a.ID
	}
	if !lacksDocument {
		return store.UnansweredNotAsked, nil
	}
	for _, a := range asked {
		if sameQuestion(g.Question, a.Question) {
			return store.UnansweredNotAsked, nil
		}
	}
	return store.UnansweredOpen, nil
}

// sameQuestion reports whether two questions have nearly the same words.
func sameQuestion(a, b string) bool { return shadow.Match(a, b) == shadow.Same }
