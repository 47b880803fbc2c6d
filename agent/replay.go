package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// Replayed is a task that was gone through again from what is stored of it. Nothing was done: what the model said and what the
// tools brought came from the steps.
type Replayed struct {
	Task   store.Task
	Rounds []Round
	Answer string
	// Differs says where the replay came to something else than the task did; empty: the same, to the byte.
	Differs string
	// Over says why it could not be gone through to its end.
	Over string
	// With is the other model that was asked the same; empty for none.
	With string
}

// Round is one call of the model, with the tools that it called.
type Round struct {
	Bytes int // of what the model was asked
	Said  llm.Response
	Tools []store.Step
	// Now is what another model says to the same; NowFailed why it says nothing.
	Now       llm.Response
	NowFailed string
}

// digest is a mark of what a model is asked, the same for the same words whether they come from a store or not.
func digest(request llm.Request) string {
	type message struct {
		Role, Text, CallID string
		IsError            bool
		Calls              []string
	}
	said := []message{{Text: policy.Redact(request.System)}}
	for _, m := range request.Messages {
		one := message{Role: string(m.Role), Text: policy.Redact(m.Text), CallID: m.CallID, IsError: m.IsError}
		for _, c := range redactCalls(m.Calls) {
			one.Calls = append(one.Calls, c.ID+" "+c.Name+" "+canonical(c.Args)+c.Malformed)
		}
		said = append(said, one)
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return "" // plain strings
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// canonical is arguments in one spelling, as a database may keep them in another.
func canonical(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(raw)
}

// second is another model that is asked the same as the first one was.
type second struct {
	name string
	run  string // whose budget pays
	// ask returns what it says, or why it says nothing.
	ask func(ctx context.Context, request llm.Request) (said llm.Response, failed string, err error)
}

// answer asks it a round's question within the budget of its run. Without a second model there is none.
func (s *second) answer(ctx context.Context, request llm.Request) (said llm.Response, failed string, err error) {
	if s == nil {
		return llm.Response{}, "", nil
	}
	request.Purpose, request.Run = kindReplay, s.run
	return s.ask(ctx, request)
}

// Replay goes through a task again from what is stored of it, and holds it against what the task came to. With another model that one is asked
// the same in each round, which costs what it costs; its tool calls are shown and not made.
func (a *Agent) Replay(ctx context.Context, number int64, other llm.Model) (Replayed, error) {
	if other == nil {
		return a.replay(ctx, number, nil)
	}
	ask := func(ctx context.Context, request llm.Request) (llm.Response, string, error) {
		said, err := llm.Complete(ctx, other, request)
		if err != nil {
			return said, err.Error(), nil //nolint:nilerr // it is shown
		}
		return said, "", nil
	}
	return a.replay(ctx, number, &second{name: other.Name(), run: fmt.Sprintf("replay %d %d", number, a.now().UnixNano()), ask: ask})
}

func (a *Agent) replay(ctx context.Context, number int64, other *second) (Replayed, error) {
	task, err := store.TaskByID(ctx, a.Store.DB(), number)
	if err != nil {
		return Replayed{}, err
	}
	steps, err := store.Steps(ctx, a.Store.DB(), number)
	if err != nil {
		return Replayed{}, err
	}
	out := Replayed{Task: task}
	if other != nil {
		out.With = other.name
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
	r := a.newRun(a.byID(task.Agent), maxRounds)
	r.task, r.done = task, steps
	var first asked
	if err := json.Unmarshal(task.Request, &first); err != nil {
		return Replayed{}, fmt.Errorf("read the request of task %d: %w", number, err)
	}
	r.begin(first)
	return out, r.replay(ctx, &out, other)
}

// roundsOf is what is left of a task without its words.
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

// replay goes through the rounds.
func (r *run) replay(ctx context.Context, out *Replayed, other *second) error {
	request := r.first
	request.Messages = slices.Clone(request.Messages)
	for {
		seq, known := r.step()
		if known == nil || known.EndedAt == nil {
			out.Over = fmt.Sprintf("round %d has no end: %s", len(out.Rounds)+1, r.howEnded())
			return nil
		}
		err := r.limits.fit(&request)
		if err != nil && !errors.Is(err, errNoRoom) {
			return err
		}
		round := Round{Bytes: bytesOf(request), Said: llm.Response{Text: known.Text}}
		if round.Said.Calls, err = callsOf(*known); err != nil {
			return fmt.Errorf("read step %d of task %d: %w", seq, r.task.ID, err)
		}
		r.nameCalls(seq, round.Said.Calls)
		if known.Asked != "" && known.Asked != digest(request) && out.Differs == "" {
			out.Differs = fmt.Sprintf("what the model was asked in round %d", len(out.Rounds)+1)
		}
		if round.Now, round.NowFailed, err = other.answer(ctx, request); err != nil {
			return err
		}
		if len(round.Said.Calls) == 0 {
			out.Rounds = append(out.Rounds, round)
			r.compare(out, known.Text)
			return nil
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: round.Said.Text, Calls: round.Said.Calls})
		for _, c := range round.Said.Calls {
			_, step := r.step()
			if step == nil || step.EndedAt == nil {
				out.Rounds = append(out.Rounds, round)
				out.Over = fmt.Sprintf("%s has no result: %s", c.Name, r.howEnded())
				return nil
			}
			round.Tools = append(round.Tools, *step)
			var res tools.Result
			if err := resultOfStep(*step, &res); err != nil {
				return err
			}
			if res.Handover != "" { // which ended it
				out.Rounds = append(out.Rounds, round)
				r.compare(out, r.said(res))
				return nil
			}
			request.Messages = append(request.Messages, r.resultMessage(c, res, step.Fence))
		}
		out.Rounds = append(out.Rounds, round)
	}
}

// said is what was said when a tool handed over: to a contact nothing.
func (r *run) said(res tools.Result) string {
	if r.task.Kind == kindTurn {
		return ""
	}
	return res.Handover
}

// howEnded is what is known of the end of a task that broke off.
func (r *run) howEnded() string {
	if r.task.Error != "" {
		return r.task.Error
	}
	return "the task is " + string(r.task.State)
}

// callsOf are the tools that a model asked for in a step.
func callsOf(s store.Step) (calls []llm.Call, err error) {
	if len(s.Calls) > 0 {
		err = json.Unmarshal(s.Calls, &calls)
	}
	return calls, err
}

func bytesOf(request llm.Request) int {
	n := len(request.System)
	for _, m := range request.Messages {
		n += len(m.Text)
	}
	return n
}

// compare holds the end of a replay against the end of the task.
func (r *run) compare(out *Replayed, text string) {
	out.Answer = policy.Redact(text)
	switch r.task.Kind {
	case kindTurn:
		out.Answer = policy.Redact(r.checked(outcome{text: text}).text)
	case kindChild, kindStep:
		out.Answer = policy.Redact(r.sourced(text))
	case kindPlan:
		return // what it came to, its steps did
	}
	if out.Differs == "" && out.Answer != r.task.Answer {
		out.Differs = "the answer"
	}
}

// Markdown shows a replay to people.
func (p Replayed) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Task %d, replayed** (%s, %s); nothing was done\n", p.Task.ID, p.Task.Kind, p.Task.State)
	for i, round := range p.Rounds {
		fmt.Fprintf(&b, "%d. ", i+1)
		if round.Bytes > 0 {
			fmt.Fprintf(&b, "asked %d bytes: ", round.Bytes)
		}
		b.WriteString(saidText(round.Said) + "\n")
		for _, s := range round.Tools {
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(s.Name), stepText(s))
		}
		switch {
		case round.NowFailed != "":
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(p.With), text.Escape(text.Clip(round.NowFailed, 200)))
		case p.With != "":
			same := ""
			if sameSaid(round.Said, round.Now) {
				same = " (the same)"
			}
			fmt.Fprintf(&b, "   - %s%s: %s\n", text.Escape(p.With), same, saidText(round.Now))
		}
	}
	switch {
	case p.Over != "":
		b.WriteString("\nIt cannot be gone through to its end: " + text.Escape(p.Over) + ".")
	case p.Differs != "":
		b.WriteString("\n⚠️ **Not the same:** " + text.Escape(p.Differs) + " comes out otherwise now.")
	default:
		b.WriteString("\n**The same, to the byte.**")
	}
	return b.String()
}

// replayText is how much of one thing said is shown, in characters.
const replayText = 300

// saidText is what a model said, in a line.
func saidText(said llm.Response) string {
	var parts []string
	if said.Text != "" {
		parts = append(parts, "“"+text.Escape(policy.Unlinked(text.Clip(text.CollapseSpaces(soFar(said.Text)), replayText)))+"”")
	}
	for _, c := range said.Calls {
		parts = append(parts, "calls "+text.Escape(policy.Unlinked(text.Clip(c.Name+" "+compact(c.Args), replayText))))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func stepText(s store.Step) string {
	switch {
	case s.EndedAt == nil:
		return "no result"
	case s.IsError:
		return "failed (" + text.Escape(s.Code) + ")"
	case s.ForUser != "":
		return text.Escape(text.Clip(s.ForUser, replayText))
	default:
		return "done"
	}
}

// sameSaid tells whether two models say the same: the same words, or the same calls.
func sameSaid(a, b llm.Response) bool {
	return a.Text == b.Text && slices.EqualFunc(a.Calls, b.Calls, func(x, y llm.Call) bool { return x.Name == y.Name && canonical(x.Args) == canonical(y.Args) })
}
