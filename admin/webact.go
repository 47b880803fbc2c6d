package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"multis/bridgebridge"
	"multis/business/desk"
	"multis/internal/text"
	"multis/jobs"
	"multis/ops/web"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/safety/pin"
	"multis/store"
)

// deed is a change that the owner makes on the web page.
type deed struct {
	command string // the command that does the same
	outcome string // for the audit log
	ref     string
	words   string // what the owner typed
	// pin is the action for which the PIN must be entered, and digits what was entered; an empty action needs none.
	pin    pin.Action
	digits string
	change func(ctx context.Context, tx store.Tx) error
}

// refusal rolls back a deed, and says why it is not done.
type refusal string

// Error returns the reason.
func (r refusal) Error() string { return string(r) }

// errShownChanged refuses a form that showed something that has changed since.
const errShownChanged refusal = "It has changed since the page showed it. Look at it again, then decide."

// carryOut makes a change in a transaction, with an entry in the audit log. refused says why nothing was done.
func (w *WebCommands) carryOut(ctx context.Context, s store.WebSession, d deed) (refused string, err error) {
	err = w.store.InTx(ctx, func(tx store.Tx) (err error) {
		refused = "" // the transaction may be run again
		if err := audit.SetActor(ctx, tx, audit.Owner); err != nil {
			return err
		}
		if d.pin != "" {
			refused, err = w.pins.enter(ctx, tx, d.pin, d.digits)
		}
		if err != nil {
			return err
		}
		if refused != "" { // a wrong PIN is counted
			return nil
		}
		entry := audit.Entry{
			Kind: audit.Command, Actor: audit.Owner, Person: s.Person.String(), Ref: d.ref,
			Action: d.command, Outcome: d.outcome, Rule: fmt.Sprintf("web_session_%d", s.ID), Content: []byte(d.words),
		}
		if err := w.settings.Audit.Append(ctx, tx, entry); err != nil {
			return err
		}
		return d.change(ctx, tx)
	})
	if why, is := errors.AsType[refusal](err); is {
		return outbox.PlainText(string(why)), nil
	}
	return refused, err
}

// DecideCalls approves or declines the tool calls on a card, or a plan, as an answer in the admin room does.
func (w *WebCommands) DecideCalls(ctx context.Context, s store.WebSession, d web.CallDecision) (refused string, err error) {
	calls, err := store.ApprovalsOnCard(ctx, w.store.DB(), d.Card)
	if err != nil {
		return "", err
	}
	if why := w.tasks.whyUndecidable(calls, d); why != "" {
		return why, nil
	}
	todo := deed{command: "approvals", outcome: "no", ref: strconv.FormatInt(d.Card, 10), words: d.Why}
	if d.Allow {
		todo.outcome = "yes"
	}
	if d.Allow && calls[0].Tier == store.ApprovalPIN {
		todo.pin, todo.digits = pin.ActionApprove, d.PIN
	}
	todo.change = func(ctx context.Context, tx store.Tx) error {
		if calls[0].Tool == store.PlanCall {
			return w.tasks.decidePlanOnPage(ctx, tx, d)
		}
		return w.tasks.decideCardOnPage(ctx, tx, d)
	}
	return w.carryOut(ctx, s, todo)
}

// whyUndecidable says why calls cannot be decided as a form says; empty if they may be.
func (ts *TaskCommands) whyUndecidable(calls []store.Approval, d web.CallDecision) string {
	switch {
	case len(calls) == 0 || calls[0].Card != d.Card:
		return "There is no such question."
	case len(d.Numbers) > 0 && (!d.Allow || d.Numbers[len(d.Numbers)-1] > len(calls)):
		return "Mark the calls that I may make."
	case d.ForHour && !isGrantable(calls):
		return "That can only be allowed once."
	case calls[0].Tier == store.ApprovalPIN && ts.pins.keeper == nil:
		return "That needs the PIN, and there is none here."
	default:
		return ""
	}
}

// decideCardOnPage stores a decision about the tool calls that a form showed, and closes the question in the admin room.
func (ts *TaskCommands) decideCardOnPage(ctx context.Context, tx store.Tx, d web.CallDecision) error {
	if _, err := ts.closeQuestion(ctx, tx, kindCard, "Card", d); err != nil {
		return err
	}
	decision := jobs.CardDecision{ApprovalDecision: store.ApprovalDecision{Allowed: d.Allow, How: store.HowText}, Numbers: d.Numbers}
	if d.ForHour {
		decision.Grant = time.Hour
	}
	if d.Why != "" {
		decision.How, decision.Reason = store.HowReply, text.Clip(text.Clean(d.Why), maxDenialReason)
	}
	_, decided, err := jobs.DecideCard(ctx, tx, d.Card, decision, ts.room.now())
	if err == nil && !decided {
		return errShownChanged
	}
	return err
}

// decidePlanOnPage starts or drops the plan that a form showed. From then on the message with the plan shows its progress.
func (ts *TaskCommands) decidePlanOnPage(ctx context.Context, tx store.Tx, d web.CallDecision) error {
	dialog, err := ts.closeQuestion(ctx, tx, kindPlan, "Approval", d)
	if err != nil {
		return err
	}
	decision := store.ApprovalDecision{Allowed: d.Allow, How: store.HowText}
	number, err := jobs.DecideApproval(ctx, tx, d.Card, decision, ts.room.now())
	if err != nil {
		return err
	}
	if number == 0 {
		return errShownChanged
	}
	if dialog.ID == 0 {
		return nil
	}
	shown, err := store.OutboxMessageByID(ctx, tx, dialog.OutboxID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && shown.EventID == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	task, err := store.TaskByID(ctx, tx, number)
	if err != nil {
		return err
	}
	return store.SetTaskProgressEvent(ctx, tx, task, *shown.EventID)
}

// closeQuestion closes the question in the admin room about calls that are decided on the page, and locks the calls. It
// refuses if they are not those that the form showed. The question is zero if the room has not asked it yet.
func (ts *TaskCommands) closeQuestion(ctx context.Context, tx store.Tx, kind, field string, d web.CallDecision) (store.Dialog, error) {
	dialog, err := store.OpenDialogOf(ctx, tx, kind, field, d.Card)
	if errors.Is(err, store.ErrNotFound) {
		return store.Dialog{}, ts.checkShown(ctx, tx, d)
	}
	if err != nil {
		return dialog, err
	}
	first, err := store.FinishDialog(ctx, tx, dialog.ID)
	if err != nil {
		return dialog, err
	}
	if !first {
		return dialog, errShownChanged
	}
	if err := ts.checkShown(ctx, tx, d); err != nil {
		return dialog, err
	}
	return dialog, ts.room.endQuestion(ctx, tx, dialog, markOf(d.Allow))
}

// checkShown locks calls, and refuses if they are not as a form showed them.
func (ts *TaskCommands) checkShown(ctx context.Context, tx store.Tx, d web.CallDecision) error {
	calls, err := store.LockCard(ctx, tx, d.Card)
	if err == nil && web.CallsVersion(calls) != d.Version {
		return errShownChanged
	}
	return err
}

// ActOnEscalation answers an escalation, or claims, resolves or pauses it, as a message or a sign in its thread does.
func (w *WebCommands) ActOnEscalation(ctx context.Context, s store.WebSession, a web.EscalationAction) (refused string, err error) {
	todo := deed{
		command: "escalations",
		outcome: string(a.Step),
		ref:     strconv.FormatInt(int64(a.Escalation), 10),
		words:   a.Text,
	}
	todo.change = func(ctx context.Context, tx store.Tx) error {
		e, chat, err := desk.Lock(ctx, tx, a.Escalation)
		if errors.Is(err, store.ErrNotFound) {
			return refusal("There is no such escalation.")
		}
		if err != nil {
			return err
		}
		if web.EscalationVersion(e, chat) != a.Version {
			return errShownChanged
		}
		if a.Step == web.StepSuggest && (a.Suggestion < 1 || a.Suggestion > len(e.Proposals) || e.Picked > 0) {
			return refusal("There is no such suggestion, or one was sent.")
		}
		why, err := w.act(ctx, tx, e, chat, w.said(s, a))
		if err == nil && why != "" {
			return refusal(why)
		}
		return err
	}
	return w.carryOut(ctx, s, todo)
}

// act does with an escalation what a message says that is in no room.
func (w *WebCommands) act(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, m store.Message) (why string, err error) {
	if m.Kind == string(bridgebridge.Text) {
		return w.desk.Answer(ctx, tx, e, chat, m)
	}
	return w.desk.HandleReaction(ctx, tx, e.ID, m)
}

// said returns an action on the page as the message or the reaction in a thread that does the same. It is in no room.
func (w *WebCommands) said(s store.WebSession, a web.EscalationAction) store.Message {
	m := store.Message{Sender: s.Person, Author: policy.AuthorOwnerClient, Kind: string(bridgebridge.Reaction), At: w.room.now()}
	suggestions := []policy.ThreadSign{policy.SignSend, policy.SignSecond + "\u20e3", policy.SignThird + "\u20e3"}
	switch a.Step {
	case web.StepClaim:
		m.Body = string(policy.SignClaim)
	case web.StepResolve:
		m.Body = string(policy.SignResolve)
	case web.StepPause:
		m.Body = string(policy.SignPause)
	case web.StepSuggest:
		if a.Suggestion >= 1 && a.Suggestion <= len(suggestions) {
			m.Body = string(suggestions[a.Suggestion-1])
		}
	case web.StepReply:
		m.Kind, m.Body = string(bridgebridge.Text), a.Text
	}
	return m
}
