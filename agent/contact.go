package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/store/index"
	"multis/tools"
)

const (
	// contactRounds bounds the model's calls for one answer to a contact.
	contactRounds = 5
	// maxSentences of a model go to a contact.
	maxSentences = 3
	// maxReopened is how often an answer is begun anew because something that it read was deleted.
	maxReopened = 10
	// accessTimeout bounds noting which passages were used.
	accessTimeout = time.Second
)

// answerContact answers a question from what the contact may see, with a model or with a passage's own words.
func (a *Agent) answerContact(ctx context.Context, chat store.Chat, waiting []store.Message, question string, last bool) (contactAnswer, error) {
	found, err := a.Search.AsContact(ctx, policy.PublicScope(), search.Query{Text: question, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return contactAnswer{}, err
	}
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return contactAnswer{why: "Nothing in the public documents is about it."}, nil
	}
	result, err := a.askModel(ctx, chat, waiting, question, found)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, llm.ErrNoModel):
		result, err = a.quote(ctx, found)
	case errors.As(err, &over) && a.HandOverAtCap:
		return contactAnswer{why: "The budget is used up, and then a person answers (config: budget.at_cap)."}, nil
	case errors.As(err, &over):
		result, err = a.quote(ctx, found)
	case err != nil && last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(chat.ID)).Msg("The model failed; answering from passages")
		result, err = a.quote(ctx, found)
	}
	result.scope = policy.PublicScope()
	return result, err
}

// askModel has the model answer a contact from passages. Sentences without a quote that is in their passage are left out.
func (a *Agent) askModel(ctx context.Context, chat store.Chat, waiting []store.Message, question string, found search.Result) (contactAnswer, error) {
	answering := a.personaOf(chat)
	if !a.Personas.HasModel(answering) {
		return contactAnswer{}, llm.ErrNoModel
	}
	scope, err := a.contactScope(ctx, chat)
	if err != nil {
		return contactAnswer{}, err
	}
	task, err := a.openTurn(ctx, chat, waiting, question)
	if err != nil {
		return contactAnswer{}, err
	}
	r := a.newAttempt(answering, contactRounds)
	r.run.Caller = tools.Caller{Chat: chat, Scope: scope, Agent: r.persona.ID, Allow: r.persona.Allow, Deny: r.persona.Deny}
	if err := r.loadSkills(ctx); err != nil {
		return contactAnswer{}, err
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.Opening, error) {
		return r.contactOpening(ctx, chat, waiting, question, found.Hits)
	})
	if end.Err != nil && (end.Ending != run.Stopped || errors.Is(end.Err, run.ErrForgotten)) {
		return contactAnswer{}, end.Err
	}
	result := r.checked(end.Outcome)
	r.run.CountInvented(ctx)
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

// personaOf returns who answers in a contact's chat.
func (a *Agent) personaOf(chat store.Chat) persona.Persona {
	p, _ := a.Personas.Route(persona.Where{Chat: chat, Mode: chat.ModeIn(a.Defaults)})
	return p
}

// Answers returns the id of the agent that answers in a contact's chat, and what decided that. It is empty for the assistant itself.
func (a *Agent) Answers(chat store.Chat) (agent, by string) {
	p, by := a.Personas.Route(persona.Where{Chat: chat, Mode: chat.ModeIn(a.Defaults)})
	return p.ID, by
}

// openTurn opens the task that answers what waits in a chat. Other messages, or the same after an edit, are another task.
func (a *Agent) openTurn(ctx context.Context, chat store.Chat, waiting []store.Message, question string) (store.Task, error) {
	newest, answering := waiting[len(waiting)-1].ID, a.personaOf(chat)
	model, _ := a.Personas.ModelOf(answering)
	key := sha256.New()
	for _, m := range waiting {
		fmt.Fprintf(key, "%d %d:%s\n", m.ID, len(m.Body), m.Body)
	}
	task := store.Task{
		Kind: store.TaskTurn, ChatID: chat.ID, MessageID: &newest, About: idsOf(waiting), Agent: answering.ID, Model: model.Name(), Input: policy.Redact(question),
	}
	for reopened := range maxReopened {
		task.Key = fmt.Sprintf("turn:%d:%x.%d", chat.ID, key.Sum(nil)[:16], reopened)
		opened, err := store.InsertTask(ctx, a.Store.Lazy(), task)
		if err != nil {
			return store.Task{}, err
		}
		if !opened.Forgotten && !opened.State.IsOver() {
			return opened, store.SupersedeTasks(ctx, a.Store.Writer(), chat.ID, store.TaskTurn, task.Key)
		}
	}
	return store.Task{}, fmt.Errorf("chat %d: a message was deleted each of %d times the answer was made", chat.ID, maxReopened)
}

// contactOpening builds the first request for a contact. Of notes and messages it has those of the contact's own chats alone.
func (r *attempt) contactOpening(ctx context.Context, chat store.Chat, waiting []store.Message, question string, hits []search.Hit) (run.Opening, error) {
	db, err := r.agent.Store.ContactReader(r.run.Caller.Scope)
	if err != nil {
		return run.Opening{}, err
	}
	before, err := r.readConversation(ctx, db, chat, idsOf(waiting))
	if err != nil {
		return run.Opening{}, err
	}
	var notes []store.Note
	if !r.noNotes {
		if notes, err = store.CurrentNotes(ctx, db, r.run.Caller.Scope, run.MaxNotes); err != nil {
			return run.Opening{}, err
		}
	}
	name, err := store.AssistantName(ctx, r.agent.Store.DB(), r.agent.Name)
	if err != nil {
		return run.Opening{}, err
	}
	first, err := r.run.Compose(ctx, run.Prompt{
		Rules: fmt.Sprintf(contactRules, r.name(name)), Manner: r.manner(), Notes: run.NotesText(notes), Passages: hits, Summary: before.summary.Body, Window: before.said,
		Question: question,
	}, "reply", chat.ID)
	if err != nil {
		return run.Opening{}, err
	}
	first.About = slices.Concat(first.About, before.messages(), idsOf(waiting), learnedFrom(notes))
	return first, nil
}

// checked returns what of a model's answer may go to a contact.
func (r *attempt) checked(out run.Outcome) contactAnswer {
	switch {
	case out.Handover != "":
		return contactAnswer{why: "The model asked for a person.", words: r.run.BreakLinks(out.Handover)}
	case out.Why != "":
		return contactAnswer{why: out.Why}
	}
	answer, err := run.ParseAnswer(out.Text)
	if err != nil {
		// An answer that cannot be read has no sentences: it was paid for and is not tried again.
		return contactAnswer{why: "The model's answer cannot be read."}
	}
	var sentences []string
	var result contactAnswer
	for _, s := range answer.Sentences[:min(len(answer.Sentences), maxSentences)] {
		span, ok := r.run.Cite(s)
		if !ok {
			continue
		}
		sentences = append(sentences, run.Plain(s.Text))
		result.spans = append(result.spans, span)
	}
	if len(sentences) == 0 {
		return contactAnswer{why: "The model found no answer in the public documents that it could quote."}
	}
	result.used = run.Cited(r.run.Passages, result.spans)
	result.text = strings.Join(sentences, " ") + titlesText(result.used)
	result.why = fmt.Sprintf("%s answered from %s.", r.run.Model.Name(), strings.Join(sources(result.spans), "; "))
	return result
}

// sources returns the sources of spans, each once.
func sources(spans []store.Span) []string {
	var names []string
	for _, s := range spans {
		if !slices.Contains(names, s.Source) {
			names = append(names, s.Source)
		}
	}
	return names
}

// recordAccess notes which passages an answer used, once it is committed. A failure is only logged.
func (a *Agent) recordAccess(ctx context.Context, scope policy.Scope, used []search.Hit) {
	ctx, cancel := context.WithTimeout(ctx, accessTimeout)
	defer cancel()
	if err := a.Search.RecordAccess(ctx, scope, used); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot note which passages were used")
	}
}
