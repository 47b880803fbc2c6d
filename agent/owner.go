package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/policy/rules"
	"multis/store"
	"multis/store/index"
)

// ownerRounds stands for the number of model calls that a task of the owner's may take: run.Limits.Rounds.
const ownerRounds = 0

// prepareForOwner prepares the attempt to answer the owner: its caller, with the limits of the task, its tools and its skills.
func (r *attempt) prepareForOwner(ctx context.Context, room store.Chat, task store.Task) (err error) {
	r.run.PayingTask = payingTaskOf(task)
	r.run.Caller = tools.Caller{
		Owner:     true,
		Surface:   r.core.surfaceOf(task),
		Chat:      room,
		Agent:     r.persona.ID,
		Task:      task.ID,
		OwnerText: task.Input,
		Allow:     r.persona.Allow,
		Deny:      r.persona.Deny,
		Workspace: r.persona.Workspace,
		ReadPaths: r.persona.ReadPaths,
	}
	if task.MessageID != nil {
		r.run.Caller.Message = *task.MessageID
	}
	if err := r.limitTools(ctx, task); err != nil {
		return err
	}
	if r.area, err = r.core.searchAreaOf(ctx, task.Input); err != nil {
		return err
	}
	r.run.Caller.Scope = r.area.wide
	r.setHandlers(task)
	return r.loadSkills(ctx)
}

// surfaceOf returns where the calls of a task of the owner's come from.
func (c *core) surfaceOf(task store.Task) rules.Surface {
	switch task.Kind {
	case store.TaskSchedule:
		return rules.SurfaceSchedule
	case store.TaskChild:
		return rules.SurfaceDelegate
	default:
		return cmp.Or(c.surface, rules.SurfaceOwner)
	}
}

// prepareForParent prepares the attempt to work for another task. It has the scope and the limits of that task.
func (r *attempt) prepareForParent(ctx context.Context, room store.Chat, task, parent store.Task) (err error) {
	r.run.Task, r.run.PayingTask = task, payingTaskOf(parent)
	// The scope is derived from the owner's words, because task.Input was written by a model and may name other chats.
	if r.area, err = r.core.searchAreaOf(ctx, parent.Input); err != nil {
		return err
	}
	// The turn is tainted, because a model wrote what the task is.
	r.run.Caller = tools.Caller{
		Owner:     true,
		Surface:   r.core.surfaceOf(task),
		Tainted:   true,
		Chat:      room,
		Agent:     r.persona.ID,
		Scope:     r.area.wide,
		Allow:     r.persona.Allow,
		Deny:      r.persona.Deny,
		Workspace: r.persona.Workspace,
		ReadPaths: r.persona.ReadPaths,
	}
	if err := r.limitTools(ctx, parent); err != nil {
		return err
	}
	r.setHandlers(task)
	if err := r.loadSkills(ctx); err != nil {
		return err
	}
	if task.Kind == store.TaskStep {
		r.run.Caller.OwnerText = parent.Input // the goal of the plan, which the owner wrote
	}
	return nil
}

// setHandlers sets the handlers of the tools for working with other agents, and denies those that the task may not use.
func (r *attempt) setHandlers(task store.Task) {
	r.denyUnusableTools(task)
	r.run.Handlers = map[string]run.Handler{
		tools.DelegateName: r.delegate, tools.SessionsSendName: r.delegate, tools.HandoffName: r.handOff,
		tools.SessionsListName: sessionTools{r}.sessionsList, tools.SessionsHistoryName: sessionTools{r}.sessionsHistory,
		tools.MessageContactName: drafter{r}.messageContact,
	}
}

// limitTools limits the caller to the tools of a saved task, or to those that the owner granted a schedule when he set
// it. A task of a schedule that no longer exists gets no tools. The room's conversation is left out unless the owner
// wanted the schedule to read it.
func (r *attempt) limitTools(ctx context.Context, task store.Task) error {
	if task.Tools != nil {
		r.run.Caller.AllowLists = [][]string{task.Tools}
	}
	if task.Kind != store.TaskSchedule {
		return nil
	}
	r.run.Caller.GrantedTools, r.omitHistory = []string{}, true
	if task.ExecutionID == nil {
		return nil
	}
	s, err := store.ScheduleOfExecution(ctx, r.core.store.DB(), *task.ExecutionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the schedule was cancelled meanwhile
	}
	if err != nil {
		return err
	}
	r.run.Caller.GrantedTools, r.omitHistory = append(r.run.Caller.GrantedTools, s.Tools...), s.Session != store.SessionMain
	return nil
}

// history returns the earlier conversation in the room. It is empty for a task without the room's conversation (omitHistory).
func (r *attempt) history(ctx context.Context, room store.Chat) (conversation, error) {
	if r.omitHistory {
		return conversation{}, nil
	}
	return r.readConversation(ctx, r.core.store.DB(), room, []store.MessageID{r.run.Caller.Message})
}

// promptInput is what the first request of a task of the owner's is built from.
type promptInput struct {
	assistant string // the name under which the persona answers
	question  string // without the mention of an agent
	found     search.Result
	before    conversation
}

// readMaterial reads the material for a question of the owner's, or for a plan's goal.
func (r *attempt) readMaterial(ctx context.Context, room store.Chat, input string) (m promptInput, err error) {
	_, m.question = r.core.personas.CutMention(input)
	if m.found, err = r.core.searchForOwner(ctx, &r.area, m.question); err != nil {
		return promptInput{}, err
	}
	if m.before, err = r.history(ctx, room); err != nil {
		return promptInput{}, err
	}
	if err := r.addAskedBefore(ctx, &m); err != nil {
		return promptInput{}, err
	}
	m.assistant, err = r.assistantName(ctx)
	return m, err
}

// maxAskedBefore is how many passages about the question before a follow-up are added.
const maxAskedBefore = 3

// addAskedBefore adds the documents that a follow-up is about with the question before it: "And in July?" has no word of the prices.
func (r *attempt) addAskedBefore(ctx context.Context, m *promptInput) error {
	n := len(m.before.answered)
	if n == 0 || !search.MayContinue(m.question) {
		return nil
	}
	before, err := r.core.search.AsOwner(ctx, r.area.scope, search.Query{
		Text:  m.before.answered[n-1].Question + "\n" + m.question,
		Limit: maxAskedBefore,
		Kinds: []index.Kind{index.KindKnowledge},
	})
	if err != nil {
		return err
	}
	if len(before.Terms) == 0 {
		return nil
	}
	isBefore := func(h search.Hit) bool {
		return slices.ContainsFunc(before.Hits, func(b search.Hit) bool { return b.Ref == h.Ref })
	}
	m.found.Hits = slices.Concat(before.Hits, slices.DeleteFunc(slices.Clone(m.found.Hits), isBefore))
	return nil
}

// buildOwnerRequest builds the first request for a question of the owner's.
func (r *attempt) buildOwnerRequest(ctx context.Context, room store.Chat, task store.Task) (run.FirstRequest, error) {
	m, err := r.readMaterial(ctx, room, task.Input)
	if err != nil {
		return run.FirstRequest{}, err
	}
	var notes []store.Note
	if !r.omitNotes {
		db, err := r.core.store.OwnerReader(r.area.scope)
		if err != nil {
			return run.FirstRequest{}, err
		}
		if notes, err = store.CurrentNotes(ctx, db, r.area.scope, run.MaxNotes); err != nil {
			return run.FirstRequest{}, err
		}
	}
	r.notes = run.NotesText(notes)
	work, about, err := r.handoffSummary(ctx)
	if err != nil {
		return run.FirstRequest{}, err
	}
	shows, err := r.pictureOf(ctx, task)
	if err != nil {
		return run.FirstRequest{}, err
	}
	p := run.Prompt{
		Rules:        fmt.Sprintf(r.rules(ownerRules, smallOwnerRules), m.assistant),
		Instructions: r.instructions(),
		Notes:        r.notes,
		Passages:     m.found.Hits,
		Summary:      m.before.summary.Body,
		Window:       m.before.messages,
		Work:         work,
		Picture:      shows,
		Question:     m.question,
		ToolNotes:    r.toolNotes(),
		Foreign:      m.before.isTainted() || run.HasForeignNotes(notes),
	}
	if task.Target != nil {
		p.Form = run.AnswerForm + "\n" + messageForm
	}
	first, err := r.run.Compose(ctx, p, string(store.TaskAsk), room.ID)
	if err != nil {
		return run.FirstRequest{}, err
	}
	first.About = slices.Concat(first.About, m.before.messageIDs(), noteSources(notes), about)
	return first, nil
}

// pictureOf returns what the picture shows that the owner sent with a question; empty for none.
func (r *attempt) pictureOf(ctx context.Context, task store.Task) (string, error) {
	if task.Kind != store.TaskAsk || task.MessageID == nil {
		return "", nil
	}
	asked, err := store.MessageByID(ctx, r.core.store.DB(), *task.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil // it was deleted, and the task is stopped
	}
	return pictureDescriptions([]store.Message{asked}), err
}

// noteSources returns the messages that notes were learned from.
func noteSources(notes []store.Note) []store.MessageID {
	var ids []store.MessageID
	for _, n := range notes {
		ids = append(ids, n.Sources...)
	}
	return ids
}
