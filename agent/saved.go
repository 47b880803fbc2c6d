package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/skills"
	"multis/store"
	"multis/text"
)

// messageForm is added to the form of an answer that may bring a message to somebody.
const messageForm = `If the owner wants something written to the chat that it is about, add "message" beside "sentences": the words to send, in that person's language and in the owner's name,
with nothing in them that the conversation and the passages do not say. The owner reads it first and decides.`

// Begin begins a saved task, which is answered where it was asked for. What stands against it is a problem, for people.
func (a *Agent) Begin(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, s skills.Saved) (problem string, err error) {
	persona := Route(a.Personas, Where{Mention: s.Agent, Chat: room})
	model, _ := a.modelOf(persona)
	task := store.Task{
		Key: fmt.Sprintf("ask:%d", message.ID), Kind: kindAsk, ChatID: room.ID, MessageID: &message.ID, About: []int64{message.ID}, Agent: persona.ID, Model: model.Name(),
		Input: s.Prompt, Tools: s.Tools,
	}
	if s.Target != "" {
		target, problem, err := a.target(ctx, s.Target)
		if err != nil || problem != "" {
			return problem, err
		}
		task.Input, task.Target = task.Input+"\n\nThe chat that it is about: "+s.Target, &target
	}
	if task, err = store.OpenTask(ctx, tx, task); err != nil {
		return "", err
	}
	return "", jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// target is the one chat that a text names. Where a person has several that were merged, the network tells which.
func (a *Agent) target(ctx context.Context, text string) (chat int64, problem string, err error) {
	chats, err := a.chatNames(ctx)
	if err != nil {
		return 0, "", err
	}
	for i := range chats {
		chats[i].Person = 0
	}
	named, unclear := policy.Named(text, chats)
	switch {
	case len(named)+len(unclear) == 0:
		return 0, "its target is no chat that I know; `/chats` lists them", nil
	case len(named) != 1 || len(unclear) > 0:
		return 0, "its target could be several chats; write the network as well, such as Ana · WhatsApp", nil
	}
	return named[0].ID, "", nil
}

// drafts has what an answer wants to write to the chat it is about held as a draft, until the owner said yes. Nil: it writes nothing.
func (r *run) drafts(say *reply, answer string) func(ctx context.Context, tx store.Tx) error {
	d, err := readDraft(answer)
	body := text.Clip(strings.TrimSpace(r.unlinked(d.Message)), maxDraftText)
	if err != nil || body == "" || r.task.Target == nil {
		return nil
	}
	return func(ctx context.Context, tx store.Tx) error {
		to, err := store.ChatByID(ctx, tx, *r.task.Target)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rests, err := store.TaskByID(ctx, tx, r.task.ID) // with what its tools read meanwhile
		if err != nil || rests.Forgotten {
			return err
		}
		_, decision, err := r.Box.Queue(ctx, tx, outbox.Message{Chat: to, Purpose: policy.PurposeDraft, Text: body, Draft: true, RestsOn: rests.About})
		if err == nil && !decision.Allow {
			say.refused = fmt.Sprintf("⚠️ I drafted nothing for **%s**: %s", text.Escape(chatLabel(to)), text.Escape(decision.Why))
		}
		return err
	}
}

// Thinks tells whether whoever answers a question in a room has a model.
func (a *Agent) Thinks(room store.Chat, question string) bool {
	called, _ := mention(a.Personas, question)
	return a.thinks(Route(a.Personas, Where{Mention: called, Chat: room}))
}
