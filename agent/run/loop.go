package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/llm"
	"multis/llm/reply"
	"multis/store"
)

const (
	// MaxRounds is the maximum number of rounds of any task.
	MaxRounds = 20
	// maxSameCalls is how often a model may call one tool with the same arguments before it has to answer.
	maxSameCalls = 3
)

// loop lets the model call tools until it answers.
func (a *Attempt) loop(ctx context.Context) (LoopResult, error) {
	if err := a.loadSteps(ctx); err != nil {
		return LoopResult{}, err
	}
	request := a.firstRequest
	request.Messages = slices.Clone(request.Messages)
	rounds := min(a.MaxRounds, MaxRounds)
	why := fmt.Sprintf("I stopped after %d rounds without an answer.", rounds)
	for round := 1; round <= rounds; round++ {
		// In its last round the model answers from what it has.
		request.NoCalls = round == rounds && round > 1
		said, err := a.askModel(ctx, request)
		switch {
		case err != nil:
			return LoopResult{}, err
		case len(said.Calls) == 0 && (said.Text != "" || !request.NoCalls):
			return a.repaired(ctx, request, said)
		case request.NoCalls:
			return LoopResult{Why: why}, nil
		}
		if c, again := a.countCalls(said.Calls); again {
			why = fmt.Sprintf("I called %s with the same arguments %d times and got no further, so I stopped.", c.Name, maxSameCalls)
			rounds = round + 1
		}
		results, err := toolCalls{a}.callAll(ctx, said.Calls)
		if err != nil {
			return LoopResult{}, err
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: said.Text, Calls: said.Calls})
		for _, p := range results {
			if p.result.EndReason != "" {
				return endedBy(p.result), nil
			}
			request.Messages = append(request.Messages, a.resultMessage(p.call, p.result, p.fence))
		}
	}
	return LoopResult{Why: why}, nil
}

// countCalls counts calls by tool and arguments. It returns a call that the model has made maxSameCalls times, if there
// is one. Tools that do not exist have one name (Registry.KnownName): a model that makes up three with the same arguments
// gets no further either.
func (a *Attempt) countCalls(calls []llm.ToolCall) (llm.ToolCall, bool) {
	if a.sameCalls == nil {
		a.sameCalls = map[string]int{}
	}
	var repeated llm.ToolCall
	for _, c := range calls {
		key := callKey(c)
		if a.sameCalls[key]++; a.sameCalls[key] >= maxSameCalls {
			repeated = c
		}
	}
	return repeated, repeated.Name != ""
}

// callKey returns what equal calls have in common.
func callKey(c llm.ToolCall) string { return c.Name + " " + compactJSON(c.Args) }

// repaired returns the model's answer. If Check finds something wrong with it, it asks once more.
func (a *Attempt) repaired(ctx context.Context, request llm.Request, said llm.Response) (LoopResult, error) {
	repair, isNeeded := a.repairRequest(ctx, request, said)
	if !isNeeded {
		return LoopResult{Text: said.Text}, nil
	}
	said, err := a.askModel(ctx, repair)
	return LoopResult{Text: said.Text}, err
}

// repairRequest returns the request for a better answer than what was said, if one is needed.
func (a *Attempt) repairRequest(ctx context.Context, request llm.Request, said llm.Response) (llm.Request, bool) {
	if a.Check == nil {
		return request, false
	}
	gap := a.Check(ctx, said.Text)
	if gap == "" {
		return request, false
	}
	request.Messages = append(slices.Clone(request.Messages),
		llm.Message{Role: llm.RoleAssistant, Text: cmp.Or(said.Text, "(nothing)")},
		llm.Message{Role: llm.RoleUser, Text: "This answer cannot be sent: " + gap +
			"\nAnswer once more, in the form that was asked for and nothing else."})
	return request, true
}

// AskModel sends the first request to the model, and calls no tools.
func (a *Attempt) AskModel(ctx context.Context) (LoopResult, error) {
	if err := a.loadSteps(ctx); err != nil {
		return LoopResult{}, err
	}
	said, err := a.askModel(ctx, a.firstRequest)
	return LoopResult{Text: said.Text}, err
}

// loadSteps reads the steps of earlier attempts at the task.
func (a *Attempt) loadSteps(ctx context.Context) (err error) {
	if a.Task.Attempt > 1 && a.earlierSteps == nil {
		a.earlierSteps, err = store.Steps(ctx, a.engine.Store.DB(), a.Task.ID)
	}
	return err
}

// compactJSON returns JSON without insignificant whitespace, or args itself if it is not valid.
func compactJSON(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

// nextStep returns the number of the next step, and the step that an earlier attempt stored under it, or nil.
func (a *Attempt) nextStep() (seq int, known *store.Step) {
	seq = a.nextSeq
	a.nextSeq++
	return seq, a.stepAt(seq)
}

// stepAt returns the step that an earlier attempt stored under a number, or nil.
func (a *Attempt) stepAt(seq int) *store.Step {
	for i := range a.earlierSteps {
		if a.earlierSteps[i].Seq == seq {
			return &a.earlierSteps[i]
		}
	}
	return nil
}

// askModel calls the model once, or returns the stored response if an earlier attempt made the call.
func (a *Attempt) askModel(ctx context.Context, request llm.Request) (llm.Response, error) {
	seq, known := a.nextStep()
	if known != nil && known.EndedAt != nil {
		said, err := responseOf(*known)
		if err != nil {
			return llm.Response{}, fmt.Errorf("task %d: %w", a.Task.ID, err)
		}
		a.recordCallIDs(said.Calls)
		return said, nil
	}
	if err := a.Limits.fit(&request); err != nil {
		return llm.Response{}, err
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: a.Model.Name(), RequestDigest: digest(request)}
	if err := store.BeginStep(ctx, a.engine.Store.AsyncCommit(), a.Task, step); err != nil {
		return llm.Response{}, err
	}
	said, err := a.stream(ctx, request)
	if err != nil {
		return llm.Response{}, err
	}
	if said.Stop == llm.StopLength {
		said = a.askLonger(ctx, request, said)
	}
	a.assignCallIDs(said.Calls)
	if step, err = stepWithResponse(step, said); err != nil {
		return llm.Response{}, err
	}
	return said, store.EndStep(context.WithoutCancel(ctx), a.engine.Store.AsyncCommit(), a.Task, step)
}

// askLonger asks once more for an answer that ended at its limit, with a higher one. It returns the short answer if that fails.
func (a *Attempt) askLonger(ctx context.Context, request llm.Request, short llm.Response) llm.Response {
	request.Longer = true
	if a.Limits.fit(&request) != nil {
		return short
	}
	longer, err := a.stream(ctx, request)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("An answer ended at llm.max_tokens, and there is no longer one")
		return short
	}
	longer.Usage = longer.Usage.Add(short.Usage)
	return longer
}

// stream calls the model, reports its partial answer to Progress, and returns the response as it can be stored (see storable).
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
	said.Text = reply.Clean(text.String())
	if len(said.Calls) == 0 {
		said.Calls = writtenCalls(said.Text, request.Tools)
	}
	if len(said.Calls) > 0 && VisibleText(said.Text) == "" {
		said.Text = "" // the calls, once more as text
	}
	return a.engine.storable(said), nil
}

// writtenCalls returns the tool calls that a model wrote as text instead of making them.
func writtenCalls(said string, offered []llm.Tool) (calls []llm.ToolCall) {
	written := reply.Calls(said, func(name string) bool {
		return slices.ContainsFunc(offered, func(t llm.Tool) bool { return t.Name == name })
	})
	for _, c := range written {
		calls = append(calls, llm.ToolCall{Name: c.Name, Args: c.Args})
	}
	return calls
}

// assignCallIDs replaces the ids that the provider gave to calls by ids that are unique in the task. A provider's id may
// contain words of the model, and ids stay stored after the rest of a call is forgotten. The new ids have nine letters
// and digits, which every provider accepts.
func (a *Attempt) assignCallIDs(calls []llm.ToolCall) {
	n := len(a.callIDs)
	for i := range calls {
		for calls[i].ID = ""; calls[i].ID == "" || a.callIDs[calls[i].ID]; n++ { // a continued task has ids of another
			calls[i].ID = fmt.Sprintf("call%05d", n)
		}
	}
	a.recordCallIDs(calls)
}

// recordCallIDs makes the ids of calls known, so that no later call gets one of them.
func (a *Attempt) recordCallIDs(calls []llm.ToolCall) {
	if a.callIDs == nil {
		a.callIDs = map[string]bool{}
	}
	for _, c := range calls {
		a.callIDs[c.ID] = true
	}
}
