package admin

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"multis/bridgebridge"
	"multis/business/answers"
	"multis/jobs"
	"multis/ops/web"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// pageQuestion is a question that waits by itself, so that the web page shows it as well. A question in the course of a command is only
// answered where the command was written.
type pageQuestion interface {
	question
	// choices returns the buttons of the question, the usual one first.
	choices() []web.Choice
}

func (offerLearnedAnswer) choices() []web.Choice {
	return []web.Choice{{Word: wordYes, Label: "Save for me"}, {Word: "public", Label: "Save for customers"}, {Word: wordNo, Label: "No"}}
}

func (confirmBridge) choices() []web.Choice {
	return []web.Choice{{Word: wordYes, Label: "Yes, it is mine"}, {Word: wordNo, Label: "No"}}
}

func (decideRestored) choices() []web.Choice {
	return []web.Choice{{Word: wordYes, Label: "Send it"}, {Word: wordNo, Label: "Drop it"}}
}

func (offerAuto) choices() []web.Choice {
	return []web.Choice{{Word: wordYes, Label: "Send at once from now on"}, {Word: wordNo, Label: "Keep shadow answers"}}
}

func (resendDraft) choices() []web.Choice { return []web.Choice{{Word: wordYes, Label: "Send again"}} }

func (pickRole) choices() []web.Choice {
	return []web.Choice{{Word: "public", Label: "Public"}, {Word: "private", Label: "Only me"}, {Word: wordNo, Label: "Don't add it"}}
}

// Questions returns the open questions that the page shows.
func (w *WebCommands) Questions(ctx context.Context) ([]web.Question, error) {
	room, err := outbox.AdminRoom(ctx, w.store.DB())
	if errors.Is(err, outbox.ErrNoAdminRoom) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := store.RecentDialogs(ctx, w.store.DB(), room.ID, w.room.now(), maxRecentDialogs)
	if err != nil {
		return nil, err
	}
	var shown []web.Question
	var kinds []string // of the questions that were found
	for _, d := range rows {
		q, choices, ok := w.readForPage(d)
		if !ok || q.traits.repeats && slices.Contains(kinds, d.Kind) {
			continue
		}
		kinds = append(kinds, d.Kind)
		item, err := w.showQuestion(ctx, q)
		if errors.Is(err, store.ErrNotFound) { // what it is about was deleted or decided
			continue
		}
		if err != nil {
			return nil, err
		}
		item.Choices = choices
		shown = append(shown, item)
	}
	return shown, nil
}

// showQuestion returns a question as the page shows it, or ErrNotFound if nothing is left to decide.
func (w *WebCommands) showQuestion(ctx context.Context, q openQuestion) (web.Question, error) {
	shown := web.Question{
		ID:        q.ID,
		Version:   web.QuestionVersion(q.Dialog),
		AskedAt:   q.askedAt(),
		ExpiresAt: q.ExpiresAt,
	}
	asked, err := store.OutboxMessageByID(ctx, w.store.DB(), q.OutboxID)
	if err != nil {
		return shown, err
	}
	shown.Text = strings.TrimSpace(openUntil.ReplaceAllLiteralString(asked.Text(), ""))
	if shown.Text == "" {
		return shown, store.ErrNotFound
	}
	if offer, is := q.question.(*offerLearnedAnswer); is {
		shown.Words, err = offer.proposed(ctx)
	}
	return shown, err
}

// readForPage reads a question with its buttons. ok is false if it is closed, or not for the page.
func (w *WebCommands) readForPage(d store.Dialog) (q openQuestion, choices []web.Choice, ok bool) {
	q, err := w.dialogs.load(d)
	if err != nil {
		return q, nil, false // it is of another version of multis, and the admin room says so to an answer
	}
	onPage, is := q.question.(pageQuestion)
	if !is || !q.isOpen(w.room.now()) {
		return q, nil, false
	}
	return q, onPage.choices(), true
}

// proposed returns the answer that the question offers, or ErrNotFound if it is decided.
func (q offerLearnedAnswer) proposed(ctx context.Context) (string, error) {
	open, err := store.OpenOrDeclinedQuestions(ctx, q.answers.store.DB())
	i := slices.IndexFunc(open, func(g store.UnansweredQuestion) bool { return g.ID == q.QuestionID && g.State == store.UnansweredOpen })
	switch {
	case err != nil:
		return "", err
	case i < 0:
		return "", store.ErrNotFound
	default:
		return open[i].Answer, nil
	}
}

// AnswerQuestion answers a question as a reply to it in the admin room does. What the room would say to the reply it says there.
func (w *WebCommands) AnswerQuestion(ctx context.Context, s store.WebSession, a web.QuestionAnswer) (refused string, err error) {
	d, err := store.DialogByID(ctx, w.store.DB(), a.Question)
	if errors.Is(err, store.ErrNotFound) {
		return "There is no such question.", nil
	}
	if err != nil {
		return "", err
	}
	q, choices, ok := w.readForPage(d)
	if !ok || web.QuestionVersion(d) != a.Version {
		return string(errShownChanged), nil
	}
	room, err := store.ChatByID(ctx, w.store.DB(), d.ChatID)
	if err != nil {
		return "", err
	}
	r := w.reply(s, room, d, a)
	var ans answer
	offer, isOffer := q.question.(*offerLearnedAnswer)
	switch {
	case a.Words != "" && isOffer:
		ans = w.answers.rewrite(d, offer.QuestionID, answers.CleanAnswer(a.Words))
	case slices.ContainsFunc(choices, func(c web.Choice) bool { return c.Word == a.Word }):
		ans, _, err = w.dialogs.handleChoice(ctx, r, choice{word: a.Word})
	default:
		return "That is not an answer to it.", nil
	}
	if err != nil {
		return "", err
	}
	return w.carryOut(ctx, s, deed{
		command: q.traits.command,
		outcome: a.Word,
		ref:     strconv.FormatInt(d.ID, 10),
		words:   a.Words,
		change:  func(ctx context.Context, tx store.Tx) error { return w.answerInRoom(ctx, tx, r, ans) },
	})
}

// reply is an answer on the page as the reply in the admin room that says the same.
func (w *WebCommands) reply(s store.WebSession, room store.Chat, d store.Dialog, a web.QuestionAnswer) request {
	now := w.room.now()
	return request{
		message: store.Message{
			ChatID:     room.ID,
			Sender:     s.Person,
			Author:     policy.AuthorOwnerClient,
			Kind:       string(bridgebridge.Text),
			Body:       a.Word,
			At:         now,
			ReceivedAt: now,
		},
		room:   room,
		now:    now,
		dialog: d.ID,
	}
}

// answerInRoom makes the changes of an answer, and writes its text to the admin room.
func (w *WebCommands) answerInRoom(ctx context.Context, tx store.Tx, r request, ans answer) error {
	said, err := ans.apply(ctx, tx)
	if jobs.IsSnooze(err) { // it was answered in the meantime
		return errShownChanged
	}
	if err != nil {
		return err
	}
	if err := noteChange(ctx, tx, r, ans); err != nil {
		return err
	}
	if said == "" {
		return nil
	}
	_, err = w.room.write(ctx, tx, r.room, notice{
		text:     said,
		kind:     outbox.Answer,
		question: ans.question,
		quotes:   ans.quotes,
	})
	return err
}
