package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"multis/knowledge"
	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// How many passages go to a model, and how many the owner is shown without one.
const (
	modelPassages = 6
	shownPassages = 3
)

// maxSentences of a model go to a contact.
const maxSentences = 3

// answer is what was found for a contact. An empty text means that no source supports one.
type answer struct {
	text      string
	spans     []store.Span
	why       string
	words     string // why a person is needed, as the model says it: they are kept where they are forgotten with what they rest on
	used      []search.Hit
	scope     policy.Scope // that used was found in
	task      *store.Task  // that the answer ends; nil when no model was asked
	summarise bool         // what was said before
}

// answerContact looks for a quoted answer in what the contact may see.
func (a *Agent) answerContact(ctx context.Context, chat store.Chat, waiting []store.Message, question string, last bool) (answer, error) {
	found, err := a.Search.AsContact(ctx, policy.PublicScope(), search.Query{Text: question, Limit: modelPassages, Kinds: []store.Kind{store.KindKnowledge}})
	if err != nil {
		return answer{}, err
	}
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return answer{why: "Nothing in the public documents is about it."}, nil
	}
	result, err := a.write(ctx, chat, waiting, question, found)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, llm.ErrNoModel):
		result, err = a.quote(ctx, found)
	case errors.As(err, &over) && a.HandOverAtCap:
		return answer{why: "The budget is used up, and then a person answers (config: budget.at_cap)."}, nil
	case errors.As(err, &over):
		result, err = a.quote(ctx, found)
	case err != nil && last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", chat.ID).Msg("The model failed; answering from passages")
		result, err = a.quote(ctx, found)
	}
	result.scope = policy.PublicScope()
	return result, err
}

// useTime is how long noting which passages were used may take, as where others note the same ones.
const useTime = time.Second

// noteUse notes which passages an answer used, once it is on its way: nobody waits for that, and nothing fails by it.
func (a *Agent) noteUse(ctx context.Context, scope policy.Scope, used []search.Hit) {
	ctx, cancel := context.WithTimeout(ctx, useTime)
	defer cancel()
	if err := a.Search.RecordAccess(ctx, scope, used); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot note which passages were used")
	}
}

// quote answers with a passage's own words, when they carry enough of what the question is about.
func (a *Agent) quote(ctx context.Context, found search.Result) (answer, error) {
	q, ok, err := a.Search.Answer(ctx, found)
	if err != nil || !ok {
		return answer{why: "Your public documents don't answer this question."}, err
	}
	source := knowledge.CiteQuote(q)
	return answer{
		text:  spoken(q.Text) + from([]search.Hit{q.Hit}),
		used:  []search.Hit{q.Hit},
		spans: []store.Span{{Ref: q.Hit.Ref, Source: source, Quote: q.Text}},
		why:   coverageText(q.Coverage),
	}, nil
}

// coverageText says how much of a question a passage covers.
func coverageText(coverage float64) string {
	if coverage > 0.995 {
		return "This passage covers every word of the question."
	}
	return fmt.Sprintf("This passage covers %.0f %% of the question.", 100*coverage)
}

// from names the documents behind an answer to somebody who cannot open them.
func from(hits []search.Hit) string {
	var titles []string
	for _, h := range hits {
		if !slices.Contains(titles, h.Title) {
			titles = append(titles, h.Title)
		}
	}
	return " (from " + strings.Join(titles, ", ") + ")"
}

// spoken makes a quote read well where there is no markup: list marks go, a table's row becomes a line.
func spoken(quote string) string {
	var lines []string
	for line := range strings.Lines(quote) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>-*+ \t")
		if strings.HasPrefix(line, "|") {
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				if cell = strings.TrimSpace(cell); strings.Trim(cell, ":- ") != "" {
					cells = append(cells, cell)
				}
			}
			line = strings.Join(cells, ": ")
		}
		if line = plain(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// kindTurn is the kind of a task that answers a contact.
const kindTurn = "turn"

// write has the model answer a contact from passages, with the tools that a contact's turn has. Sentences without a quote that
// stands in their passage are left out.
func (a *Agent) write(ctx context.Context, chat store.Chat, waiting []store.Message, question string, found search.Result) (answer, error) {
	persona := a.personaOf(chat)
	if !a.thinks(persona) {
		return answer{}, llm.ErrNoModel
	}
	scope, err := a.contactScope(ctx, chat)
	if err != nil {
		return answer{}, err
	}
	task, err := a.turnTask(ctx, chat, waiting, question)
	if err != nil {
		return answer{}, err
	}
	r := a.newRun(persona, contactRounds)
	r.caller = tools.Caller{Chat: chat, Scope: scope, Agent: r.persona.ID, Allow: r.persona.Allow, Deny: r.persona.Deny}
	if err := r.learn(ctx); err != nil {
		return answer{}, err
	}
	err = r.claim(ctx, task, func(ctx context.Context) (asked, error) {
		return r.contactAsked(ctx, chat, waiting, question, found.Hits)
	})
	if err != nil {
		return answer{}, err
	}
	working, release := r.within(ctx)
	defer release()
	out, err := r.loop(working)
	if _, why, ended := stopped(working, err); ended {
		out, err = outcome{why: why}, nil
	}
	if err != nil {
		return answer{}, err
	}
	result := r.checked(out)
	r.countInvented(ctx)
	done := r.end(store.TaskCompleted, result.text, "")
	if out.why != "" {
		done.State, done.Error = store.TaskFailed, out.why
	}
	if done.Cost, err = r.cost(ctx); err != nil {
		return answer{}, err
	}
	result.task, result.summarise = &done, r.summarise
	return result, nil
}

// personaOf is who answers in a contact's chat.
func (a *Agent) personaOf(chat store.Chat) Persona {
	return Route(a.Personas, Where{Chat: chat, Mode: chat.ModeIn(a.Defaults)})
}

// turnTask opens the task of what waits in a chat. What was said since, or otherwise, is another task.
func (a *Agent) turnTask(ctx context.Context, chat store.Chat, waiting []store.Message, question string) (store.Task, error) {
	newest, persona := waiting[len(waiting)-1].ID, a.personaOf(chat)
	model, _ := a.modelOf(persona)
	key := sha256.New()
	for _, m := range waiting {
		fmt.Fprintf(key, "%d %d:%s\n", m.ID, len(m.Body), m.Body)
	}
	task := store.Task{
		Kind: kindTurn, ChatID: chat.ID, MessageID: &newest, About: idsOf(waiting), Agent: persona.ID, Model: model.Name(), Input: policy.Redact(question),
	}
	for again := range maxTries {
		task.Key = fmt.Sprintf("turn:%d:%x.%d", chat.ID, key.Sum(nil)[:16], again)
		opened, err := store.OpenTask(ctx, a.Store.Lazy(), task)
		if err != nil {
			return store.Task{}, err
		}
		if !opened.Forgotten && !opened.State.Over() {
			return opened, store.SupersedeTasks(ctx, a.Store.DB(), chat.ID, kindTurn, task.Key)
		}
	}
	return store.Task{}, fmt.Errorf("chat %d: a message was deleted each of %d times the answer was made", chat.ID, maxTries)
}

// maxTries is how often an answer is begun anew because something that it read was deleted.
const maxTries = 10

// contactAsked builds what the model is asked for a contact: of what is remembered, the contact's own chats alone.
func (r *run) contactAsked(ctx context.Context, chat store.Chat, waiting []store.Message, question string, hits []search.Hit) (asked, error) {
	db, err := r.Store.ContactReader(r.caller.Scope)
	if err != nil {
		return asked{}, err
	}
	before, err := r.readConversation(ctx, db, chat, idsOf(waiting))
	if err != nil {
		return asked{}, err
	}
	var notes []store.Note
	if !r.forgetful {
		if notes, err = store.CurrentNotes(ctx, db, r.caller.Scope, notesInPrompt); err != nil {
			return asked{}, err
		}
	}
	name, err := store.AssistantName(ctx, r.Store.DB(), r.Name)
	if err != nil {
		return asked{}, err
	}
	m := material{rules: fmt.Sprintf(contactRules, r.name(name)), persona: r.manner(), asks: question, notes: notesText(notes)}
	first, err := r.asks(ctx, m, hits, before, llm.Request{Purpose: "reply", Chat: chat.ID})
	if err != nil {
		return asked{}, err
	}
	first.About = append(append(first.About, idsOf(waiting)...), sourcesOf(notes)...)
	return first, nil
}

// checked is what of a model's answer may go to a contact.
func (r *run) checked(out outcome) answer {
	switch {
	case out.handover != "":
		return answer{why: "The model asked for a person.", words: r.unlinked(out.handover)}
	case out.why != "":
		return answer{why: out.why}
	}
	drafted, err := readDraft(out.text)
	if err != nil {
		// An answer that cannot be read is an answer without sentences: it costs, it is not tried again.
		return answer{why: "The model's answer cannot be read."}
	}
	var sentences []string
	var result answer
	for _, s := range drafted.Sentences[:min(len(drafted.Sentences), maxSentences)] {
		span, ok := r.span(s)
		if !ok {
			continue
		}
		sentences = append(sentences, plain(s.Text))
		result.spans = append(result.spans, span)
	}
	if len(sentences) == 0 {
		return answer{why: "The model found no answer in the public documents that it could quote."}
	}
	result.used = spanned(r.passages, result.spans)
	result.text = strings.Join(sentences, " ") + from(result.used)
	result.why = fmt.Sprintf("%s answered from %s.", r.model.Name(), strings.Join(sources(result.spans), "; "))
	return result
}

// check holds a sentence and its quote against the passage it names. What is said to a contact rests on public documents alone.
func (r *run) check(s sentence) (store.Span, bool) {
	said := plain(s.Text)
	if s.Source < 1 || s.Source > len(r.passages) || said == "" {
		return store.Span{}, false
	}
	hit := r.passages[s.Source-1]
	if !r.citable(hit) || !knowledge.CheckSpan(hit.Text, s.Quote) || !bears(hit, said) {
		return store.Span{}, false
	}
	return store.Span{Ref: hit.Ref, Source: knowledge.Cite(hit), Quote: s.Quote}, true
}

// citable tells whether a passage may be the source of an answer: to the owner any that he may read, to a contact public documents. A
// contact's own words and the notes about him tell what he means, and prove nothing.
func (r *run) citable(hit search.Hit) bool {
	return r.caller.Owner || (hit.Role == policy.Public && hit.Kind == store.KindKnowledge)
}

func sources(spans []store.Span) []string {
	var names []string
	for _, s := range spans {
		if !slices.Contains(names, s.Source) {
			names = append(names, s.Source)
		}
	}
	return names
}

// spanned are the hits that an answer rests on.
func spanned(hits []search.Hit, spans []store.Span) []search.Hit {
	var used []search.Hit
	for _, h := range hits {
		if slices.ContainsFunc(spans, func(s store.Span) bool { return s.Ref == h.Ref }) {
			used = append(used, h)
		}
	}
	return used
}

// plain takes out of a text what has no place in a network without markup: marks, and characters that nobody sees.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, markup.Replace(text.Clean(s))))
}

var markup = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "")

func (a *Agent) overBudgetText(over *llm.OverBudgetError) string {
	why := "💶 " + text.Escape(over.Error()) + "."
	if over.Cap == llm.CapRun {
		return why // the next one has a budget of its own
	}
	return why + " I answer from documents only until midnight."
}
