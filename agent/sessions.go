package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/llm"
	"multis/store"
	"multis/text"
	"multis/tools"
)

const (
	// sessionTime is how long after its end a task can be looked at by other agents, maxSessions how many are listed.
	sessionTime = time.Hour
	maxSessions = 20
	// sessionText is how much of a question, a tool's line or an answer is listed, in characters.
	sessionText = 200
)

// sessions carries out the tools that look at what this agent, and those it may ask, worked on.
func (r *run) sessions(ctx context.Context, p *pending) error {
	result, err := r.sessionsOf(ctx, p.call)
	if err != nil {
		return err
	}
	p.settled, p.result = true, result
	return r.endTool(ctx, *p)
}

func (r *run) sessionsOf(ctx context.Context, call llm.Call) (tools.Result, error) {
	if call.Name == tools.SessionsListName {
		all, err := r.visible(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		return r.sessionList(ctx, all)
	}
	args, err := tools.Decode[tools.SessionsHistoryArgs](r.toolCall(call))
	if err != nil {
		return tools.Bad(err), nil
	}
	task, known, err := r.session(ctx, args.Session)
	if err != nil {
		return tools.Result{}, err
	}
	if !known {
		return noSession(), nil
	}
	return r.sessionHistory(ctx, task)
}

// visible is what this agent, and those it may ask, worked on lately.
func (r *run) visible(ctx context.Context) ([]store.Task, error) {
	whose := []string{r.persona.ID}
	for _, other := range r.colleagues() {
		whose = append(whose, other.ID)
	}
	return store.Sessions(ctx, r.Store.DB(), whose, r.task.ID, r.now().Add(-sessionTime), maxSessions)
}

// session is one of them by its number.
func (r *run) session(ctx context.Context, number int64) (task store.Task, known bool, err error) {
	all, err := r.visible(ctx)
	if i := slices.IndexFunc(all, func(t store.Task) bool { return t.ID == number }); i >= 0 {
		return all[i], true, err
	}
	return store.Task{}, false, err
}

func noSession() tools.Result {
	return tools.Refused(tools.CodeNotFound, "There is no such session, or it is over since more than an hour. sessions_list shows which there are.")
}

// threadLength is how much of what was written before is read by who goes on with it, in pieces of work.
const threadLength = 6

// thread is what a task goes on with, the oldest first, with the messages whose words may be in it.
func (r *run) thread(ctx context.Context) (work string, about []int64, err error) {
	before, err := store.Thread(ctx, r.Store.DB(), *r.task.Continues, threadLength)
	var parts []string
	for _, t := range slices.Backward(before) {
		if t.Forgotten {
			continue
		}
		about = append(about, t.About...)
		parts = append(parts, "Asked: "+t.Input+"\nYou answered: "+text.Clip(spokenAnswer(t.Answer), stepAnswer))
	}
	return strings.Join(parts, "\n\n"), about, err
}

// sessionList is what was worked on, a line each. It rests on what was worked on.
func (r *run) sessionList(ctx context.Context, all []store.Task) (tools.Result, error) {
	lines := []string{"Nothing in the last hour."}
	if len(all) > 0 {
		lines = nil
	}
	var about []int64
	for _, t := range all {
		about = append(about, t.About...)
		lines = append(lines, fmt.Sprintf("%d %s (%s, %s): %s", t.ID, t.Agent, t.State, t.CreatedAt.In(r.Zone).Format("15:04"), text.Clip(text.CollapseSpaces(t.Input), sessionText)))
	}
	return tools.Result{ForLLM: strings.Join(lines, "\n"), ForUser: "looked at what was worked on"}, store.RestOn(ctx, r.Store.DB(), r.task, about)
}

func (r *run) sessionHistory(ctx context.Context, t store.Task) (tools.Result, error) {
	if err := store.RestOn(ctx, r.Store.DB(), r.task, t.About); err != nil {
		return tools.Result{}, err
	}
	steps, err := store.Steps(ctx, r.Store.DB(), t.ID)
	if err != nil {
		return tools.Result{}, err
	}
	lines := []string{"asked: " + t.Input}
	for _, s := range steps {
		if s.Kind == store.StepTool {
			lines = append(lines, "used "+s.Name+": "+text.Clip(text.CollapseSpaces(stepText(s)), sessionText))
		}
	}
	switch {
	case t.Answer != "":
		lines = append(lines, "answered: "+text.Clip(spokenAnswer(t.Answer), childAnswer))
	case t.State.Over():
		lines = append(lines, "ended without an answer: "+t.Error)
	default:
		lines = append(lines, "it is not over yet")
	}
	return tools.Result{ForLLM: strings.Join(lines, "\n"), ForUser: fmt.Sprintf("looked at task %d", t.ID)}, nil
}
