package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// TaskCommands starts, stops and replays tasks, and asks the owner to approve their plans and tool calls.
type TaskCommands struct {
	base

	asker    Asker
	planner  Planner
	replayer Replayer
	dialogs  *dialogs
	saved    SavedTasks
	pins     *pinCommands
}

// approveCalls asks whether a task may make the tool calls on a card. TaskCommands.answerApproval reads the answers,
// because they can say more than a choice.
type approveCalls struct {
	Card  int64     // the first approval
	Asked time.Time // answers that were written earlier have no effect
	open  time.Duration
}

// kindCard is the kind of questions about tool calls.
const kindCard = "approval"

func (q approveCalls) traits() traits {
	// Whoever may ask may approve the calls of the answer.
	return traits{
		kind:           kindCard,
		command:        "ask",
		lifetime:       q.open,
		askedAt:        q.Asked,
		needsReference: true,
		takesText:      true,
	}
}

func (approveCalls) accepts(string) bool { return false }

// answer is not called, because the question accepts no choice.
func (approveCalls) answer(context.Context, request, choice) (answer, bool, error) {
	return answer{}, false, nil
}

// kindPlan is the kind of questions about plans.
const kindPlan = "allow-call"

// approvePlan asks whether a plan is carried out.
type approvePlan struct {
	yesOrNo

	Approval int64
	Tool     string
}

func (approvePlan) traits() traits {
	return traits{
		kind:        kindPlan,
		command:     "ask",
		unrequested: true,
	}
}

// answer stores the decision and lets the task continue. An older version asked this question about tool calls as well;
// those are asked about again.
func (q approvePlan) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	switch {
	case c.word != wordYes && c.word != wordNo:
		return answer{}, false, nil
	case q.Tool != store.PlanCall:
		return answer{text: "Not done: " + code(q.Tool) + ". I was updated since I asked. Ask again."}, true, nil
	default:
		return q.decide(r, c.word == wordYes), true, nil
	}
}

// RequestApproval asks the owner whether a task may make the tool calls on a card, or carry out its plan. If the owner
// cannot be asked, the calls are denied.
func (ts *TaskCommands) RequestApproval(ctx context.Context, card int64) error {
	calls, err := store.ApprovalsOnCard(ctx, ts.store.DB(), card)
	if err != nil {
		return err
	}
	if len(calls) == 0 || calls[0].Allowed != nil || !calls[0].ExpiresAt.After(ts.room.now()) {
		return nil
	}
	if calls[0].Tier == store.ApprovalPIN && ts.pins.keeper == nil { // in a terminal
		return ts.denyUnasked(ctx, calls[0])
	}
	err = ts.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		task, err := store.TaskByID(ctx, tx, calls[0].TaskID)
		if err != nil {
			return err
		}
		if calls[0].Tool == store.PlanCall {
			return ts.showPlan(ctx, tx, room, calls[0], task)
		}
		now := ts.room.now()
		_, err = ts.room.notify(ctx, tx, room, outbox.Alert, cardText(task, calls), &approveCalls{
			Card:  card,
			Asked: now,
			open:  calls[0].ExpiresAt.Sub(now),
		}, task.Sources...)
		return err
	})
	if errors.Is(err, outbox.ErrNoAdminRoom) || errors.Is(err, outbox.ErrRefusedNotice) {
		return ts.denyUnasked(ctx, calls[0])
	}
	return err
}

// denyUnasked denies the calls on a card that cannot be shown, and lets their task continue.
func (ts *TaskCommands) denyUnasked(ctx context.Context, first store.Approval) error {
	return ts.store.InTx(ctx, func(tx store.Tx) error {
		task, err := store.DenyUndecided(ctx, tx, first.ID, store.HowUnreachable, "the question could not be shown to you")
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task}); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// cardText formats the question about the calls of a task on a card, with all their arguments.
func cardText(task store.Task, calls []store.Approval) string {
	first, wants := calls[0], fmt.Sprintf("🔐 **Task %d", task.ID)
	if task.Agent != "" { // a rule may be about this agent
		wants += " of " + esc(task.Agent)
	}
	wants += " wants to use " + code(first.Tool)
	text := wants + "**"
	if len(calls) == 1 {
		text += "\n" + argumentsText(first.Arguments) + noteText(first)
	} else {
		text = fmt.Sprintf("%s %d times**", wants, len(calls))
	}
	var several strings.Builder
	for i, a := range calls {
		if len(calls) > 1 {
			fmt.Fprintf(&several, "\n\n**%d**\n%s", i+1, argumentsText(a.Arguments)+noteText(a))
		}
	}
	text += several.String()
	if first.Unattended {
		text += "\n\nNobody waits for it. If you approve, I'll do this then."
	}
	return text + "\n\n" + strings.Join(cardChoices(calls), " · ") + "."
}

// maxNote is the maximum length of a note on a card, in characters.
const maxNote = 500

// noteText says why the owner is asked about a call, if it is more than what the tool does.
func noteText(a store.Approval) string {
	if a.Note == "" {
		return ""
	}
	return "\n❗ " + quote(a.Note, maxNote)
}

// cardChoices lists the answers that a card takes.
func cardChoices(calls []store.Approval) []string {
	yes, no := "👍 do it", "👎 don't"
	if len(calls) > 1 {
		yes, no = "👍 do all", "👎 do none"
	}
	if calls[0].Tier != store.ApprovalConfirm {
		yes, no = "Write `yes` to do it", "`no` if not"
	}
	if calls[0].Tier == store.ApprovalPIN {
		yes += "; then I ask for your PIN"
	}
	choices := []string{yes, no}
	if len(calls) > 1 {
		choices = append(choices, "`1 3 yes` does some")
	}
	if isGrantable(calls) {
		choices = append(choices, "`yes 1h` also allows more like it for an hour")
	}
	return append(choices, "or reply why not")
}

// isGrantable reports whether further calls like one of these may be allowed for some hours.
func isGrantable(calls []store.Approval) bool {
	for _, a := range calls {
		if a.Grantable {
			return true
		}
	}
	return false
}

// showPlan asks the owner whether a plan is to be carried out.
func (ts *TaskCommands) showPlan(ctx context.Context, tx store.Tx, room store.Chat, call store.Approval, task store.Task) error {
	text := call.Arguments + "\n\n👍 do it · 👎 don't · or reply with what should change."
	_, err := ts.room.notify(ctx, tx, room, outbox.Alert, text, &approvePlan{Approval: call.ID, Tool: call.Tool}, task.Sources...)
	return err
}

// decide starts or drops a plan. From then on the message with the plan shows its progress.
func (q approvePlan) decide(r request, allowed bool) answer {
	return answer{reason: "It decided about a plan.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		number, err := jobs.DecideApproval(ctx, tx, q.Approval, store.ApprovalDecision{
			Allowed: allowed,
			How:     approvalHow(r),
			Message: r.message.ID,
		}, r.now)
		if err != nil {
			return "", err
		}
		if allowed && number == 0 { // the question was shown late
			return "That plan is no longer open, so I do not begin it. `/plan` makes another one.", nil
		}
		said := "" // the result is sent when the task ends
		if allowed {
			said = "I begin."
		}
		if number == 0 || r.message.RelatesTo == "" {
			return said, nil
		}
		task, err := store.TaskByID(ctx, tx, number)
		if err != nil {
			return "", err
		}
		return said, store.SetTaskProgressEvent(ctx, tx, task, r.message.RelatesTo)
	}}
}
