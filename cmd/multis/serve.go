package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"maunium.net/go/mautrix/id"

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
	"multis/llm"
	"multis/mcp"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/speech"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// runCmd serves until it is told to stop.
type runCmd struct{}

// Run reads the configuration and serves.
func (runCmd) Run(ctx context.Context, c *cli) error {
	cfg, err := load(c.Config)
	if err != nil {
		return err
	}
	closeLog, err := openLog(cfg.Logging)
	if err != nil {
		return err
	}
	defer closeLog()
	if isOpenToAll(c.Config, cfg) {
		zerolog.Ctx(ctx).Warn().Str("run", "chmod 600 "+c.Config).Msg("Every user of this machine can read the configuration and the secrets in it")
	}
	return serve(ctx, cfg)
}

// assistant is everything between the inbox and the outbox: the same with a homeserver and in a terminal.
type assistant struct {
	admin  *admin.Admin
	runner *jobs.Runner
	calls  *hooks.Webhooks
	tools  *tools.Registry
	source *mcp.Source
}

// newAssistant wires the assistant for a front end.
func newAssistant(ctx context.Context, cfg *config.Config, st *store.Store, front frontend) (*assistant, error) {
	defaults := chatDefaults(cfg)
	models, err := newModels(cfg, st)
	if err != nil {
		return nil, err
	}
	model, err := models.Open(cfg.LLM.Names(cfg.LLM.Model), "") //nolint:contextcheck // it connects to nobody
	if err != nil {
		return nil, err
	}
	personas, err := newPersonas(cfg, models, model) //nolint:contextcheck // nor does this
	if err != nil {
		return nil, err
	}
	heartbeats, err := heartbeatConfigs(cfg, st) //nolint:contextcheck // nor does this
	if err != nil {
		return nil, err
	}
	ears, err := openSpeech(cfg, st)
	if err != nil {
		return nil, err
	}
	box := outbox.New(st, outboxRules(cfg, defaults), front.sender)
	vectors, err := openEmbedders(ctx, cfg, st)
	if err != nil {
		return nil, err
	}
	searcher := search.Open(st, search.Options{Embedder: vectors.queries})
	library, err := openLibrary(cfg, st)
	if err != nil {
		return nil, err
	}
	set := openSkills(cfg)
	remembering, err := memoryRules(cfg, set)
	if err != nil {
		return nil, err
	}
	mem := memory.New(memory.Options{Store: st, Search: searcher, Model: model, ModelOf: personas.ModelOfChat(defaults), Defaults: defaults, Zone: cfg.TimeZone, Rules: remembering, NotesOnly: !cfg.Memory.SearchMessages})
	registry := newTools(st, searcher, library, mem, box)
	source, err := openMCP(cfg, st, registry)
	if err != nil {
		return nil, err
	}
	registry.Add(tools.Schedule{Store: st, Registry: registry, Owner: cfg.Owner, Zone: cfg.TimeZone})
	ag := agent.New(agent.Options{
		Store: st, Box: box, Search: searcher, Memory: mem, Tools: registry, Skills: set, Personas: personas, Defaults: defaults,
		Currency: cfg.Budget.Currency, HandOverAtCap: cfg.Budget.AtCap == config.AtCapHandover,
		Name: cfg.Name, Greeting: cfg.Business.Greeting, Handover: cfg.Business.Handover,
		BurstQuiet: cfg.Chats.BurstQuiet, BurstMax: cfg.Chats.BurstMax, Zone: cfg.TimeZone,
		OpenModel: func(name string) (llm.Model, error) { return models.Open(cfg.LLM.Names(name), "") }, //nolint:contextcheck // it connects to nobody
	})
	rules, err := adminRules(cfg, model.Name(), defaults, front.terminal)
	if err != nil {
		return nil, err
	}
	clk := clock.New(clock.Options{
		Store: st, Messenger: admin.ScheduleMessenger{Box: box, Defaults: defaults, Zone: cfg.TimeZone}, Worker: ag,
		Checker: heartbeat.New(heartbeat.Options{
			Store: st, Box: box, Memory: mem, Personas: personas, Tools: registry, Defaults: defaults, Name: cfg.Name, Zone: cfg.TimeZone, Configs: heartbeats,
		}),
		Upkeep: upkeep(st, mem, ag), Heartbeats: heartbeatTimes(cfg), Owner: cfg.Owner, Operators: cfg.Operators, Zone: cfg.TimeZone,
	})
	adm := admin.New(admin.Options{
		Store: st, Box: box, Asker: ag, Planner: ag, Clock: clk, Search: searcher, Library: library, Files: front.files, Memory: mem,
		Tools: toolbox{ag, source}, MaxTools: tools.MaxOffered, Skills: skillList{cfg, set}, Saved: savedTasks{cfg, ag}, Replayer: replayer{ag},
		Rules: rules,
	})
	if err := clk.Prepare(ctx); err != nil {
		return nil, err
	}
	hk := openHooks(cfg, st, box, defaults)
	if err := hk.Save(ctx); err != nil {
		return nil, err
	}
	watch := hooks.NewPageWatcher(hooks.PageWatcherOptions{Store: st, Box: box, Fetch: fetch.New(fetch.Options{Agent: userAgent()}), Reader: library})
	runner, err := jobs.NewRunner(ctx, st, jobs.Handlers{
		Turn: ag, Command: adm, Ask: adm, Send: box, Describe: front.describer, Bridges: front.inbox, Digest: adm.Notices, Index: adm.Documents, Undelivered: adm.Notices,
		Transcribe: speech.New(speech.Options{Store: st, Files: front.files, Model: ears, Inbox: front.inbox, Defaults: defaults, Notify: ag.Notify}),
		Hook:       hk, Watch: watch, Decrypt: front.decrypter, Notice: adm.Notices, Budget: adm.Budget, History: front.historian, Imported: adm.Imports, Retract: box,
		AdminRoom: front.rooms, KeepFile: front.keeper, Forget: adm.Forgetting, Export: adm.Exports, Capture: mem, IndexMessages: archiver(cfg, mem), Summarise: ag, Remind: adm.Commitments,
		Embed: knowledge.NewVectors(st, vectors.passages), Tick: clk, Execution: clk,
		Task: ag, Approval: adm.Tasks, Draft: adm.Drafts, Folders: adm.Documents,
	}, slog.New(zerolog.NewSlogHandler(zerolog.Ctx(ctx).Level(zerolog.WarnLevel))))
	if err != nil {
		return nil, err
	}
	return &assistant{admin: adm, runner: runner, calls: hooks.NewWebhooks(st, box), tools: registry, source: source}, nil
}

func adminRules(cfg *config.Config, model string, defaults policy.Defaults, inTerminal bool) (admin.Rules, error) {
	words, err := shortcuts(cfg)
	return admin.Rules{
		Version: version, Name: cfg.Name, Terminal: inTerminal, Model: model, Zone: cfg.TimeZone, Defaults: defaults, OwnerPause: cfg.Chats.AdminPause,
		Inbox: callAddress(cfg.Watches), Disclose: discloses(cfg), DayBudget: int64(cfg.Budget.PerDay), Currency: cfg.Budget.Currency,
		HandOverAtCap: cfg.Budget.AtCap == config.AtCapHandover, Embeddings: cfg.Embeddings.Model, Agents: agentList(cfg), Shortcuts: words,
	}, err
}

func outboxRules(cfg *config.Config, defaults policy.Defaults) outbox.Rules {
	return outbox.Rules{Owner: cfg.Owner, Defaults: defaults, OwnerPause: cfg.Chats.AdminPause, SendCap: sendCap(cfg), Name: cfg.Name, Disclose: discloses(cfg)}
}

func inboxRules(cfg *config.Config, defaults policy.Defaults) appservice.Rules {
	return appservice.Rules{
		Owner: cfg.Owner, Bot: botID(cfg), Operators: cfg.Operators, Name: cfg.Name, Defaults: defaults, MaxAge: cfg.Chats.ReplyMaxAge,
		OwnerPause: cfg.Chats.AdminPause, DeleteAnswers: cfg.Chats.DeleteAnswers, Keywords: cfg.Business.Escalation.Keywords, StoreCap: storeCap, SendCap: sendCap(cfg),
		Listens: cfg.Speech.Model != config.NoModel, Keep: appservice.Keep(cfg.Media.Keep), Spaces: routedSpaces(cfg),
	}
}

func keepLimits(m config.Media) appservice.KeepLimits {
	return appservice.KeepLimits{Total: int64(m.MaxMB) << 20, Age: time.Duration(m.MaxDays) * 24 * time.Hour}
}

func sendCap(cfg *config.Config) policy.Rate {
	return policy.Rate{Minute: cfg.Chats.ContactCaps.PerMinute, Day: cfg.Chats.ContactCaps.PerDay}
}

// discloses tells on which networks contacts are told who writes.
func discloses(cfg *config.Config) func(protocol string) bool {
	disclosed := map[string]bool{}
	for name, n := range cfg.Chats.Networks {
		disclosed[policy.Network(name)] = n.Disclosure
	}
	return func(protocol string) bool {
		told, set := disclosed[policy.Network(protocol)]
		return told || !set
	}
}

// archiver makes messages findable, unless they are not to be.
func archiver(cfg *config.Config, mem *memory.Memory) jobs.MessageIndexer {
	if !cfg.Memory.SearchMessages {
		return nil
	}
	return mem
}

// newTools are all that a model may call. Which of them a turn has is decided there.
func newTools(st *store.Store, searcher *search.Searcher, library *knowledge.Library, mem *memory.Memory, box *outbox.Box) *tools.Registry {
	return tools.NewRegistry(tools.Tiers{},
		tools.SearchDocs{Search: searcher}, tools.RecallMemory{Memory: mem}, tools.Remember{Store: st, Memory: mem}, tools.Escalate{},
		tools.FetchURL{Client: fetch.New(fetch.Options{}), Documents: library},
		tools.ReadFile{Documents: library}, tools.GrepFiles{}, tools.FindFiles{}, tools.SendFile{Send: fileSender(st, box)},
		tools.AuditSummary{Store: st}, tools.Delegate{}, tools.Handoff{}, tools.SessionsList{}, tools.SessionsHistory{}, tools.SessionsSend{},
	)
}

// fileSender sends a file to a room of the owner's.
func fileSender(st *store.Store, box *outbox.Box) func(context.Context, store.Chat, tools.Outgoing) error {
	return func(ctx context.Context, room store.Chat, f tools.Outgoing) error {
		return st.InTx(ctx, func(tx store.Tx) error {
			letter := outbox.Notice(room, text.Escape(f.Caption), outbox.Answer)
			letter.File = &outbox.File{Name: f.Name, MIME: f.MIME, Data: f.Data}
			_, _, err := box.Queue(ctx, tx, letter)
			return err
		})
	}
}

// storeCap bounds what is kept of one contact.
var storeCap = policy.Rate{Minute: 60, Day: 2000}

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

// files fetches what was sent: whole, or as it comes.
type files interface {
	admin.Files
	speech.Files
}

// serve runs multis beside a homeserver until ctx ends.
func serve(ctx context.Context, cfg *config.Config) error {
	log := zerolog.Ctx(ctx)
	st, closeDB, err := openStore(ctx, cfg.Database, alone)
	if err != nil {
		return err
	}
	defer closeDB()
	if err := os.MkdirAll(cfg.Documents.Folder, 0o750); err != nil {
		return fmt.Errorf("documents.folder: %w", err)
	}
	hs, err := newHomeserver(cfg, st)
	if err != nil {
		return err
	}
	vault := appservice.NewVault(st, hs)
	inbox := appservice.NewInbox(st, inboxRules(cfg, chatDefaults(cfg)))
	describer := appservice.NewDescriber(inbox, hs)
	as, err := newAssistant(ctx, cfg, st, frontend{
		inbox: inbox, sender: hs, files: hs, rooms: hs, describer: describer,
		decrypter: appservice.NewDecrypter(inbox, vault),
		historian: appservice.NewHistorian(inbox, hs),
		keeper:    appservice.NewKeeper(inbox, hs, keepLimits(cfg.Media)),
	})
	if err != nil {
		return err
	}
	server := appservice.NewServer(inbox, cfg.Appservice.HSToken.Value())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(cfg.Appservice.Hostname, strconv.Itoa(cfg.Appservice.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen for the homeserver: %w; set appservice.port to a free one, here and in the registration (multis -g)", err)
	}
	if err != nil {
		return fmt.Errorf("listen for the homeserver: %w; check appservice.hostname", err)
	}
	log.Info().Stringer("address", listener.Addr()).Str("version", version).Msg("Listening for the homeserver")

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return listen(ctx, listener, server.Handler()) })
	group.Go(func() error { return as.runner.Run(ctx) })
	group.Go(func() error { return appservice.NewStallWatch(inbox, hs).Run(ctx) })
	group.Go(func() error { return serveCalls(ctx, cfg.Watches, as.calls) })
	group.Go(func() error { return serveMCP(ctx, cfg.MCPServer, as.tools) })
	group.Go(func() error { return as.source.Run(ctx) })
	group.Go(func() error {
		if err := start(ctx, hs, as, describer); err != nil {
			return err
		}
		return appservice.NewOwnerSync(inbox, hs, describer, vault).Run(ctx, func() {
			server.SetReady()
			log.Info().Msg("Ready")
		})
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	log.Info().Msg("Stopped")
	return nil
}

func newHomeserver(cfg *config.Config, st *store.Store) (*appservice.Homeserver, error) {
	return appservice.NewHomeserver(st, appservice.Access{
		URL: cfg.Homeserver.Address, AppserviceID: cfg.Appservice.ID, Token: cfg.Appservice.ASToken.Value(), Owner: cfg.Owner, Bot: botID(cfg),
		BotName: cfg.Appservice.Bot.DisplayName, Operators: cfg.Operators,
	})
}

// start waits for the homeserver and sets up what multis needs there.
func start(ctx context.Context, hs *appservice.Homeserver, as *assistant, d *appservice.Describer) error {
	steps := []func(context.Context) error{
		hs.Start,
		hs.MakeAdminRoom,
		d.Survey,
		as.admin.Notices.Welcome,
		hs.Ping,
	}
	for _, step := range steps {
		if err := retry(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// retry tries until it works: homeservers start slower than we do, and a wrong setting can be mended while we wait.
func retry(ctx context.Context, step func(context.Context) error) error {
	wait := time.Second
	for {
		err := step(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		zerolog.Ctx(ctx).Error().Err(err).Stringer("again_in", wait).Msg("Cannot start yet")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, 30*time.Second)
	}
}

// listen serves HTTP until ctx ends, then lets the requests under way finish.
func listen(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		done <- server.Shutdown(stopping)
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the homeserver: %w", err)
	}
	return <-done
}

func botID(cfg *config.Config) id.UserID {
	return id.NewUserID(cfg.Appservice.Bot.Username, cfg.Homeserver.Domain)
}

// chatDefaults decide for chats that nobody decided about by hand.
func chatDefaults(cfg *config.Config) policy.Defaults {
	return policy.Defaults{Profile: policy.Profile(cfg.Chats.Profile), Networks: networks(cfg), FirstDelivery: policy.Delivery(cfg.Chats.FirstDelivery)}
}

func networks(cfg *config.Config) map[string]policy.Mode {
	modes := map[string]policy.Mode{}
	for protocol, n := range cfg.Chats.Networks {
		if n.Mode != "" {
			modes[policy.Network(protocol)] = policy.Mode(n.Mode)
		}
	}
	return modes
}

// openSpeech opens what turns voice notes into words, behind the same budget.
func openSpeech(cfg *config.Config, st *store.Store) (llm.Transcriber, error) {
	budget := newBudget(cfg, st)
	budget.Local = cfg.Speech.Local
	return llm.OpenSpeech(llm.SpeechConfig{
		Model: cfg.Speech.Model, BaseURL: cfg.Speech.BaseURL, APIKey: cfg.Speech.APIKey.Value(), Timeout: cfg.Speech.Timeout, PerMinute: int64(cfg.Speech.PricePerMinute),
	}, budget)
}
