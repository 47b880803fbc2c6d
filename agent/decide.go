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
	"multis/clock/schedule"
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

// IsEscalated reports whether the code of a message says that a person has to answer it, or a part of it.
func IsEscalated(code policy.Code) bool { return code == codeEscalated || code == codeWaiting }

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
	// escalation says why a person has to answer.
	escalation escalation
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

// inquiry is what contacts wrote, on its way to an answer. Each check fills in what the next ones need.
type inquiry struct {
	chat    store.Chat
	waiting []store.Message
	last    bool // no other attempt follows
	gate    outbox.Gate
	// clarified is the clarifying question that the waiting messages may reply to.
	clarified clarification
	question  string // in words; may be empty with a picture
	pictures  string // what the pictures show
	screening screening
}

// isAddressed reports whether a message calls the assistant by its name.
func (q *inquiry) isAddressed() bool { return addressed(q.gate.Name, q.waiting) }

// escalation says why a person has to answer. The zero value means that none has to.
type escalation struct {
	reason string
	cause  policy.Cause
	// modelReason is the model's sentence about it.
	modelReason string
	// onlyWaiting is true if there is nothing to escalate once the contact no longer waits for a person.
	onlyWaiting bool
	// byMessage is true if the decision about one of the messages is the reason.
	byMessage bool
	// proposals are answers from public documents that a person may send.
	proposals []store.Proposal
}

// isNeeded reports whether the chat is escalated.
func (e *escalation) isNeeded() bool { return e.reason != "" }

// escalated returns the result of a turn that only escalates.
func escalated(reason string, cause policy.Cause) turnResult {
	return turnResult{escalation: escalation{reason: reason, cause: cause}}
}

// decider decides what becomes of the messages that wait in a chat of a contact.
type decider struct{ *Turns }

// decide decides what is sent to a contact. It changes nothing in the chat. The first check with a result ends it.
func (t decider) decide(ctx context.Context, chat store.Chat, waiting []store.Message, last bool) (turnResult, error) {
	gate, err := t.box.Gate(ctx, chat)
	if err != nil {
		return turnResult{}, err
	}
	q := inquiry{
		chat:    chat,
		waiting: waiting,
		last:    last,
		gate:    gate,
	}
	checks := []func(context.Context, *inquiry) (result turnResult, isDecided bool, err error){
		t.checkGate,
		t.checkQuestion,
		t.checkHours,
		t.checkPictures,
		t.checkScreening,
		t.checkUnanswered,
	}
	for _, check := range checks {
		result, isDecided, err := check(ctx, &q)
		if err != nil {
			return turnResult{}, err
		}
		if isDecided {
			result.screening = q.screening
			return result, nil
		}
	}
	return t.decideAnswer(ctx, &q)
}

// checkGate asks the gate before any model is asked, and escalates messages that a person has to answer.
func (t decider) checkGate(_ context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	purpose := policy.PurposeReply
	for _, m := range q.waiting {
		if m.Action == policy.ActionEscalate && result.escalation.cause != policy.CauseDanger { // which no other message replaces
			purpose = policy.PurposeEscalation
			result = escalated(m.Reason, policy.CauseOf(m.Code))
			result.escalation.byMessage = true
		}
	}
	decision := q.gate.Decide(purpose, q.isAddressed())
	switch {
	case decision.Allow:
		return result, result.escalation.isNeeded(), nil
	case decision.Code.LacksRoom():
		result, err = t.awaitRoom(q.waiting, decision)
		return result, true, err
	default:
		return turnResult{code: decision.Code, reason: decision.Why}, true, nil
	}
}

// checkQuestion finds the question. It greets, and leaves an acknowledgement unanswered.
func (t decider) checkQuestion(ctx context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	name := q.gate.Name
	q.clarified, err = t.clarificationIn(ctx, q.chat.ID)
	if err != nil {
		return turnResult{}, false, err
	}
	q.question = questionOf(q.waiting, name)
	switch {
	case q.question != "" || slices.ContainsFunc(q.waiting, hasPicture):
		return turnResult{}, false, nil
	case slices.ContainsFunc(q.waiting, func(m store.Message) bool { return policy.IsGreeting(m.Body, name) }):
		result, err = t.greet(ctx, q.chat, q.isAddressed())
		return result, true, err
	case len(q.clarified.question) > 0: // a bare "yes" is a reply to the clarifying question
		q.question = wordsOf(q.waiting)
		return turnResult{}, false, nil
	default:
		// an edit can turn a waiting message into an acknowledgement
		return turnResult{code: policy.CodeAcknowledged, reason: policy.CodeAcknowledged.Sentence()}, true, nil
	}
}

// checkHours escalates while the business is closed, where only a person answers then.
func (t decider) checkHours(_ context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	if !t.awayOutsideHours || t.standard.hoursOf(q.chat).At(t.now()).Open {
		return turnResult{}, false, nil
	}
	return escalated("It came outside of the opening hours (config: business.outside_hours).", policy.CauseHours), true, nil
}

// checkPictures describes the pictures, and escalates those that cannot be described.
func (t decider) checkPictures(ctx context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	unseen, cause, err := t.describePictures(ctx, q.chat, q.waiting, q.last)
	if err != nil {
		return turnResult{}, false, err
	}
	q.pictures = pictureDescriptions(q.waiting)
	return escalated(unseen, cause), unseen != "", nil
}

// checkScreening escalates an attempt to give orders.
func (t decider) checkScreening(ctx context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	q.screening, err = t.screen(ctx, q.chat, q.waiting, joinLines(q.question, q.pictures))
	if err != nil {
		return turnResult{}, false, err
	}
	isBlocked := q.screening.verdict == policy.InjectionBlock
	return escalated(blockedWhy, policy.CauseInjection), isBlocked, nil
}

// checkUnanswered escalates after maxUnanswered questions of the conversation that got no answer.
func (t decider) checkUnanswered(ctx context.Context, q *inquiry) (result turnResult, isDecided bool, err error) {
	begin := t.now().Add(-policy.ConversationGap)
	missed, err := store.UnansweredTurns(ctx, t.store.DB(), q.chat.ID, begin, policy.CodeAcknowledged,
		codeGreeted, codeEscalated, codeWaiting)
	if err != nil {
		return turnResult{}, false, err
	}
	reason := fmt.Sprintf("The %d questions before it got no answer.", missed)
	return escalated(reason, policy.CauseRepeatedNoAnswer), missed >= maxUnanswered, nil
}

// decideAnswer answers the question, or escalates it if no answer is found.
func (t decider) decideAnswer(ctx context.Context, q *inquiry) (turnResult, error) {
	answer, err := t.answerQuestion(ctx, q.clarified, q.gate.Name, contactQuestion{
		chat:         q.chat,
		waiting:      q.waiting,
		text:         q.question,
		pictures:     q.pictures,
		last:         q.last,
		noModelUntil: q.screening.noModelUntil,
		mayClarify:   !q.clarified.asked,
	})
	if err != nil {
		return turnResult{}, err
	}
	answer, err = t.withCorrection(ctx, q.question, answer)
	if err != nil {
		return turnResult{}, err
	}
	delivery := q.chat.DeliveryIn(t.defaults)
	isReviewed := delivery.NeedsApproval(policy.PurposeReply) || delivery.IsShadow(policy.PurposeReply)
	switch {
	case answer.text == "":
		return turnResult{
			questionMessages: q.clarified.question,
			escalation: escalation{
				reason:      answer.reason,
				cause:       cmp.Or(answer.cause, policy.CauseNoAnswer),
				modelReason: answer.modelReason,
			},
			task:      answer.task,
			summarise: answer.summarise,
			screening: q.screening,
		}, nil
	case answer.isPartial && isReviewed: // who decides about one draft decides about all that is asked
		return turnResult{
			escalation: escalation{
				reason:      partialReason,
				cause:       policy.CauseNoAnswer,
				modelReason: answer.modelReason,
				proposals:   []store.Proposal{{Text: answer.text, Citations: answer.citations}},
			},
			task:      answer.task,
			summarise: answer.summarise,
			screening: q.screening,
		}, nil
	default:
		return t.sendAnswer(q, answer), nil
	}
}

// sendAnswer returns the result that sends an answer. The part of the question that a partial answer leaves open is escalated.
func (t decider) sendAnswer(q *inquiry, answer contactAnswer) turnResult {
	purpose, code := policy.PurposeReply, codeQuoted
	if answer.clarifies {
		purpose, code = policy.PurposeClarify, policy.CodeClarified
	}
	left := escalation{cause: policy.CauseNoAnswer}
	if answer.isPartial {
		left.reason = partialReason + " I gave that part."
		left.modelReason = answer.modelReason
	}
	return turnResult{
		screening:  q.screening,
		escalation: left,
		message: &outbox.Message{
			Chat:      q.chat,
			Purpose:   purpose,
			Text:      answer.text,
			Citations: answer.citations,
			Addressed: q.isAddressed(),
			Profile:   t.personaOf(q.chat).Profile(),
		},
		code:      code,
		reason:    answer.reason,
		task:      answer.task,
		summarise: answer.summarise,
		sources:   run.SourceMessages(answer.used),
		used:      answer.used,
		scope:     answer.scope,
	}
}

// answerQuestion answers a question, a reply to the clarifying question, or a question whose draft the owner refused with feedback.
func (t decider) answerQuestion(ctx context.Context, clarified clarification, name string,
	q contactQuestion,
) (answer contactAnswer, err error) {
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
func (t decider) awaitRoom(waiting []store.Message, d policy.Decision) (turnResult, error) {
	if newest := waiting[len(waiting)-1].ReceivedAt; t.now().Sub(newest) < policy.RoomReplacementTimeout {
		return turnResult{}, jobs.Snooze(roomPoll)
	}
	return escalated(d.Why, policy.CauseFailure), nil
}

// waitsForPerson is why a greeting is escalated where a person is awaited.
const waitsForPerson = "It was a greeting of somebody who waits for a person."

// greet answers a greeting, once a day. Somebody who waits for a person is not greeted: the escalation shows the message,
// and the contact is told at most that a person will answer.
func (t decider) greet(ctx context.Context, chat store.Chat, byName bool) (turnResult, error) {
	e, err := store.EscalationOfChat(ctx, t.store.DB(), chat.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return turnResult{}, err
	}
	if err == nil && e.IsWaiting() {
		return turnResult{escalation: escalation{reason: waitsForPerson, onlyWaiting: true}}, nil
	}
	y, m, d := t.now().In(t.zone).Date()
	greeted, err := store.WasSentSince(ctx, t.store.DB(), chat.ID, policy.PurposeGreeting, schedule.DayStart(y, m, d, t.zone))
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
