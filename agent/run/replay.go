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

// Replay is the result of replaying a task. Nothing was called: the responses of the model and the results of the tools
// are the stored ones.
type Replay struct {
	Task   store.Task
	Rounds []Round
	Answer string
	// Difference names the first difference from the task; empty if all is the same, to the byte.
	Difference string
	// Incomplete says why the task was not replayed to its end; empty if it was.
	Incomplete string
	// OtherModel is the name of the other model that was asked too; empty for none.
	OtherModel string
}

// Round is one call of the model, with the tools that it called.
type Round struct {
	Bytes    int // of the request's text
	Response llm.Response
	Tools    []store.Step
	// OtherResponse is the other model's response to the same request, OtherFailure the reason why there is none.
	OtherResponse llm.Response
	OtherFailure  string
}

// OtherModel is a model that gets the same requests as the task's model did.
type OtherModel struct {
	Name string
	// Ask returns the model's response, or in failed the reason why there is none.
	Ask func(ctx context.Context, request llm.Request) (said llm.Response, failed string, err error)
}

// Replay replays a task from its stored steps. If second is not nil, it is asked the same in each round; its tool calls
// are not made. answer returns the answer that follows from an outcome, or false if the task's answer does not follow
// from its outcome alone.
func (a *Attempt) Replay(ctx context.Context, task store.Task, second *OtherModel, answer func(LoopResult) (string, bool)) (Replay, error) {
	out := Replay{Task: task}
	if second != nil {
		out.OtherModel = second.Name
	}
	steps, err := store.Steps(ctx, a.engine.Store.DB(), task.ID)
	if err != nil {
		return Replay{}, err
	}
	switch {
	case task.Forgotten:
		out.Incomplete = "a message that it rested on was deleted, so its words are gone; what was called is all that is left"
		out.Rounds = roundsOf(steps)
		return out, nil
	case task.Request == nil:
		out.Incomplete = "it never got as far as asking a model"
		return out, nil
	}
	first, err := parseFirstRequest(task)
	if err != nil {
		return Replay{}, err
	}
	a.Task, a.earlierSteps = task, steps
	a.isReplay = true
	a.setFirstRequest(first)
	end, err := (&replayer{attempt: a, out: &out, second: second}).replayRounds(ctx)
	if err != nil {
		return out, err
	}
	if out.Incomplete != "" {
		return out, nil
	}
	text, isComparable := answer(end)
	if out.Answer = policy.Redact(text); isComparable && out.Difference == "" && out.Answer != task.Answer {
		out.Difference = "the answer"
	}
	return out, nil
}

// roundsOf returns the rounds of a task from its steps alone, for a task whose texts were deleted.
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

// replayer replays an attempt from its stored steps.
type replayer struct {
	attempt *Attempt
	out     *Replay
	second  *OtherModel // nil for none
}

// replayRounds is the loop over stored steps. It sets Incomplete if a step is missing.
func (r *replayer) replayRounds(ctx context.Context) (LoopResult, error) {
	a, out := r.attempt, r.out
	request := a.firstRequest
	request.Messages = slices.Clone(request.Messages)
	repaired := false
	for {
		_, known := a.nextStep()
		if known == nil || known.EndedAt == nil {
			out.Incomplete = fmt.Sprintf("round %d has no end: %s", len(out.Rounds)+1, stateText(a.Task))
			return LoopResult{}, nil
		}
		err := a.Limits.fit(&request)
		if err != nil && !errors.Is(err, errTooLarge) {
			return LoopResult{}, err
		}
		round := Round{Bytes: textBytes(request)}
		if round.Response, err = responseOf(*known); err != nil {
			return LoopResult{}, fmt.Errorf("task %d: %w", a.Task.ID, err)
		}
		if known.RequestDigest != "" && known.RequestDigest != digest(request) && out.Difference == "" {
			out.Difference = fmt.Sprintf("what the model was asked in round %d", len(out.Rounds)+1)
		}
		if r.second != nil {
			if round.OtherResponse, round.OtherFailure, err = r.second.Ask(ctx, request); err != nil {
				return LoopResult{}, err
			}
		}
		if len(round.Response.Calls) == 0 {
			out.Rounds = append(out.Rounds, round)
			repair, isNeeded := a.repairRequest(ctx, request, round.Response)
			if !isNeeded || repaired {
				return LoopResult{Text: known.Text}, nil
			}
			request = repair
			repaired = true
			continue
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: round.Response.Text, Calls: round.Response.Calls})
		end, err := r.calls(&request, &round)
		out.Rounds = append(out.Rounds, round)
		if err != nil {
			return end, err
		}
		if out.Incomplete != "" || end.Summary != "" {
			return end, nil
		}
	}
}

// calls adds the stored results of a round's calls to the request. It returns the outcome of a handoff or an escalation.
func (r *replayer) calls(request *llm.Request, round *Round) (LoopResult, error) {
	for _, c := range round.Response.Calls {
		_, step := r.attempt.nextStep()
		if step == nil || step.EndedAt == nil {
			r.out.Incomplete = fmt.Sprintf("%s has no result: %s", c.Name, stateText(r.attempt.Task))
			return LoopResult{}, nil
		}
		round.Tools = append(round.Tools, *step)
		res, err := resultOf(*step)
		if err != nil {
			return LoopResult{}, err
		}
		if res.EndReason != "" {
			return endedBy(res), nil
		}
		request.Messages = append(request.Messages, r.attempt.resultMessage(c, res, step.Fence))
	}
	return LoopResult{}, nil
}

// stateText says how a task without an answer ended.
func stateText(t store.Task) string {
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

// AskOnce asks a paid model, and stores the call as a step before and after. It never repeats a call of an earlier
// attempt, even if its response is unknown.
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
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: m.Name(), RequestDigest: digest(request)}
	if err := store.BeginStep(ctx, a.engine.Store.Writer(), a.Task, step); err != nil {
		return llm.Response{}, "", err
	}
	said, err = llm.Complete(ctx, m, request)
	if ctx.Err() != nil {
		return llm.Response{}, "", ctx.Err()
	}
	if err != nil {
		failed = policy.Redact(err.Error())
		step.IsError = true
		step.Code = "failed"
		step.Text = failed
		return llm.Response{}, failed, store.EndStep(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.Task, step)
	}
	said = a.engine.storable(said)
	if step, err = stepWithResponse(step, said); err != nil {
		return llm.Response{}, "", err
	}
	return said, "", store.EndStep(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.Task, step)
}
