package agent

import (
	"context"

	"multis/store"
)

// AnswerScheduled makes the assistant work on the text of a due schedule, and posts the answer in room. run identifies
// the execution: each is answered once. If a tool needs an approval, nothing waits for it: the owner is asked, and after
// a yes a task that continues this one makes the call.
func (q *Questions) AnswerScheduled(ctx context.Context, room store.Chat, run store.ExecutionID, text string) error {
	answering := q.personas.ForQuestion(room, text)
	model, _ := q.personas.ModelOf(answering)
	task, err := store.InsertTask(ctx, q.store.Writer(), store.Task{
		Key:         store.ExecutionKey(run),
		ExecutionID: &run,
		Kind:        store.TaskSchedule,
		ChatID:      room.ID,
		Agent:       answering.ID,
		Model:       model.Name(),
		Input:       text,
	})
	if err != nil {
		return err
	}
	if task.State.IsOver() {
		return nil
	}
	if q.personas.HasModel(answering) {
		return q.answerOwner(ctx, task, room)
	}
	task.State = store.TaskCompleted
	return q.replyWithoutModel(ctx, &ownerReply{room: room, task: &task}, text, "")
}
