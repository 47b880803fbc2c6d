package answers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/store"
)

const (
	// quietTime is how long a person must have been quiet before what he wrote counts as the whole answer.
	quietTime = 20 * time.Second
	// maxAnswerTime is how long after the first line further lines of a person belong to the answer.
	maxAnswerTime = 30 * time.Minute
	// maxAge is the age up to which escalations are looked at, and maxTalkAge that of questions which a person answered without one.
	maxAge, maxTalkAge = 7 * 24 * time.Hour, 24 * time.Hour
	// maxQuestionTime is how long before its last message the messages of one question may begin.
	maxQuestionTime = 10 * time.Minute
)

// HasNewAnswers reports whether NewAnswers may return any.
func (b *Keeper) HasNewAnswers(ctx context.Context, now time.Time) (bool, error) {
	has, err := store.HasEscalatedQuestions(ctx, b.Store.DB(), now.Add(-maxAge))
	if err != nil {
		return has, err
	}
	if has {
		return has, nil
	}
	return store.HasRepliedQuestions(ctx, b.Store.DB(), now.Add(-maxTalkAge))
}

// NewAnswers returns the answers of people to questions, escalated or not. The state is UnansweredOpen if the owner
// should be asked about the answer, else UnansweredNotAsked. Answers that a person may still be writing are left for the
// next call.
func (b *Keeper) NewAnswers(ctx context.Context, now time.Time) ([]store.UnansweredQuestion, error) {
	c := comparison{Keeper: b, now: now}
	var err error
	if c.learned, err = store.LearnedAnswers(ctx, b.Store.DB()); err != nil {
		return nil, err
	}
	if c.asked, err = store.OpenOrDeclinedQuestions(ctx, b.Store.DB()); err != nil {
		return nil, err
	}
	escalated, err := c.escalated(ctx)
	if err != nil {
		return nil, err
	}
	others, err := c.notEscalated(ctx)
	return append(escalated, others...), err
}

// comparison compares what people answered with what is known.
type comparison struct {
	*Keeper

	now     time.Time
	learned []store.LearnedAnswer
	asked   []store.UnansweredQuestion // what the owner is asked, or has declined
	judged  int                        // how often the judge was asked
}

// maxJudged is how often the judge is asked at a time. Further answers are left for the next call.
const maxJudged = 5

// escalated returns the new answers to escalated questions.
func (c *comparison) escalated(ctx context.Context) (found []store.UnansweredQuestion, _ error) {
	questions, err := store.EscalatedQuestions(ctx, c.Store.DB(), c.now.Add(-maxAge))
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		if c.judged >= maxJudged {
			break
		}
		lines, err := store.LinesByPeople(ctx, c.Store.DB(), q.ChatID, q.AskedAt, q.MessageID)
		if err != nil {
			return nil, err
		}
		g, ok := answerIn(store.UnansweredQuestion{
			EscalationID: &q.EscalationID,
			ChatID:       q.ChatID,
			MessageIDs:   []store.MessageID{q.MessageID},
			Edits:        q.Edits,
			Question:     CleanQuestion(policy.WithoutGreeting(q.Question)),
		}, q.ChatName, lines, c.now)
		if !ok {
			continue
		}
		g.State, g.Contradicts = judge(g, q.Cause.LacksDocument(), c.learned, c.asked)
		if err := c.compare(ctx, &g); err != nil {
			return nil, err
		}
		found = append(found, g)
	}
	return found, nil
}

// notEscalated returns the new answers to questions in business chats that were not escalated, or that came after one
// that was. The owner is asked only about those that contradict what is known. The texts of all others are not stored.
func (c *comparison) notEscalated(ctx context.Context) (found []store.UnansweredQuestion, _ error) {
	questions, err := store.RepliedQuestions(ctx, c.Store.DB(), c.now.Add(-maxTalkAge))
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		if c.judged >= maxJudged {
			break
		}
		g, ok, err := c.answered(ctx, q)
		if errors.Is(err, errUnfinished) {
			continue
		}
		if err != nil {
			return nil, err
		}
		g.State = store.UnansweredNotAsked
		if ok {
			g.State, g.Contradicts = judge(g, false, c.learned, c.asked)
			if err := c.compare(ctx, &g); err != nil {
				return nil, err
			}
		}
		if g.State == store.UnansweredNotAsked {
			g.Question = ""
			g.Answer = ""
			g.Person = ""
		}
		found = append(found, g)
	}
	return found, nil
}

// errUnfinished means that a person may still be writing an answer.
var errUnfinished = errors.New("the answer may not be whole")

// answered returns a question with a person's answer, or errUnfinished. ok is false if the answer does not count: the
// chat is no business chat, the question was escalated, or the answer is too long.
func (c *comparison) answered(ctx context.Context, q store.RepliedQuestion) (g store.UnansweredQuestion, ok bool, _ error) {
	g = store.UnansweredQuestion{
		QuestionID: &q.MessageID,
		ChatID:     q.ChatID,
		MessageIDs: []store.MessageID{q.MessageID},
		Edits:      q.Edits,
		AnsweredAt: q.AskedAt,
	}
	chat, err := store.ChatByID(ctx, c.Store.DB(), q.ChatID)
	if err != nil {
		return g, false, err
	}
	if chat.ModeIn(c.Defaults) != policy.ModeBusiness {
		return g, false, nil
	}
	lines, err := store.LinesByPeople(ctx, c.Store.DB(), q.ChatID, q.AskedAt.Add(-maxQuestionTime), 0)
	if err != nil {
		return g, false, err
	}
	last := slices.IndexFunc(lines, func(l store.ChatLine) bool { return l.MessageID == q.MessageID })
	if last < 0 {
		return g, false, nil
	}
	first := last
	for first > 0 && !lines[first-1].Person {
		first--
	}
	g.MessageIDs, g.Edits = nil, 0
	var asked []string
	for _, l := range lines[first : last+1] {
		if slices.Contains(q.Escalated, l.MessageID) {
			return g, false, nil
		}
		if policy.IsGreeting(l.Body) { // as somebody who says hello, and asks a minute later
			continue
		}
		asked = append(asked, policy.WithoutGreeting(l.Body))
		addSource(&g, l)
	}
	g.Question = CleanQuestion(strings.Join(asked, " "))
	answered, ok := answerIn(g, chat.Name, lines[last+1:], c.now)
	switch {
	case ok:
		return answered, true, nil
	case c.now.Sub(q.AskedAt) < maxAnswerTime:
		return g, false, errUnfinished
	default:
		return g, false, nil
	}
}

// compare completes judge: it looks for a public document that the answer contradicts.
func (c *comparison) compare(ctx context.Context, g *store.UnansweredQuestion) error {
	if g.Contradicts == nil {
		if err := c.checkDocuments(ctx, g); err != nil {
			return err
		}
	}
	if g.State == store.UnansweredOpen {
		c.asked = append(c.asked, *g)
	}
	return nil
}

// contradicts reports whether a person's answer contradicts a source. It compares the words and, if these show no
// contradiction, asks the judge.
func (c *comparison) contradicts(ctx context.Context, g *store.UnansweredQuestion, said source) (bool, error) {
	answer := MaskPersonalData(g.Answer, nil)
	if contradicts(g.Question, said, answer) {
		return true, nil
	}
	if c.Judge == nil || isOneOff(answer) || Compare(said.text, answer) == Same {
		return false, nil
	}
	c.judged++
	found, err := c.Judge.Contradicts(ctx, g.ChatID, g.Question, said.heading+"\n"+said.text, answer)
	if err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("chat", int64(g.ChatID)).Msg("Cannot have a model compare an answer with a document")
		return false, nil
	}
	return found, err
}

// addSource adds the message of a line to those that a question rests on. A message in a thread may have been sent in several parts.
func addSource(g *store.UnansweredQuestion, l store.ChatLine) {
	if l.MessageID != 0 && !slices.Contains(g.MessageIDs, l.MessageID) {
		g.MessageIDs, g.Edits = append(g.MessageIDs, l.MessageID), g.Edits+l.Edits
	}
}

// answerIn returns a question with the first answer of a person in lines, without its state. ok is false if there is
// none, or if the person may still be writing. A line that only greets, promises an answer or asks back is none. contact
// is the contact's name.
func answerIn(g store.UnansweredQuestion, contact string, lines []store.ChatLine, now time.Time) (_ store.UnansweredQuestion, ok bool) {
	var last time.Time
	for _, l := range lines {
		if !l.Person {
			if g.Answer != "" {
				break
			}
			continue
		}
		if g.Answer == "" && saysNothing(l.Body, contact) {
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
		addSource(&g, l)
	}
	g.Answer = CleanAnswer(g.Answer)
	return g, g.Answer != "" && g.Question != "" && len([]rune(g.Answer)) <= MaxAnswer && now.Sub(last) >= quietTime
}

// saysNothing reports whether a line of a person to a contact answers nothing.
func saysNothing(line, contact string) bool {
	names := append(strings.Fields(contact), contact)
	only := sentences(line)
	asks := !slices.ContainsFunc(only, func(s string) bool { return strings.TrimRight(s, policy.QuestionMarks) == s })
	return policy.IsGreeting(line, names...) || policy.IsPromise(line, names...) || len(only) > 0 && asks
}

// judge returns the state of an answer, which says whether to ask the owner about it, and the id of the learned answer
// that it contradicts; nil for none. lacksDocument says that no document had the answer.
func judge(g store.UnansweredQuestion, lacksDocument bool, learned []store.LearnedAnswer,
	asked []store.UnansweredQuestion,
) (store.UnansweredState, *int64) {
	for _, a := range learned {
		if !sameQuestion(g.Question, a.Question) {
			continue
		}
		isAsked := slices.ContainsFunc(asked, func(other store.UnansweredQuestion) bool {
			return other.Contradicts != nil && *other.Contradicts == a.ID
		})
		if isAsked || !contradicts(g.Question, source{text: a.Answer}, MaskPersonalData(g.Answer, nil)) {
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
func sameQuestion(a, b string) bool { return Compare(a, b) == Same }
