package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Questions answers the owner.
type Questions struct{ *core }

// Ask answers a question of the owner in the room where he asked it, and marks the message as answered. A model looks at
// a picture that came with it first; Options.Pictures must be set then. If the answer needs his approval, Tasks.Resume
// answers later.
func (q *Questions) Ask(ctx context.Context, room store.Chat, message store.Message, question string) error {
	return q.AskWithNote(ctx, room, message, question, "")
}

// AskWithNote is Ask with a note, in Markdown, that is added if no model reads the question and nothing is found.
func (q *Questions) AskWithNote(ctx context.Context, room store.Chat, message store.Message, question, note string) error {
	if hasPicture(message) {
		why, err := q.describeOwnerPicture(ctx, &message)
		if err != nil {
			return err
		}
		if why != "" {
			return q.queueReply(ctx, &ownerReply{room: room, message: message.ID, sourcedText: sourcedText{markdown: text.Escape(why)}})
		}
	}
	answering := q.personas.ForQuestion(room, question)
	switch {
	case q.personas.HasModel(answering):
	case hasPicture(message):
		shows := text.Escape(pictureDescriptions([]store.Message{message}))
		return q.queueReply(ctx, &ownerReply{room: room, message: message.ID, sourcedText: sourcedText{markdown: "It shows: " + shows}})
	default:
		return q.replyWithoutModel(ctx, &ownerReply{room: room, message: message.ID}, question, note)
	}
	asks := message.ID
	model, _ := q.personas.ModelOf(answering)
	task, err := store.InsertTask(ctx, q.store.AsyncCommit(), store.Task{
		Key:       fmt.Sprintf("ask:%d", asks),
		Kind:      store.TaskAsk,
		ChatID:    room.ID,
		MessageID: &asks,
		Sources:   []store.MessageID{asks},
		Agent:     answering.ID,
		Model:     model.Name(),
		Input:     question,
	})
	if err != nil {
		return err
	}
	if task.State.IsOver() {
		return nil // the transaction that ended the task queued its answer
	}
	if task.Attempt == 0 && answering.Emoji != "" {
		if err := q.acknowledge(ctx, room, message, answering.Emoji); err != nil {
			return err
		}
	}
	return q.answerOwner(ctx, task, room)
}

// HasModel reports whether the persona that answers a question in a room has a model.
func (q *Questions) HasModel(room store.Chat, question string) bool {
	return q.personas.HasModel(q.personas.ForQuestion(room, question))
}

// OfferedTools returns the tools that a model is offered for a question of the owner in a room.
func (q *Questions) OfferedTools(ctx context.Context, room store.Chat) ([]tools.Spec, error) {
	r := q.newAttempt(q.personas.ForQuestion(room, ""), ownerRounds)
	if err := r.prepareForOwner(ctx, room, store.Task{Kind: store.TaskAsk}); err != nil {
		return nil, err
	}
	return q.tools.Offered(ctx, r.run.Caller)
}

// acknowledge reacts to a question, to show that it was read.
func (q *Questions) acknowledge(ctx context.Context, room store.Chat, message store.Message, emoji string) error {
	return q.store.InTx(ctx, func(tx store.Tx) error {
		_, _, err := q.box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, ReactTo: message.EventID})
		return err
	})
}

// replyWithoutModel replies with the passages that were found, if there is no model, and else with a note.
func (q *Questions) replyWithoutModel(ctx context.Context, reply *ownerReply, question, note string) error {
	where, err := q.searchAreaOf(ctx, question)
	if err != nil {
		return err
	}
	found, err := q.searchForOwner(ctx, &where, question)
	if err != nil {
		return err
	}
	reply.scope = where.wide
	if reply.sourcedText, err = q.listPassages(ctx, "I have no model configured, so here is what I found:", question, found,
		where); err != nil {
		return err
	}
	if len(reply.used) == 0 && note != "" {
		reply.markdown = foundNothing + " " + note + where.textIfUnusual()
	}
	return q.queueReply(ctx, reply)
}

// answerOwner makes an attempt at a task of the owner, and replies with the result.
func (q *Questions) answerOwner(ctx context.Context, task store.Task, room store.Chat) error {
	r := q.newAttempt(q.personas.ByID(task.Agent), ownerRounds)
	if err := r.prepareForOwner(ctx, room, task); err != nil {
		return err
	}
	live := q.box.Live(room, task.ProgressEvent)
	r.run.Progress = func(ctx context.Context, text string) {
		if !live.IsDue() || !live.Show(ctx, progressText(r.run.Task.ID, r.run.BreakLinks(text))) {
			return
		}
		if err := store.SetTaskProgressEvent(ctx, q.store.Writer(), r.run.Task, live.Event()); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows a task")
		}
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.FirstRequest, error) { return r.buildOwnerRequest(ctx, room, task) })
	return q.replyToOwner(ctx, r, room, live, end)
}

// replyToOwner replies with the result of an attempt. The error means that the reply was not queued, or that the attempt
// failed and a retry may succeed.
func (q *Questions) replyToOwner(ctx context.Context, r *attempt, room store.Chat, live *outbox.LiveMessage, end run.AttemptResult) error {
	reply := &ownerReply{
		room:      room,
		message:   r.run.Caller.Message,
		live:      live,
		profile:   r.persona.Profile(),
		scope:     r.area.wide,
		summarise: r.summarise,
		inSameTx:  drafter{r}.queueDrafts(end.Text),
	}
	switch end.End {
	case run.Failed:
		return end.Err
	case run.LeaseLost:
		return nil
	case run.Suspended:
		return q.markParked(ctx, reply.message, r.run.Task.ID)
	case run.Stopped:
		ended := r.run.EndedTask(end.State, "", end.Why)
		reply.task, reply.markdown = &ended, text.Escape(end.Why)+q.effectsText(ctx, ended.ID)
		return q.queueReply(context.WithoutCancel(ctx), reply)
	case run.OverBudget:
		return q.replyWithPassages(ctx, r, reply, overBudgetText(end.BudgetError), end.Err)
	case run.ModelFailed:
		zerolog.Ctx(ctx).Err(end.Err).Msg("The model failed; answering from passages")
		return q.replyWithPassages(ctx, r, reply, "⚠️ The model did not answer ("+text.Escape(end.Err.Error())+").", end.Err)
	case run.Finished:
	}
	done := r.run.EndedTask(store.TaskCompleted, end.Text, "")
	switch {
	case end.Summary != "":
		done.Answer = policy.Redact(end.Summary)
		reply.markdown = r.handoffText(end.LoopResult)
		drafts := reply.inSameTx
		reply.inSameTx = func(ctx context.Context, tx store.Tx) (addition string, err error) {
			if drafts != nil {
				if addition, err = drafts(ctx, tx); err != nil {
					return "", err
				}
			}
			return addition, q.openHandoffTask(ctx, tx, r.run.Task, room, end.ToAgent)
		}
	case end.Text == "" && end.Why != "":
		done.State, done.Error = store.TaskFailed, end.Why
		reply.markdown = text.Escape(end.Why) + q.effectsText(ctx, done.ID)
	default:
		reply.sourcedText = r.citedText(end.Text)
		r.run.StoreInventedCount(ctx)
	}
	if done.State == store.TaskCompleted {
		reply.markdown += r.callNotes()
	}
	if reply.markdown += r.footer(ctx, &done); reply.markdown == "" {
		reply.markdown = foundNothing + r.area.textIfUnusual()
	}
	reply.task = &done
	return q.queueReply(ctx, reply)
}

// maxFailure is the maximum length, in characters, of the error of a call that is shown under an answer.
const maxFailure = 200

// callNotes returns paragraphs about the calls that the owner must know of: warnings, times, and what should have changed
// something and failed, whatever the answer says.
func (r *attempt) callNotes() string {
	var notes strings.Builder
	for _, line := range r.run.CallLines {
		if strings.HasPrefix(line, "⚠️") || strings.HasPrefix(line, "⏰") {
			notes.WriteString(paragraph(line))
		}
	}
	for _, f := range r.run.Failures {
		notes.WriteString("\n\n⚠️ Not done: `" + f.Tool + "`. " + text.Escape(text.Clip(text.OneLine(f.Error), maxFailure)))
	}
	return notes.String()
}

// replyWithPassages replies with the passages that were found, and with the reason why the model did not answer.
func (q *Questions) replyWithPassages(ctx context.Context, r *attempt, reply *ownerReply, why string, cause error) error {
	found, err := q.searchForOwner(ctx, &r.area, r.run.Task.Input)
	if err != nil {
		return err
	}
	if reply.sourcedText, err = q.listPassages(ctx, why+" Here is what I found:", r.run.Task.Input, found, r.area); err != nil {
		return err
	}
	if len(found.Hits) == 0 {
		reply.markdown = "**" + why + "** " + reply.markdown
	}
	reply.markdown += q.effectsText(ctx, r.run.Task.ID)
	failed := r.run.EndedTask(store.TaskFailed, "", cause.Error())
	reply.task = &failed
	return q.queueReply(ctx, reply)
}

// overBudgetText tells the owner which cap is reached, and when it ends.
func overBudgetText(over *llm.OverBudgetError) string {
	why := "💶 " + text.Escape(over.Error()) + "."
	if over.Cap == policy.CapRun {
		return why // the next question has a budget of its own
	}
	return why + " I answer from documents only until midnight."
}

// progressText is shown while a task runs.
func progressText(task store.TaskID, partial string) string {
	return fmt.Sprintf("%s\n\n_task %d · ❌ or_ `/cancel-task %d` _stops it_", text.Escape(text.Clip(partial, 3000)), task, task)
}
