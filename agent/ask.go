package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// kindAsk is the kind of a task that is a question of the owner's.
const kindAsk = "ask"

// Ask answers a question of the owner from his documents and the public ones, with the tools he has, and settles the message that
// asked it. room is where he asked. What it cannot answer yet, because a person has to allow something, goes on by itself.
func (a *Agent) Ask(ctx context.Context, room store.Chat, message store.Message, question string) error {
	called, _ := mention(a.Personas, question)
	persona := Route(a.Personas, Where{Mention: called, Chat: room})
	if !a.thinks(persona) {
		where, err := a.placesOf(ctx, question)
		if err != nil {
			return err
		}
		found, err := a.lookUp(ctx, where, question)
		if err != nil {
			return err
		}
		listed, err := a.listPassages(ctx, "I have no model configured, so here is what I found:", question, found, where)
		if err != nil {
			return err
		}
		return a.say(ctx, &reply{room: room, message: message.ID, sourced: listed, scope: where.scope})
	}
	asks := message.ID
	model, _ := a.modelOf(persona)
	task, err := store.OpenTask(ctx, a.Store.Lazy(), store.Task{
		Key: fmt.Sprintf("ask:%d", asks), Kind: kindAsk, ChatID: room.ID, MessageID: &asks, About: []int64{asks}, Agent: persona.ID, Model: model.Name(), Input: question,
	})
	if err != nil {
		return err
	}
	if task.State.Over() {
		return nil // its answer was said in the transaction that ended it
	}
	if task.Attempt == 0 && persona.Emoji != "" {
		if err := a.acknowledge(ctx, room, message, persona); err != nil {
			return err
		}
	}
	return a.work(ctx, task, room)
}

// work makes an attempt at a question of the owner's.
func (a *Agent) work(ctx context.Context, task store.Task, room store.Chat) error {
	r := a.newRun(a.byID(task.Agent), ownerRounds)
	if err := r.ownerCaller(ctx, room, task); err != nil {
		return err
	}
	live := a.Box.Live(room, task.LiveEvent)
	err := r.claim(ctx, task, func(ctx context.Context) (asked, error) { return r.ownerAsked(ctx, room, task) })
	if errors.Is(err, store.ErrTaskLost) {
		return nil // somebody else is at it, or done
	}
	if err != nil && !errors.Is(err, errForgotten) {
		return err
	}
	working, release := r.within(ctx)
	defer release()
	r.shown = func(text string) {
		if !live.IsDue() {
			return
		}
		if live.Show(working, progressText(r.task.ID, r.unlinked(text))) {
			if err := store.SetTaskLive(working, a.Store.DB(), r.task, live.Event()); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows a task")
			}
		}
	}
	var out outcome
	if err == nil {
		out, err = r.loop(working)
	}
	return a.conclude(ctx, working, r, room, live, out, errors.Join(err, nil))
}

// Offered lists the tools that a question of the owner's in a room can use.
func (a *Agent) Offered(ctx context.Context, room store.Chat) ([]tools.Spec, error) {
	r := a.newRun(Route(a.Personas, Where{Chat: room}), ownerRounds)
	if err := r.ownerCaller(ctx, room, store.Task{Kind: kindAsk}); err != nil {
		return nil, err
	}
	return a.Tools.Offered(ctx, r.caller)
}

// ownerCaller has what an attempt calls be called for the owner, within what he asked for.
func (r *run) ownerCaller(ctx context.Context, room store.Chat, task store.Task) (err error) {
	r.caller = tools.Caller{
		Owner: true, Chat: room, Agent: r.persona.ID, Task: task.ID, Asked: task.Input, Allow: r.persona.Allow, Deny: r.persona.Deny,
		Workspace: r.persona.Workspace, ReadPaths: r.persona.ReadPaths,
	}
	if task.MessageID != nil {
		r.caller.Message = *task.MessageID
	}
	if task.Tools != nil {
		r.caller.Within = [][]string{task.Tools}
	}
	if err := r.bound(ctx, task); err != nil {
		return err
	}
	if r.places, err = r.placesOf(ctx, task.Input); err != nil {
		return err
	}
	r.caller.Scope = r.places.scope
	r.withoutColleagues(task)
	return r.learn(ctx)
}

// conclude says what an attempt came to. An error that another attempt may mend is passed on.
func (a *Agent) conclude(ctx, working context.Context, r *run, room store.Chat, live *outbox.Live, out outcome, err error) error {
	say := &reply{room: room, message: r.caller.Message, live: live, by: r.persona.profile(), scope: r.places.scope, summarise: r.summarise}
	var over *llm.OverBudgetError
	state, why, ended := stopped(working, err)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return nil
	case errors.Is(err, errParked):
		return a.settleParked(ctx, r)
	case ended:
		say.markdown = text.Escape(why) + paragraph(a.left(ctx, r.task.ID))
		ended := r.end(state, "", why)
		say.task = &ended
		return a.say(context.WithoutCancel(ctx), say)
	case ctx.Err() != nil:
		return err
	case errors.As(err, &over):
		return a.instead(ctx, r, say, a.overBudgetText(over), err)
	case isModels(err):
		zerolog.Ctx(ctx).Err(err).Msg("The model failed; answering from passages")
		return a.instead(ctx, r, say, "⚠️ The model did not answer ("+text.Escape(err.Error())+").", err)
	case err != nil:
		return err
	}
	done := r.end(store.TaskCompleted, out.text, "")
	switch {
	case out.handover != "":
		done.Answer = policy.Redact(out.handover)
		say.markdown = r.handedText(out)
		say.also = func(ctx context.Context, tx store.Tx) error { return a.passOn(ctx, tx, r.task, room, out.to) }
	case out.text == "" && out.why != "":
		done.State, done.Error = store.TaskFailed, out.why
		say.markdown = text.Escape(out.why) + paragraph(a.left(ctx, r.task.ID))
	default:
		say.sourced = r.cited(out.text)
		r.countInvented(ctx)
		say.also = r.drafts(say, out.text)
	}
	for _, line := range r.used {
		if strings.HasPrefix(line, "⚠️") && done.State == store.TaskCompleted {
			say.markdown += paragraph(line)
		}
	}
	if say.markdown += r.footer(ctx, &done); say.markdown == "" {
		say.markdown = foundNothing + r.places.lookedIfNamed()
	}
	say.task = &done
	return a.say(ctx, say)
}

// byID is the persona that a task is with; one that is gone since is replaced by the default.
func (a *Agent) byID(persona string) Persona {
	return Route(a.Personas, Where{Chat: store.Chat{Agent: persona}})
}

// acknowledge says by a reaction that a question was read.
func (a *Agent) acknowledge(ctx context.Context, room store.Chat, message store.Message, p Persona) error {
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		_, _, err := a.Box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: p.Emoji, ReactTo: message.EventID})
		return err
	})
}

// isModels tells whether an error is the model's doing and not our own.
func isModels(err error) bool {
	var failed *llm.Error
	return errors.As(err, &failed)
}

// instead answers from passages where the model cannot, and says why it cannot.
func (a *Agent) instead(ctx context.Context, r *run, say *reply, why string, cause error) error {
	found, err := a.lookUp(ctx, r.places, r.task.Input)
	if err != nil {
		return err
	}
	if say.sourced, err = a.listPassages(ctx, why+" Here is what I found:", r.task.Input, found, r.places); err != nil {
		return err
	}
	if len(found.Hits) == 0 {
		say.markdown = "**" + why + "** " + say.markdown
	}
	say.markdown += paragraph(a.left(ctx, r.task.ID))
	failed := r.end(store.TaskFailed, "", cause.Error())
	say.task = &failed
	return a.say(ctx, say)
}

// ownerAsked builds what the model is asked for the owner.
func (r *run) ownerAsked(ctx context.Context, room store.Chat, task store.Task) (asked, error) {
	_, question := mention(r.Personas, task.Input)
	found, err := r.lookUp(ctx, r.places, question)
	if err != nil {
		return asked{}, err
	}
	before, err := r.talk(ctx, room)
	if err != nil {
		return asked{}, err
	}
	name, err := store.AssistantName(ctx, r.Store.DB(), r.Name)
	if err != nil {
		return asked{}, err
	}
	var notes []store.Note
	if !r.forgetful {
		db, err := r.Store.OwnerReader(r.caller.Scope)
		if err != nil {
			return asked{}, err
		}
		if notes, err = store.CurrentNotes(ctx, db, r.caller.Scope, notesInPrompt); err != nil {
			return asked{}, err
		}
	}
	work, about, err := r.handedOver(ctx)
	if err != nil {
		return asked{}, err
	}
	m := material{rules: fmt.Sprintf(ownerRules, r.name(name)), persona: r.manner(), asks: question, notes: notesText(notes), work: work}
	if task.Target != nil {
		m.form = answerForm + "\n" + messageForm
	}
	first, err := r.asks(ctx, m, found.Hits, before, llm.Request{Purpose: kindAsk, Chat: room.ID})
	if err != nil {
		return asked{}, err
	}
	first.About = slices.Concat(first.About, sourcesOf(notes), about)
	return first, nil
}

// talk is what was said in the room before; nothing for what works on its own.
func (r *run) talk(ctx context.Context, room store.Chat) (conversation, error) {
	if r.isolated {
		return conversation{}, nil
	}
	return r.readConversation(ctx, r.Store.DB(), room, []int64{r.caller.Message})
}

// asks puts a prompt together within the model's limits, with the tools that the caller has.
func (r *run) asks(ctx context.Context, m material, hits []search.Hit, before conversation, base llm.Request) (asked, error) {
	offered, err := r.Tools.Offered(ctx, r.caller)
	if err != nil {
		return asked{}, err
	}
	m.before = before.summary.Body
	fence := r.fence()
	fixed := tokens(m.system(), m.asks, m.notes, m.before, m.work)
	for _, s := range offered {
		tool := shownTool(s, fence)
		if s.Name == tools.DelegateName || s.Name == tools.HandoffName {
			tool.Description += r.colleaguesText()
		}
		base.Tools = append(base.Tools, tool)
		fixed += tokens(s.Description, string(s.Schema))
	}
	m.hits, m.window = r.limits.choose(fixed, hits, before.said)
	request := m.compose(fence)
	request.Tools, request.Purpose, request.Chat, request.JSON = base.Tools, base.Purpose, base.Chat, len(base.Tools) == 0
	about := before.sources()
	if r.caller.Message != 0 {
		about = append(about, r.caller.Message)
	}
	return asked{Request: request, Passages: m.hits, About: append(about, quoted(m.hits)...)}, nil
}

// reply is what is said to the owner.
type reply struct {
	room    store.Chat
	message int64 // that it answers; zero for none
	task    *store.Task
	live    *outbox.Live
	by      *outbox.Profile
	sourced
	scope     policy.Scope                                 // that used was found in
	also      func(ctx context.Context, tx store.Tx) error // what is done with it; nil for nothing
	refused   string                                       // what of that could not be, by also
	summarise bool                                         // what was said before
}

// sourced is a text with the passages that it rests on, and the words of them that prove it.
type sourced struct {
	markdown string
	used     []search.Hit
	spans    []store.Span
}

// agent is who made the answer; empty: multis itself.
func (r *reply) agent() string {
	if r.task == nil {
		return ""
	}
	return r.task.Agent
}

// errSettled rolls back what another attempt at the same message has already said.
var errSettled = errors.New("the message was settled before")

// say puts an answer into the admin room and settles what asked for it, in one transaction.
func (a *Agent) say(ctx context.Context, r *reply) error {
	markdown, restsOn := r.markdown, quoted(r.used)
	err := a.Store.InTx(ctx, func(tx store.Tx) error {
		if r.task != nil {
			ended, err := store.EndTask(ctx, tx, *r.task)
			if err != nil {
				return err
			}
			if restsOn = ended.RestsOn; ended.Forgotten {
				markdown, r.used, r.spans = text.Escape(forgottenText), nil, nil
			}
		}
		if r.also != nil {
			if err := r.also(ctx, tx); err != nil {
				return err
			}
		}
		if r.refused != "" {
			markdown += "\n\n" + r.refused
		}
		body, err := a.headed(ctx, tx, r.task, markdown)
		if err != nil {
			return err
		}
		letter := outbox.Notice(r.room, body, outbox.Answer)
		letter.Replaces, letter.Profile, letter.About, letter.RestsOn = r.live.Event(), r.by, quoted(r.used), restsOn
		letter.Spans = r.spans
		out, _, err := a.Box.Queue(ctx, tx, letter)
		if err != nil {
			return err
		}
		if err := shorten(ctx, tx, r.room.ID, r.agent(), r.summarise); err != nil {
			return err
		}
		return a.settleAsked(ctx, tx, r, &out)
	})
	switch {
	case errors.Is(err, errSettled), errors.Is(err, store.ErrTaskLost):
		return nil
	case err != nil:
		return err
	}
	a.noteUse(ctx, r.scope, r.used)
	return nil
}

// settleAsked settles the message that asked. One that was settled when its task was put aside stays so.
func (a *Agent) settleAsked(ctx context.Context, tx store.Tx, r *reply, out *uuid.UUID) error {
	if r.message == 0 {
		return nil
	}
	settled, err := store.Settle(ctx, tx, []int64{r.message}, out, policy.CodeCommand, policy.CodeCommand.Sentence())
	if err == nil && settled == 0 && r.task == nil {
		return errSettled
	}
	return err
}

// settleParked settles the message whose task waits for a person: it is answered when that one has decided.
func (a *Agent) settleParked(ctx context.Context, r *run) error {
	if r.caller.Message == 0 {
		return nil
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.Settle(ctx, tx, []int64{r.caller.Message}, nil, policy.CodeCommand, fmt.Sprintf("Task %d was put aside: it waits, and goes on by itself.", r.task.ID))
		return err
	})
}

// progressText is what is shown while a task runs.
func progressText(task int64, body string) string {
	return fmt.Sprintf("%s\n\n_task %d · ❌ or_ `/cancel-task %d` _stops it_", text.Escape(text.Clip(body, 3000)), task, task)
}

// footer says what an answer took, when it took more than one look.
func (r *run) footer(ctx context.Context, done *store.Task) string {
	var parts []string
	if n := len(r.used); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, text.Plural(n, "tool", "tools")))
	}
	cost, err := r.cost(ctx)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot tell what a task cost")
	}
	done.Cost = cost
	if cost > 0 {
		parts = append(parts, text.ExactMoney(cost, r.Currency))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\n_task %d · %s_", r.task.ID, strings.Join(parts, " · "))
}

// cited renders what a model answered the owner. A quote that does not stand in its passage loses its mark; an answer without any says so.
func (r *run) cited(answer string) sourced {
	d, err := readDraft(answer)
	if err != nil {
		if answer = strings.TrimSpace(answer); answer == "" {
			return sourced{markdown: "The model gave no answer."}
		}
		return sourced{markdown: escapeLines(r.unlinked(answer)) + noSource} // it did not keep to the form; the owner reads it, a contact never would
	}
	var body, list strings.Builder
	var spans []store.Span
	for _, s := range d.Sentences {
		if body.Len() > 0 {
			body.WriteByte(' ')
		}
		body.WriteString(text.Escape(strings.TrimSpace(r.unlinked(s.Text))))
		span, ok := r.span(s)
		if !ok {
			continue
		}
		if !slices.Contains(spans, span) {
			spans = append(spans, span)
			fmt.Fprintf(&list, "\n[%d] %s: \"%s\"  ", len(spans), linked(span.Source, r.passages, span.Ref), text.Escape(text.Clip(span.Quote, 300)))
		}
		fmt.Fprintf(&body, " [%d]", slices.Index(spans, span)+1)
	}
	switch {
	case body.Len() == 0 && d.Message != "" && r.task.Target != nil:
		return sourced{markdown: "I drafted a message."}
	case body.Len() == 0:
		return sourced{markdown: foundNothing + r.places.lookedIfNamed()}
	case len(spans) == 0:
		return sourced{markdown: body.String() + noSource + r.places.lookedIfNamed()}
	}
	return sourced{body.String() + "\n" + list.String() + "\n\n" + r.places.looked(), spanned(r.passages, spans), spans}
}

const noSource = "\n\n(No source: nothing in your documents says this.)"

// escapeLines makes a model's own lines stand as they are.
func escapeLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, text.Escape(strings.TrimSpace(line)))
	}
	return strings.Join(lines, "  \n")
}
