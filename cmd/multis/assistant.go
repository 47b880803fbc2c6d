package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/admin"
	"multis/agent"
	"multis/agent/heartbeat"
	"multis/agent/mcp"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/appservice"
	"multis/business/answers"
	"multis/business/desk"
	"multis/clock"
	"multis/config"
	"multis/hooks"
	"multis/internal/fetch"
	"multis/internal/text"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm/media"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/policy/rules"
	"multis/safety/audit"
	"multis/safety/pin"
	"multis/safety/sandbox"
	"multis/store"
)

// frontend holds the parts of the assistant that differ between a homeserver and a terminal.
type frontend struct {
	terminal   bool // whether it is a terminal
	rehearsing bool // whether answers must not depend on earlier ones
	safe       bool // whether multis is in safe mode
	inbox      *appservice.Inbox
	sender     outbox.Sender
	files      files
	rooms      jobs.AdminRoomMaker
	describer  jobs.Describer
	decrypter  jobs.Decrypter
	historian  jobs.Historian
	keeper     jobs.AttachmentStore
	pin        *pin.Keeper      // nil in a terminal, whose user has access to the server anyway
	backup     jobs.BackupMaker // nil if no backups are made
	examiner   admin.Examiner   // nil without a homeserver
	health     admin.Health     // nil without a homeserver
	// observeSearch is told how long each search took; nil if nobody asks.
	observeSearch func(took time.Duration)
	accounts      admin.Accounts      // nil without a homeserver
	readers       admin.RoomReaders   // nil without a homeserver
	config        admin.Configuration // nil without a configuration file
	// configFile is the path of the configuration, which sandboxed commands must not read; empty without one.
	configFile string
}

// files downloads the files of messages.
type files interface {
	admin.Files
	media.Files
}

// assistant is the program without its front end: everything between inbox and outbox. It is the same with a homeserver
// and with a terminal.
type assistant struct {
	cfg      *config.Config
	store    *store.Store
	front    frontend
	defaults policy.Defaults
	box      *outbox.Box
	desk     *desk.Desk

	models       models
	search       *search.Searcher
	documents    *knowledge.Library
	answers      *answers.Keeper
	memory       *memory.Memory
	skills       *skills.Set
	tools        *tools.Registry
	host         admin.Host         // runs the owner's commands; nil if commands are off
	processes    *sandbox.Processes // commands in the background; nil if commands are off
	mcp          *mcp.Source
	agent        *agent.Agent
	clock        *clock.Clock
	admin        *admin.Admin
	hooks        *hooks.Hooks
	commandHooks *hooks.Commands // nil if none are configured
	// monitorRunner runs the commands of monitors, unless monitorProblem says why none are run.
	monitorRunner  *sandbox.Sandbox
	monitorProblem error
	webhooks       *hooks.Webhooks
	runner         *jobs.Runner
	audit          audit.Log
}

// newAssistant wires the assistant. Each step uses what the steps before it have set.
func newAssistant(ctx context.Context, cfg *config.Config, st *store.Store, front frontend) (*assistant, error) {
	if err := makeWorkspaces(cfg); err != nil {
		return nil, err
	}
	a := &assistant{cfg: cfg, store: st, front: front, defaults: chatDefaults(cfg)}
	settings := outboxSettings(cfg)
	if len(cfg.CommandHooks) > 0 {
		settings.BeforeSend = a.beforeSend
	}
	a.box = outbox.New(st, settings, front.sender)
	for _, step := range []func(context.Context) error{
		a.openAudit, a.openModels, a.openSources, a.addTools, a.addAgent, a.addClock, a.addAdminRoom, a.addHooks, a.addRunner,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *assistant) openAudit(context.Context) (err error) {
	a.audit, err = audit.New(a.cfg.Appservice.ASToken.Value())
	return err
}

func (a *assistant) openModels(ctx context.Context) (err error) {
	a.models, err = openModels(ctx, a.cfg, a.store)
	return err
}

// openSources opens the sources of answers: the search, the documents, the notes of chats and the skills.
func (a *assistant) openSources(context.Context) (err error) {
	a.search = search.NewWithOptions(a.store, search.Options{Embedder: a.models.embedders.queries, Observe: a.front.observeSearch})
	if a.documents, err = openLibrary(a.cfg, a.store); err != nil {
		return err
	}
	a.answers = &answers.Keeper{
		Store:    a.store,
		Search:   a.search,
		Library:  a.documents,
		Defaults: a.defaults,
		Variables: answers.Variables{
			Business: a.cfg.Business.Name, Hours: strings.Join(a.cfg.Business.Hours, "; "),
			OpeningHours: a.cfg.Business.HoursAt(a.cfg.TimeZone, a.cfg.Business.Hours), Language: a.cfg.Business.Language,
		},
	}
	deskWith := deskOptions(a.cfg)
	deskWith.Store = a.store
	deskWith.Box = a.box
	deskWith.Answers = a.answers
	deskWith.Audit = a.audit
	deskWith.Files = a.front.files
	a.desk = desk.New(deskWith)
	a.skills = openSkills(a.cfg)
	settings, err := memorySettings(a.cfg, a.skills)
	if err != nil {
		return err
	}
	a.memory = memory.New(memory.Options{
		Store:     a.store,
		Search:    a.search,
		Model:     a.models.main,
		ModelOf:   a.models.personas.ChatModel(a.defaults),
		Defaults:  a.defaults,
		Zone:      a.cfg.TimeZone,
		Settings:  settings,
		Name:      a.cfg.Name,
		NotesOnly: !a.cfg.Memory.SearchMessages,
	})
	return nil
}

// addTools registers all tools, including those of MCP servers. Each turn decides which of them the model is offered.
func (a *assistant) addTools(ctx context.Context) error {
	set, err := newRules(a.cfg)
	if err != nil {
		return err
	}
	a.tools = tools.NewRegistry(tools.NewRulePolicy(set, a.cfg.TimeZone, nil), a.ownTools()...)
	if a.mcp, err = openMCP(a.cfg, a.store, a.tools, a.front.safe); err != nil {
		return err
	}
	if err := a.addHostTools(ctx); err != nil {
		return err
	}
	a.tools.Add(tools.Schedule{Store: a.store, Registry: a.tools, Owner: a.cfg.Owner, Zone: a.cfg.TimeZone})
	return nil
}

// ownTools returns multis' own tools, except Schedule, which needs the registry. Those of the zero assistant can be
// described but not called.
func (a *assistant) ownTools() []tools.Tool {
	commands := a.cfg != nil && a.cfg.Exec.Enabled
	return []tools.Tool{
		tools.SearchDocs{Search: a.search},
		tools.RecallMemory{Memory: a.memory},
		tools.Remember{Store: a.store, Memory: a.memory},
		tools.Escalate{},
		tools.FetchURL{Client: fetch.New(fetch.Options{}), Documents: a.documents},
		tools.ReadFile{Documents: a.documents, CommandsWrite: commands},
		tools.GrepFiles{CommandsWrite: commands},
		tools.FindFiles{CommandsWrite: commands},
		tools.SendFile{Send: a.sendFile},
		tools.AuditSummary{Store: a.store},
		tools.Delegate{},
		tools.Handoff{},
		tools.SessionsList{},
		tools.SessionsHistory{},
		tools.SessionsSend{},
		tools.MessageContact{},
	}
}

// sendFile sends a file to the admin room.
func (a *assistant) sendFile(ctx context.Context, room store.Chat, f tools.OutgoingFile) error {
	return a.store.InTx(ctx, func(tx store.Tx) error {
		notice := outbox.NewNotice(room, text.Escape(f.Caption), outbox.Answer)
		notice.File = &outbox.File{Name: f.Name, MIME: f.MIME, Data: f.Data}
		_, _, err := a.box.Queue(ctx, tx, notice)
		return err
	})
}

// surface returns where the owner's questions come from: the terminal or Matrix. The rules about tools may depend on it.
func (a *assistant) surface() rules.Surface {
	if a.front.terminal {
		return rules.SurfaceCLI
	}
	return rules.SurfaceOwner
}

func (a *assistant) addAgent(ctx context.Context) error {
	cfg := a.cfg
	if err := a.documents.ForgetPages(ctx, cfg.Business.Pages); err != nil {
		return err
	}
	var pages agent.Pages // nil without business.pages
	if len(cfg.Business.Pages) > 0 {
		pages = knowledge.NewPages(a.documents, cfg.Business.Pages)
	}
	var pictures agent.Pictures // nil without a model for pictures
	if cfg.Vision.Model != config.NoModel {
		pictures = media.NewViewer(a.front.files, a.models.vision)
	}
	a.agent = agent.New(agent.Options{
		Pages:         pages,
		Pictures:      pictures,
		Store:         a.store,
		Box:           a.box,
		Search:        a.search,
		Memory:        a.memory,
		Tools:         a.tools,
		Skills:        a.skills,
		Answers:       a.answers,
		Personas:      a.models.personas,
		Defaults:      a.defaults,
		Currency:      cfg.Budget.Currency,
		EscalateAtCap: cfg.Budget.AtCap == config.AtCapEscalate,
		Name:          cfg.Name,
		Texts:         cfg.Business.Catalog(),
		Language:      cfg.Business.Language,
		Business: agent.Business{
			Name:   cfg.Business.Name,
			Topics: cfg.Business.Topics,
			Rules:  cfg.Business.Rules,
			Tone:   cfg.Business.Tone,
		},
		EscalationKeywords: cfg.Business.Escalation.Keywords,
		Hours:              cfg.Business.OpeningHours(cfg.TimeZone),
		LabelHours:         labelHours(cfg),
		AwayOutsideHours:   cfg.Business.OutsideHours == config.OutsideHoursAway,
		Desk:               a.desk,
		AnswerJudge:        a.models.answers,
		MayJudgeItself:     a.selfJudge(),
		ShadowJudge:        a.models.judge,
		OwnerPause:         cfg.Chats.OwnerPause,
		BurstQuiet:         cfg.Chats.BurstQuiet,
		BurstMax:           cfg.Chats.BurstMax,
		Zone:               cfg.TimeZone,
		OpenModel:          a.models.open,
		Rehearsing:         a.front.rehearsing,
		Surface:            a.surface(),
		Injection: agent.Injection{
			Enabled:  cfg.Injection.Enabled,
			Judge:    cfg.Injection.Judge,
			MaxFlags: cfg.Injection.MaxFlags,
			HoldTime: cfg.Injection.HoldTime,
		},
	})
	a.answers.Judge = a.agent.Shadows
	return nil
}

// addClock adds the clock, with the built-in schedules: upkeep and heartbeats.
func (a *assistant) addClock(ctx context.Context) error {
	cfg := a.cfg
	a.clock = clock.New(clock.Options{
		Store:     a.store,
		Messenger: admin.ScheduleMessenger{Box: a.box, Defaults: a.defaults, Zone: cfg.TimeZone},
		Worker:    a.agent.Questions,
		Timeout:   cfg.LLM.UnattendedTimeout,
		Checker: heartbeat.New(heartbeat.Options{
			Store:    a.store,
			Box:      a.box,
			Memory:   a.memory,
			Personas: a.models.personas,
			Tools:    a.tools,
			Defaults: a.defaults,
			Name:     cfg.Name,
			Zone:     cfg.TimeZone,
			Configs:  a.models.heartbeats,
		}),
		Upkeep:     upkeepTasks(a),
		Heartbeats: heartbeatTimes(cfg),
		Owner:      cfg.Owner,
		Operators:  cfg.Operators,
		Zone:       cfg.TimeZone,
	})
	return a.clock.Prepare(ctx)
}

func (a *assistant) addAdminRoom(context.Context) error {
	settings, err := adminSettings(a.cfg, a.models.main.Name(), a.front.terminal)
	if err != nil {
		return err
	}
	settings.Audit = a.audit
	settings.Agents = a.models.personas.All
	var asker admin.Asker = a.agent.Questions
	if a.front.safe {
		asker, settings.Model = waitingAsker{asker}, "none is called in safe mode"
	}
	for _, h := range commandHooksOf(a.cfg) {
		if len(h.Before) > 0 {
			settings.AskedHooks = append(settings.AskedHooks, admin.AskedHook{Name: h.Name, Before: h.Before, Tools: h.Tools})
		}
	}
	a.admin = admin.New(admin.Options{
		Store:     a.store,
		Box:       a.box,
		Asker:     asker,
		Planner:   planner{a.agent.Plans, a.agent.Replays},
		Clock:     a.clock,
		Search:    a.search,
		Library:   a.documents,
		Files:     a.front.files,
		Memory:    a.memory,
		Tools:     a.agent.Questions,
		Servers:   a.mcp,
		Policy:    policyView{a.cfg, a.tools, a.front.safe},
		Skills:    a.skills,
		Saved:     savedTasks{a.cfg, a.agent.Questions},
		Replayer:  replayer{a.agent.Replays},
		Desk:      a.desk,
		PIN:       a.front.pin,
		Host:      a.host,
		Previewer: previewer{a.agent.Turns},
		Answers:   a.answers,
		Examiner:  a.front.examiner,
		Health:    a.front.health,
		Accounts:  a.front.accounts,
		Readers:   a.front.readers,
		Config:    a.front.config,
		Settings:  settings,
	})
	return nil
}

// waitingAsker is the Asker of safe mode, in which work waits until models are called again. Whether one is configured turns out then.
type waitingAsker struct{ admin.Asker }

// HasModel returns true.
func (waitingAsker) HasModel(store.Chat, string) bool { return true }

func (a *assistant) addHooks(ctx context.Context) error {
	a.hooks, a.webhooks = openHooks(a.cfg, a.store, a.box, a.defaults, a.commandHooks), hooks.NewWebhooks(a.store, a.box)
	return a.hooks.StoreTargets(ctx)
}

// addRunner adds the job runner, with a handler for each kind of job.
func (a *assistant) addRunner(ctx context.Context) (err error) {
	front, adm := a.front, a.admin
	handlers := jobs.Handlers{
		AnswerTimeout:     a.cfg.LLM.AnswerTimeout,
		UnattendedTimeout: a.cfg.LLM.UnattendedTimeout,

		Turn:         a.agent.Turns,
		Quiet:        a.agent.Quiet,
		Send:         a.box,
		Retract:      a.box,
		Describe:     front.describer,
		History:      front.historian,
		ImportNotice: adm.Imports,
		Bridges:      front.inbox,
		Decrypt:      front.decrypter,
		KeepFile:     front.keeper,
		Transcribe: media.NewTranscriber(media.TranscriberOptions{
			Store:    a.store,
			Files:    front.files,
			Model:    a.models.speech,
			Inbox:    front.inbox,
			Defaults: a.defaults,
			Notify:   a.agent.Notify,
		}),
		Command:             adm,
		PIN:                 adm,
		Redact:              a.box,
		Exec:                adm.Host,
		Ask:                 adm,
		AdminRoom:           front.rooms,
		Draft:               adm.Drafts,
		Question:            adm,
		Withdraw:            a.box,
		Approval:            adm.Tasks,
		Notice:              adm.Notices,
		Budget:              adm.Budget,
		Undelivered:         adm.Notices,
		LateMessages:        adm.Notices,
		CommitmentReminders: adm.Commitments,
		Escalation:          a.desk,
		CopyFile:            a.desk,
		Reply:               a.desk,
		Export:              adm.Exports,
		Backup:              front.backup,
		Task:                a.agent.Tasks,
		Index:               adm.Documents,
		Folders:             adm.Documents,
		Embed:               knowledge.NewVectors(a.store, a.models.embedders.passages),
		Capture:             a.memory,
		Summarise:           a.agent.Summaries,
		Forget:              adm.Forgetting,
		Answers:             adm.Answers,
		Tick:                a.clock,
		Execution:           a.clock,
		Hook:                a.hooks,
		Watch: hooks.NewPageWatcher(hooks.PageWatcherOptions{
			Store:  a.store,
			Box:    a.box,
			Fetch:  fetch.New(fetch.Options{UserAgent: userAgent()}),
			Reader: a.documents,
		}),
	}
	if handlers.Monitor, err = a.startMonitors(ctx); err != nil {
		return err
	}
	if a.cfg.Memory.SearchMessages {
		handlers.IndexMessages = a.memory
	}
	fingerprint, err := a.cfg.Fingerprint()
	if err != nil {
		return err
	}
	if a.runner, err = jobs.NewRunner(ctx, a.store, handlers,
		slog.New(zerolog.NewSlogHandler(zerolog.Ctx(ctx).Level(zerolog.WarnLevel)))); err != nil {
		return err
	}
	return a.runner.ShowConfig(ctx, fingerprint, versionOf(debug.ReadBuildInfo))
}
