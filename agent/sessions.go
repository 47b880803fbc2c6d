package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/store"
)

const (
	// sessionAge is how long after its end a task is visible to other agents. maxSessions is how many are listed.
	sessionAge  = time.Hour
	maxSessions = 20
	// maxSessionText is the maximum length of a question or of a tool's line in the list, in characters.
	maxSessionText = 200
	// maxChildAnswer is how much of another agent's answer a model reads, in characters.
	maxChildAnswer = 6000
	// maxThread is how many earlier tasks a model reads when a task continues another.
	maxThread = 6
	// maxThreadAnswer is how much of an earlier task's answer a model reads, in characters.
	maxThreadAnswer = 3000
)

// sessionTools carries out the tools that read other tasks.
type sessionTools struct{ *attempt }

// sessionsList carries out the tool sessions_list.
func (r sessionTools) sessionsList(ctx context.Context, _ tools.Call) (tools.Result, error) {
	all, err := r.visibleSessions(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	lines := []string{"Nothing in the last hour."}
	if len(all) > 0 {
		lines = nil
	}
	var about []store.MessageID
	for _, t := range all {
		about = append(about, t.Sources...)
		lines = append(lines, fmt.Sprintf("%d %s (%s, %s): %s", t.ID, t.Agent, t.State, t.CreatedAt.In(r.core.zone).Format("15:04"),
			text.Clip(text.CollapseSpaces(t.Input), maxSessionText)))
	}
	return tools.Result{ForLLM: strings.Join(lines, "\n"), ForUser: "looked at what was worked on"},
		store.AddTaskSources(ctx, r.core.store.Writer(), r.run.Task, about)
}

// sessionsHistory carries out the tool sessions_history.
func (r sessionTools) sessionsHistory(ctx context.Context, c tools.Call) (tools.Result, error) {
	args, err := tools.Decode[tools.SessionsHistoryArgs](c)
	if err != nil {
		return tools.BadArguments(err), nil
	}
	t, known, err := r.session(ctx, args.Session)
	if err != nil {
		return tools.Result{}, err
	}
	if !known {
		return refuseUnknownSession(), nil
	}
	if err := store.AddTaskSources(ctx, r.core.store.Writer(), r.run.Task, t.Sources); err != nil {
		return tools.Result{}, err
	}
	steps, err := store.Steps(ctx, r.core.store.DB(), t.ID)
	if err != nil {
		return tools.Result{}, err
	}
	lines := []string{"asked: " + t.Input}
	for _, s := range steps {
		if s.Kind == store.StepTool {
			lines = append(lines, "used "+s.Name+": "+text.Clip(text.CollapseSpaces(run.StepText(s)), maxSessionText))
		}
	}
	switch {
	case t.Answer != "":
		lines = append(lines, "answered: "+text.Clip(run.VisibleText(t.Answer), maxChildAnswer))
	case t.State.IsOver():
		lines = append(lines, "ended without an answer: "+t.Error)
	default:
		lines = append(lines, "it is not over yet")
	}
	return tools.Result{ForLLM: strings.Join(lines, "\n"), ForUser: fmt.Sprintf("looked at task %d", t.ID)}, nil
}

// visibleSessions returns the latest tasks of this agent and of those it may ask.
func (r sessionTools) visibleSessions(ctx context.Context) ([]store.Task, error) {
	whose := []string{r.persona.ID}
	for _, other := range r.delegates() {
		whose = append(whose, other.ID)
	}
	return store.RecentTasksOf(ctx, r.core.store.DB(), whose, r.run.Task.ID, r.core.now().Add(-sessionAge), maxSessions)
}

// session returns one of the visible sessions by its number.
func (r sessionTools) session(ctx context.Context, number store.TaskID) (task store.Task, known bool, err error) {
	all, err := r.visibleSessions(ctx)
	if i := slices.IndexFunc(all, func(t store.Task) bool { return t.ID == number }); i >= 0 {
		return all[i], true, err
	}
	return store.Task{}, false, err
}

func refuseUnknownSession() tools.Result {
	return tools.Refused(tools.CodeNotFound,
		"There is no such session, or it is over since more than an hour. sessions_list shows which there are.")
}

// continuedWork returns the questions and answers of the tasks that this one continues, oldest first, and the messages
// whose words may be in them.
func (r *attempt) continuedWork(ctx context.Context) (work string, about []store.MessageID, err error) {
	before, err := store.ContinuedTasks(ctx, r.core.store.DB(), *r.run.Task.Continues, maxThread)
	var parts []string
	for _, t := range slices.Backward(before) {
		if t.Forgotten {
			continue
		}
		about = append(about, t.Sources...)
		parts = append(parts, "Asked: "+t.Input+"\nYou answered: "+text.Clip(run.VisibleText(t.Answer), maxThreadAnswer))
	}
	return strings.Join(parts, "\n\n"), about, err
}
