package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// FirstRequest is the first request of a task in its stored form. An attempt after a crash repeats it unchanged.
type FirstRequest struct {
	Request  llm.Request  `json:"request"`
	Passages []search.Hit `json:"passages"`
	// About are the messages whose words may be in it.
	About []store.MessageID `json:"-"`
	// Tainted is true if it has text that is not the owner's; see tools.Caller.
	Tainted bool `json:"tainted,omitempty"`
}

// Claim begins an attempt at a task: no other attempt may write to the task from now on. The first request is the stored one, else build's.
// It returns store.ErrTaskLost if the task is over, and ErrSourceDeleted if a message that it is about was deleted.
func (a *Attempt) Claim(ctx context.Context, opened store.Task, build func(ctx context.Context) (FirstRequest, error)) error {
	task, err := store.ClaimTask(ctx, a.engine.Store.Writer(), opened.ID)
	if err != nil {
		return err
	}
	a.Task, a.Caller.Task = task, task.ID
	if task.Forgotten {
		return ErrSourceDeleted
	}
	var first FirstRequest
	if task.Request == nil {
		first, err = a.storeFirstRequest(ctx, build)
	} else {
		first, err = parseFirstRequest(task)
	}
	if err != nil {
		return err
	}
	// A task that continues a scheduled one after an approval reads the arguments of that task's calls, whatever that task had read.
	first.Tainted = first.Tainted || task.Kind == store.TaskSchedule && task.Continues != nil
	a.setFirstRequest(first)
	return nil
}

// parseFirstRequest parses the stored first request of a task.
func parseFirstRequest(task store.Task) (o FirstRequest, err error) {
	if err := json.Unmarshal(task.Request, &o); err != nil {
		return FirstRequest{}, fmt.Errorf("read the request of task %d: %w", task.ID, err)
	}
	return o, nil
}

// storeFirstRequest builds and stores the first request.
func (a *Attempt) storeFirstRequest(ctx context.Context, build func(ctx context.Context) (FirstRequest, error)) (FirstRequest, error) {
	first, err := build(ctx)
	if err != nil {
		return FirstRequest{}, err
	}
	first.Request.Agent, first.Request.Run = a.PayingAgent, strconv.FormatInt(int64(cmp.Or(a.PayingTask, a.Task.ID)), 10)
	slices.Sort(first.About)
	first.About = slices.Compact(first.About) // several passages may have the same source messages
	raw, err := json.Marshal(redactFirstRequest(first))
	if err != nil {
		return FirstRequest{}, fmt.Errorf("write the request of task %d: %w", a.Task.ID, err)
	}
	forgotten, err := store.SetTaskRequest(ctx, a.engine.Store.AsyncCommit(), a.Task, storableJSON(raw), first.About)
	if err != nil {
		return FirstRequest{}, err
	}
	if forgotten {
		return FirstRequest{}, ErrSourceDeleted
	}
	a.Task.Sources = first.About
	return first, nil
}

// setFirstRequest sets the first request, and records its texts in modelInput.
func (a *Attempt) setFirstRequest(first FirstRequest) {
	a.firstRequest, a.Passages = first.Request, first.Passages
	a.firstPassages = len(first.Passages)
	a.Caller.Tainted = a.Caller.Tainted || first.Tainted
	for _, m := range first.Request.Messages {
		a.modelInput = append(a.modelInput, WithoutAssistantLines(m.Text))
	}
}

// WithoutAssistantLines returns a prompt without the assistant's own lines, because an address in them may be invented.
func WithoutAssistantLines(prompt string) string {
	var b strings.Builder
	for line := range strings.Lines(prompt) {
		if !strings.HasPrefix(line, Speaker(policy.AuthorMultisBot)+": ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
