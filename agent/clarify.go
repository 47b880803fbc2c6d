package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/agent/run"
	"multis/business/catalog"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

// clarification is the clarifying question of a conversation. The zero value means that none was asked.
type clarification struct {
	asked bool
	// question has the messages that the clarifying question was about, if the waiting messages reply to it; otherwise none.
	question []store.Message
}

// clarificationIn returns the clarifying question of the conversation in a chat.
func (t *Turns) clarificationIn(ctx context.Context, chat store.ChatID) (clarification, error) {
	last, err := store.LastClarification(ctx, t.store.DB(), chat, t.now().Add(-policy.ConversationGap))
	if errors.Is(err, store.ErrNotFound) {
		return clarification{}, nil
	}
	found := clarification{asked: err == nil}
	if err != nil {
		return found, err
	}
	if !last.Open {
		return found, nil
	}
	for _, id := range last.Asked {
		m, err := store.MessageByID(ctx, t.store.DB(), id)
		if err != nil {
			return clarification{}, err
		}
		found.question = append(found.question, m)
	}
	return found, nil
}

// clarify asks a contact which of two things a question is about.
func (t *Turns) clarify(ctx context.Context, db store.DB, chat store.ChatID, options []search.Option) (contactAnswer, error) {
	lang, err := t.standard.languageOf(ctx, db, chat)
	return t.standard.clarifyIn(lang, options), err
}

// clarifyIn is clarify in a language.
func (s standardTexts) clarifyIn(lang catalog.Lang, options []search.Option) contactAnswer {
	first, second := subjectText(options[0]), subjectText(options[1])
	result := contactAnswer{
		text: s.texts.Text(catalog.Clarify, lang, "{first}", first, "{second}", second), scope: policy.PublicScope(), clarifies: true,
		reason: fmt.Sprintf("The documents answer it for “%s” (%s) and for “%s” (%s); I asked which one is meant.",
			first, knowledge.CiteQuote(options[0].Quote), second, knowledge.CiteQuote(options[1].Quote)),
	}
	for _, o := range options {
		result.used = append(result.used, o.Quote.Hit)
		result.citations = append(result.citations, quoteCitation(o.Quote))
	}
	return result
}

// subjectText returns what an option is about, as a contact reads it.
func subjectText(o search.Option) string { return run.WithoutMarkup(o.Subject) }

// answerReply answers the question that a clarifying question was about, with the answer that the contact's reply picks.
// Any other reply needs a person.
func (t *Turns) answerReply(ctx context.Context, asked []store.Message, name, reply string) (contactAnswer, error) {
	found, err := t.searchForContact(ctx, joinLines(questionOf(asked, name), pictureDescriptions(asked)), nil)
	if err != nil {
		return contactAnswer{}, err
	}
	options, err := t.search.Options(ctx, found)
	if err != nil {
		return contactAnswer{reason: "I asked which of two things is meant, and the documents were changed since."}, err
	}
	if len(options) == 0 {
		return contactAnswer{reason: "I asked which of two things is meant, and the documents were changed since."}, nil
	}
	picked := search.PickOption(options, reply)
	if picked < 0 {
		return contactAnswer{reason: fmt.Sprintf("I asked whether “%s” or “%s” is meant, and the reply does not say.", subjectText(options[0]),
			subjectText(options[1]))}, nil
	}
	result := t.quotedAnswer(options[picked].Quote)
	result.reason = fmt.Sprintf("I had asked which one is meant, and the reply is “%s”. ", subjectText(options[picked])) + result.reason
	return result, nil
}

// questionOf returns what messages ask in words, without the assistant's name, which no document has.
func questionOf(messages []store.Message, name string) string {
	var lines []string
	for _, m := range messages {
		if typed := typedText(m); typed != "" && !policy.IsGreeting(typed, name) && !policy.IsAcknowledgement(typed, name) {
			lines = append(lines, policy.WithoutName(name, policy.WithoutGreeting(typed, name)))
		}
	}
	return strings.Join(lines, "\n")
}

// wordsOf returns what messages say, a line each.
func wordsOf(messages []store.Message) string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = m.Body
	}
	return strings.Join(lines, "\n")
}

// mayClarifyFirst reports whether a clarifying question may be asked without asking a model first: if there is no model
// to ask. A model may know what is meant.
func (t *Turns) mayClarifyFirst(q contactQuestion) bool { return q.mayClarify && !t.mayAskModel(q) }
