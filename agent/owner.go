package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"multis/agent/run"
	"multis/store"
	"multis/tools"
)

// ownerRounds bounds the model's calls for one question of the owner's.
const ownerRounds = 12

// callForOwner sets the attempt up to call tools for the owner, within what he asked for.
func (r *attempt) callForOwner(ctx context.Context, room store.Chat, task store.Task) (err error) {
	r.run.Account = accountOf(task)
	r.run.Caller = tools.Caller{
		Owner: true, Chat: room, Agent: r.persona.ID, Task: task.ID, Asked: task.Input, Allow: r.persona.Allow, Deny: r.persona.Deny,
		Workspace: r.persona.Workspace, ReadPaths: r.persona.ReadPaths,
	}
	if task.MessageID != nil {
		r.run.Caller.Message = *task.MessageID
	}
	if err := r.limitTools(ctx, task); err != nil {
		return err
	}
	if r.places, err = r.agent.placesOf(ctx, task.Input); err != nil {
		return err
	}
	r.run.Caller.Scope = r.places.scope
	r.handleTools(task)
	return r.loadSkills(ctx)
}

// callForParent sets the attempt up to call tools for another agent's task. It may see what that task may see, and is kept to its limits.
func (r *attempt) callForParent(ctx context.Context, room store.Chat, task, parent store.Task) (err error) {
	r.run.Task, r.run.Account = task, accountOf(parent)
	// What a model wrote may name a chat, and may have an address: neither is the owner's word.
	if r.places, err = r.agent.placesOf(ctx, parent.Input); err != nil {
		return err
	}
	r.run.Caller = tools.Caller{
		Owner: true, Chat: room, Agent: r.persona.ID, Scope: r.places.scope, Allow: r.persona.Allow, Deny: r.persona.Deny,
		Workspace: r.persona.Workspace, ReadPaths: r.persona.ReadPaths,
	}
	if err := r.limitTools(ctx, parent); err != nil {
		return err
	}
	r.handleTools(task)
	if err := r.loadSkills(ctx); err != nil {
		return err
	}
	if task.Kind == store.TaskStep {
		r.run.Caller.Asked = parent.Input // those are the owner's words
	}
	return nil
}

// handleTools carries out the tools for working with other agents, as far as the task may use them.
func (r *attempt) handleTools(task store.Task) {
	r.denyUnusableTools(task)
	r.run.Handlers = map[string]run.Handler{
		tools.DelegateName: r.delegate, tools.SessionsSendName: r.delegate, tools.HandoffName: r.handOff,
		tools.SessionsListName: r.sessionsList, tools.SessionsHistoryName: r.sessionsHistory,
	}
}

// limitTools limits the caller to the tools of a saved task, or to those that a schedule was allowed when it was set. A schedule has no conversation but
// its own unless the owner wanted that.
func (r *attempt) limitTools(ctx context.Context, task store.Task) error {
	if task.Tools != nil {
		r.run.Caller.Within = [][]string{task.Tools}
	}
	if task.Kind != store.TaskClock || task.RunID == nil {
		return nil
	}
	r.run.Caller.Only, r.noHistory = []string{}, true
	s, err := store.ScheduleOfRun(ctx, r.agent.Store.DB(), *task.RunID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was cancelled meanwhile
	}
	if err != nil {
		return err
	}
	r.run.Caller.Only, r.noHistory = append(r.run.Caller.Only, s.Tools...), s.Session != store.SessionMain
	return nil
}

// history returns what was said in the room before, unless the task has no part in it.
func (r *attempt) history(ctx context.Context, room store.Chat) (conversation, error) {
	if r.noHistory {
		return conversation{}, nil
	}
	return r.readConversation(ctx, r.agent.Store.DB(), room, []store.MessageID{r.run.Caller.Message})
}

// ownerOpening builds the first request for a question of the owner's.
func (r *attempt) ownerOpening(ctx context.Context, room store.Chat, task store.Task) (run.Opening, error) {
	_, question := r.agent.Personas.CutMention(task.Input)
	found, err := r.agent.lookUp(ctx, r.places, question)
	if err != nil {
		return run.Opening{}, err
	}
	before, err := r.history(ctx, room)
	if err != nil {
		return run.Opening{}, err
	}
	name, err := store.AssistantName(ctx, r.agent.Store.DB(), r.agent.Name)
	if err != nil {
		return run.Opening{}, err
	}
	var notes []store.Note
	if !r.noNotes {
		db, err := r.agent.Store.OwnerReader(r.run.Caller.Scope)
		if err != nil {
			return run.Opening{}, err
		}
		if notes, err = store.CurrentNotes(ctx, db, r.run.Caller.Scope, run.MaxNotes); err != nil {
			return run.Opening{}, err
		}
	}
	work, about, err := r.handoffSummary(ctx)
	if err != nil {
		return run.Opening{}, err
	}
	p := run.Prompt{
		Rules: fmt.Sprintf(ownerRules, r.name(name)), Manner: r.manner(), Notes: run.NotesText(notes), Passages: found.Hits, Summary: before.summary.Body,
		Window: before.said, Work: work, Question: question, ToolNotes: r.toolNotes(),
	}
	if task.Target != nil {
		p.Form = run.AnswerForm + "\n" + messageForm
	}
	first, err := r.run.Compose(ctx, p, string(store.TaskAsk), room.ID)
	if err != nil {
		return run.Opening{}, err
	}
	first.About = slices.Concat(first.About, before.messages(), learnedFrom(notes), about)
	return first, nil
}

// learnedFrom returns the messages that notes were learned from.
func learnedFrom(notes []store.Note) []store.MessageID {
	var ids []store.MessageID
	for _, n := range notes {
		ids = append(ids, n.Sources...)
	}
	return ids
}
