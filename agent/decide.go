package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"multis/agent/run"
	"multis/jobs"
	"multis/knowledge/search"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// The codes that a turn adds to those of the policy.
const (
	codeGreeted   policy.Code = "greeted"   // the greeting was sent today already
	codeEscalated policy.Code = "escalated" // the chat was escalated
	codeWaiting   policy.Code = "waiting"   // the chat was escalated before and still waits for a person
	codeQuoted    policy.Code = "quoted"    // answered with a quoted source
)

// maxUnanswered is how many questions of a conversation may stay without an answer, as when their drafts are dropped,
// before the next is escalated.
const maxUnanswered = 2

// turnResult is what a turn decided.
type turnResult struct {
	// message is the answer to the contact; nil if nothing is sent.
	message *outbox.Message
	// seen is what the turn has seen of the chat.
	seen store.SeenState
	// outboxID is the outbox message of the answer, or of the notice to the contact about an escalation.
	outboxID *uuid.UUID
	code     policy.Code
	reason   string
	// escalation is why a person has to answer; empty if the chat is not escalated. modelReason is the model's sentence about it.
	escalation  string
	modelReason string
	// onlyWaiting is true if there is nothing to escalate once the contact no longer waits for a person.
	onlyWaiting bool
	// citations is what the public documents say about the question of an escalation, proposal an answer that a person may send.
	citations []store.Citation
	proposal  string
	cause     policy.Cause // of the escalation
	// questionMessages are the messages that a clarifying question was about, if the waiting messages reply to it; otherwise none.
	questionMessages []store.Message
	// task is the task that ends with the result; nil for none.
	task      *store.Task
	summarise bool // the conversation is long enough to be summarised
	// sources are the messages whose words may be in the answer.
	sources []store.MessageID
	// used are the passages that the answer was made from. They were found in scope.
	used  []search.Hit
	scope policy.Scope
	// screening is what the injection layers found in the waiting messages.
	screening screening
}

// decide decides what is sent to a contact. It changes nothing in the chat.
func (t *Turns) decide(ctx context.Context, chat store.Chat, waiting []store.Message, last bool) (turnResult, error) {
	gate, err := t.box.Gate(ctx, chat)
	if err != nil {
		return turnResult{}, err
	}
	name := gate.Name
	purpose := policy.PurposeReply
	escalation := ""
	cause := policy.Cause("")
	for _, m := range waiting {
		if m.Action == policy.ActionEscalate {
			purpose = policy.PurposeEscalation
			escalation = m.Reason
			cause = policy.CauseOf(m.Code)
		}
	}
	decision := gate.Decide(purpose, addressed(name, waiting))
	switch {
	case decision.Allow:
	case decision.Code.LacksRoom():
		return t.awaitRoom(waiting, decision)
	default:
		return turnResult{code: decision.Code, reason: decision.Why}, nil
	}
	if escalation != "" {
		return turnResult{escalation: escalation, cause: cause}, nil
	}
	clarified, err := t.clarificationIn(ctx, chat.ID)
	if err != nil {
		return turnResult{}, err
	}
	question := questionOf(waiting, name)
	switch {
	case question != "" || slices.ContainsFunc(waiting, hasPicture):
	case slices.ContainsFunc(waiting, func(m store.Message) bool { return policy.IsGreeting(m.Body, name) }):
		return t.greet(ctx, chat, addressed(name, waiting))
	case len(clarified.question) > 0: // a bare "yes" is a reply to the clarifying question
		question = wordsOf(waiting)
	default:
		// an edit can turn a waiting message into an acknowledgement
		return turnResult{code: policy.CodeAcknowledged, reason: policy.CodeAcknowledged.Sentence()}, nil
	}
	if t.awayOutsideHours && !t.standard.hoursOf(chat).At(t.now()).Open {
		return turnResult{escalation: "It came outside of the opening hours (config: business.outside_hours).", cause: policy.CauseHours}, nil
	}
	unseen, cause, err := t.describePictures(ctx, chat, waiting, last)
	if err != nil {
		return turnResult{escalation: unseen, cause: cause}, err
	}
	if unseen != "" {
		return turnResult{escalation: unseen, cause: cause}, nil
	}
	shows := pictureDescriptions(waiting)
	screened, err := t.screen(ctx, chat, waiting, joinLines(question, shows))
	if err != nil {
		return turnResult{}, err
	}
	if screened.verdict == policy.InjectionBlock {
		return turnResult{escalation: blockedWhy, cause: policy.CauseInjection, screening: screened}, nil
	}
	missed, err := store.UnansweredTurns(ctx, t.store.DB(), chat.ID, t.now().Add(-policy.ConversationGap), policy.CodeAcknowledged,
		codeGreeted, codeEscalated, codeWaiting)
	if err != nil {
		return turnResult{
			escalation: fmt.Sprintf("The %d questions before it got no answer.", missed),
			cause:      policy.CauseRepeatedNoAnswer,
			screening:  screened,
		}, err
	}
	if missed >= maxUnanswered {
		return turnResult{
			escalation: fmt.Sprintf("The %d questions before it got no answer.", missed),
			cause:      policy.CauseRepeatedNoAnswer,
			screening:  screened,
		}, nil
	}
	asked := contactQuestion{
		chat:         chat,
		waiting:      waiting,
		text:         question,
		pictures:     shows,
		last:         last,
		noModelUntil: screened.noModelUntil,
		mayClarify:   !clarified.asked,
	}
	answer, err := t.answerQuestion(ctx, clarified, name, asked)
	if err != nil {
		return turnResult{}, err
	}
	if answer, err = t.withCorrection(ctx, question, answer); err != nil {
		return turnResult{}, err
	}
	if answer.text == "" {
		return turnResult{
			questionMessages: clarified.question,
			escalation:       answer.reason,
			cause:            cmp.Or(answer.cause, policy.CauseNoAnswer),
			modelReason:      answer.modelReason,
			task:             answer.task,
			summarise:        answer.summarise,
			screening:        screened,
		}, nil
	}
	if d := chat.DeliveryIn(t.defaults); answer.isPartial && (d.NeedsApproval(policy.PurposeReply) || d.IsShadow(policy.PurposeReply)) { // who decides about one draft decides about all that is asked
		return turnResult{
			escalation: partialReason,
			cause:      policy.CauseNoAnswer,
			proposal:   answer.text,
			citations:  answer.citations,
			screening:  screened,
		}, nil
	}
	purpose, code := policy.PurposeReply, codeQuoted
	if answer.clarifies {
		purpose, code = policy.PurposeClarify, policy.CodeClarified
	}
	if answer.isPartial {
		escalation = partialReason + " I gave that part."
	}
	return turnResult{
		screening:  screened,
		escalation: escalation,
		cause:      policy.CauseNoAnswer,
		message: &outbox.Message{
			Chat:      chat,
			Purpose:   purpose,
			Text:      answer.text,
			Citations: answer.citations,
			Addressed: addressed(name, waiting),
			Profile:   t.personaOf(chat).Profile(),
		},
		code:      code,
		reason:    answer.reason,
		task:      answer.task,
		summarise: answer.summarise,
		sources:   run.SourceMessages(answer.used),
		used:      answer.used,
		scope:     answer.scope,
	}, nil
}

// answerQuestion answers a question, a reply to the clarifying question, or a question whose draft the owner refused with feedback.
func (t *Turns) answerQuestion(ctx context.Context, clarified clarification, name string,
	q contactQuestion) (answer contactAnswer, err error) {
	if q.refused, err = t.refusedDrafts(ctx, q.chat.ID, q.waiting); err != nil {
		return contactAnswer{}, err
	}
	switch {
	case q.refused.isSet():
		q.text = joinLines(questionOf(clarified.question, name), q.text)
		return t.redraft(ctx, q)
	case len(clarified.question) > 0:
		return t.answerReply(ctx, clarified.question, name, joinLines(q.text, q.pictures))
	default:
		return t.answerContact(ctx, q)
	}
}

// roomPoll is how often a turn checks whether its chat has a room again.
const roomPoll = time.Second

// awaitRoom retries while a chat that moves to another room has none, and escalates the chat after RoomReplacementTimeout.
func (t *Turns) awaitRoom(waiting []store.Message, d policy.Decision) (turnResult, error) {
	if newest := waiting[len(waiting)-1].ReceivedAt; t.now().Sub(newest) < policy.RoomReplacementTimeout {
		return turnResult{}, jobs.Snooze(roomPoll)
	}
	return turnResult{escalation: d.Why, cause: policy.CauseFailure}, nil
}

// waitsForPerson is why a greeting is escalated where a person is awaited.
const waitsForPerson = "It was a greeting of somebody who waits for a person."

// greet answers a greeting, once a day. Somebody who waits for a person is not greeted: the escalation shows the message,
// and the contact is told at most that a person will answer.
func (t *Turns) greet(ctx context.Context, chat store.Chat, byName bool) (turnResult, error) {
	e, err := store.EscalationOfChat(ctx, t.store.DB(), chat.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return turnResult{}, err
	}
	if err == nil && e.IsWaiting() {
		return turnResult{escalation: waitsForPerson, onlyWaiting: true}, nil
	}
	y, m, d := t.now().In(t.zone).Date()
	greeted, err := store.WasSentSince(ctx, t.store.DB(), chat.ID, policy.PurposeGreeting, time.Date(y, m, d, 0, 0, 0, 0, t.zone))
	if err != nil {
		return turnResult{}, err
	}
	if greeted {
		return turnResult{code: codeGreeted, reason: "It was a greeting, and I greeted today already."}, nil
	}
	text, err := t.standard.greeting(ctx, t.store.DB(), chat.ID)
	if err != nil {
		return turnResult{}, err
	}
	return turnResult{
		message: &outbox.Message{Chat: chat, Purpose: policy.PurposeGreeting, Text: text, Addressed: byName},
		code:    codeGreeted, reason: "It was a greeting; I answered with the configured one, without facts.",
	}, nil
}

// addressed reports whether a message calls the assistant by its name.
func addressed(name string, waiting []store.Message) bool {
	for _, m := range waiting {
		if policy.MentionsName(name, m.Body) {
			return true
		}
	}
	return false
}
