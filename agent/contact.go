package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/business/answers"
	"multis/internal/text"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
	"multis/store/index"
)

const (
	// contactRounds is the maximum number of model calls for one answer to a contact.
	contactRounds = 5
	// maxSentences is the maximum number of sentences in an answer to a contact.
	maxSentences = 3
	// maxRestarts is how often an answer is started again because a message that its prompt contains was deleted.
	maxRestarts = 10
)

// Reasons why a question has no answer.
const (
	noDocumentReason = "Nothing in the public documents is about it."
	noAnswerReason   = "Your public documents don't answer this question."
	budgetReason     = "The budget is used up, and then a person answers (config: budget.at_cap)."
)

// contactKinds are the kinds of documents that contacts are answered from.
var contactKinds = []index.Kind{index.KindKnowledge} //nolint:gochecknoglobals // a constant, were there constant lists

// contactQuestion is a question of a contact.
type contactQuestion struct {
	chat         store.Chat
	waiting      []store.Message // the messages to answer
	text         string          // what is asked in words; may be empty with a picture
	pictures     string          // what the pictures show; empty without any
	last         bool            // no other attempt follows
	noModelUntil time.Time       // no model is asked before this time; zero for no limit
	mayClarify   bool            // no clarifying question was asked in the conversation
	before       []string        // what the contact wrote before in the conversation, the oldest first
	refused      refusal         // the drafts of its answer that the owner refused with feedback
}

// answerContact answers a question from the public documents, with a model or with a quoted passage, or asks which of two
// things it is about.
func (t *Turns) answerContact(ctx context.Context, q contactQuestion) (contactAnswer, error) {
	if q.pictures != "" {
		return t.answerPicture(ctx, q)
	}
	canned, ok, err := t.cannedAnswer(ctx, q.chat.Name, q.text)
	if err != nil {
		return canned, err
	}
	if ok {
		return canned, nil
	}
	if q.before, err = t.saidBefore(ctx, q.chat.ID, q.waiting); err != nil {
		return contactAnswer{}, err
	}
	found, err := t.searchForContact(ctx, q.text, q.before)
	if err != nil {
		return contactAnswer{}, err
	}
	if hasNothing(found) && t.mayAskModel(q) {
		return t.answerFollowUp(ctx, q, found)
	}
	if hasNoQuote(found) {
		return contactAnswer{reason: noDocumentReason}, nil
	}
	first := t.mayClarifyFirst(q)
	if first {
		options, err := t.search.Options(ctx, found)
		if err != nil {
			return contactAnswer{}, err
		}
		if len(options) > 0 {
			return t.clarify(ctx, t.store.DB(), q.chat.ID, options)
		}
	}
	result, err := t.answerFrom(ctx, q, found)
	if err != nil {
		return result, err
	}
	if result.text != "" || result.cause != "" || first {
		return result, nil
	}
	options, err := t.search.Options(ctx, found) // not before, because it takes longer than all else before the model
	if err != nil {
		return contactAnswer{}, err
	}
	if len(options) == 0 {
		return result, nil
	}
	if !q.mayClarify {
		result.reason = fmt.Sprintf("The documents answer it for “%s” and for “%s”, and I had asked back once already.", subjectText(options[0]),
			subjectText(options[1]))
		return result, nil
	}
	asked, err := t.clarify(ctx, t.store.DB(), q.chat.ID, options)
	asked.task, asked.summarise = result.task, result.summarise
	return asked, err
}

// mayAskModel reports whether a model may be asked now.
func (t *Turns) mayAskModel(q contactQuestion) bool {
	return t.personas.HasModel(t.personaOf(q.chat)) && q.noModelUntil.IsZero()
}

// answerFollowUp asks the model a question whose own words are in no document: it may go on with what was said before,
// or be in another language. The documents are searched for what was asked before, too; found is what its own words found.
func (t *Turns) answerFollowUp(ctx context.Context, q contactQuestion, found search.Result) (contactAnswer, error) {
	if n := len(q.before); n > 0 {
		var err error
		if found, err = t.searchForContact(ctx, joinLines(q.before[n-1], q.text), nil); err != nil {
			return contactAnswer{}, err
		}
		found = found.WithAsked(search.Asked{Text: q.text, Before: q.before})
	}
	if len(found.Hits) == 0 {
		found.Hits = nearestPassages(found)
	}
	result, err := t.answerFrom(ctx, q, found)
	if err == nil && result.text == "" {
		result.reason = cmp.Or(result.reason, noDocumentReason)
	}
	return result, err
}

// answerFrom answers a question from what was found, with a model or with a quoted passage.
func (t *Turns) answerFrom(ctx context.Context, q contactQuestion, found search.Result) (contactAnswer, error) {
	if !q.noModelUntil.IsZero() {
		result, err := t.quoteAnswers(ctx, q, found)
		result.reason, result.scope = modelHoldReason(q.noModelUntil.In(t.zone))+" "+result.reason, policy.PublicScope()
		return result, err
	}
	result, err := t.askModel(ctx, q, found)
	var over *llm.OverBudgetError
	switch {
	case err == nil && result.isUnproven:
		result, err = t.quoteInstead(ctx, q, found, result)
	case errors.Is(err, llm.ErrNoModel):
		result, err = t.quoteAnswers(ctx, q, found)
	case errors.As(err, &over) && t.escalateAtCap:
		return contactAnswer{reason: budgetReason, cause: policy.CauseBudget}, nil
	case errors.As(err, &over):
		result, err = t.quoteAnswers(ctx, q, found)
	case err != nil && q.last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(q.chat.ID)).Msg("The model failed; answering from passages")
		result, err = t.quoteAnswers(ctx, q, found)
	}
	result.scope = policy.PublicScope()
	return result, err
}

// quoteInstead answers with the documents' own words in place of a model's answer that does not follow from them: as
// without a model, or with what the model cited.
func (t *Turns) quoteInstead(ctx context.Context, q contactQuestion, found search.Result, refused contactAnswer) (contactAnswer, error) {
	quote, err := t.quoteAnswers(ctx, q, found)
	if err != nil {
		return quote, err
	}
	if quote.text == "" && refused.inOtherLanguage {
		quote = t.citedAnswer(refused)
	}
	if quote.text == "" {
		return refused, nil
	}
	quote.reason = refused.reason + " So I quoted the documents. " + quote.reason
	quote.task = refused.task
	quote.summarise = refused.summarise
	return quote, nil
}

// citedAnswer answers with the words that a model cited.
func (co *core) citedAnswer(refused contactAnswer) contactAnswer {
	var lines []string
	for _, c := range refused.citations {
		q := search.Quote{Text: c.Quote}
		if i := slices.IndexFunc(refused.used, func(h search.Hit) bool { return h.Ref == c.Ref }); i >= 0 {
			first, _, _ := strings.Cut(c.Quote, "\n")
			q.Hit = refused.used[i]
			q.From = max(strings.Index(q.Hit.Text, first), 0)
		}
		lines = append(lines, quoteText(q))
	}
	said := strings.Join(lines, "\n")
	if said == "" || policy.GivesOrders(said) {
		return contactAnswer{}
	}
	return contactAnswer{
		text:      said + co.titlesText(said, refused.used),
		citations: refused.citations,
		used:      refused.used,
	}
}

// answerPicture answers a question with a picture from the public documents. Only a model can combine the picture with
// the words. Without one, no passage is quoted and no clarifying question is asked.
func (t *Turns) answerPicture(ctx context.Context, q contactQuestion) (contactAnswer, error) {
	if !q.noModelUntil.IsZero() {
		return contactAnswer{reason: modelHoldReason(q.noModelUntil.In(t.zone))}, nil
	}
	found, err := t.searchForContact(ctx, joinLines(q.text, q.pictures), nil)
	if err != nil {
		return contactAnswer{}, err
	}
	result, err := t.askModel(ctx, q, found)
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return contactAnswer{reason: "It has a picture, and there is no model to answer it (config: llm.model).", cause: policy.CauseFile}, nil
	case errors.Is(err, llm.ErrOverBudget):
		return contactAnswer{reason: budgetReason, cause: policy.CauseBudget}, nil
	case err != nil && q.last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(q.chat.ID)).Msg("The model failed; escalating a picture")
		return contactAnswer{reason: "It has a picture, and the model failed.", cause: policy.CauseFailure}, nil
	}
	result.scope = policy.PublicScope()
	return result, err
}

// cannedAnswer returns the owner's own answer to a question, before any model or document is asked. name is the contact's.
func (t *Turns) cannedAnswer(ctx context.Context, name, question string) (contactAnswer, bool, error) {
	if t.answers == nil {
		return contactAnswer{}, false, nil
	}
	canned, ok, err := t.answers.Find(ctx, question, name)
	return contactAnswer{
		text: canned.Text, citations: []store.Citation{canned.Citation}, reason: fmt.Sprintf("It is your answer %d (`/answers`).", canned.Number),
		used: []search.Hit{canned.Hit}, scope: policy.PublicScope(),
	}, ok, err
}

// withCorrection returns an answer to a question unchanged, unless it quotes words that the owner has corrected, or the
// opening hours in another language: then it returns the corrected answer, or the hours in the language of the question.
func (t *Turns) withCorrection(ctx context.Context, question string, answer contactAnswer) (contactAnswer, error) {
	if t.answers == nil || answer.text == "" {
		return answer, nil
	}
	if answer.task == nil && len(answer.used) == 1 {
		hours, ok, err := t.answers.HoursIn(ctx, question, answer.used[0])
		if err != nil {
			return contactAnswer{}, err
		}
		if ok {
			t.sayInstead(&answer, hours)
			return answer, nil
		}
	}
	by, ok, err := t.answers.Correct(ctx, question, answer.text, answer.citations)
	if err != nil {
		return answer, err
	}
	if !ok {
		return answer, nil
	}
	corrected := contactAnswer{
		reason:    by.Reason,
		cause:     policy.CauseNoAnswer,
		task:      answer.task,
		summarise: answer.summarise,
		scope:     policy.PublicScope(),
	}
	if by.Text != "" {
		t.sayInstead(&corrected, by)
	}
	return corrected, nil
}

// sayInstead makes an answer say what another source says.
func (co *core) sayInstead(a *contactAnswer, by answers.Corrected) {
	a.text = plainQuote(by.Text) + co.titlesText(by.Text, []search.Hit{by.Hit})
	a.citations = []store.Citation{by.Citation}
	a.used = []search.Hit{by.Hit}
}

// askModel asks the model to answer a contact from passages. An answer with a sentence that does not follow from what it
// cites is asked for once more.
func (t *Turns) askModel(ctx context.Context, q contactQuestion, found search.Result) (contactAnswer, error) {
	chat, answering := q.chat, t.personaOf(q.chat)
	if !t.personas.HasModel(answering) {
		return contactAnswer{}, llm.ErrNoModel
	}
	scope, err := t.contactScope(ctx, chat)
	if err != nil {
		return contactAnswer{}, err
	}
	task, err := t.openTurnTask(ctx, chat, q.waiting, joinLines(q.text, q.pictures))
	if err != nil {
		return contactAnswer{}, err
	}
	r := t.newAttempt(answering, contactRounds)
	r.run.Caller = tools.Caller{
		Surface: rules.SurfaceContact,
		Tainted: true,
		Chat:    chat,
		Scope:   scope,
		Agent:   r.persona.ID,
		Allow:   r.persona.Allow,
		Deny:    r.persona.Deny,
	}
	r.run.Question = q.text
	r.run.Check = r.gapsIn
	if err := r.checkJudge(ctx, chat.DeliveryIn(t.defaults) != policy.DeliveryAuto); err != nil {
		return contactAnswer{}, err
	}
	if err := r.loadSkills(ctx); err != nil {
		return contactAnswer{}, err
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.FirstRequest, error) {
		return r.buildContactRequest(ctx, q, found.Hits)
	})
	if end.Err != nil && (end.End != run.Stopped || errors.Is(end.Err, run.ErrSourceDeleted)) {
		return contactAnswer{}, end.Err
	}
	result := q.refused.check(r.checkAnswer(ctx, end.LoopResult))
	r.run.StoreInventedCount(ctx)
	done := r.run.EndedTask(store.TaskCompleted, result.text, "")
	if end.Why != "" {
		done.State, done.Error = store.TaskFailed, end.Why
	}
	if done.Cost, err = r.run.Cost(ctx); err != nil {
		return contactAnswer{}, err
	}
	result.task, result.summarise = &done, r.summarise
	return result, nil
}

// openTurnTask opens the task that answers the waiting messages of a chat. The key of the task includes their texts, so an edit gives
// another task.
func (t *Turns) openTurnTask(ctx context.Context, chat store.Chat, waiting []store.Message, question string) (store.Task, error) {
	newest, answering := waiting[len(waiting)-1].ID, t.personaOf(chat)
	model, _ := t.personas.ModelOf(answering)
	key := sha256.New()
	for _, m := range waiting {
		fmt.Fprintf(key, "%d %d:%s\n", m.ID, len(m.Body), m.Body)
	}
	task := store.Task{
		Kind:      store.TaskTurn,
		ChatID:    chat.ID,
		MessageID: &newest,
		Sources:   store.IDsOf(waiting),
		Agent:     answering.ID,
		Model:     model.Name(),
		Input:     policy.Redact(question),
	}
	for reopened := range maxRestarts {
		task.Key = fmt.Sprintf("turn:%d:%x.%d", chat.ID, key.Sum(nil)[:16], reopened)
		opened, err := store.InsertTask(ctx, t.store.AsyncCommit(), task)
		if err != nil {
			return store.Task{}, err
		}
		if !opened.Forgotten && !opened.State.IsOver() {
			return opened, store.SupersedeTasks(ctx, t.store.Writer(), chat.ID, store.TaskTurn, task.Key)
		}
	}
	return store.Task{}, fmt.Errorf("chat %d: a message was deleted each of %d times the answer was made", chat.ID, maxRestarts)
}

// buildContactRequest builds the first request for a contact. Its notes and messages are from the contact's own chats only.
func (r *attempt) buildContactRequest(ctx context.Context, q contactQuestion, hits []search.Hit) (run.FirstRequest, error) {
	db, err := r.core.store.ContactReader(r.run.Caller.Scope)
	if err != nil {
		return run.FirstRequest{}, err
	}
	var before conversation
	if !r.omitHistory {
		if before, err = r.readConversation(ctx, db, q.chat, store.IDsOf(q.waiting)); err != nil {
			return run.FirstRequest{}, err
		}
	}
	if err := store.MarkPeople(ctx, r.core.store.DB(), before.messages); err != nil {
		return run.FirstRequest{}, err
	}
	var notes []store.Note
	if !r.omitNotes {
		if notes, err = store.CurrentNotes(ctx, db, r.run.Caller.Scope, run.MaxNotes); err != nil {
			return run.FirstRequest{}, err
		}
	}
	name, err := r.assistantName(ctx)
	if err != nil {
		return run.FirstRequest{}, err
	}
	first, err := r.run.Compose(ctx, run.Prompt{
		Rules:        fmt.Sprintf(r.rules(contactRules, smallContactRules), name),
		Instructions: joinParagraphs(r.instructions(), r.core.business.prompt(), q.refused.instructions()),
		Notes:        run.NotesText(notes),
		Passages:     hits,
		Summary:      before.summary.Body,
		Window:       before.messages,
		People:       r.core.whoAnswered(before.messages),
		Question:     q.text,
		Picture:      q.pictures,
		Refused:      q.refused.prompt(),
		Customer:     q.chat.Label(),
	}, "reply", q.chat.ID)
	if err != nil {
		return run.FirstRequest{}, err
	}
	first.About = slices.Concat(first.About, before.messageIDs(), store.IDsOf(q.waiting), q.refused.messageIDs(), noteSources(notes))
	return first, nil
}

// checkAnswer returns a model's answer as it may be sent to a contact. It is all or nothing: an answer without one of its
// sentences may say the opposite.
func (r *attempt) checkAnswer(ctx context.Context, out run.LoopResult) contactAnswer {
	switch {
	case out.Summary != "":
		asked := contactAnswer{reason: "The model asked for a person.", cause: policy.CauseModel, modelReason: r.run.BreakLinks(out.Summary)}
		if out.Danger {
			asked.reason, asked.cause = "The model says that somebody is in danger or in pain.", policy.CauseDanger
		}
		return asked
	case out.Why != "":
		return contactAnswer{reason: out.Why}
	}
	answer, err := run.ParseAnswer(out.Text)
	if err != nil {
		return contactAnswer{reason: "The model's answer cannot be read.", isUnproven: true}
	}
	if len(answer.Sentences) == 0 {
		return contactAnswer{reason: "The model found no answer in the public documents that it could cite."}
	}
	var sentences []string
	var result contactAnswer
	for _, s := range answer.Sentences {
		r.run.CountInvented(s)
		sentences = append(sentences, run.WithoutOwnMarks(run.WithoutMarkup(s.Text)))
		for _, c := range r.run.Cited(s) {
			if !slices.Contains(result.citations, c) {
				result.citations = append(result.citations, c)
			}
		}
	}
	said := strings.Join(sentences, " ")
	result.used = run.CitedHits(r.run.Passages, result.citations)
	if gaps := r.gapsIn(ctx, out.Text); gaps != "" {
		result.isUnproven = true
		result.inOtherLanguage = r.inOtherLanguage(said, result.citations)
		result.reason = "The model's answer does not follow from the documents."
		return result
	}
	result.text = said + r.core.titlesText(said, result.used)
	result.reason = fmt.Sprintf("%s answered from %s.", r.run.Model.Name(), strings.Join(sources(result.citations), "; "))
	if open := text.Clip(strings.TrimSpace(r.run.BreakLinks(answer.Open)), maxOpen); open != "" {
		result.isPartial = true
		result.modelReason = "Left open: " + open
	}
	return result
}

// maxOpen is the maximum length of what a model leaves open, in characters.
const maxOpen = 200

// sources returns the sources of citations, each once.
func sources(citations []store.Citation) []string {
	var names []string
	for _, s := range citations {
		if !slices.Contains(names, s.Source) {
			names = append(names, s.Source)
		}
	}
	return names
}
