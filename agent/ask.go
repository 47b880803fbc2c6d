package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// Ask answers a question of the owner's in the room where he asked, and marks the message as answered. A question that needs his approval is
// answered later, by Resume.
func (a *Agent) Ask(ctx context.Context, room store.Chat, message store.Message, question string) error {
	answering := a.Personas.ForQuestion(room, question)
	if !a.Personas.HasModel(answering) {
		return a.sayPassages(ctx, &ownerReply{room: room, message: message.ID}, question)
	}
	asks := message.ID
	model, _ := a.Personas.ModelOf(answering)
	task, err := store.InsertTask(ctx, a.Store.Lazy(), store.Task{
		Key: fmt.Sprintf("ask:%d", asks), Kind: store.TaskAsk, ChatID: room.ID, MessageID: &asks, About: []store.MessageID{asks}, Agent: answering.ID, Model: model.Name(),
		Input: question,
	})
	if err != nil {
		return err
	}
	if task.State.IsOver() {
		return nil // its answer was queued in the transaction that ended it
	}
	if task.Attempt == 0 && answering.Emoji != "" {
		if err := a.acknowledge(ctx, room, message, answering.Emoji); err != nil {
			return err
		}
	}
	return a.answerOwner(ctx, task, room)
}

// Thinks reports whether whoever answers a question in a room has a model.
func (a *Agent) Thinks(room store.Chat, question string) bool {
	return a.Personas.HasModel(a.Personas.ForQuestion(room, question))
}

// OfferedTools lists the tools that a question of the owner's in a room can use.
func (a *Agent) OfferedTools(ctx context.Context, room store.Chat) ([]tools.Spec, error) {
	r := a.newAttempt(a.Personas.ForQuestion(room, ""), ownerRounds)
	if err := r.callForOwner(ctx, room, store.Task{Kind: store.TaskAsk}); err != nil {
		return nil, err
	}
	return a.Tools.Offered(ctx, r.run.Caller)
}

// acknowledge reacts to a question, to show that it was read.
func (a *Agent) acknowledge(ctx context.Context, room store.Chat, message store.Message, emoji string) error {
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		_, _, err := a.Box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, ReactTo: message.EventID})
		return err
	})
}

// sayPassages replies with what was found, where there is no model to answer from it.
func (a *Agent) sayPassages(ctx context.Context, reply *ownerReply, question string) error {
	where, err := a.placesOf(ctx, question)
	if err != nil {
		return err
	}
	found, err := a.lookUp(ctx, where, question)
	if err != nil {
		return err
	}
	reply.scope = where.scope
	if reply.sourcedText, err = a.listPassages(ctx, "I have no model configured, so here is what I found:", question, found, where); err != nil {
		return err
	}
	return a.say(ctx, reply)
}

// answerOwner makes an attempt at a task of the owner's, and replies with what it came to.
func (a *Agent) answerOwner(ctx context.Context, task store.Task, room store.Chat) error {
	r := a.newAttempt(a.Personas.ByID(task.Agent), ownerRounds)
	if err := r.callForOwner(ctx, room, task); err != nil {
		return err
	}
	live := a.Box.Live(room, task.LiveEvent)
	r.run.Progress = func(ctx context.Context, text string) {
		if !live.IsDue() || !live.Show(ctx, progressText(r.run.Task.ID, r.run.BreakLinks(text))) {
			return
		}
		if err := store.SetTaskProgressEvent(ctx, a.Store.Writer(), r.run.Task, live.Event()); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows a task")
		}
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.Opening, error) { return r.ownerOpening(ctx, room, task) })
	return a.replyToOwner(ctx, r, room, live, end)
}

// replyToOwner says how an attempt ended. An error that may be gone at another attempt is returned.
func (a *Agent) replyToOwner(ctx context.Context, r *attempt, room store.Chat, live *outbox.Live, end run.End) error {
	reply := &ownerReply{room: room, message: r.run.Caller.Message, live: live, by: r.persona.Profile(), scope: r.places.scope, summarise: r.summarise}
	switch end.Ending {
	case run.Failed:
		return end.Err
	case run.Lost:
		return nil
	case run.Parked:
		return a.settleParked(ctx, reply.message, r.run.Task.ID)
	case run.Stopped:
		ended := r.run.EndedTask(end.State, "", end.Why)
		reply.task, reply.markdown = &ended, text.Escape(end.Why)+a.effects(ctx, ended.ID)
		return a.say(context.WithoutCancel(ctx), reply)
	case run.OverBudget:
		return a.replyWithPassages(ctx, r, reply, overBudgetText(end.Over), end.Err)
	case run.ModelFailed:
		zerolog.Ctx(ctx).Err(end.Err).Msg("The model failed; answering from passages")
		return a.replyWithPassages(ctx, r, reply, "⚠️ The model did not answer ("+text.Escape(end.Err.Error())+").", end.Err)
	case run.Finished:
	}
	done := r.run.EndedTask(store.TaskCompleted, end.Text, "")
	switch {
	case end.Handover != "":
		done.Answer = policy.Redact(end.Handover)
		reply.markdown = r.handoffText(end.Outcome)
		reply.also = func(ctx context.Context, tx store.Tx) (string, error) {
			return "", a.continueWith(ctx, tx, r.run.Task, room, end.To)
		}
	case end.Text == "" && end.Why != "":
		done.State, done.Error = store.TaskFailed, end.Why
		reply.markdown = text.Escape(end.Why) + a.effects(ctx, done.ID)
	default:
		reply.sourcedText = r.cited(end.Text)
		r.run.CountInvented(ctx)
		reply.also = r.draftMessage(end.Text)
	}
	for _, line := range r.run.Used {
		if strings.HasPrefix(line, "⚠️") && done.State == store.TaskCompleted {
			reply.markdown += paragraph(line)
		}
	}
	if reply.markdown += r.footer(ctx, &done); reply.markdown == "" {
		reply.markdown = foundNothing + r.places.textIfUnusual()
	}
	reply.task = &done
	return a.say(ctx, reply)
}

// replyWithPassages replies with what was found when the model could not answer, and why it could not.
func (a *Agent) replyWithPassages(ctx context.Context, r *attempt, reply *ownerReply, why string, cause error) error {
	found, err := a.lookUp(ctx, r.places, r.run.Task.Input)
	if err != nil {
		return err
	}
	if reply.sourcedText, err = a.listPassages(ctx, why+" Here is what I found:", r.run.Task.Input, found, r.places); err != nil {
		return err
	}
	if len(found.Hits) == 0 {
		reply.markdown = "**" + why + "** " + reply.markdown
	}
	reply.markdown += a.effects(ctx, r.run.Task.ID)
	failed := r.run.EndedTask(store.TaskFailed, "", cause.Error())
	reply.task = &failed
	return a.say(ctx, reply)
}

// overBudgetText tells the owner which cap is reached, and what follows.
func overBudgetText(over *llm.OverBudgetError) string {
	why := "💶 " + text.Escape(over.Error()) + "."
	if over.Cap == policy.CapRun {
		return why // the next one has a budget of its own
	}
	return why + " I answer from documents only until midnight."
}

// progressText is shown while a task runs.
func progressText(task store.TaskID, said string) string {
	return fmt.Sprintf("%s\n\n_task %d · ❌ or_ `/cancel-task %d` _stops it_", text.Escape(text.Clip(said, 3000)), task, task)
}
