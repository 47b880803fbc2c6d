package agent

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"multis/jobs"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/schedule"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// Pulse is how somebody looks around by himself.
type Pulse struct {
	// Agent is the persona that looks; empty for multis itself.
	Agent string
	// Items are what to look at beside what is built in, in the owner's words. Looks is how often a day a model does that at
	// most, spread over Span, which is how long a day there is a heartbeat.
	Items []string
	Looks int
	Span  time.Duration
	// Tasks has it look at tasks that stand still or failed, too.
	Tasks bool
	// Drafts has what could be written to a contact about a matter drafted. Nothing of it is sent before the owner's yes.
	Drafts bool
	// Model is paid from a budget of its own. Defaults to the agent's.
	Model llm.Model
}

const (
	kindHeartbeat = "heartbeat"
	// heartbeatRounds bounds how often tools are called in one look around.
	heartbeatRounds = 6

	// matterWaits is how long something waits before it is a matter, matterOld from when on nobody asks for it any more.
	matterWaits, matterOld = time.Hour, 48 * time.Hour
	// matterAgain is when somebody who still has no answer, and wrote again, is one more matter.
	matterAgain = 24 * time.Hour
	// lateArrival is how much earlier than the last look a message may have been written that came after it.
	lateArrival = 15 * time.Minute
	// comingUp is how far ahead reminders are shown to the model.
	comingUp = 30 * time.Minute
)

// beat is one look around.
type beat struct {
	*Agent
	pulse   Pulse
	model   llm.Model
	room    store.Chat
	at      time.Time
	matters []matter
	items   []string
	heard   memory.Heard // what was said since the last look at the items
}

// matter is what may need the owner, with the chat that it is about.
type matter struct {
	store.Matter
	chat store.Chat
}

// restsOn are the messages whose words may be in a matter.
func (m matter) restsOn() []int64 {
	if m.Message == 0 {
		return m.RestsOn
	}
	return append(slices.Clone(m.RestsOn), m.Message)
}

// Heartbeat looks whether something matters, and says so in the admin room: each matter once. The database is asked first; a
// model only when there is something new to judge. It returns what its history says of it.
func (a *Agent) Heartbeat(ctx context.Context, room store.Chat, key, persona string) (string, error) {
	i := slices.IndexFunc(a.Pulses, func(p Pulse) bool { return p.Agent == persona })
	if i < 0 {
		return "", jobs.Final(errors.New("it is not configured any more"))
	}
	if err := store.SupersedeTasks(ctx, a.Store.DB(), room.ID, kindHeartbeat, key); err != nil {
		return "", err
	}
	b := &beat{Agent: a, pulse: a.Pulses[i], room: room, at: a.now()}
	if b.model = b.pulse.Model; b.model == nil {
		b.model, _ = a.modelOf(b.persona())
	}
	if err := b.look(ctx); err != nil {
		return "", err
	}
	switch {
	case len(b.matters)+len(b.items) == 0:
		return "nothing new", nil
	case b.model.Name() == (llm.None{}).Name():
		return b.conclude(ctx, nil, b.plain())
	default:
		return b.judge(ctx, key)
	}
}

// look asks the database what is new since the last time.
func (b *beat) look(ctx context.Context) error {
	found, err := store.NewMatters(ctx, b.Store.DB(), store.Look{
		Agent: b.pulse.Agent, Waits: b.at.Add(-matterWaits), Oldest: b.at.Add(-matterOld), Again: b.at.Add(-matterAgain), Tasks: b.pulse.Tasks,
	})
	if err != nil {
		return err
	}
	for _, f := range found {
		chat, err := store.ChatByID(ctx, b.Store.DB(), f.ChatID)
		if err != nil {
			return err
		}
		concerns, err := b.concerns(ctx, &f, chat)
		if err != nil {
			return err
		}
		if concerns {
			b.matters = append(b.matters, matter{f, chat})
		}
	}
	return b.lookAtItems(ctx)
}

// concerns tells whether a matter is one, in the mode that its chat is in. What has no answer becomes the last that the contact meant.
func (b *beat) concerns(ctx context.Context, m *store.Matter, chat store.Chat) (bool, error) {
	mode := chat.ModeIn(b.Defaults)
	switch m.Kind {
	case store.MatterTask:
		return true, nil
	case store.MatterUnanswered:
		if mode != policy.ModeBusiness {
			return false, nil
		}
		said, err := store.Unanswered(ctx, b.Store.DB(), m.ChatID, b.at.Add(-matterOld))
		if err != nil {
			return false, err
		}
		last, ok := memory.LastMeant(said, true)
		m.Message, m.EventID, m.At, m.Text = last.ID, last.EventID, last.At, last.Body
		return ok, nil
	default:
		return mode != policy.ModeOff, nil
	}
}

// lookAtItems tells whether a model is to look at what the owner wants looked at: not too often, and only after somebody said
// something.
func (b *beat) lookAtItems(ctx context.Context) error {
	items := append(slices.Clone(b.pulse.Items), b.persona().heartbeatItems()...)
	if len(items) == 0 || b.pulse.Looks < 1 || b.model.Name() == (llm.None{}).Name() {
		return nil
	}
	last, looks, err := store.LastLook(ctx, b.Store.DB(), b.pulse.Agent, b.day())
	if err != nil || looks >= b.pulse.Looks || b.at.Sub(last) < b.pulse.Span/time.Duration(b.pulse.Looks) {
		return err
	}
	said, err := store.SaidSince(ctx, b.Store.DB(), last)
	if err != nil || !said {
		return err
	}
	b.items = items
	if b.Memory == nil {
		return nil
	}
	from := last.Add(-lateArrival)
	if oldest := b.at.Add(-matterOld); from.Before(oldest) {
		from = oldest
	}
	b.heard, err = b.Memory.Hear(ctx, memory.Missed{Period: schedule.Period{From: from}})
	if !slices.ContainsFunc(b.heard.Said, func(m store.Message) bool { return m.ReceivedAt.After(last) }) {
		b.items, b.heard = nil, memory.Heard{} // what came is older: history that a bridge brought
	}
	return err
}

func (b *beat) day() string { return b.at.In(b.Zone).Format(time.DateOnly) }

// judge has a model say what of it matters.
func (b *beat) judge(ctx context.Context, key string) (string, error) {
	task, err := store.OpenTask(ctx, b.Store.DB(), store.Task{
		Key: key, Kind: kindHeartbeat, ChatID: b.room.ID, Agent: b.pulse.Agent, Model: b.model.Name(), Input: "Does something need the owner?",
	})
	if err != nil || task.State.Over() {
		return "looked", err
	}
	if len(b.items) > 0 {
		if err := store.Looked(ctx, b.Store.DB(), b.pulse.Agent, b.day(), b.at); err != nil {
			return "", err
		}
	}
	r := b.newRun(b.persona(), heartbeatRounds)
	r.model, r.payer = b.model, payerOf(b.pulse.Agent)
	r.caller = tools.Caller{
		Owner: true, ReadOnly: true, Chat: b.room, Scope: policy.OwnerScope(b.heard.Chats()...), Agent: r.persona.ID, Asked: strings.Join(b.items, "\n"),
		Allow: r.persona.Allow, Deny: r.persona.Deny, Workspace: r.persona.Workspace, ReadPaths: r.persona.ReadPaths,
	}
	r.withoutColleagues(task)
	err = r.claim(ctx, task, func(ctx context.Context) (asked, error) { return b.asks(ctx, r) })
	if errors.Is(err, store.ErrTaskLost) {
		return "looked", nil
	}
	if err != nil && !errors.Is(err, errForgotten) {
		return "", err
	}
	working, release := r.within(ctx)
	defer release()
	var out outcome
	if err == nil {
		out, err = r.loop(working)
	}
	return b.judged(ctx, working, r, out, err)
}

// judged says what a model found to matter. Where it failed, what the database found is told as it is.
func (b *beat) judged(ctx, working context.Context, r *run, out outcome, err error) (string, error) {
	state, why, ended := stopped(working, err)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return "looked", nil
	case ended:
		task := r.end(state, "", why)
		return b.conclude(context.WithoutCancel(ctx), &task, b.plain())
	case err != nil && ctx.Err() != nil:
		return "", err
	case errors.Is(err, llm.ErrOverBudget):
		task := r.end(store.TaskFailed, "", err.Error())
		note, failed := b.conclude(ctx, &task, b.plain())
		return note + ", the money for it is used up", failed
	case err != nil && !isModels(err):
		return "", err
	}
	said, readErr := readVerdict(out.text)
	if err = errors.Join(err, readErr); err != nil {
		task := r.end(store.TaskFailed, out.text, err.Error())
		if _, failed := b.conclude(ctx, &task, b.plain()); failed != nil {
			return "", failed
		}
		return "", jobs.Final(fmt.Errorf("the model did not say whether something matters: %w", err))
	}
	task := r.end(store.TaskCompleted, out.text, "")
	return b.conclude(ctx, &task, said.unlinked(r))
}

// conclude writes down what was judged, and tells what matters, all in one transaction.
func (b *beat) conclude(ctx context.Context, task *store.Task, said verdict) (string, error) {
	told := 0
	var restsOn []int64
	err := b.Store.InTx(ctx, func(tx store.Tx) error {
		if task != nil {
			ended, err := store.EndTask(ctx, tx, *task)
			if err != nil || ended.Forgotten { // what is left of it is looked at the next time
				return err
			}
			restsOn = ended.RestsOn
		}
		lines, about, err := b.settle(ctx, tx, said, restsOn)
		if told = len(lines); err != nil || told == 0 {
			return err
		}
		letter := outbox.Notice(b.room, b.notice(lines), outbox.Alert)
		letter.About, letter.RestsOn, letter.Profile = about, restsOn, b.persona().profile()
		_, _, err = b.Box.Queue(ctx, tx, letter)
		return err
	})
	if errors.Is(err, store.ErrTaskLost) {
		return "looked", nil
	}
	if told == 0 {
		return "nothing that matters", err
	}
	return fmt.Sprintf("told %d", told), err
}

// settle notes every matter as judged, and returns the lines about those to tell now.
func (b *beat) settle(ctx context.Context, tx store.Tx, said verdict, restsOn []int64) (lines []string, about []int64, err error) {
	for _, m := range b.matters {
		text, tell := said.about(m.Key)
		first, err := store.Judge(ctx, tx, store.Judgement{Agent: b.pulse.Agent, Matter: m.Key, ChatID: m.ChatID, Told: tell, At: b.at})
		if err != nil {
			return nil, nil, err
		}
		if !first || !tell {
			continue
		}
		lines = append(lines, b.line(m, text))
		about = append(about, m.restsOn()...)
		if err := b.propose(ctx, tx, m, said.draft(m.Key), restsOn); err != nil {
			return nil, nil, err
		}
	}
	for i, item := range b.items {
		body, tell := said.about(itemKey(i))
		if !tell || body == "" {
			continue
		}
		key := fmt.Sprintf("item:%08x:%s", hash(item), b.day())
		first, err := store.Judge(ctx, tx, store.Judgement{Agent: b.pulse.Agent, Matter: key, Told: true, At: b.at})
		if err != nil {
			return nil, nil, err
		}
		if first { // once a day, whatever the model finds
			lines = append(lines, fmt.Sprintf("- %s (you want me to look at: %s)", text.Escape(body), text.Escape(text.Clip(item, 100))))
		}
	}
	return lines, about, nil
}

// propose drafts what could be written to the contact that a matter is about.
func (b *beat) propose(ctx context.Context, tx store.Tx, m matter, text string, restsOn []int64) error {
	if !b.pulse.Drafts || text == "" || m.chat.Kind == policy.KindAdmin {
		return nil
	}
	_, _, err := b.Box.Queue(ctx, tx, outbox.Message{Chat: m.chat, Purpose: policy.PurposeDraft, Text: text, Draft: true, RestsOn: restsOn})
	return err
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}

// persona is who looks around.
func (b *beat) persona() Persona {
	if b.pulse.Agent == "" {
		return Persona{}
	}
	return b.byID(b.pulse.Agent)
}

// payerOf names the budget that a heartbeat is paid from.
func payerOf(persona string) string {
	if persona == "" {
		return kindHeartbeat
	}
	return kindHeartbeat + " " + persona
}
