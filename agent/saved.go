package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/skills"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
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
	chats, err := q.chatNames(ctx)
	if err != nil {
		return 0, "", err
	}
	for i := range chats {
		chats[i].Person = 0
	}
	named, unclear := policy.FindChats(text, chats)
	switch {
	case len(named)+len(unclear) == 0:
		return 0, "its target is no chat that I know; `/chats` lists them", nil
	case len(named) != 1 || len(unclear) > 0:
		return 0, "its target could be several chats; write the network as well, such as Ana · WhatsApp", nil
	}
	return named[0].ID, "", nil
}

// maxMessage is the maximum length of a message that is drafted for a chat, in characters.
const maxMessage = 1500

// draftMessage returns a function that drafts the message in an answer for the task's target chat, to be sent once the
// owner approves it. The function is nil if there is no message, and returns text about a message that the gate refuses.
func (r *attempt) draftMessage(answer string) func(ctx context.Context, tx store.Tx) (string, error) {
	parsed, err := run.ParseAnswer(answer)
	message := text.Clip(strings.TrimSpace(r.run.BreakLinks(parsed.Message)), maxMessage)
	if err != nil {
		return nil
	}
	if message == "" || r.run.Task.Target == nil {
		return nil
	}
	return func(ctx context.Context, tx store.Tx) (string, error) {
		to, err := store.ChatByID(ctx, tx, *r.run.Task.Target)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		now, err := store.TaskByID(ctx, tx, r.run.Task.ID) // read again, with the messages that its tools have read
		if err != nil {
			return "", err
		}
		if now.Forgotten {
			return "", nil
		}
		_, decision, err := r.core.box.Queue(ctx, tx, outbox.Message{
			Chat:    to,
			Purpose: policy.PurposeDraft,
			Text:    message,
			Draft:   true,
			Sources: now.Sources,
		})
		if err != nil {
			return "", err
		}
		if decision.Allow {
			return "", nil
		}
		return fmt.Sprintf("⚠️ I drafted nothing for **%s**: %s", text.Escape(to.Label()), text.Escape(decision.Why)), nil
	}
}
