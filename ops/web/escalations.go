package web

import (
	"errors"
	"fmt"
	"strings"

	"multis/store"
	"multis/store/index"
)

// maxAbout is how many of its messages an escalation shows.
const maxAbout = 10

// escalationCard is an escalation with its chat and what was said.
type escalationCard struct {
	store.Escalation

	Chat        store.Chat
	Said        []entry
	Version     string
	Suggestions []suggestion
}

// suggestion is an answer that may be sent to the contact of an escalation, with what it is based on.
type suggestion struct {
	Text    string
	Sources []Passage
}

// IsQuote reports whether the suggestion is what its only source says, word for word.
func (s suggestion) IsQuote() bool { return len(s.Sources) == 1 && s.Sources[0].Match == s.Text }

// suggestionsOf returns what may be sent to the contact of an escalation. The sources are in passages.
func suggestionsOf(e store.Escalation, passages map[store.ChunkID]index.ChunkText) (list []suggestion) {
	for _, p := range e.Proposals {
		list = append(list, suggestion{Text: p.Text, Sources: sourcesOf(p.Citations, passages)})
	}
	return list
}

// Suggests reports whether the suggestions may still be sent.
func (c escalationCard) Suggests() bool { return c.Picked == 0 }

// escalationCards returns escalations as the page shows them.
func (s waitingPages) escalationCards(v *visit, list []store.Escalation, chats map[store.ChatID]store.Chat) ([]escalationCard, error) {
	var ids []store.EscalationID
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	messages, err := store.EscalationMessages(v.r.Context(), v.db, ids, maxAbout)
	if err != nil {
		return nil, err
	}
	var cards []escalationCard
	for _, e := range list {
		c := escalationCard{Escalation: e, Chat: chats[e.ChatID], Version: EscalationVersion(e, chats[e.ChatID])}
		for _, m := range messages[e.ID] {
			c.Said = append(c.Said, s.messageEntry(c.Chat, m))
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// actOnEscalation claims, resolves or pauses an escalation, or sends a suggestion.
func (s waitingPages) actOnEscalation(v *visit) error {
	a := EscalationAction{Step: EscalationStep(v.r.PostFormValue("do"))}
	switch number := parseID(v.r.PostFormValue("suggestion")); {
	case number > 0 && a.Step == "":
		a.Step, a.Suggestion = StepSuggest, int(number)
	case a.Step != StepClaim && a.Step != StepResolve && a.Step != StepPause:
		return s.reject(v, "Claim it, resolve it, or pause me there.", "")
	}
	return s.act(v, a)
}

// replyToEscalation sends the owner's words to the contact of an escalation.
func (s waitingPages) replyToEscalation(v *visit) error {
	a := EscalationAction{Step: StepReply, Text: strings.TrimSpace(v.r.PostFormValue("text"))}
	if a.Text == "" {
		return s.reject(v, "There are no words to send.", "")
	}
	return s.act(v, a)
}

// act carries out what a form says about the escalation in the path.
func (s waitingPages) act(v *visit, a EscalationAction) error {
	a.Escalation, a.Version = store.EscalationID(v.id()), v.r.PostFormValue("version")
	refused, err := s.Room.ActOnEscalation(v.r.Context(), v.session, a)
	if err != nil {
		return err
	}
	return s.settle(v, refused, a.Text, fmt.Sprintf("/?done=escalation-%d", a.Escalation))
}

// escalationResult says what became of an escalation.
func (s waitingPages) escalationResult(v *visit, escalation store.EscalationID) (string, error) {
	e, err := store.EscalationByID(v.r.Context(), v.db, escalation)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case e.ClosedAt != nil:
		return "The escalation is resolved.", nil
	case e.AnsweredAt != nil:
		return "The escalation is answered.", nil
	case e.ClaimedBy != "":
		return "The escalation is claimed by " + e.ClaimedBy.Localpart() + ".", nil
	default:
		return "The escalation waits.", nil
	}
}
