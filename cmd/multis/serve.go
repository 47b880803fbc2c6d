package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"multis/appservice"
	"multis/config"
	"multis/store"
)

// runCmd runs multis beside a homeserver.
type runCmd struct{}

// Run serves until it is told to stop.
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
	inbox := appservice.NewInbox(st, inboxRules(cfg))
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
	group.Go(func() error { return serveWebhooks(ctx, cfg.Watches, as.webhooks) })
	group.Go(func() error { return serveMCP(ctx, cfg.MCPServer, as.tools) })
	group.Go(func() error { return as.mcp.Run(ctx) })
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

// retry repeats a step until it succeeds, because a homeserver may start later than multis, and a wrong setting may be corrected meanwhile.
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

// listen serves HTTP until ctx ends, and then waits for the requests under way.
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
