package admin

import (
	"context"
	"errors"
	"fmt"

	"multis/bridgebridge"
	"multis/business/answers"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// offerLearnedAnswer asks whether an answer goes into the owner's documents.
type offerLearnedAnswer struct {
	answers *AnswerCommands

	QuestionID int64 `json:"Question"`
}

// kindOfferAnswer is the kind of questions about answers of people.
const kindOfferAnswer = "offer-answer"

func (offerLearnedAnswer) traits() traits {
	return traits{
		kind:           kindOfferAnswer,
		command:        "answers",
		lifetime:       offerLifetime,
		needsReference: true,
	}
}

func (offerLearnedAnswer) accepts(word string) bool {
	_, isRole := parseRole(word)
	return word == wordYes || word == wordNo || isRole
}

func (q offerLearnedAnswer) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	if !r.isOwner() {
		return notAllowedAnswer("answers"), false, nil
	}
	role, isRole := parseRole(c.word)
	switch {
	case c.word == wordNo:
		return answer{reason: "It declined an answer.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
			if _, err := store.LockUnanswered(ctx, tx, q.QuestionID); err != nil {
				return alreadyDecidedText(err)
			}
			return "Left out.", store.DecideUnanswered(ctx, tx, q.QuestionID, store.UnansweredDeclined)
		}}, true, nil
	case c.word == wordYes:
		role = policy.RoleAdmin
	case !isRole:
		return answer{}, false, nil
	}
	return answer{reason: "It took an answer into the documents.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		return q.answers.accept(ctx, tx, q.QuestionID, role)
	}}, true, nil
}

// alreadyDecidedText returns the reply for an unanswered question that was decided or deleted, and any other error unchanged.
func alreadyDecidedText(err error) (string, error) {
	if errors.Is(err, store.ErrNotFound) {
		return "That is decided already, or what it is based on was changed or deleted.", nil
	}
	return "", err
}

// accept adds the answer of an unanswered question to the owner's document, without personal data. If it replaces a
// public answer or corrects a public document, it is public whatever the role.
func (ac *AnswerCommands) accept(ctx context.Context, tx store.Tx, question int64, role policy.Role) (string, error) {
	g, err := store.LockUnanswered(ctx, tx, question)
	if err != nil {
		return alreadyDecidedText(err)
	}
	chat, err := store.ChatByID(ctx, tx, g.ChatID)
	if err != nil {
		return "", err
	}
	names := []string{bridgebridge.DisplayName(chat.Name)}
	learned := store.LearnedAnswer{
		Question:   answers.MaskPersonalData(g.Question, names),
		Answer:     answers.MaskPersonalData(g.Answer, names),
		Role:       role,
		Person:     g.Person,
		AnsweredAt: g.AnsweredAt,
	}
	switch {
	case g.Contradicts != nil:
		all, err := store.LearnedAnswers(ctx, tx)
		if err != nil {
			return "", err
		}
		for _, a := range all {
			if a.ID == *g.Contradicts {
				learned.ID = a.ID
				learned.CorrectsOrigin = a.CorrectsOrigin
				learned.CorrectsQuote = a.CorrectsQuote
				if a.Role == policy.RolePublic {
					learned.Role = policy.RolePublic
				}
			}
		}
	case g.CorrectsQuote != "":
		learned.Role = policy.RolePublic
		learned.CorrectsOrigin = g.CorrectsOrigin
		learned.CorrectsQuote = g.CorrectsQuote
	}
	if err := store.PutLearnedAnswer(ctx, tx, learned); err != nil {
		return "", err
	}
	if err := store.DecideUnanswered(ctx, tx, question, store.UnansweredAccepted); err != nil {
		return "", err
	}
	said := "In your document \"Answers\", only for you."
	if learned.Role == policy.RolePublic {
		said = "In your document \"Answers\": customers are answered from it as well."
	}
	if g.CorrectsQuote != "" {
		name, err := documentName(ctx, tx, g.CorrectsOrigin)
		if err != nil {
			return "", err
		}
		said += " Correct " + esc(name) + " when you can: until then I don't quote what it says about this."
	}
	return said, jobs.Enqueue(ctx, tx, jobs.PublishAnswersArgs{})
}

// handleRewrite takes a reply to the card of an unanswered question as the new wording of its proposed answer. done is
// false if the message replies to no such card.
func (ac *AnswerCommands) handleRewrite(ctx context.Context, r request, typed string) (_ answer, done bool, err error) {
	if r.message.RelatesTo == "" || !r.isOwner() || r.message.Attachment != nil {
		return answer{}, false, nil
	}
	if c, ok := parseChoice(typed); ok && (offerLearnedAnswer{}).accepts(c.word) {
		return answer{}, false, nil
	}
	d, asked, err := ac.dialogs.findText(ctx, r, kindOfferAnswer)
	said := answers.CleanAnswer(typed)
	if err != nil {
		return answer{}, false, err
	}
	if !asked || said == "" {
		return answer{}, false, nil
	}
	q, err := ac.dialogs.read(d)
	if err != nil {
		return answer{}, false, err
	}
	return ac.rewrite(d, q.(*offerLearnedAnswer).QuestionID, said), true, nil //nolint:forcetypeassert // by its kind
}

// rewrite gives the proposed answer of a question other words, and asks about it again.
func (ac *AnswerCommands) rewrite(d store.Dialog, question int64, said string) answer {
	ans := answer{reason: "It changed an answer.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		g, err := store.LockUnanswered(ctx, tx, question)
		if err != nil {
			return alreadyDecidedText(err)
		}
		if len([]rune(said)) > answers.MaxAnswer {
			return fmt.Sprintf("That is too long: at most %d characters. Nothing was changed.", answers.MaxAnswer), ac.show(ctx, tx, g)
		}
		g.Answer = said
		if err := store.SetUnansweredAnswer(ctx, tx, question, said); err != nil {
			return "", err
		}
		return "", ac.show(ctx, tx, g)
	}}
	ans.change = ac.dialogs.close(d, markDone, nil)
	ans.dialog = d.ID
	return ans
}

// endCorrections ends each correction of a sentence that its document no longer contains, and notifies the owner. If the
// changed document answers the question, the correction is deleted; otherwise it becomes an ordinary learned answer.
func (ac *AnswerCommands) endCorrections(ctx context.Context) error {
	ended, err := ac.keeper.EndedCorrections(ctx)
	if err != nil {
		return err
	}
	for _, c := range ended {
		err := ac.store.InTx(ctx, func(tx store.Tx) error {
			done, err := store.EndCorrection(ctx, tx, c.ID)
			if err != nil {
				return err
			}
			if !done {
				return nil
			}
			name, err := documentName(ctx, tx, c.CorrectsOrigin)
			if err != nil {
				return err
			}
			said := fmt.Sprintf("📚 %s no longer says %s. The answer that corrected it, %s, is now one like others: `/answers remove L%d` deletes it.", esc(name), quote(c.CorrectsQuote, 200), quote(c.Answer, 300), c.ID)
			if c.IsAnswered {
				if _, err := store.RemoveLearnedAnswer(ctx, tx, c.ID); err != nil {
					return err
				}
				said = fmt.Sprintf("📚 %s no longer says %s, and answers the question itself. So I took the answer that corrected it, %s, out of your document \"Answers\".", esc(name), quote(c.CorrectsQuote, 200), quote(c.Answer, 300))
			}
			room, err := outbox.AdminRoom(ctx, tx)
			if err != nil {
				return err
			}
			if _, err := ac.room.notify(ctx, tx, room, outbox.Quiet, said, nil); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.PublishAnswersArgs{})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
