// Package admin implements the admin room: the owner controls multis there by commands, answers its questions by a
// number, a word or a reaction, and gets its notices. A router passes each message to a topic, which is a struct with the
// commands, questions and notices about one subject, such as drafts. Each reply is queued in the transaction that makes
// the change it reports.
package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/bridgebridge"
	"multis/business/answers"
	"multis/business/desk"
	"multis/clock"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// Options are what an Admin works with. Tools, Servers, Policy, Saved and Skills may be nil, and fields with a default
// may be zero. All others must be set.
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
	Servers  ToolServers
	Policy   Policy
	Saved    SavedTasks
	Skills   Skills
	Memory   *memory.Memory
	Settings Settings
	// Examiner checks the installation; nil where there is none to check.
	Examiner Examiner
	// Health checks the work of multis; nil without a homeserver.
	Health Health
	// Accounts reads what multis can do as the owner; nil without a homeserver.
	Accounts Accounts
	// Config is what can be set in chat; nil without a configuration file.
	Config Configuration
	// Readers says who can read a room; nil without a homeserver.
	Readers RoomReaders
	// Previewer shows what a contact would get; nil where no contacts are answered.
	Previewer Previewer
	// Answers keeps the canned and learned answers; nil where no contacts are answered.
	Answers *answers.Keeper
	// PIN judges the owner's PIN; nil where there is none, as in a terminal.
	PIN *pin.Keeper
	// Host runs commands on this machine; nil while that is off.
	Host Host
	// Clock carries out schedules.
	Clock *clock.Clock
	// Desk passes conversations to people. Defaults to one in which nobody may answer.
	Desk *desk.Desk
	// Now returns the current time. Defaults to time.Now.
	Now func() time.Time
}

// Admin is the router of the admin room: it reads a message, finds the command, question or task that the message is
// about, and writes the answer. It keeps no state in memory, so several processes may each have an Admin on the same
// store. The exported fields handle the jobs of their topics.
type Admin struct {
	base

	Documents   *DocumentCommands
	Tasks       *TaskCommands
	Commitments *CommitmentCommands
	Exports     *ExportCommands
	Forgetting  *ForgetCommands
	Drafts      *DraftCommands
	Shadows     *ShadowCommands
	Imports     *ImportCommands
	Budget      *BudgetCommands
	Answers     *AnswerCommands
	Desk        *DeskCommands
	Host        *HostCommands
	Web         *WebCommands
	Notices     *Notices

	questions   *questionCommands
	business    *businessCommands
	pins        *pinCommands
	modes       *modeCommands
	schedules   *scheduleCommands
	escalations *escalationCommands
	help        *helpCommands
	orders      *orderCommands
	agents      *agentCommands
	bridges     *bridgeCommands
	restores    *restoreCommands
	safeMode    *safeModeCommands
	doctors     *doctorCommands
	monitors    *monitorCommands
	status      *statusCommands
	dialogs     *dialogs
	table       *commandTable
	// textHandlers get a text that is no command and in no thread, in this order, and reactionHandlers a reaction.
	textHandlers     []handler
	reactionHandlers []handler
}

// withDefaults returns the options with the default for each unset field, and with the settings that depend on other options.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Desk == nil {
		o.Desk = desk.New(desk.Options{
			Store:      o.Store,
			Box:        o.Box,
			OwnerPause: o.Settings.OwnerPause,
			Name:       o.Settings.Name,
			Zone:       o.Settings.Zone,
			Now:        o.Now,
		})
	}
	if o.Library != nil {
		o.Settings.folder = o.Library.Folder()
	}
	return o
}

// New returns an Admin.
func New(o Options) *Admin {
	o = o.withDefaults()
	b := newBase(o)
	table := b.chats.table
	dialogs := &dialogs{store: o.Store, room: b.room, table: table, kinds: map[string]func() question{}}
	a := &Admin{base: b, dialogs: dialogs, table: table}

	a.agents = &agentCommands{base: b, tools: o.Tools, servers: o.Servers, skills: o.Skills}
	a.questions = &questionCommands{base: b, search: o.Search, asker: o.Asker, agents: a.agents}
	a.pins = &pinCommands{base: b, keeper: o.PIN}
	a.Tasks = &TaskCommands{
		base:     b,
		asker:    o.Asker,
		planner:  o.Planner,
		replayer: o.Replayer,
		dialogs:  dialogs,
		saved:    o.Saved,
		pins:     a.pins,
	}
	a.Documents = &DocumentCommands{base: b, library: o.Library, files: o.Files}
	a.Commitments = &CommitmentCommands{base: b, memory: o.Memory}
	a.Exports = &ExportCommands{base: b, memory: o.Memory}
	a.Forgetting = &ForgetCommands{base: b, memory: o.Memory}
	a.Shadows = &ShadowCommands{base: b}
	a.modes = &modeCommands{base: b}
	a.Drafts = &DraftCommands{base: b, dialogs: dialogs, shadows: a.Shadows}
	a.business = &businessCommands{base: b, dialogs: dialogs, config: o.Config, previewer: o.Previewer}
	a.Answers = &AnswerCommands{base: b, dialogs: dialogs, keeper: o.Answers}
	a.Desk = &DeskCommands{base: b}
	a.Imports = &ImportCommands{base: b, memory: o.Memory}
	a.schedules = &scheduleCommands{base: b, clock: o.Clock, asker: o.Asker, agents: a.agents}
	a.escalations = &escalationCommands{base: b, desk: o.Desk, files: o.Files, answers: a.Answers}
	a.Host = &HostCommands{base: b, host: o.Host}
	a.Web = a.newWebCommands(o)
	a.Budget = &BudgetCommands{base: b}
	a.help = &helpCommands{base: b, table: table, asker: o.Asker}
	a.orders = &orderCommands{
		base:      b,
		asker:     o.Asker,
		schedules: a.schedules,
		sends:     &sendCommands{base: b, schedules: a.schedules},
		run:       a.runCommand,
	}
	a.questions.orders = a.orders

	a.bridges = &bridgeCommands{base: b}
	stalls := &stallNotices{base: b}
	a.restores = &restoreCommands{base: b, clock: o.Clock, drafts: a.Drafts, startedAt: o.Now()}
	a.safeMode = &safeModeCommands{base: b}
	a.doctors = &doctorCommands{base: b, examiner: o.Examiner}
	a.monitors = &monitorCommands{base: b}
	a.status = &statusCommands{
		base:     b,
		pins:     a.pins,
		bridges:  a.bridges,
		stalls:   stalls,
		restores: a.restores,
		safeMode: a.safeMode,
		doctors:  a.doctors,
		monitors: a.monitors,
		health:   o.Health,
	}
	a.safeMode.holds = []func(context.Context, request) (string, error){a.restores.statusLine, a.status.allPausedLine}
	a.Notices = &Notices{
		base:     b,
		bridges:  a.bridges,
		stalls:   stalls,
		restores: a.restores,
		safeMode: a.safeMode,
	}

	dialogs.register(func() question { return &pickChat{picker: b.chats} })
	dialogs.fallback = a.Drafts.confirm
	for _, t := range a.topics(o) {
		table.commands = append(table.commands, t.commands()...)
		dialogs.register(t.questions()...)
	}
	o.PIN.SetIsCommand(a.isCommand)
	a.setHandlers()
	return a
}

// topics returns the topics of the admin room in the order of the help.
func (a *Admin) topics(o Options) []topic {
	b := a.base
	return []topic{
		a.questions,
		a.Documents,
		a.Tasks,
		a.agents,
		&noteCommands{base: b, memory: o.Memory},
		&briefCommands{base: b, memory: o.Memory, commitments: a.Commitments},
		a.Commitments,
		a.Exports,
		a.Forgetting,
		&mergeCommands{base: b},
		a.modes,
		&messageCommands{base: b},
		a.orders.sends,
		&labelCommands{base: b},
		a.Drafts,
		a.Shadows,
		a.escalations,
		&whyCommands{base: b, desk: o.Desk, asker: o.Asker},
		a.Imports,
		a.business,
		a.Answers,
		a.Desk,
		&rehearsalCommands{base: b, previewer: o.Previewer},
		&followUpCommands{base: b},
		a.schedules,
		&pauseCommands{base: b, desk: o.Desk},
		a.safeMode,
		&accountCommands{base: b, accounts: o.Accounts},
		a.status,
		a.doctors,
		a.Web,
		&configCommands{base: b, config: o.Config},
		&watchCommands{base: b},
		a.monitors,
		&hookCommands{base: b},
		a.bridges,
		a.restores,
		a.Budget,
		&policyCommands{base: b, policy: o.Policy},
		&approvalCommands{base: b},
		a.pins,
		a.Host,
		&auditCommands{base: b},
		&undoCommands{base: b, run: a.runCommand},
		a.help,
		a.orders,
	}
}

// setHandlers sets who reads what is no command: the first one that knows it answers.
func (a *Admin) setHandlers() {
	a.textHandlers = []handler{
		a.Drafts.handleReply,
		a.Tasks.answerApproval,
		a.handleNoticeReply,
		a.Tasks.revisePlan,
		a.Answers.handleRewrite,
		a.business.handleAnswer,
		a.handleChoice,
		a.orders.handle,
	}
	a.reactionHandlers = []handler{
		a.escalations.handleReaction,
		a.schedules.handleReaction,
		a.Commitments.handleReaction,
		a.Tasks.stopByReaction,
		a.Tasks.answerApproval,
		a.handleReactionChoice,
	}
}

// isCommand reports whether a text is a command that exists, or what a shortcut stands for.
func (a *Admin) isCommand(typed string) bool {
	name, _ := parseCommand(typed)
	_, known := a.table.lookup(name)
	_, short := policy.ExpandShortcut(a.settings.Shortcuts, typed)
	return known || short
}

// errAlreadyAnswered rolls back a transaction because another attempt has answered the message.
var errAlreadyAnswered = errors.New("the message was answered before")

// olderCommandWait is the delay of a command while an older one is still running.
const olderCommandWait = 50 * time.Millisecond

// HandleCommand carries out the command in a message of the admin room, once. For a question it enqueues a job that calls
// Answer, so that no command waits for a model. last says that no other attempt follows.
func (a *Admin) HandleCommand(ctx context.Context, message store.MessageID, last bool) error {
	r, isOpen, err := a.openRequest(ctx, message)
	if !isOpen {
		return err
	}
	isReply, err := a.escalations.isReply(ctx, r)
	if err != nil {
		return err
	}
	order, isOrder, err := a.orders.find(ctx, r)
	if err != nil {
		return err
	}
	if isQuestion(r.message) && !isReply && !r.room.IsOperatorsRoom && (!isOrder || order.isQuestion()) {
		return a.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, jobs.AskArgs{MessageID: message}) })
	}
	if isOrder && order.stops {
		return a.execute(ctx, r, last)
	}
	if waits, err := a.mustWait(ctx, r); err != nil {
		return err
	} else if waits {
		return jobs.Snooze(olderCommandWait)
	}
	return a.execute(ctx, r, last)
}

// Answer answers the question in a message of the admin room, once. last says that no other attempt follows.
func (a *Admin) Answer(ctx context.Context, message store.MessageID, last bool) error {
	r, isOpen, err := a.openRequest(ctx, message)
	if !isOpen {
		return err
	}
	return a.execute(ctx, r, last)
}

// openRequest reads a message and its room. isOpen is false if there is an error, or if the message was answered.
func (a *Admin) openRequest(ctx context.Context, message store.MessageID) (_ request, isOpen bool, err error) {
	r, err := a.loadRequest(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return request{}, false, jobs.Permanent(err)
	}
	if err != nil {
		return request{}, false, err
	}
	return r, r.message.AnsweredAt == nil, nil
}

// execute handles a request and commits the answer. A failure of the last attempt is reported to the owner.
func (a *Admin) execute(ctx context.Context, r request, last bool) error {
	if err := a.noteSlash(ctx, r); err != nil {
		return err
	}
	ans, err := a.handle(ctx, r)
	if err == nil {
		ans, err = a.pins.guard(ctx, r, ans)
	}
	if err == nil && !ans.handled {
		err = a.commit(ctx, r, ans)
	}
	if err == nil || !last || jobs.IsSnooze(err) {
		return err
	}
	return a.reportFailure(context.WithoutCancel(ctx), r, err)
}

// noteSlash stores that a command with "/" has arrived from the owner. From then on, commands in texts are shown with "/".
func (a *Admin) noteSlash(ctx context.Context, r request) error {
	if r.read == nil || !r.isOwner() || !strings.HasPrefix(r.read.Body, "/") || strings.HasPrefix(r.read.Body, "//") {
		return nil
	}
	if name, _ := parseCommand(r.read.Body); name == "" {
		return nil
	}
	var isKnown bool
	_, err := store.GetSetting(ctx, a.store.DB(), store.SettingSlash, &isKnown)
	if err != nil {
		return err
	}
	if isKnown {
		return nil
	}
	return a.store.InTx(ctx, func(tx store.Tx) error { return store.PutSetting(ctx, tx, store.SettingSlash, true) })
}

// loadRequest reads a message and its room. A shortcut of the owner is replaced by its command.
func (a *Admin) loadRequest(ctx context.Context, message store.MessageID) (request, error) {
	m, err := store.MessageByID(ctx, a.store.DB(), message)
	if err != nil {
		return request{}, err
	}
	read := m
	room, err := store.ChatByID(ctx, a.store.DB(), m.ChatID)
	if command, ok := policy.ExpandShortcut(a.settings.Shortcuts, m.Body); ok && m.Author.MayCommandAsOwner() && m.Thread == "" &&
		m.Code == policy.CodeCommand && m.Kind == string(bridgebridge.Text) {
		m.Body = command
	}
	return request{
		message:   m,
		read:      &read,
		room:      room,
		now:       a.room.now(),
		mayAnswer: a.escalations.desk.MayAnswer(m),
	}, err
}

// maxOlderCommandTime is how long an unfinished command delays later ones. It is limited so that a command that hangs
// does not block the room.
const maxOlderCommandTime = time.Minute

// mustWait reports whether an older command must finish first. A command does not wait for questions, which take long and
// change nothing, and /pause never waits. Replies in a thread keep their order.
func (a *Admin) mustWait(ctx context.Context, r request) (bool, error) {
	if name, _ := parseCommand(r.message.Body); name == "pause" {
		return false, nil
	}
	earlier, err := store.OpenCommands(ctx, a.store.DB(), r.room.ID, r.message.ID, r.now.Add(-maxOlderCommandTime))
	if err != nil {
		return false, err
	}
	for _, m := range earlier {
		if !isQuestion(m) || (m.Thread != "" && m.Thread == r.message.Thread) {
			return true, nil
		}
	}
	return false, nil
}

// reportFailure answers a command that failed finally. The answer contains the reference of the log entry that has the cause.
func (a *Admin) reportFailure(ctx context.Context, r request, cause error) error {
	ref := fmt.Sprintf("#%d", r.message.ID)
	zerolog.Ctx(ctx).Err(cause).Str("ref", ref).Msg("A command failed")
	return a.commit(ctx, r, answer{
		text:   "⚠️ **That did not work**, and nothing was changed. The log says why under " + esc(ref) + "; then try again.",
		reason: "It failed.", outcome: "failed",
	})
}
