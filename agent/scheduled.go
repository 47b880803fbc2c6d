package agent

import (
	"context"

	"multis/store"
)

// Unattended answers what a schedule asks, and says it in the admin room, once for each run. The owner may not be there: what needs his
// approval waits for it.
func (a *Agent) Unattended(ctx context.Context, room store.Chat, run store.RunID, text string) error {
	answering := a.Personas.ForQuestion(room, text)
	model, _ := a.Personas.ModelOf(answering)
	task, err := store.InsertTask(ctx, a.Store.Writer(), store.Task{
		Key: store.RunKey(run), RunID: &run, Kind: store.TaskClock, ChatID: room.ID, Agent: answering.ID, Model: model.Name(), Input: text,
	})
	if err != nil || task.State.IsOver() {
		return err
	}
	if a.Personas.HasModel(answering) {
		return a.answerOwner(ctx, task, room)
	}
	task.State = store.TaskCompleted
	return a.sayPassages(ctx, &ownerReply{room: room, task: &task}, text)
}
