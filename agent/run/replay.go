package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Replay is a task that was gone through again from its stored steps. Nothing was called: what the model said and what the tools returned came
// from the steps.
type Replay struct {
	Task   store.Task
	Rounds []Round
	Answer string
	// Differs names the first thing that came out otherwise than in the task; empty if all is the same, to the byte.
	Differs string
	// Over says why the task cannot be replayed to its end; empty if it was.
	Over string
	// With names the other model that was asked the same; empty for none.
	With string
}

// Round is one call of the model, with the tools that it called.
type Round struct {
	Bytes int // of the request's text
	Said  llm.Response
	Tools []store.Step
	// Now is what the other model says to the same request; NowFailed why it says nothing.
	Now       llm.Response
	NowFailed string
}

// Second is another model that is asked the same as the first one was.
type Second struct {
	Name string
	// Ask returns what the model says, or why it says nothing.
	Ask func(ctx context.Context, request llm.Request) (said llm.Response, failed string, err error)
}

// Replay goes through a task again from its stored steps, and asks second the same in each round if it is not nil. The tool calls of second are
// not made. answer returns the answer that follows from an outcome, or false if the task's answer does not follow from its outcome alone.
func (a *Attempt) Replay(ctx context.Context, task store.Task, second *Second, answer func(Outcome) (string, bool)) (Replay, error) {
	out := Replay{Task: task}
	if second != nil {
		out.With = second.Name
	}
	steps, err := store.Steps(ctx, a.engine.Store.DB(), task.ID)
	if err != nil {
		return Replay{}, err
	}
	switch {
	case task.Forgotten:
		out.Over = "a message that it rested on was deleted, so its words are gone; what was called is all that is left"
		out.Rounds = roundsOf(steps)
		return out, nil
	case task.Request == nil:
		out.Over = "it never got as far as asking a model"
		return out, nil
	}
	first, err := openingOf(task)
	if err != nil {
		return Replay{}, err
	}
	a.Task, a.done = task, steps
	a.begin(first)
	end, err := a.replayRounds(ctx, &out, second)
	if err != nil || out.Over != "" {
		return out, err
	}
	text, isComparable := answer(end)
	if out.Answer = policy.Redact(text); isComparable && out.Differs == "" && out.Answer != task.Answer {
		out.Differs = "the answer"
	}
	return out, nil
}

// roundsOf returns what is left of a task without its words.
func roundsOf(steps []store.Step) []Round {
	var rounds []Round
	for _, s := range steps {
		if s.Kind == store.StepModel {
			rounds = append(rounds, Round{})
		} else if len(rounds) > 0 {
			last := &rounds[len(rounds)-1]
			last.Tools = append(last.Tools, s)
		}
	}
	return rounds
}

// replayRounds is the loop over stored steps. It sets Over if a step is missing.
func (a *Attempt) replayRounds(ctx context.Context, out *Replay, second *Second) (Outcome, error) {
	request := a.first
	request.Messages = slices.Clone(request.Messages)
	for {
		seq, known := a.nextStep()
		if known == nil || known.EndedAt == nil {
			out.Over = fmt.Sprintf("round %d has no end: %s", len(out.Rounds)+1, howEnded(a.Task))
			return Outcome{}, nil
		}
		err := a.Limits.fit(&request)
		if err != nil && !errors.Is(err, errTooLarge) {
			return Outcome{}, err
		}
		round := Round{Bytes: textBytes(request)}
		if round.Said, err = responseOf(*known); err != nil {
			return Outcome{}, fmt.Errorf("task %d: %w", a.Task.ID, err)
		}
		a.nameCalls(seq, round.Said.Calls)
		if known.Asked != "" && known.Asked != digest(request) && out.Differs == "" {
			out.Differs = fmt.Sprintf("what the model was asked in round %d", len(out.Rounds)+1)
		}
		if second != nil {
			if round.Now, round.NowFailed, err = second.Ask(ctx, request); err != nil {
				return Outcome{}, err
			}
		}
		if len(round.Said.Calls) == 0 {
			out.Rounds = append(out.Rounds, round)
			return Outcome{Text: known.Text}, nil
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: round.Said.Text, Calls: round.Said.Calls})
		end, err := a.replayCalls(&request, &round, out)
		out.Rounds = append(out.Rounds, round)
		if err != nil || out.Over != "" || end.Handover != "" {
			return end, err
		}
	}
}

// replayCalls adds the stored results of a round's calls to the request. It returns the outcome of a call that handed over.
func (a *Attempt) replayCalls(request *llm.Request, round *Round, out *Replay) (Outcome, error) {
	for _, c := range round.Said.Calls {
		_, step := a.nextStep()
		if step == nil || step.EndedAt == nil {
			out.Over = fmt.Sprintf("%s has no result: %s", c.Name, howEnded(a.Task))
			return Outcome{}, nil
		}
		round.Tools = append(round.Tools, *step)
		res, err := resultOf(*step)
		if err != nil {
			return Outcome{}, err
		}
		if res.Handover != "" {
			return Outcome{Handover: res.Handover, To: res.Ref}, nil
		}
		request.Messages = append(request.Messages, a.resultMessage(c, res, step.Fence))
	}
	return Outcome{}, nil
}

// howEnded says how a task ended that has no answer.
func howEnded(t store.Task) string {
	if t.Error != "" {
		return t.Error
	}
	return "the task is " + string(t.State)
}

func textBytes(request llm.Request) int {
	n := len(request.System)
	for _, m := range request.Messages {
		n += len(m.Text)
	}
	return n
}

// AskOnce asks a paid model and stores the call as a step before and after it. A call that an earlier attempt made is not repeated: it has an answer, or
// nobody knows it.
func (a *Attempt) AskOnce(ctx context.Context, m llm.Model, request llm.Request) (said llm.Response, failed string, err error) {
	if err := a.loadSteps(ctx); err != nil {
		return llm.Response{}, "", err
	}
	seq, known := a.nextStep()
	switch {
	case known != nil && known.EndedAt == nil:
		return llm.Response{}, "multis ended while it was asked, and a paid call is not repeated", nil
	case known != nil && known.IsError:
		return llm.Response{}, known.Text, nil
	case known != nil:
		said, err = responseOf(*known)
		return said, "", err
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: m.Name(), Asked: digest(request)}
	if err := store.BeginStep(ctx, a.engine.Store.Writer(), a.Task, step); err != nil {
		return llm.Response{}, "", err
	}
	said, err = llm.Complete(ctx, m, request)
	if ctx.Err() != nil {
		return llm.Response{}, "", ctx.Err()
	}
	if err != nil {
		failed = policy.Redact(err.Error())
		step.IsError, step.Code, step.Text = true, "failed", failed
		return llm.Response{}, failed, store.EndStep(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.Task, step)
	}
	said = storable(said)
	if step, err = stepWithResponse(step, said); err != nil {
		return llm.Response{}, "", err
	}
	return said, "", store.EndStep(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.Task, step)
}
