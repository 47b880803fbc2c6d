// Package admin is the room from which the owner runs multis: commands, questions that a number or a reaction answers, and
// what multis tells by itself. Everything it says leaves through the outbox; everything it changes is committed together
// with the reply that says so.
package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/bridgebridge"
	"multis/clock"
	"multis/jobs"
	"multis/knowledge"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// Asker answers a question of the owner in the room where it was asked, and settles the message that asked it.
type Asker interface {
	Ask(ctx context.Context, room store.Chat, message store.Message, question string) error
	// Thinks tells whether whoever answers a question there has a model.
	Thinks(room store.Chat, question string) bool
	// Answers says which agent answers in a chat, and what decided that; empty: multis itself does.
	Answers(chat store.Chat) (agent, by string)
}

// Files fetches a file that was sent in the admin room, at most limit bytes. A larger one is an error, as is one that is gone.
type Files interface {
	Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error)
}

// Rules are what the admin room shows of the configuration, or goes by.
type Rules struct {
	Version    string
	Name       string // what the assistant is called unless the owner renamed it
	Model      string // the language model's name; "none" without one
	Zone       *time.Location
	Defaults   policy.Defaults
	OwnerPause time.Duration
	// Disclose tells by protocol whether answers are marked with the assistant's name.
	Disclose func(protocol string) bool
	// DayBudget is the most that may be spent a day, in millionths of Currency; zero means no paid call.
	DayBudget int64
	Currency  string
	// Embeddings is the name of the model that finds by meaning; "none" or empty without one.
	Embeddings string
	// Inbox is where other programs call in, as they reach it; empty: nobody can.
	Inbox string
	// HandOverAtCap tells that contacts are handed over once money is used up.
	HandOverAtCap bool
	// Agents are who answers, when it is not multis alone.
	Agents []Agent
	// Shortcuts are what the owner means by words of his own.
	Shortcuts []policy.Shortcut
	// Terminal says that the room is a terminal: documents are named there, not sent.
	Terminal bool
	folder   string // the documents folder
}

// Planner begins what takes its time. A plan is shown to the owner before any of it is done.
type Planner interface {
	Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error
	// ReplayWith goes through a task again with another model, whose calls are paid. What comes of it is said in the room.
	ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, task store.Task, model string) error
}

// Replayer goes through a task again and shows what came of it.
type Replayer interface {
	Replay(ctx context.Context, task store.TaskID) (string, error)
}

// Toolbox lists what a model may call for the owner who asks in a room, and how the servers are that bring tools.
type Toolbox interface {
	Tools(ctx context.Context, room store.Chat) ([]Tool, error)
	Sources() []ToolSource
}

// SavedTasks lists the tasks that are begun by name, as their files are now, and begins one.
type SavedTasks interface {
	Saved() []Saved
	// Begin begins a task. What comes of it is said in the room; problem says why it cannot be begun after all.
	Begin(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, name string) (problem string, err error)
}

// Skills lists the files that say how agents work.
type Skills interface {
	Skills() []Skill
}

// Options are what an admin room works with. Of the interfaces only Asker, Planner, Replayer and Files must be set.
type Options struct {
	Store    *store.Store
	Box      *outbox.Box
	Search   *search.Searcher
	Library  *knowledge.Library
	Asker    Asker
	Planner  Planner
	Replayer Replayer
	Files    Files
	Tools    Toolbox
	Saved    SavedTasks
	Skills   Skills
	Memory   *memory.Memory
	Rules    Rules
	// MaxTools is how many tools Tools gives at most: the others are left out.
	MaxTools int
	// Clock carries out schedules.
	Clock *clock.Clock
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

// Admin passes each message of the admin room to the topic that it is about. It keeps nothing in memory: another one on the same
// store goes on where it stopped. The exported topics do what their commands ask for in the background.
type Admin struct {
	store       *store.Store
	room        *room
	rules       Rules
	Documents   *Documents
	Tasks       *Tasks
	Commitments *Commitments
	Exports     *Exports
	Forgetting  *Forgetting
	Drafts      *Drafts
	Imports     *Imports
	Budget      *Budget
	Notices     *Notices

	questions *questions
	schedules *schedules
	help      *help
	dialogs   *dialogs
	table     *commandTable
}

// New makes an Admin.
func New(o Options) *Admin {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Library != nil {
		o.Rules.folder = o.Library.Folder()
	}
	room := &room{store: o.Store, box: o.Box, rules: o.Rules, now: o.Now}
	table := &commandTable{}
	states := &chatStates{store: o.Store, room: room, rules: o.Rules}
	chats := &chatPicker{store: o.Store, states: states, table: table, rules: o.Rules}
	dialogs := &dialogs{store: o.Store, room: room, table: table, kinds: map[string]func() question{}}
	agents := &agents{chats: chats, tools: o.Tools, maxTools: o.MaxTools, skills: o.Skills, rules: o.Rules}
	questions := &questions{store: o.Store, search: o.Search, asker: o.Asker, agents: agents, rules: o.Rules}
	tasks := &Tasks{store: o.Store, room: room, asker: o.Asker, planner: o.Planner, replayer: o.Replayer, dialogs: dialogs, saved: o.Saved}
	documents := &Documents{store: o.Store, library: o.Library, files: o.Files, room: room, rules: o.Rules}
	notes := &notes{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	commitments := &Commitments{store: o.Store, room: room, chats: chats, rules: o.Rules}
	briefs := &briefs{store: o.Store, room: room, chats: chats, memory: o.Memory, commitments: commitments, rules: o.Rules}
	exports := &Exports{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	forgetting := &Forgetting{store: o.Store, memory: o.Memory, room: room, chats: chats, rules: o.Rules}
	merges := &merges{store: o.Store, chats: chats}
	modes := &modes{store: o.Store, room: room, chats: chats, states: states, rules: o.Rules}
	drafts := &Drafts{store: o.Store, room: room, chats: chats, dialogs: dialogs, rules: o.Rules}
	explanations := &explanations{store: o.Store, room: room, chats: chats, asker: o.Asker, rules: o.Rules}
	imports := &Imports{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	schedules := &schedules{store: o.Store, clock: o.Clock, asker: o.Asker, agents: agents, chats: chats, room: room, rules: o.Rules}
	pauses := &pauses{room: room, chats: chats, states: states, rules: o.Rules}
	stalls := &stalls{store: o.Store, room: room}
	bridges := &bridges{store: o.Store, room: room}
	status := &status{store: o.Store, room: room, states: states, bridges: bridges, stalls: stalls, rules: o.Rules}
	watches := &watches{store: o.Store, room: room, rules: o.Rules}
	hooks := &hooks{store: o.Store, room: room}
	budget := &Budget{store: o.Store, room: room, rules: o.Rules}
	help := &help{table: table, asker: o.Asker, room: room, rules: o.Rules}
	a := &Admin{
		store: o.Store, room: room, rules: o.Rules, Documents: documents, Tasks: tasks, Commitments: commitments, Exports: exports, Forgetting: forgetting, Drafts: drafts, Imports: imports, Budget: budget,
		Notices:   &Notices{store: o.Store, room: room, states: states, bridges: bridges, stalls: stalls, rules: o.Rules},
		questions: questions, schedules: schedules, help: help, dialogs: dialogs, table: table,
	}
	table.commands = slices.Concat(
		questions.commands(), documents.commands(), tasks.commands(), agents.commands(),
		notes.commands(), briefs.commands(), commitments.commands(), exports.commands(), forgetting.commands(), merges.commands(),
		modes.commands(), drafts.commands(), explanations.commands(), imports.commands(),
		schedules.commands(),
		pauses.commands(), status.commands(), watches.commands(), hooks.commands(), bridges.commands(), budget.commands(), help.commands(),
	)
	for _, empty := range []func() question{
		func() question { return &pickChat{picker: chats} },
		func() question { return &pickMode{modes: modes} },
		func() question { return &pickRole{} },
		func() question { return &confirmBridge{bridges: bridges} },
		func() question { return &pickBridge{bridges: bridges} },
		func() question { return &allowCall{} },
		func() question { return &sendDraft{drafts: drafts} },
		func() question { return &confirmDraft{drafts: drafts} },
		func() question { return &samePerson{} },
		func() question { return &letGo{} },
	} {
		dialogs.kinds[empty().kind()] = empty
	}
	dialogs.unpointed = drafts.confirm
	return a
}

// errSettled rolls back what another attempt at the same message has already done.
var errSettled = errors.New("the message was settled before")

// orderWait is how long a command waits for an older one that is still being carried out.
const orderWait = 50 * time.Millisecond

// Command carries out what was written in the admin room, once. last says that no other attempt follows. A question is left
// to Answer, so that no command waits for a model.
func (a *Admin) Command(ctx context.Context, message int64, last bool) error {
	r, err := a.request(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	if isQuestion(r.message) {
		return a.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, jobs.AskArgs{MessageID: message}) })
	}
	if waits, err := a.waits(ctx, r); err != nil {
		return err
	} else if waits {
		return jobs.Later(orderWait)
	}
	return a.carryOut(ctx, r, last)
}

// Answer answers a question from the admin room, once. last says that no other attempt follows.
func (a *Admin) Answer(ctx context.Context, message int64, last bool) error {
	r, err := a.request(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	return a.carryOut(ctx, r, last)
}

func (a *Admin) carryOut(ctx context.Context, r request, last bool) error {
	ans, err := a.handle(ctx, r)
	if err == nil && !ans.said {
		err = a.commit(ctx, r, ans)
	}
	if err == nil || !last || jobs.IsLater(err) {
		return err
	}
	return a.apologise(context.WithoutCancel(ctx), r, err)
}

func (a *Admin) request(ctx context.Context, message int64) (request, error) {
	m, err := store.MessageByID(ctx, a.store.DB(), message)
	if err != nil {
		return request{}, err
	}
	room, err := store.ChatByID(ctx, a.store.DB(), m.ChatID)
	if meant, ok := policy.Meant(a.rules.Shortcuts, m.Body); ok && m.Author.IsOwner() && m.Code == policy.CodeCommand && m.Kind == string(bridgebridge.Text) {
		m.Body = meant
	}
	return request{message: m, room: room, now: a.room.now()}, err
}

// orderFor is how long an unfinished command holds up those after it. One that hangs must not block the room for good.
const orderFor = time.Minute

// waits tells whether an older command must come first. Questions take their time and hold nothing up, and nothing holds up a
// pause.
func (a *Admin) waits(ctx context.Context, r request) (bool, error) {
	if name, _ := parse(r.message.Body); name == "pause" {
		return false, nil
	}
	earlier, err := store.OpenCommands(ctx, a.store.DB(), r.room.ID, r.message.ID, r.now.Add(-orderFor))
	if err != nil {
		return false, err
	}
	for _, m := range earlier {
		if !isQuestion(m) {
			return true, nil
		}
	}
	return false, nil
}

// commit writes what a request leads to. A message that was settled meanwhile changes nothing.
func (a *Admin) commit(ctx context.Context, r request, ans answer) error {
	ans.kind = outbox.Answer
	err := a.store.InTx(ctx, func(tx store.Tx) error {
		var err error
		if ans.text, err = ans.change(ctx, tx); err != nil {
			return err
		}
		if ans.react != "" {
			if err := a.room.react(ctx, tx, r.room, r.message, ans.react); err != nil {
				return err
			}
		}
		var out *uuid.UUID
		if ans.text != "" {
			said, err := a.room.write(ctx, tx, r.room, ans, []int64{r.message.ID})
			if err != nil {
				return err
			}
			if ans.shows != 0 {
				if err := store.ShownIn(ctx, tx, ans.shows, said); err != nil {
					return err
				}
			}
			out = &said
		}
		why := ans.why
		if why == "" {
			why = policy.CodeCommand.Sentence()
		}
		settled, err := store.Settle(ctx, tx, []int64{r.message.ID}, out, policy.CodeCommand, why)
		if err == nil && settled == 0 {
			err = errSettled
		}
		return err
	})
	if errors.Is(err, errSettled) {
		return nil
	}
	return err
}

// apologise tells the owner that a command failed for good, with a number that the log shows as well.
func (a *Admin) apologise(ctx context.Context, r request, cause error) error {
	ref := fmt.Sprintf("#%d", r.message.ID)
	zerolog.Ctx(ctx).Err(cause).Str("ref", ref).Msg("A command failed")
	return a.commit(ctx, r, answer{
		text: "⚠️ **That did not work**, and nothing was changed. The log says why under " + esc(ref) + "; then try again.",
		why:  "It failed.",
	})
}
