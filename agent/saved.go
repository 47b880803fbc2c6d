package agent

import (
	"context"
	"fmt"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/jobs"
	"multis/store"
)

// StartSavedTask begins a saved task. Its answer goes to room. problem says for people why the task cannot begin; empty if it does.
func (q *Questions) StartSavedTask(ctx context.Context, tx store.Tx, room store.Chat, message store.Message,
	s skills.SavedTask,
) (problem string, err error) {
	answering, _ := q.personas.Route(persona.RouteInput{Mention: s.Agent, Chat: room})
	model, _ := q.personas.ModelOf(answering)
	task := store.Task{
		Key:       fmt.Sprintf("ask:%d", message.ID),
		Kind:      store.TaskAsk,
		ChatID:    room.ID,
		MessageID: &message.ID,
		Sources:   []store.MessageID{message.ID},
		Agent:     answering.ID,
		Model:     model.Name(),
		Input:     s.Prompt,
		Tools:     s.Tools,
	}
	if s.Target != "" {
		target, problem, err := q.targetChat(ctx, s.Target)
		if err != nil {
			return problem, err
		}
		if problem != "" {
			return problem, nil
		}
		task.Input, task.Target = task.Input+"\n\nThe chat that it is about: "+s.Target, &target
	}
	if task, err = store.InsertTask(ctx, tx, task); err != nil {
		return "", err
	}
	return "", jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// targetChat returns the chat that a text names. problem says for people why there is not exactly one.
func (q *Questions) targetChat(ctx context.Context, text string) (chat store.ChatID, problem string, err error) {
	named, unclear, err := q.findChats(ctx, text)
	switch {
	case err != nil:
		return 0, "", err
	case len(named)+len(unclear) == 0:
		return 0, "its target is no chat that I know; `/chats` lists them", nil
	case len(named) != 1 || len(unclear) > 0:
		return 0, "its target could be several chats; write the network as well, such as Ana · WhatsApp", nil
	}
	return named[0].ID, "", nil
}
