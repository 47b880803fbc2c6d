package main

import (
	"context"
	"log/slog"

	"github.com/rs/zerolog"

	"multis/admin"
	"multis/agent"
	"multis/appservice"
	"multis/clock"
	"multis/config"
	"multis/fetch"
	"multis/heartbeat"
	"multis/hooks"
	"multis/jobs"
	"multis/knowledge"
	"multis/mcp"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/skills"
	"multis/speech"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// frontend is where messages come from and go to: a homeserver or a terminal.
type frontend struct {
	terminal  bool
	inbox     *appservice.Inbox
	sender    outbox.Sender
	files     files
	rooms     jobs.AdminRoomMaker
	describer jobs.Describer
	decrypter jobs.Decrypter
	historian jobs.Historian
	keeper    jobs.FileKeeper
}

// files downloads the files of messages.
type files interface {
	admin.Files
	speech.Files
}

// assistant is the program without its front end, from the inbox's jobs to the outbox. It is the same with a homeserver and in a terminal.
type assistant struct {
	cfg      *config.Config
	store    *store.Store
	front    frontend
	defaults policy.Defaults
	box      *outbox.Box

	models   models
	search   *search.Searcher
	library  *knowledge.Library
	memory   *memory.Memory
	skills   *skills.Set
	tools    *tools.Registry
	mcp      *mcp.Source
	agent    *agent.Agent
	clock    *clock.Clock
	admin    *admin.Admin
	hooks    *hooks.Hooks
	webhooks *hooks.Webhooks
	runner   *jobs.Runner
}

// newAssistant wires the assistant. Each step uses what those before it made.
func newAssistant(ctx context.Context, cfg *config.Config, st *store.Store, front frontend) (*assistant, error) {
	a := &assistant{cfg: cfg, store: st, front: front, defaults: chatDefaults(cfg), box: outbox.New(st, outboxRules(cfg), front.sender)}
	for _, step := range []func(context.Context) error{
		a.openModels, a.openMemory, a.addTools, a.addAgent, a.addClock, a.addAdmin, a.addHooks, a.addRunner,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *assistant) openModels(ctx context.Context) (err error) {
	a.models, err = openModels(ctx, a.cfg, a.store)
	return err
}

// openMemory opens what answers are made from: the search, the documents, the notes of chats and the skills.
func (a *assistant) openMemory(context.Context) (err error) {
	a.search = search.Open(a.store, search.Options{Embedder: a.models.embedders.queries})
	if a.library, err = openLibrary(a.cfg, a.store); err != nil {
		return err
	}
	a.skills = openSkills(a.cfg)
	rules, err := memoryRules(a.cfg, a.skills)
	if err != nil {
		return err
	}
	a.memory = memory.New(memory.Options{
		Store: a.store, Search: a.search, Model: a.models.main, ModelOf: a.models.personas.ModelOfChat(a.defaults), Defaults: a.defaults,
		Zone: a.cfg.TimeZone, Rules: rules, NotesOnly: !a.cfg.Memory.SearchMessages,
	})
	return nil
}

// addTools registers all tools, those of MCP servers included. Which of them a model is offered is decided for each turn.
func (a *assistant) addTools(context.Context) (err error) {
	a.tools = tools.NewRegistry(tools.Tiers{},
		tools.SearchDocs{Search: a.search}, tools.RecallMemory{Memory: a.memory}, tools.Remember{Store: a.store, Memory: a.memory}, tools.Escalate{},
		tools.FetchURL{Client: fetch.New(fetch.Options{}), Documents: a.library},
		tools.ReadFile{Documents: a.library}, tools.GrepFiles{}, tools.FindFiles{}, tools.SendFile{Send: a.sendFile},
		tools.AuditSummary{Store: a.store}, tools.Delegate{}, tools.Handoff{}, tools.SessionsList{}, tools.SessionsHistory{}, tools.SessionsSend{},
	)
	if a.mcp, err = openMCP(a.cfg, a.store, a.tools); err != nil {
		return err
	}
	a.tools.Add(tools.Schedule{Store: a.store, Registry: a.tools, Owner: a.cfg.Owner, Zone: a.cfg.TimeZone})
	return nil
}

// sendFile sends a file to the admin room.
func (a *assistant) sendFile(ctx context.Context, room store.Chat, f tools.Outgoing) error {
	return a.store.InTx(ctx, func(tx store.Tx) error {
		notice := outbox.Notice(room, text.Escape(f.Caption), outbox.Answer)
		notice.File = &outbox.File{Name: f.Name, MIME: f.MIME, Data: f.Data}
		_, _, err := a.box.Queue(ctx, tx, notice)
		return err
	})
}

func (a *assistant) addAgent(context.Context) error {
	cfg := a.cfg
	a.agent = agent.New(agent.Options{
		Store: a.store, Box: a.box, Search: a.search, Memory: a.memory, Tools: a.tools, Skills: a.skills, Personas: a.models.personas, Defaults: a.defaults,
		Currency: cfg.Budget.Currency, HandOverAtCap: cfg.Budget.AtCap == config.AtCapEscalate,
		Name: cfg.Name, Greeting: cfg.Business.Greeting, Handover: cfg.Business.EscalationText,
		BurstQuiet: cfg.Chats.BurstQuiet, BurstMax: cfg.Chats.BurstMax, Zone: cfg.TimeZone,
		OpenModel: a.models.open,
	})
	return nil
}

// addClock adds the schedules, with multis' own: upkeep and heartbeats.
func (a *assistant) addClock(ctx context.Context) error {
	cfg := a.cfg
	a.clock = clock.New(clock.Options{
		Store: a.store, Messenger: admin.ScheduleMessenger{Box: a.box, Defaults: a.defaults, Zone: cfg.TimeZone}, Worker: a.agent,
		Checker: heartbeat.New(heartbeat.Options{
			Store: a.store, Box: a.box, Memory: a.memory, Personas: a.models.personas, Tools: a.tools, Defaults: a.defaults, Name: cfg.Name, Zone: cfg.TimeZone,
			Configs: a.models.heartbeats,
		}),
		Upkeep: upkeep(a.store, a.memory, a.agent), Heartbeats: heartbeatTimes(cfg), Owner: cfg.Owner, Operators: cfg.Operators, Zone: cfg.TimeZone,
	})
	return a.clock.Prepare(ctx)
}

func (a *assistant) addAdmin(context.Context) error {
	rules, err := adminRules(a.cfg, a.models.main.Name(), a.front.terminal)
	if err != nil {
		return err
	}
	a.admin = admin.New(admin.Options{
		Store: a.store, Box: a.box, Asker: a.agent, Planner: a.agent, Clock: a.clock, Search: a.search, Library: a.library, Files: a.front.files, Memory: a.memory,
		Tools: toolbox{a.agent, a.mcp}, MaxTools: tools.MaxOffered, Skills: skillList{a.cfg, a.skills}, Saved: savedTasks{a.cfg, a.agent}, Replayer: replayer{a.agent},
		Rules: rules,
	})
	return nil
}

func (a *assistant) addHooks(ctx context.Context) error {
	a.hooks, a.webhooks = openHooks(a.cfg, a.store, a.box, a.defaults), hooks.NewWebhooks(a.store, a.box)
	return a.hooks.Save(ctx)
}

// addRunner has each kind of job done by one of the parts.
func (a *assistant) addRunner(ctx context.Context) (err error) {
	front, adm := a.front, a.admin
	handlers := jobs.Handlers{
		Turn: a.agent, Send: a.box, Retract: a.box,
		Describe: front.describer, History: front.historian, Imported: adm.Imports, Bridges: front.inbox, Decrypt: front.decrypter, KeepFile: front.keeper,
		Transcribe: speech.New(speech.Options{
			Store: a.store, Files: front.files, Model: a.models.speech, Inbox: front.inbox, Defaults: a.defaults, Notify: a.agent.Notify,
		}),
		Command: adm, Ask: adm, AdminRoom: front.rooms, Draft: adm.Drafts, Approval: adm.Tasks, Notice: adm.Notices, Budget: adm.Budget,
		Undelivered: adm.Notices, Digest: adm.Notices, Remind: adm.Commitments, Export: adm.Exports,
		Task:  a.agent,
		Index: adm.Documents, Folders: adm.Documents, Embed: knowledge.NewVectors(a.store, a.models.embedders.passages),
		Capture: a.memory, Summarise: a.agent, Forget: adm.Forgetting,
		Tick: a.clock, Execution: a.clock, Hook: a.hooks,
		Watch: hooks.NewPageWatcher(hooks.PageWatcherOptions{Store: a.store, Box: a.box, Fetch: fetch.New(fetch.Options{UserAgent: userAgent()}), Reader: a.library}),
	}
	if a.cfg.Memory.SearchMessages {
		handlers.IndexMessages = a.memory
	}
	a.runner, err = jobs.NewRunner(ctx, a.store, handlers, slog.New(zerolog.NewSlogHandler(zerolog.Ctx(ctx).Level(zerolog.WarnLevel))))
	return err
}
