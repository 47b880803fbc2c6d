package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// allowCall asks whether a tool may be called.
type allowCall struct {
	Approval int64
	Tool     string
}

func (allowCall) kind() string { return "allow-call" }

// command is /ask: who may ask may allow what his question needs.
func (allowCall) command() string { return "ask" }

func (allowCall) takes(word string) bool { return word == wordYes || word == wordNo }

// answer decides, and has the task go on either way.
func (q allowCall) answer(_ context.Context, _ *Admin, r request, c choice) (answer, bool, error) {
	if c.word != wordYes && c.word != wordNo {
		return answer{}, false, nil
	}
	allowed := c.word == wordYes
	text := "Not done: " + code(q.Tool) + "."
	switch {
	case q.Tool == store.PlanCall:
		return q.agree(r, allowed), true, nil
	case allowed:
		text = "Allowed: " + code(q.Tool) + "."
	}
	return answer{text: text, do: func(ctx context.Context, tx store.Tx) error {
		task, err := store.Decide(ctx, tx, q.Approval, allowed, r.now)
		if errors.Is(err, store.ErrNotFound) {
			return nil // the task went on without it
		}
		if err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.TaskArgs{Task: task})
	}}, true, nil
}

// AskApproval asks the owner whether a tool may be called.
func (a *Admin) AskApproval(ctx context.Context, approval int64) error {
	call, err := store.ApprovalByID(ctx, a.Store.DB(), approval)
	if errors.Is(err, store.ErrNotFound) || (err == nil && (call.Allowed != nil || !call.ExpiresAt.After(a.Now()))) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		room, err := store.AdminChat(ctx, tx)
		if errors.Is(err, store.ErrNotFound) {
			return jobs.Later(roomWait)
		}
		if err != nil {
			return err
		}
		task, err := store.TaskByID(ctx, tx, call.TaskID)
		if err != nil {
			return err
		}
		if call.Tool == store.PlanCall {
			return a.showPlan(ctx, tx, room, call, task)
		}
		text := fmt.Sprintf("🔐 **Task %d wants to use %s**\n%s\n\n👍 do it · 👎 don't.", call.TaskID, code(call.Tool), argumentsText(call.Arguments))
		_, err = a.say(ctx, tx, room, outbox.Ring, text, &allowCall{Approval: call.ID, Tool: call.Tool}, task.About...)
		return err
	})
}

// maxArgument is how much of an argument is shown, in characters.
const maxArgument = 2000

// argumentsText shows a call's arguments, one a line.
func argumentsText(raw string) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &args) != nil || len(args) == 0 {
		return code(clip(raw, maxArgument)) + unshown(raw)
	}
	var lines []string
	for _, name := range sortedKeys(args) {
		value := string(args[name])
		var text string
		if json.Unmarshal(args[name], &text) == nil {
			value = text
		}
		lines = append(lines, esc(name)+": "+quote(value, maxArgument)+unshown(value))
	}
	return strings.Join(lines, "\n")
}

// unshown says how much of an argument is not shown: nobody shall agree to what he does not know of.
func unshown(value string) string {
	if more := len([]rune(value)) - maxArgument; more > 0 {
		return fmt.Sprintf(" ⚠️ **and %d more characters, which are not shown**", more)
	}
	return ""
}
