// Package admin is the chat room in which the owner controls multis by commands, answers its questions by a number, a word or a reaction,
// and gets its notices. A router passes each message to a topic: a struct with the commands, questions and notices of, for example,
// drafts. Everything that is said goes through the outbox, in the transaction that makes the change it reports.
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

// Options are the parts that an Admin works with. Tools, Saved and Skills may be nil: there are none then. Everything else must be
// set, but for the fields that name a default.
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
	// MaxTools is the largest number of tools that a model is offered.
	MaxTools int
	// Clock carries out schedules.
	Clock *clock.Clock
	// Now returns the current time. Defaults to time.Now.
	Now func() time.Time
}

// Admin is the router of the admin room: it reads a message, finds the command, the question or the task that it is about, and writes
// the answer. It keeps no state in memory, so another Admin on the same store continues where it stopped. The exported fields handle
// the jobs of their commands.
type Admin struct {
	store       *store.Store
	room        *room
	rules       Rules
	Documents   *DocumentCommands
	Tasks       *TaskCommands
	Commitments *CommitmentCommands
	Exports     *ExportCommands
	Forgetting  *ForgetCommands
	Drafts      *DraftCommands
	Imports     *ImportCommands
	Budget      *BudgetCommands
	Notices     *Notices

	questions *questionCommands
	schedules *scheduleCommands
	help      *helpCommands
	dialogs   *dialogs
	table     *commandTable
}

// New returns an Admin.
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
	agents := &agentCommands{chats: chats, tools: o.Tools, maxTools: o.MaxTools, skills: o.Skills, rules: o.Rules}
	questions := &questionCommands{store: o.Store, search: o.Search, asker: o.Asker, agents: agents, rules: o.Rules}
	tasks := &TaskCommands{store: o.Store, room: room, asker: o.Asker, planner: o.Planner, replayer: o.Replayer, dialogs: dialogs, saved: o.Saved}
	documents := &DocumentCommands{store: o.Store, library: o.Library, files: o.Files, room: room, rules: o.Rules}
	notes := &noteCommands{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	commitments := &CommitmentCommands{store: o.Store, room: room, chats: chats, rules: o.Rules}
	briefs := &briefCommands{store: o.Store, room: room, chats: chats, memory: o.Memory, commitments: commitments, rules: o.Rules}
	exports := &ExportCommands{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	forgetting := &ForgetCommands{store: o.Store, memory: o.Memory, room: room, chats: chats, rules: o.Rules}
	merges := &mergeCommands{store: o.Store, chats: chats}
	modes := &modeCommands{store: o.Store, room: room, chats: chats, states: states, rules: o.Rules}
	drafts := &DraftCommands{store: o.Store, room: room, chats: chats, dialogs: dialogs, rules: o.Rules}
	explanations := &whyCommands{store: o.Store, room: room, chats: chats, asker: o.Asker, rules: o.Rules}
	imports := &ImportCommands{store: o.Store, room: room, chats: chats, memory: o.Memory, rules: o.Rules}
	schedules := &scheduleCommands{store: o.Store, clock: o.Clock, asker: o.Asker, agents: agents, chats: chats, room: room, rules: o.Rules}
	pauses := &pauseCommands{room: room, chats: chats, states: states, rules: o.Rules}
	stalls := &stallNotices{store: o.Store, room: room}
	bridges := &bridgeCommands{store: o.Store, room: room}
	status := &statusCommands{store: o.Store, room: room, states: states, bridges: bridges, stalls: stalls, rules: o.Rules}
	watches := &watchCommands{store: o.Store, room: room, rules: o.Rules}
	hooks := &hookCommands{store: o.Store, room: room}
	budget := &BudgetCommands{store: o.Store, room: room, rules: o.Rules}
	help := &helpCommands{table: table, asker: o.Asker, room: room, rules: o.Rules}
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
		func() question { return &confirmClaim{bridges: bridges} },
		func() question { return &approveCall{} },
		func() question { return &decideDraft{drafts: drafts} },
		func() question { return &confirmDraft{drafts: drafts} },
		func() question { return &confirmMerge{} },
		func() question { return &confirmForget{commands: forgetting} },
	} {
		dialogs.kinds[empty().kind()] = empty
	}
	dialogs.fallback = drafts.confirm
	return a
}

// errAlreadySettled rolls back a transaction whose message another attempt has settled.
var errAlreadySettled = errors.New("the message was settled before")

// olderCommandWait is how long a command waits before it looks again for an older one that is still running.
const olderCommandWait = 50 * time.Millisecond

// Command carries out the command in a message of the admin room, once. A question is passed to Answer by a job of its own, so that no
// command waits for a model. last says that no other attempt follows.
func (a *Admin) Command(ctx context.Context, message store.MessageID, last bool) error {
	r, err := a.loadRequest(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	if isQuestion(r.message) {
		return a.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, jobs.AskArgs{MessageID: message}) })
	}
	if waits, err := a.mustWait(ctx, r); err != nil {
		return err
	} else if waits {
		return jobs.Later(olderCommandWait)
	}
	return a.execute(ctx, r, last)
}

// Answer answers the question in a message of the admin room, once. last says that no other attempt follows.
func (a *Admin) Answer(ctx context.Context, message store.MessageID, last bool) error {
	r, err := a.loadRequest(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	return a.execute(ctx, r, last)
}

// execute handles a request and commits the answer. A failure of the last attempt is reported to the owner.
func (a *Admin) execute(ctx context.Context, r request, last bool) error {
	ans, err := a.handle(ctx, r)
	if err == nil && !ans.handled {
		err = a.commit(ctx, r, ans)
	}
	if err == nil || !last || jobs.IsLater(err) {
		return err
	}
	return a.reportFailure(context.WithoutCancel(ctx), r, err)
}

// loadRequest reads a message and its room. A shortcut of the owner is replaced by the command that it stands for.
func (a *Admin) loadRequest(ctx context.Context, message store.MessageID) (request, error) {
	m, err := store.MessageByID(ctx, a.store.DB(), message)
	if err != nil {
		return request{}, err
	}
	room, err := store.ChatByID(ctx, a.store.DB(), m.ChatID)
	if command, ok := policy.ExpandShortcut(a.rules.Shortcuts, m.Body); ok && m.Author.IsOwner() && m.Code == policy.CodeCommand && m.Kind == string(bridgebridge.Text) {
		m.Body = command
	}
	return request{message: m, room: room, now: a.room.now()}, err
}

// maxOlderCommandTime is how long an unfinished command delays those after it, so that one that hangs does not block the room.
const maxOlderCommandTime = time.Minute

// mustWait reports whether an older command must finish first. Questions are not waited for, because they take long and change
// nothing. /pause never waits.
func (a *Admin) mustWait(ctx context.Context, r request) (bool, error) {
	if name, _ := parseCommand(r.message.Body); name == "pause" {
		return false, nil
	}
	earlier, err := store.OpenCommands(ctx, a.store.DB(), r.room.ID, r.message.ID, r.now.Add(-maxOlderCommandTime))
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

// commit writes an answer, with what it changes, in one transaction. If the message was settled meanwhile, nothing is written.
func (a *Admin) commit(ctx context.Context, r request, ans answer) error {
	ans.kind = outbox.Answer
	err := a.store.InTx(ctx, func(tx store.Tx) error {
		var err error
		if ans.text, err = ans.apply(ctx, tx); err != nil {
			return err
		}
		if ans.reaction != "" {
			if err := a.room.react(ctx, tx, r.room, r.message, ans.reaction); err != nil {
				return err
			}
		}
		var out *uuid.UUID
		if ans.text != "" {
			outboxID, err := a.room.writeAnswer(ctx, tx, r.room, ans, []store.MessageID{r.message.ID})
			if err != nil {
				return err
			}
			if ans.commitmentID != 0 {
				if err := store.SetCommitmentEvent(ctx, tx, ans.commitmentID, outboxID); err != nil {
					return err
				}
			}
			out = &outboxID
		}
		why := ans.reason
		if why == "" {
			why = policy.CodeCommand.Sentence()
		}
		settled, err := store.MarkAnswered(ctx, tx, []store.MessageID{r.message.ID}, out, policy.CodeCommand, why)
		if err == nil && settled == 0 {
			err = errAlreadySettled
		}
		return err
	})
	if errors.Is(err, errAlreadySettled) {
		return nil
	}
	return err
}

// reportFailure tells the owner that a command failed for good, with the reference under which the log has the cause.
func (a *Admin) reportFailure(ctx context.Context, r request, cause error) error {
	ref := fmt.Sprintf("#%d", r.message.ID)
	zerolog.Ctx(ctx).Err(cause).Str("ref", ref).Msg("A command failed")
	return a.commit(ctx, r, answer{
		text:   "⚠️ **That did not work**, and nothing was changed. The log says why under " + esc(ref) + "; then try again.",
		reason: "It failed.",
	})
}
