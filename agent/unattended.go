package agent

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"multis/schedule"
	"multis/store"
	"multis/text"
)

// kindClock is the kind of a task that the clock asked for.
const kindClock = "clock"

// Unattended works on what the owner asked for by the clock, and says in the admin room what came of it, once for each key.
// Nobody is there to ask back: what needs a person waits for one as an approval.
func (a *Agent) Unattended(ctx context.Context, room store.Chat, key, text string) error {
	called, _ := mention(a.Personas, text)
	persona := Route(a.Personas, Where{Mention: called, Chat: room})
	model, _ := a.modelOf(persona)
	task, err := store.OpenTask(ctx, a.Store.DB(), store.Task{
		Key: key, Kind: kindClock, ChatID: room.ID, Agent: persona.ID, Model: model.Name(), Input: text,
	})
	if err != nil || task.State.Over() {
		return err
	}
	if a.thinks(persona) {
		return a.work(ctx, task, room)
	}
	where, err := a.placesOf(ctx, text)
	if err != nil {
		return err
	}
	found, err := a.lookUp(ctx, where, text)
	if err != nil {
		return err
	}
	listed, err := a.listPassages(ctx, "I have no model configured, so here is what I found:", text, found, where)
	if err != nil {
		return err
	}
	task.State = store.TaskCompleted
	return a.say(ctx, &reply{room: room, task: &task, sourced: listed, scope: where.scope})
}

// bound keeps a task of the clock's to what its schedule allows: the tools that were there when it was set, and no conversation
// but its own unless that was wished.
func (r *run) bound(ctx context.Context, task store.Task) error {
	if task.Kind != kindClock || !strings.HasPrefix(task.Key, runPrefix) {
		return nil
	}
	r.caller.Only, r.isolated = []string{}, true
	s, err := store.ScheduleOfRun(ctx, r.Store.DB(), runBehind(task))
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was cancelled meanwhile
	}
	if err != nil {
		return err
	}
	r.caller.Only, r.isolated = append(r.caller.Only, s.Tools...), s.Session != store.SessionMain
	return nil
}

// runPrefix begins the key of a task that a run of a schedule asked for.
const runPrefix = "run:"

// runBehind is the run that asked for a task; 0 for none.
func runBehind(task store.Task) int64 {
	number, _ := strings.CutPrefix(task.Key, runPrefix)
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0 // a run that nobody can find allows nothing
	}
	return id
}

// headed puts above an answer what it is about, when nobody asked for it just now, and how late it is.
func (a *Agent) headed(ctx context.Context, db store.DB, task *store.Task, markdown string) (string, error) {
	if task == nil || task.Kind != kindClock {
		return markdown, nil
	}
	head := "⏰ **" + text.Escape(text.Clip(text.CollapseSpaces(task.Input), titleLength)) + "**"
	run, err := store.RunByID(ctx, db, runBehind(*task))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if late := schedule.Late(run.DueAt, run.StartedAt, 0, a.Zone); late != "" {
		head += "\n" + text.Escape(late)
	}
	return head + "\n\n" + markdown, nil
}

// titleLength is how much of what was asked for stands above the answer.
const titleLength = 80
