package agent

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"multis/agent/run"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// The codes that a turn adds to those of the policy.
const (
	codeGreeted    policy.Code = "greeted"     // the greeting was sent today already
	codeHandedOver policy.Code = "handed_over" // the chat was escalated
	codeWaiting    policy.Code = "waiting"     // the chat was escalated before and still waits for a person
	codeQuoted     policy.Code = "quoted"      // answered with a quoted source
)

// turnResult is what a turn decided.
type turnResult struct {
	// message is the answer to the contact; nil for silence.
	message *outbox.Message
	// outboxID is the row that the letter, or the notice of an escalation to the contact, became.
	outboxID *uuid.UUID
	code     policy.Code
	reason   string
	// escalation is why a person has to answer; empty if none has. words is a model's own sentence about it.
	escalation string
	words      string
	// task ends with the result; nil for none.
	task      *store.Task
	summarise bool // the conversation is long enough to be summarised
	// restsOn are the messages whose words may be in what is said.
	restsOn []store.MessageID
	// used are the passages that the answer was made of, found in scope.
	used  []search.Hit
	scope policy.Scope
}

// decide decides what is said to a contact. It changes nothing in the chat.
func (a *Agent) decide(ctx context.Context, chat store.Chat, waiting []store.Message, last bool) (turnResult, error) {
	gate, err := a.Box.Gate(ctx, chat)
	if err != nil {
		return turnResult{}, err
	}
	name, purpose, escalation := gate.Name, policy.PurposeReply, ""
	for _, m := range waiting {
		if m.Action == policy.ActionEscalate {
			purpose, escalation = policy.PurposeEscalation, m.Reason
		}
	}
	decision := gate.Decide(purpose, addressed(name, waiting))
	switch {
	case decision.Allow:
	case decision.Code.LacksRoom():
		return a.awaitRoom(waiting, decision)
	default:
		return turnResult{code: decision.Code, reason: decision.Why}, nil
	}
	if escalation != "" {
		return turnResult{escalation: escalation}, nil
	}
	var questions []string
	greeting := false
	for _, m := range waiting {
		switch {
		case policy.IsGreeting(m.Body, name):
			greeting = true
		case !policy.IsAcknowledgement(m.Body, name): // an edit can make a waiting message one
			questions = append(questions, policy.WithoutName(name, m.Body)) // the name is in no document, which would count against an answer
		}
	}
	if len(questions) == 0 && !greeting {
		return turnResult{code: policy.CodeAcknowledged, reason: policy.CodeAcknowledged.Sentence()}, nil
	}
	if len(questions) == 0 {
		return a.greet(ctx, chat, addressed(name, waiting))
	}
	question := strings.Join(questions, "\n")
	answer, err := a.answerContact(ctx, chat, waiting, question, last)
	if err != nil {
		return turnResult{}, err
	}
	if answer.text == "" {
		return turnResult{escalation: answer.why, words: answer.words, task: answer.task, summarise: answer.summarise}, nil
	}
	return turnResult{
		message: &outbox.Message{Chat: chat, Purpose: policy.PurposeReply, Text: answer.text, Spans: answer.spans, Addressed: addressed(name, waiting), Profile: a.personaOf(chat).Profile()},
		code:    codeQuoted, reason: answer.why, task: answer.task, summarise: answer.summarise, restsOn: run.SourceMessages(answer.used), used: answer.used, scope: answer.scope,
	}, nil
}

// roomPoll is how often a turn checks whether its chat has a room again.
const roomPoll = time.Second

// awaitRoom waits for the room of a chat that is being moved to another one. When none comes, the chat is escalated.
func (a *Agent) awaitRoom(waiting []store.Message, d policy.Decision) (turnResult, error) {
	if newest := waiting[len(waiting)-1].ReceivedAt; a.now().Sub(newest) < policy.RoomReplacementTimeout {
		return turnResult{}, jobs.Later(roomPoll)
	}
	return turnResult{escalation: d.Why}, nil
}

// greet answers a greeting, once a day.
func (a *Agent) greet(ctx context.Context, chat store.Chat, byName bool) (turnResult, error) {
	y, m, d := a.now().In(a.Zone).Date()
	greeted, err := store.SentSince(ctx, a.Store.DB(), chat.ID, policy.PurposeGreeting, time.Date(y, m, d, 0, 0, 0, 0, a.Zone))
	if err != nil {
		return turnResult{}, err
	}
	if greeted {
		return turnResult{code: codeGreeted, reason: "It was a greeting, and I greeted today already."}, nil
	}
	return turnResult{
		message: &outbox.Message{Chat: chat, Purpose: policy.PurposeGreeting, Text: a.Greeting, Addressed: byName},
		code:    codeGreeted, reason: "It was a greeting; I answered with the configured one, without facts.",
	}, nil
}

// addressed reports whether a message calls the assistant by its name.
func addressed(name string, waiting []store.Message) bool {
	for _, m := range waiting {
		if policy.Addressed(name, m.Body) {
			return true
		}
	}
	return false
}
