package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// Opening is the first request of a task, as it is stored: an attempt after a crash asks the very same.
type Opening struct {
	Request  llm.Request  `json:"request"`
	Passages []search.Hit `json:"passages"`
	// About are the messages whose words may be in it.
	About []store.MessageID `json:"-"`
}

// Claim begins an attempt at a task: no other attempt may write to it from now on. Its first request is the stored one, else what build makes.
// It returns store.ErrTaskLost if the task is over, and ErrForgotten if a message that it is about was deleted.
func (a *Attempt) Claim(ctx context.Context, opened store.Task, build func(ctx context.Context) (Opening, error)) error {
	task, err := store.ClaimTask(ctx, a.engine.Store.Writer(), opened.ID)
	if err != nil {
		return err
	}
	a.Task, a.Caller.Task = task, task.ID
	if task.Forgotten {
		return ErrForgotten
	}
	var first Opening
	if task.Request == nil {
		first, err = a.storeOpening(ctx, build)
	} else {
		first, err = openingOf(task)
	}
	if err != nil {
		return err
	}
	a.begin(first)
	return nil
}

// openingOf reads the first request that a task was stored with.
func openingOf(task store.Task) (o Opening, err error) {
	if err := json.Unmarshal(task.Request, &o); err != nil {
		return Opening{}, fmt.Errorf("read the request of task %d: %w", task.ID, err)
	}
	return o, nil
}

// storeOpening has the first request built, and stores it.
func (a *Attempt) storeOpening(ctx context.Context, build func(ctx context.Context) (Opening, error)) (Opening, error) {
	first, err := build(ctx)
	if err != nil {
		return Opening{}, err
	}
	first.Request.Agent, first.Request.Run = a.Payer, strconv.FormatInt(int64(cmp.Or(a.Account, a.Task.ID)), 10)
	slices.Sort(first.About)
	first.About = slices.Compact(first.About) // answers that rest on answers name the same messages again
	raw, err := json.Marshal(redactOpening(first))
	if err != nil {
		return Opening{}, fmt.Errorf("write the request of task %d: %w", a.Task.ID, err)
	}
	forgotten, err := store.SetTaskRequest(ctx, a.engine.Store.Lazy(), a.Task, storableJSON(raw), first.About)
	if err != nil {
		return Opening{}, err
	}
	if forgotten {
		return Opening{}, ErrForgotten
	}
	a.Task.About = first.About
	return first, nil
}

// begin sets the first request, and notes what the model is given to read with it.
func (a *Attempt) begin(first Opening) {
	a.first, a.Passages = first.Request, first.Passages
	for _, m := range first.Request.Messages {
		a.given = append(a.given, WithoutOwnWords(m.Text))
	}
}

// WithoutOwnWords returns a prompt without the lines that the assistant itself said: they are no source of an address.
func WithoutOwnWords(prompt string) string {
	var b strings.Builder
	for line := range strings.Lines(prompt) {
		if !strings.HasPrefix(line, Speaker(policy.AuthorMultisBot)+": ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
