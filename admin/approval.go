package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"multis/jobs"
	"multis/outbox"
	"multis/store"
	"multis/text"
)

// TaskCommands starts, stops and replays tasks, and asks the owner to approve their plans and tool calls.
type TaskCommands struct {
	store    *store.Store
	room     *room
	asker    Asker
	planner  Planner
	replayer Replayer
	dialogs  *dialogs
	saved    SavedTasks
}

// approveCall asks whether a task may call a tool, or carry out its plan.
type approveCall struct {
	Approval int64
	Tool     string
}

func (approveCall) kind() string { return "allow-call" }

// command is /ask: who may ask may approve what the answer needs.
func (approveCall) command() string { return "ask" }

func (approveCall) accepts(word string) bool { return word == wordYes || word == wordNo }

// answer stores the decision and lets the task continue.
func (q approveCall) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
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
	return answer{text: text, change: func(ctx context.Context, tx store.Tx) error {
		task, err := store.DecideApproval(ctx, tx, q.Approval, allowed, r.now)
		if errors.Is(err, store.ErrNotFound) {
			return nil // the task continued without it
		}
		if err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task})
	}}, true, nil
}

// RequestApproval asks the owner whether a task may call a tool or carry out its plan.
func (ts *TaskCommands) RequestApproval(ctx context.Context, approval int64) error {
	call, err := store.ApprovalByID(ctx, ts.store.DB(), approval)
	if errors.Is(err, store.ErrNotFound) || (err == nil && (call.Allowed != nil || !call.ExpiresAt.After(ts.room.now()))) {
		return nil
	}
	if err != nil {
		return err
	}
	return ts.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		task, err := store.TaskByID(ctx, tx, call.TaskID)
		if err != nil {
			return err
		}
		if call.Tool == store.PlanCall {
			return ts.showPlan(ctx, tx, room, call, task)
		}
		text := fmt.Sprintf("🔐 **Task %d wants to use %s**\n%s\n\n👍 do it · 👎 don't.", call.TaskID, code(call.Tool), argumentsText(call.Arguments))
		_, err = ts.room.notify(ctx, tx, room, outbox.Alert, text, &approveCall{Approval: call.ID, Tool: call.Tool}, task.About...)
		return err
	})
}

// argumentsText formats the arguments of a call in full, one a line, in their order. A name that occurs twice is shown twice.
func argumentsText(raw string) string {
	args, ok := parseArguments(raw)
	if !ok {
		return visibleText(raw)
	}
	var lines []string
	for _, arg := range args {
		value := string(arg.value)
		var text string
		if json.Unmarshal(arg.value, &text) == nil {
			value = text
		}
		lines = append(lines, visibleText(arg.name)+": “"+visibleText(value)+"”")
	}
	return strings.Join(lines, "\n")
}

// argument is one argument of a call.
type argument struct {
	name  string
	value json.RawMessage
}

// parseArguments reads a JSON object and keeps names that occur twice, because programs differ in which of them they use. ok is false
// for anything else, and for an empty object.
func parseArguments(raw string) (args []argument, ok bool) {
	dec := json.NewDecoder(strings.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		arg := argument{name: fmt.Sprint(name)}
		if err := dec.Decode(&arg.value); err != nil {
			return nil, false
		}
		args = append(args, arg)
	}
	if _, err := dec.Token(); err != nil || len(strings.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, false
	}
	return args, len(args) > 0
}

// visibleText shows a text so that nothing in it is hidden: line ends, invisible characters and repeated spaces are written as
// escapes.
func visibleText(s string) string {
	if s != text.OneLine(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(s)
		s = strings.ReplaceAll(quoted[1:len(quoted)-1], "  ", ` \x20`)
	}
	return text.Escape(s)
}

// showPlan asks the owner whether a plan is to be carried out.
func (ts *TaskCommands) showPlan(ctx context.Context, tx store.Tx, room store.Chat, call store.Approval, task store.Task) error {
	text := call.Arguments + "\n\n👍 do it · 👎 don't · or reply with what should be otherwise."
	_, err := ts.room.notify(ctx, tx, room, outbox.Alert, text, &approveCall{Approval: call.ID, Tool: call.Tool}, task.About...)
	return err
}

// agree starts or drops a plan. The message that showed the plan shows its progress from then on.
func (q approveCall) agree(r request, allowed bool) answer {
	text := "" // the result is sent when the task ends
	if allowed {
		text = "I begin."
	}
	return answer{text: text, reason: "It decided about a plan.", change: func(ctx context.Context, tx store.Tx) error {
		number, err := store.DecideApproval(ctx, tx, q.Approval, allowed, r.now)
		if errors.Is(err, store.ErrNotFound) {
			return nil // it ended meanwhile
		}
		if err != nil {
			return err
		}
		if r.message.RelatesTo != "" {
			task, err := store.TaskByID(ctx, tx, number)
			if err != nil {
				return err
			}
			if err := store.SetTaskProgressEvent(ctx, tx, task, r.message.RelatesTo); err != nil {
				return err
			}
		}
		return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: number})
	}}
}
