package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	agentrun "multis/agent/run"
	"multis/agent/tools"
	"multis/clock/schedule"
	"multis/config"
	"multis/llm"
	"multis/memory"
	"multis/ops/exam"
	"multis/policy"
	"multis/store"
)

// candidate carries out the tasks of an exam as multis does its work: with the same prompts, tools and checks, in a
// rehearsal that sends nothing. Each task has chats of its own.
type candidate struct {
	rehearsal
}

// examNetwork is the network of the chats that notes and briefs are made of.
const examNetwork = "whatsapp"

// errExamTooDear is the error of an exam that would cost more than was reserved.
var errExamTooDear = errors.New("the model takes more tokens than were reserved for the exam; examine some areas with --only, or a smaller model")

// newCandidate returns a candidate with the business of the exam in an empty database.
func newCandidate(ctx context.Context, cfg *config.Config, st *store.Store) (candidate, error) {
	r, err := newRehearsal(ctx, cfg, st)
	if err != nil {
		return candidate{}, err
	}
	folder := filepath.Join(cfg.Documents.Folder, "exam")
	if err := os.CopyFS(folder, exam.Documents()); err != nil {
		return candidate{}, fmt.Errorf("write the documents of the exam: %w", err)
	}
	for role, name := range map[policy.Role]string{policy.RolePublic: "public", policy.RoleAdmin: "private"} {
		if err := indexDocuments(ctx, r.documents, role, []string{filepath.Join(folder, name)}, &progress{lines: io.Discard}); err != nil {
			return candidate{}, err
		}
	}
	_, err = r.openChat(ctx, "ben", "Ben")
	return candidate{rehearsal: r}, err
}

// Do carries out a task.
func (c candidate) Do(ctx context.Context, t exam.Task) (exam.Result, error) {
	do := map[exam.Kind]func(context.Context, exam.Task) (exam.Result, error){
		exam.Customer: c.answerCustomer,
		exam.Owner:    c.answerOwner,
		exam.Capture:  c.capture,
		exam.Brief:    c.brief,
		exam.Plan:     c.plan,
	}[t.Kind]
	before, err := c.spent(ctx, 0)
	if err != nil {
		return exam.Result{}, err
	}
	result, err := do(ctx, t)
	if err != nil {
		return result, err
	}
	after, err := c.spent(ctx, 0)
	if err != nil {
		return result, err
	}
	result.Cost = after - before
	refused, err := store.AnyCallRefused(ctx, c.store.DB())
	if err == nil && refused {
		return result, errExamTooDear
	}
	return result, err
}

// answerCustomer has a conversation with a customer.
func (c candidate) answerCustomer(ctx context.Context, t exam.Task) (exam.Result, error) {
	chat, err := c.openChat(ctx, t.Area+"-"+t.ID, "Customer")
	if err != nil {
		return exam.Result{}, err
	}
	for _, earlier := range t.After {
		if _, err := c.say(ctx, chat, earlier); err != nil {
			return exam.Result{}, err
		}
	}
	begun := time.Now()
	reply, err := c.say(ctx, chat, t.Question)
	if err != nil {
		return exam.Result{}, err
	}
	result := exam.Result{Outcome: string(reply.Outcome), Text: reply.Text, Took: time.Since(begun)}
	asked, err := store.DecidedMessages(ctx, c.store.DB(), chat.ID, "", 1)
	if err != nil {
		return result, err
	}
	if len(asked) == 0 {
		return result, nil
	}
	task, err := store.NewestTaskOf(ctx, c.store.DB(), asked[0].ID)
	if errors.Is(err, store.ErrNotFound) { // the program decided without the model
		result.Own = reply.Outcome == outcomeEscalated
		return result, nil
	}
	if err != nil {
		return result, err
	}
	last, err := c.readSteps(ctx, task, &result)
	if err != nil {
		return result, err
	}
	result.Own = task.Answer != "" || reply.Outcome == outcomeEscalated && last.escalates()
	return result, nil
}

// modelSaid is what a model said at last.
type modelSaid struct {
	text  string
	calls []storedCall
}

// storedCall is a call as a step has it.
type storedCall struct {
	Name string          `json:"Name"`
	Args json.RawMessage `json:"Args"`
}

// escalates reports whether a model left a customer's question to a person.
func (s modelSaid) escalates() bool {
	for _, c := range s.calls {
		if c.Name == (tools.Escalate{}).Spec().Name {
			return true
		}
	}
	answer, err := agentrun.ParseAnswer(s.text)
	return err == nil && len(answer.Sentences) == 0
}

// readSteps adds to a result what the model did in a task: its calls, and the form of its first answer.
func (c candidate) readSteps(ctx context.Context, task store.Task, result *exam.Result) (last modelSaid, err error) {
	steps, err := store.Steps(ctx, c.store.DB(), task.ID)
	if err != nil {
		return last, err
	}
	result.Failure = "the model did not answer"
	first := ""
	for _, s := range steps {
		if s.Kind != store.StepModel || s.EndedAt == nil {
			continue
		}
		last = modelSaid{text: s.Text}
		if len(s.Calls) > 0 {
			if err := json.Unmarshal(s.Calls, &last.calls); err != nil {
				return last, fmt.Errorf("read the calls of task %d: %w", task.ID, err)
			}
		}
		for _, call := range last.calls {
			result.Calls = append(result.Calls, exam.Call{Tool: call.Name, Args: string(call.Args)})
		}
		if first == "" && len(last.calls) == 0 {
			first = strings.TrimSpace(s.Text)
		}
		result.Failure = ""
		result.AtLimit = result.AtLimit || s.Code == string(llm.StopLength) || s.TokensOut >= int64(c.cfg.LLM.MaxTokens)
	}
	result.Strict = strings.HasPrefix(first, "{") && json.Valid([]byte(first))
	return last, nil
}

// ownerMessage stores a message of the owner in a room.
func (c candidate) ownerMessage(ctx context.Context, room store.Chat, body string) (store.Message, error) {
	evt := newRehearsedEvent(*room.RoomID, c.cfg.Owner, body)
	if err := c.inbox.Receive(ctx, []*event.Event{evt}, ""); err != nil {
		return store.Message{}, err
	}
	return store.MessageByEvent(ctx, c.store.DB(), room.ID, evt.ID)
}

// openRoom opens a room of the owner's for one task, so that no task reads the conversation of another.
func (c candidate) openRoom(ctx context.Context, t exam.Task) (room store.Chat, err error) {
	address := id.RoomID("!" + t.Area + "-" + t.ID + ":terminal.invalid")
	err = c.store.InTx(ctx, func(tx store.Tx) error {
		room, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "terminal",
			ChannelID:  address.String(),
			RoomID:     &address,
			Kind:       policy.KindAdmin,
			Name:       t.Name(),
			Encryption: policy.EncryptionNo,
		})
		return err
	})
	return room, err
}

// answerOwner answers a question of the owner. A call that needs his approval ends the task.
func (c candidate) answerOwner(ctx context.Context, t exam.Task) (exam.Result, error) {
	room, err := c.openRoom(ctx, t)
	if err != nil {
		return exam.Result{}, err
	}
	var result exam.Result
	for _, question := range slices.Concat(t.After, []string{t.Question}) {
		if result, err = c.ask(ctx, room, question); err != nil {
			return result, err
		}
	}
	return result, nil
}

// ask asks one question in a room of the owner's.
func (c candidate) ask(ctx context.Context, room store.Chat, question string) (exam.Result, error) {
	message, err := c.ownerMessage(ctx, room, question)
	if err != nil {
		return exam.Result{}, err
	}
	begun := time.Now()
	if err := c.agent.Questions.Ask(ctx, room, message, question); err != nil {
		return exam.Result{Failure: err.Error(), Took: time.Since(begun)}, ctx.Err()
	}
	result := exam.Result{Took: time.Since(begun)}
	task, err := store.NewestTaskOf(ctx, c.store.DB(), message.ID)
	if err != nil {
		return result, err
	}
	if _, err := c.readSteps(ctx, task, &result); err != nil {
		return result, err
	}
	result.Own = true
	if result.Text = agentrun.VisibleText(task.Answer); result.Text == "" && task.Error != "" {
		result.Text = task.Error
	}
	return result, nil
}

// plan makes a plan for a goal of the owner. It is not carried out.
func (c candidate) plan(ctx context.Context, t exam.Task) (exam.Result, error) {
	room, err := c.openRoom(ctx, t)
	if err != nil {
		return exam.Result{}, err
	}
	message, err := c.ownerMessage(ctx, room, t.Question)
	if err != nil {
		return exam.Result{}, err
	}
	if err := c.store.InTx(ctx, func(tx store.Tx) error { return c.agent.Plans.Plan(ctx, tx, room, message, t.Question) }); err != nil {
		return exam.Result{}, err
	}
	task, err := store.NewestTaskOf(ctx, c.store.DB(), message.ID)
	if err != nil {
		return exam.Result{}, err
	}
	begun := time.Now()
	if err := c.agent.Tasks.Resume(ctx, task.ID, true); err != nil {
		return exam.Result{Failure: err.Error(), Took: time.Since(begun)}, ctx.Err()
	}
	result := exam.Result{Own: true, Took: time.Since(begun)}
	if _, err := c.readSteps(ctx, task, &result); err != nil {
		return result, err
	}
	steps, err := store.Children(ctx, c.store.DB(), task.ID)
	for _, s := range steps {
		result.Text += s.Input + "\n"
	}
	result.Steps = len(steps)
	return result, err
}

// openContact opens the chat of a contact and stores his messages. Nobody answers them.
func (c candidate) openContact(ctx context.Context, t exam.Task) (store.Chat, error) {
	room := id.RoomID("!" + t.Area + "-" + t.ID + ":rehearsal.invalid")
	var chat store.Chat
	err := c.store.InTx(ctx, func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   examNetwork,
			ChannelID:  room.String(),
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       t.Question,
			BridgeBot:  "@bot:rehearsal.invalid",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(ctx, tx, chat.ID, policy.ModeSilent)
	})
	if err != nil {
		return chat, err
	}
	for _, body := range t.Messages {
		if err := c.inbox.Receive(ctx, []*event.Event{newRehearsedEvent(room, customer, body)}, ""); err != nil {
			return chat, err
		}
	}
	return chat, nil
}

// capture takes notes of a chat.
func (c candidate) capture(ctx context.Context, t exam.Task) (exam.Result, error) {
	chat, err := c.openContact(ctx, t)
	if err != nil {
		return exam.Result{}, err
	}
	begun := time.Now()
	if err := c.memory.Capture(ctx, chat.ID, false); err != nil {
		return exam.Result{Failure: err.Error(), Took: time.Since(begun)}, ctx.Err()
	}
	result := exam.Result{Own: true, Took: time.Since(begun)}
	notes, err := c.memory.Notes(ctx, chat, agentrun.MaxNotes)
	result.Text = agentrun.NotesText(notes)
	return result, err
}

// brief says what happened in a chat.
func (c candidate) brief(ctx context.Context, t exam.Task) (exam.Result, error) {
	chat, err := c.openContact(ctx, t)
	if err != nil {
		return exam.Result{}, err
	}
	room, err := c.openRoom(ctx, t)
	if err != nil {
		return exam.Result{}, err
	}
	begun := time.Now()
	brief, err := c.memory.Brief(ctx, memory.BriefQuery{
		Period: schedule.Period{From: begun.Add(-time.Hour), Until: begun.Add(time.Hour)},
		Chat:   chat.ID,
		Room:   room.ID,
	})
	if err != nil {
		return exam.Result{}, err
	}
	result := exam.Result{Own: true, Failure: brief.NoModelReason, Took: time.Since(begun)}
	for _, b := range brief.Bullets {
		result.Text += b.Text + "\n"
	}
	return result, nil
}
