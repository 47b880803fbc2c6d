package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/text"
)

const (
	// taskTime is how long one attempt at a task may take.
	taskTime = 5 * time.Minute
	// stopLook is how often a running task looks whether somebody wants it to end.
	stopLook = 300 * time.Millisecond
)

// errSlow ends a task that takes too long.
var errSlow = errors.New("it took longer than 5 minutes")

// errForgotten ends a task one of whose messages was deleted: what it was about is gone.
var errForgotten = errors.New("a message it worked from was deleted")

// forgottenText says so to the owner.
var forgottenText = "I stopped: " + errForgotten.Error() + ". Ask again."

// stopError ends a task that somebody wants to end.
type stopError struct{ why string }

func (e *stopError) Error() string { return e.why }

// asked is what a model is first asked, as it is stored: an attempt after a crash asks the very same.
type asked struct {
	Request  llm.Request  `json:"request"`
	Passages []search.Hit `json:"passages"`
	About    []int64      `json:"-"`
}

// claim begins an attempt at a task and has what it is about built, unless an earlier attempt has.
func (r *run) claim(ctx context.Context, opened store.Task, build func(ctx context.Context) (asked, error)) error {
	task, err := store.ClaimTask(ctx, r.Store.DB(), opened.ID)
	if err != nil {
		return err
	}
	r.task, r.caller.Task = task, task.ID
	var first asked
	switch {
	case task.Forgotten:
		return errForgotten
	case task.Request != nil:
		if err := json.Unmarshal(task.Request, &first); err != nil {
			return fmt.Errorf("read the request of task %d: %w", task.ID, err)
		}
	default:
		if first, err = build(ctx); err != nil {
			return err
		}
		first.Request.Agent, first.Request.Run = cmp.Or(r.payer, r.persona.ID), strconv.FormatInt(cmp.Or(r.run, runOf(task)), 10)
		slices.Sort(first.About)
		first.About = slices.Compact(first.About) // answers that rest on answers name the same messages again
		raw, err := json.Marshal(redactAsked(first))
		if err != nil {
			return fmt.Errorf("write the request of task %d: %w", task.ID, err)
		}
		forgotten, err := store.SetTaskRequest(ctx, r.Store.Lazy(), task, storableJSON(raw), first.About)
		if err != nil {
			return err
		}
		if forgotten {
			return errForgotten
		}
		r.task.About = first.About
	}
	r.begin(first)
	return nil
}

// begin notes what the model is asked, and what it is given to read with it.
func (r *run) begin(first asked) {
	r.first, r.passages = first.Request, first.Passages
	for _, m := range first.Request.Messages {
		r.given = append(r.given, othersWords(m.Text))
	}
}

// othersWords is a prompt without what the assistant said itself: that is no source of an address.
func othersWords(prompt string) string {
	var b strings.Builder
	for line := range strings.Lines(prompt) {
		if !strings.HasPrefix(line, speaker(policy.AuthorMultisBot)+": ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// redactAsked is what a model is asked, as it is stored.
func redactAsked(a asked) asked {
	messages := make([]llm.Message, len(a.Request.Messages))
	for i, m := range a.Request.Messages {
		m.Text = policy.Redact(m.Text)
		messages[i] = m
	}
	a.Request.Messages, a.Request.System = messages, policy.Redact(a.Request.System)
	a.Passages = redactPassages(a.Passages)
	return a
}

// redactPassages is passages as they are stored.
func redactPassages(hits []search.Hit) []search.Hit {
	stored := slices.Clone(hits)
	for i := range stored {
		stored[i].Text = policy.Redact(stored[i].Text)
	}
	return stored
}

// within bounds an attempt in time, and ends it when somebody wants that. What it returns must be called.
func (r *run) within(ctx context.Context) (context.Context, func()) {
	timed, cancelTime := context.WithTimeoutCause(ctx, taskTime, errSlow)
	working, cancel := context.WithCancelCause(timed)
	if why := r.task.StopWhy; why != "" { // while it was put aside
		cancel(&stopError{why})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(stopLook)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
				if why, err := store.TaskStop(working, r.Store.DB(), r.task.ID); err == nil && why != "" {
					cancel(&stopError{why})
					return
				}
			}
		}
	}()
	return working, func() { cancel(nil); cancelTime(); <-done }
}

// stopped tells whether an attempt ended for a reason of its own, not because the process ends, and how that is called.
func stopped(working context.Context, err error) (store.TaskState, string, bool) {
	var stop *stopError
	cause := context.Cause(working)
	switch {
	case errors.As(cause, &stop):
		return store.TaskKilled, "Stopped: " + stop.why + ".", true
	case errors.Is(cause, errSlow):
		return store.TaskTimeout, "I stopped: " + errSlow.Error() + ".", true
	case errors.Is(err, errForgotten):
		return store.TaskKilled, forgottenText, true
	case errors.Is(err, errNoRoom):
		return store.TaskFailed, "I stopped: what I read is more than the model can hold. Ask for less at once.", true
	default:
		return "", "", false
	}
}

// left tells what a task that broke off has changed all the same, in a line: who asks again would have it done twice.
func (a *Agent) left(ctx context.Context, task int64) string {
	effects, err := store.Effects(context.WithoutCancel(ctx), a.Store.DB(), task)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("task_id", task).Msg("Cannot tell what a task changed")
		return "⚠️ What was done before that I cannot tell."
	}
	var done, open, parts []string
	for _, e := range effects {
		switch {
		case e.Unknown:
			open = append(open, e.Name)
		case e.Done:
			done = append(done, cmp.Or(e.ForUser, e.Name))
		}
	}
	if len(done) > 0 {
		parts = append(parts, "Done before that: "+strings.Join(done, "; ")+".")
	}
	if len(open) > 0 {
		parts = append(parts, "⚠️ "+strings.Join(open, ", ")+" was under way: whether it was done I don't know. Look before you ask for it again.")
	}
	return strings.Join(parts, " ")
}

// paragraph is a text in a paragraph of its own; nothing for none.
func paragraph(s string) string {
	if s == "" {
		return ""
	}
	return "\n\n" + text.Escape(s)
}

// end fills in how a task ended.
func (r *run) end(state store.TaskState, answer, failure string) store.Task {
	t := r.task
	t.State, t.Answer, t.Error = state, policy.Redact(answer), policy.Redact(failure)
	return t
}
