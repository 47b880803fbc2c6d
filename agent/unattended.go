package agent

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"multis/outbox"
	"multis/store"
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
	found, err := a.lookUp(ctx, where.scope, text)
	if err != nil {
		return err
	}
	markdown, used, err := a.listPassages(ctx, "I have no model configured, so here is what I found:", found, where)
	if err != nil {
		return err
	}
	task.State = store.TaskCompleted
	return a.say(ctx, &reply{room: room, task: &task, markdown: markdown, used: used, scope: where.scope})
}

// bound keeps a task of the clock's to what its schedule allows: the tools that were there when it was set, and no conversation
// but its own unless that was wished.
func (r *run) bound(ctx context.Context, task store.Task) error {
	number, isRun := strings.CutPrefix(task.Key, "run:")
	if task.Kind != kindClock || !isRun {
		return nil
	}
	r.caller.Only, r.isolated = []string{}, true
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return nil //nolint:nilerr // a run that nobody can find allows nothing
	}
	s, err := store.ScheduleOfRun(ctx, r.Store.DB(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was cancelled meanwhile
	}
	if err != nil {
		return err
	}
	r.caller.Only, r.isolated = append(r.caller.Only, s.Tools...), s.Session != store.SessionMain
	return nil
}

// headed puts above an answer what it is about, when nobody asked for it just now.
func headed(task *store.Task, markdown string) string {
	if task == nil || task.Kind != kindClock {
		return markdown
	}
	title := []rune(strings.Join(strings.Fields(task.Input), " "))
	if len(title) > titleLength {
		title = append(title[:titleLength-1], '…')
	}
	return "⏰ **" + outbox.Escape(string(title)) + "**\n\n" + markdown
}

// titleLength is how much of what was asked for stands above the answer.
const titleLength = 80
