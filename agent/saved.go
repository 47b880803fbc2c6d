package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/skills"
	"multis/store"
	"multis/text"
)

// Begin begins a saved task, whose answer goes to the room where it was asked for. A problem is text for people why it cannot begin.
func (a *Agent) Begin(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, s skills.Saved) (problem string, err error) {
	answering, _ := a.Personas.Route(persona.Where{Mention: s.Agent, Chat: room})
	model, _ := a.Personas.ModelOf(answering)
	task := store.Task{
		Key: fmt.Sprintf("ask:%d", message.ID), Kind: store.TaskAsk, ChatID: room.ID, MessageID: &message.ID, About: []store.MessageID{message.ID}, Agent: answering.ID,
		Model: model.Name(), Input: s.Prompt, Tools: s.Tools,
	}
	if s.Target != "" {
		target, problem, err := a.targetChat(ctx, s.Target)
		if err != nil || problem != "" {
			return problem, err
		}
		task.Input, task.Target = task.Input+"\n\nThe chat that it is about: "+s.Target, &target
	}
	if task, err = store.InsertTask(ctx, tx, task); err != nil {
		return "", err
	}
	return "", jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// targetChat returns the one chat that a text names. Of a person's merged chats, the network tells which.
func (a *Agent) targetChat(ctx context.Context, text string) (chat store.ChatID, problem string, err error) {
	chats, err := a.chatNames(ctx)
	if err != nil {
		return 0, "", err
	}
	for i := range chats {
		chats[i].Person = 0
	}
	named, unclear := policy.FindNamed(text, chats)
	switch {
	case len(named)+len(unclear) == 0:
		return 0, "its target is no chat that I know; `/chats` lists them", nil
	case len(named) != 1 || len(unclear) > 0:
		return 0, "its target could be several chats; write the network as well, such as Ana · WhatsApp", nil
	}
	return named[0].ID, "", nil
}

// maxMessage is the longest message that is drafted for a chat, in characters.
const maxMessage = 1500

// draftMessage returns a function that drafts the message in an answer for the task's target chat, to be sent once the owner approves it. The function
// is nil if there is no message, and returns text about a message that the gate refuses.
func (r *attempt) draftMessage(answer string) func(ctx context.Context, tx store.Tx) (string, error) {
	parsed, err := run.ParseAnswer(answer)
	message := text.Clip(strings.TrimSpace(r.run.BreakLinks(parsed.Message)), maxMessage)
	if err != nil || message == "" || r.run.Task.Target == nil {
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
		now, err := store.TaskByID(ctx, tx, r.run.Task.ID) // with the messages that its tools read meanwhile
		if err != nil || now.Forgotten {
			return "", err
		}
		_, decision, err := r.agent.Box.Queue(ctx, tx, outbox.Message{Chat: to, Purpose: policy.PurposeDraft, Text: message, Draft: true, RestsOn: now.About})
		if err != nil || decision.Allow {
			return "", err
		}
		return fmt.Sprintf("⚠️ I drafted nothing for **%s**: %s", text.Escape(chatLabel(to)), text.Escape(decision.Why)), nil
	}
}
