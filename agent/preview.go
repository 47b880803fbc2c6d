package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/business/catalog"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// Preview is what a contact in a business chat would get for a question.
type Preview struct {
	Text      string // the answer; empty for none
	Citations []store.Citation
	Why       string // why it is this answer, or why there is none
	Escalates bool   // a person would have to answer
}

// Preview returns what a contact would get for a question, without sending anything or changing a chat. The admin room
// pays for a model's answer. message is the one in which the owner asked; zero if he asked elsewhere.
func (t *Turns) Preview(ctx context.Context, room store.Chat, message store.Message, question string) (Preview, error) {
	name, err := store.AssistantName(ctx, t.store.DB(), t.name)
	if err != nil {
		return Preview{}, err
	}
	now := t.now()
	admission := policy.Admit(policy.AdmitInput{
		Mode:               policy.ModeBusiness,
		Kind:               policy.KindDM,
		Author:             policy.AuthorContact,
		Name:               name,
		Text:               question,
		SentAt:             now,
		Now:                now,
		MaxAge:             time.Hour,
		EscalationKeywords: t.escalationKeywords,
		StoreCap:           policy.Rate{Minute: 1, Day: 1},
		SendCap:            policy.Rate{Minute: 1, Day: 1},
	})
	lang := catalog.DetectLanguage([]string{question}, t.standard.language)
	switch {
	case admission.Action == policy.ActionEscalate:
		return previewer{t}.escalationPreview(lang, policy.CauseOf(admission.Code), admission.Why), nil
	case admission.Action != policy.ActionAnswer:
		return Preview{Why: admission.Why}, nil
	case policy.IsGreeting(question, name):
		return Preview{Text: t.standard.texts.Text(catalog.Greeting, lang), Why: "It is a greeting."}, nil
	case t.awayOutsideHours && !t.standard.hours.At(now).Open:
		return previewer{t}.escalationPreview(lang, policy.CauseHours, "It is outside of the opening hours (config: business.outside_hours)."), nil
	}
	answer, err := previewer{t}.previewAnswer(ctx, room, message, policy.WithoutName(name, policy.WithoutGreeting(question, name)))
	if err == nil {
		answer, err = t.withCorrection(ctx, question, answer)
	}
	switch {
	case err != nil:
		return Preview{}, err
	case answer.text == "":
		return previewer{t}.escalationPreview(lang, cmp.Or(answer.cause, policy.CauseNoAnswer), answer.reason), nil
	}
	preview := Preview{Text: answer.text, Citations: answer.citations, Why: answer.reason}
	if answer.isPartial {
		preview.Text += "\n\n" + previewer{t}.escalationPreview(lang, policy.CauseNoAnswer, "").Text
		preview.Why, preview.Escalates = partialReason, true
	}
	return preview, nil
}

// previewer answers as a contact would be answered, and sends nothing.
type previewer struct{ *Turns }

// escalationPreview returns what a contact is told when a person has to answer.
func (t previewer) escalationPreview(lang catalog.Lang, cause policy.Cause, why string) Preview {
	return Preview{Text: t.standard.escalationText(lang, cause, t.standard.hours, t.now()), Why: why, Escalates: true}
}

// previewAnswer answers a question as answerContact does, from public documents only and without a conversation.
func (t previewer) previewAnswer(ctx context.Context, room store.Chat, message store.Message, question string) (contactAnswer, error) {
	canned, ok, err := t.cannedAnswer(ctx, "", question)
	if err != nil {
		return canned, err
	}
	if ok {
		return canned, nil
	}
	found, err := t.searchForContact(ctx, question, nil)
	if err != nil {
		return contactAnswer{}, err
	}
	if hasNoQuote(found) {
		return contactAnswer{reason: noDocumentReason}, nil
	}
	options, err := t.search.Options(ctx, found)
	if err != nil {
		return contactAnswer{}, err
	}
	if len(options) > 0 {
		return t.standard.clarifyIn(catalog.DetectLanguage([]string{question}, t.standard.language), options), nil
	}
	answer, err := t.previewModel(ctx, room, message, question, found)
	var over *llm.OverBudgetError
	switch {
	case errors.As(err, &over) && t.escalateAtCap:
		return contactAnswer{reason: budgetReason}, nil
	case err != nil && ctx.Err() == nil: // as the last attempt of a turn does
		return t.quoteAnswers(ctx, contactQuestion{text: question}, found)
	}
	return answer, err
}

// previewModel answers the owner's test question as a business chat would, with the model of the persona that answers
// there. The task is stored for the admin room.
func (t previewer) previewModel(ctx context.Context, room store.Chat, message store.Message, question string,
	found search.Result,
) (contactAnswer, error) {
	business := policy.ModeBusiness
	answering := t.personaOf(store.Chat{Kind: policy.KindDM, Mode: &business})
	if !t.personas.HasModel(answering) {
		return contactAnswer{}, llm.ErrNoModel
	}
	model, _ := t.personas.ModelOf(answering)
	var asked []store.Message
	var messageID *store.MessageID
	if message.ID != 0 {
		asked, messageID = []store.Message{message}, &message.ID
	}
	task, err := store.InsertTask(ctx, t.store.AsyncCommit(), store.Task{
		Kind:      store.TaskTurn,
		ChatID:    room.ID,
		MessageID: messageID,
		Sources:   store.IDsOf(asked),
		Agent:     answering.ID,
		Model:     model.Name(),
		Input:     policy.Redact(question),
		Key:       fmt.Sprintf("preview:%d:%d", message.ID, t.now().UnixNano()),
	})
	if err != nil {
		return contactAnswer{}, err
	}
	r := t.newAttempt(answering, contactRounds)
	r.omitNotes, r.omitHistory = true, true
	r.run.Caller = tools.Caller{
		Surface: rules.SurfaceContact,
		Tainted: true,
		Chat:    room,
		Scope:   policy.PublicScope(),
		Agent:   r.persona.ID,
		Allow:   r.persona.Allow,
		Deny:    append(slices.Clone(r.persona.Deny), "recall_memory"),
	}
	r.run.Question = question
	r.run.Check = r.gapsIn
	if err := r.checkJudge(ctx, t.defaults.FirstDelivery != policy.DeliveryAuto); err != nil {
		return contactAnswer{}, err
	}
	if err := r.loadSkills(ctx); err != nil {
		return contactAnswer{}, err
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.FirstRequest, error) {
		return r.buildContactRequest(ctx, contactQuestion{chat: room, waiting: asked, text: question}, found.Hits)
	})
	if end.Err != nil && end.End != run.Stopped {
		return contactAnswer{}, end.Err
	}
	answer := r.checkAnswer(ctx, end.LoopResult)
	done := r.run.EndedTask(store.TaskCompleted, answer.text, "")
	if done.Cost, err = r.run.Cost(ctx); err != nil {
		return contactAnswer{}, err
	}
	if answer.modelReason != "" {
		answer.reason = answer.modelReason
	}
	return answer, t.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.EndTask(ctx, tx, done)
		if errors.Is(err, store.ErrTaskLost) {
			return nil
		}
		return err
	})
}
