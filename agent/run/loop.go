package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"multis/llm"
	"multis/store"
)

const (
	// MaxRounds is the most rounds of any task.
	MaxRounds = 20
	// maxSameCalls of one tool with the same arguments stop an attempt: the model goes in circles.
	maxSameCalls = 3
)

// loop lets the model call tools until it answers.
func (a *Attempt) loop(ctx context.Context) (Outcome, error) {
	if err := a.loadSteps(ctx); err != nil {
		return Outcome{}, err
	}
	request := a.first
	request.Messages = slices.Clone(request.Messages)
	calls := map[string]int{}
	rounds := min(a.MaxRounds, MaxRounds)
	for range rounds {
		said, err := a.think(ctx, request)
		if err != nil {
			return Outcome{}, err
		}
		if len(said.Calls) == 0 {
			return Outcome{Text: said.Text}, nil
		}
		for _, c := range said.Calls {
			key := c.Name + " " + compact(c.Args)
			if calls[key]++; calls[key] >= maxSameCalls {
				return Outcome{Why: fmt.Sprintf("I called %s with the same arguments %d times and got no further, so I stopped.", c.Name, maxSameCalls)}, nil
			}
		}
		results, err := a.callAll(ctx, said.Calls)
		if err != nil {
			return Outcome{}, err
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: said.Text, Calls: said.Calls})
		for _, p := range results {
			if p.result.Handover != "" {
				return Outcome{Handover: p.result.Handover, To: p.result.Ref}, nil
			}
			request.Messages = append(request.Messages, a.resultMessage(p.call, p.result, p.fence))
		}
	}
	return Outcome{Why: fmt.Sprintf("I stopped after %d rounds without an answer.", rounds)}, nil
}

// Think asks the model once for what the first request wants, without calling tools.
func (a *Attempt) Think(ctx context.Context) (Outcome, error) {
	if err := a.loadSteps(ctx); err != nil {
		return Outcome{}, err
	}
	said, err := a.think(ctx, a.first)
	return Outcome{Text: said.Text}, err
}

// loadSteps reads what earlier attempts at the task did.
func (a *Attempt) loadSteps(ctx context.Context) (err error) {
	if a.Task.Attempt > 1 && a.done == nil {
		a.done, err = store.Steps(ctx, a.engine.Store.DB(), a.Task.ID)
	}
	return err
}

// compact returns arguments without insignificant blanks.
func compact(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

// nextStep numbers the next step, and returns it as an earlier attempt stored it; nil if none did.
func (a *Attempt) nextStep() (seq int, known *store.Step) {
	seq = a.next
	a.next++
	for i := range a.done {
		if a.done[i].Seq == seq {
			return seq, &a.done[i]
		}
	}
	return seq, nil
}

// think makes one call of the model, or returns what it said if an earlier attempt made the call.
func (a *Attempt) think(ctx context.Context, request llm.Request) (llm.Response, error) {
	seq, known := a.nextStep()
	if known != nil && known.EndedAt != nil {
		said, err := responseOf(*known)
		if err != nil {
			return llm.Response{}, fmt.Errorf("task %d: %w", a.Task.ID, err)
		}
		a.nameCalls(seq, said.Calls)
		return said, nil
	}
	if err := a.Limits.fit(&request); err != nil {
		return llm.Response{}, err
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: a.Model.Name(), Asked: digest(request)}
	if err := store.BeginStep(ctx, a.engine.Store.Lazy(), a.Task, step); err != nil {
		return llm.Response{}, err
	}
	said, err := a.stream(ctx, request)
	if err != nil {
		return llm.Response{}, err
	}
	a.nameCalls(seq, said.Calls)
	if step, err = stepWithResponse(step, said); err != nil {
		return llm.Response{}, err
	}
	return said, store.EndStep(context.WithoutCancel(ctx), a.engine.Store.Lazy(), a.Task, step)
}

// stream calls the model and reports what it says while it says it.
func (a *Attempt) stream(ctx context.Context, request llm.Request) (llm.Response, error) {
	var said llm.Response
	var text strings.Builder
	for d, err := range a.Model.Stream(ctx, request) {
		if err != nil {
			return llm.Response{}, err
		}
		if d.Text != "" {
			text.WriteString(d.Text)
			if words := partialText(text.String()); words != "" {
				a.Progress(ctx, words)
			}
		}
		if d.Call != nil {
			said.Calls = append(said.Calls, *d.Call)
		}
		if d.Stop != "" {
			said.Stop = d.Stop
		}
		if d.Usage != (llm.Usage{}) {
			said.Usage = d.Usage
		}
	}
	said.Text = text.String()
	return storable(said), nil
}

// nameCalls makes the ids of calls unique in the task: some providers count anew in each answer.
func (a *Attempt) nameCalls(seq int, calls []llm.Call) {
	if a.ids == nil {
		a.ids = map[string]bool{}
	}
	for i := range calls {
		if calls[i].ID == "" || a.ids[calls[i].ID] {
			calls[i].ID = fmt.Sprintf("call_%d_%d", seq, i)
		}
		a.ids[calls[i].ID] = true
	}
}
