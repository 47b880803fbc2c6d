package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"multis/admin"
	"multis/appservice"
	"multis/config"
	"multis/internal/sleep"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/ops/setup"
	"multis/store"
)

// runCmd runs multis beside a homeserver.
type runCmd struct {
	Safe bool `help:"Start in safe mode: no model, no tools, nothing to contacts. The admin room works, and what comes in is stored."`
	Dev  bool `help:"For trials on your own machine: log in detail, and take the time zone of the machine if none is configured."`
}

// Run runs multis until ctx ends.
func (r runCmd) Run(ctx context.Context, global *cli) error {
	if r.Dev {
		if err := setDevelopment(global.Config); err != nil {
			return err
		}
	}
	cfg, err := load(global.Config)
	if err != nil {
		return err
	}
	closeLog, err := openLog(cfg.Logging)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, open := range doctor.WorldReadable(global.Config, cfg) {
		zerolog.Ctx(ctx).Warn().Str("run", "chmod 600 "+open).Msg("Every user of this machine can read this file and the secrets in it")
	}
	starts, crashes := recordStart(ctx, cfg.Database.DataDir, time.Now())
	return starts.noteStop(ctx, func() error {
		return serve(ctx, global.Config, cfg, safeModeStart{why: safeModeReason(r.Safe, crashes, cfg.SafeMode), crashed: crashes > 0})
	})
}

// setDevelopment sets environment variables for a trial. It does not change variables that are set, nor the time zone that the file sets.
func setDevelopment(file string) error {
	values := map[string]string{"MULTIS_LOGGING_LEVEL": "debug"}
	data, err := config.ReadFile(file)
	if err != nil {
		return err
	}
	if _, set := config.Lookup(data, "time_zone"); !set {
		values["MULTIS_TIME_ZONE"] = cmp.Or(setup.Machine{}.TimeZone(), "UTC")
	}
	for name, value := range values {
		if os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// serve runs multis beside a homeserver until ctx ends, in safe mode if start says so. When the configuration or safe mode changes,
// everything but the database is set up again.
func serve(ctx context.Context, file string, cfg *config.Config, start safeModeStart) error {
	st, closeDB, err := openStore(ctx, file, cfg, exclusive)
	if err != nil {
		return err
	}
	defer closeDB()
	if err := setSafeMode(ctx, st, start); err != nil {
		return err
	}
	source := configSource{file, st}
	if with, err := source.load(ctx); err != nil {
		return err
	} else if len(config.Changes(cfg, with)) > 0 {
		cfg = with
	}
	if err := source.record(ctx, nil, cfg); err != nil {
		return err
	}
	for {
		next, err := serveTraced(ctx, source, cfg, st)
		if next == nil || ctx.Err() != nil {
			return err
		}
		if err := source.record(ctx, cfg, next); err != nil {
			return err
		}
		zerolog.Ctx(ctx).Info().Msg("Starting again with the changed configuration")
		cfg = next
	}
}

// newFrontend returns the parts of the frontend that work on the homeserver, on the configuration and on its file.
func newFrontend(cfg *config.Config, file string, st *store.Store, hs *appservice.Homeserver) frontend {
	return frontend{
		backup:     periodicBackup(cfg, file, st),
		sender:     hs,
		files:      hs,
		rooms:      hs,
		readers:    hs,
		accounts:   accounts{cfg, st},
		config:     chatConfig{file},
		configFile: file,
	}
}

// serveUntilChange runs multis until ctx ends, or until the configuration changes. Then it returns the new configuration.
func serveUntilChange(ctx context.Context, source configSource, cfg *config.Config, st *store.Store) (next *config.Config, err error) {
	if err := makeDocumentsFolder(cfg); err != nil {
		return nil, err
	}
	effective, safe, err := effectiveConfig(ctx, cfg, st)
	if err != nil {
		return nil, err
	}
	hs, err := newHomeserver(cfg, st)
	if err != nil {
		return nil, err
	}
	doctors, err := newExaminer(source.file, cfg, st)
	if err != nil {
		return nil, err
	}
	work := newHealthChecker(cfg, st.DB())
	vault := appservice.NewVault(st, hs)
	pins, err := newPINKeeper(cfg)
	if err != nil {
		return nil, err
	}
	inbox := appservice.NewInbox(st, inboxSettings(cfg, pins))
	describer := appservice.NewDescriber(inbox, hs)
	var as *assistant
	measured := newMetrics(cfg, st, work, inbox, func(name string) string { return as.tools.KnownName(name) })
	front := newFrontend(cfg, source.file, st, hs)
	front.safe = safe
	front.inbox = inbox
	front.historian = appservice.NewHistorian(inbox, hs)
	front.keeper = appservice.NewAttachmentStore(inbox, hs, keepLimits(cfg.Media))
	front.pin = pins
	front.observeSearch = measured.ObserveSearch
	front.describer = describer
	front.decrypter = appservice.NewDecrypter(inbox, vault)
	front.examiner = doctors
	front.health = work
	as, err = newAssistant(ctx, effective, st, front)
	if err != nil {
		return nil, err
	}
	hs.SetCommands(commandList(as.admin))
	state := health.New(st.Pool().Ping)
	mux := routes(appservice.NewServer(inbox, cfg.Appservice.HSToken.Value()), state)
	page, err := newPage(ctx, as, doctors, work)
	if err != nil {
		return nil, err
	}
	listener, err := listenForHomeserver(ctx, cfg.Appservice)
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return listen(ctx, listener, mux) })
	group.Go(func() error { return as.runner.Run(ctx) })
	group.Go(func() error { return appservice.NewStallWatch(inbox, hs).Run(ctx) })
	group.Go(func() error { return serveWebhooks(ctx, cfg.Watches, as.webhooks) })
	group.Go(func() error { return serveMCP(ctx, effective.MCPServer, as) })
	group.Go(func() error { return serveOps(ctx, cfg.Ops, work, measured.Handler(), page) })
	group.Go(func() error { return as.mcp.Run(ctx) })
	group.Go(func() error { return as.endProcesses(ctx) })
	group.Go(func() error { return compileEngine(ctx, as.documents) })
	group.Go(func() (err error) {
		if next, err = source.awaitChange(ctx, cfg, safe); err == nil {
			err = errChanged
		}
		return err
	})
	group.Go(func() error {
		if err := start(ctx, hs, as, describer); err != nil {
			return err
		}
		return appservice.NewOwnerSync(inbox, hs, describer, vault).Run(ctx, func() { showReady(ctx, state) })
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errChanged) {
		return nil, err
	}
	zerolog.Ctx(ctx).Info().Msg("Stopped")
	return next, nil
}

// showReady tells the monitors and the log that multis is ready.
func showReady(ctx context.Context, state *health.State) {
	state.SetReady()
	zerolog.Ctx(ctx).Info().Msg("Ready")
}

// routes returns the paths that multis answers on the homeserver's port: the homeserver's requests and the state.
func routes(server *appservice.Server, state *health.State) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/", server.Handler())
	state.Register(mux)
	return mux
}

// effectiveConfig returns the configuration to run with: in safe mode, the part of cfg that starts nothing by itself.
func effectiveConfig(ctx context.Context, cfg *config.Config, st *store.Store) (effective *config.Config, safe bool, err error) {
	_, safe, err = store.SafeModeOf(ctx, st.DB())
	if err != nil {
		return nil, false, err
	}
	if safe {
		return cfg.Safe(), true, nil
	}
	return cfg, false, nil
}

// errChanged ends a run because the configuration has changed.
var errChanged = errors.New("the configuration has changed")

// makeDocumentsFolder makes the documents folder unless it exists.
func makeDocumentsFolder(cfg *config.Config) error {
	if err := os.MkdirAll(cfg.Documents.Folder, 0o750); err != nil {
		return fmt.Errorf("documents.folder: %w", err)
	}
	return nil
}

// listenForHomeserver opens the listener for the homeserver's requests.
func listenForHomeserver(ctx context.Context, a config.Appservice) (net.Listener, error) {
	listener, err := setup.Listen(ctx, a.Hostname, a.Port)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen for the homeserver: %w; set appservice.port to a free one, here and in the registration (multis -g)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the homeserver: %w; check appservice.hostname", err)
	}
	zerolog.Ctx(ctx).Info().Stringer("address", listener.Addr()).Str("version", version).Msg("Listening for the homeserver")
	return listener, nil
}

func newHomeserver(cfg *config.Config, st *store.Store) (*appservice.Homeserver, error) {
	return appservice.NewHomeserver(st, doctor.AccessOf(cfg))
}

// commandList returns the commands of the admin room.
func commandList(room *admin.Admin) []appservice.Command {
	var list []appservice.Command
	for _, c := range room.Commands() {
		list = append(list, appservice.Command{Name: c.Name, Args: c.Args, Summary: c.Summary})
	}
	return list
}

// start waits for the homeserver, and creates what multis needs there, such as the admin room.
func start(ctx context.Context, hs *appservice.Homeserver, as *assistant, d *appservice.Describer) error {
	steps := []func(context.Context) error{
		hs.Start,
		hs.MakeAdminRoom,
		d.DescribeNewRooms,
		as.awaitDescriptions,
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

// describeTimeout limits how long the greeting waits until the owner's rooms are described.
const describeTimeout = 30 * time.Second

// awaitDescriptions waits until the rooms found at the first start are described, so that the greeting can count the
// chats. Later starts do not wait.
func (as *assistant) awaitDescriptions(ctx context.Context) error {
	var greeted bool
	if _, err := store.GetSetting(ctx, as.store.DB(), store.SettingWelcomed, &greeted); err != nil {
		return err
	}
	if greeted {
		return nil
	}
	for end := time.Now().Add(describeTimeout); time.Now().Before(end); {
		busy, err := store.HasRoomsToDescribe(ctx, as.store.DB())
		if err != nil {
			return err
		}
		if !busy {
			return nil
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return nil //nolint:nilerr // multis ends, and the greeting comes at the next start
		}
	}
	return nil
}

// retry repeats a step until it succeeds, because the homeserver may start later than multis, and wrong settings may be
// corrected meanwhile.
func retry(ctx context.Context, step func(context.Context) error) error {
	wait := time.Second
	for {
		err := step(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		zerolog.Ctx(ctx).Error().Err(err).Stringer("again_in", wait).Msg("Cannot start yet")
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, 30*time.Second)
	}
}

// listen serves HTTP until ctx ends, and then waits for unfinished requests.
func listen(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
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
