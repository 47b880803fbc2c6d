// Command bridge is a mautrix bridge, built on bridgev2 like the bridges to
// WhatsApp or Signal. It bridges a network that is simulated in this process
// (package demonet). Tests and the demo run it.
//
//	bridge CONFIG
//
// The configuration has the form of every bridgev2 bridge, with a network
// section of its own. The owner is logged in automatically.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database driver "pgx"
	"github.com/rs/zerolog"
	"go.mau.fi/util/dbutil"
	"gopkg.in/yaml.v3"
	"maunium.net/go/mautrix/bridgev2"
	"maunium.net/go/mautrix/bridgev2/bridgeconfig"
	"maunium.net/go/mautrix/bridgev2/commands"
	"maunium.net/go/mautrix/bridgev2/matrix"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

// bridgeName is the value of the double puppet key that marks what the owner
// typed on the phone.
const bridgeName = "mautrix-demonet"

// networkConfig is the network section of the configuration.
type networkConfig struct {
	// Owner is logged in at the start.
	Owner id.UserID `yaml:"owner"`
	// Control is the loopback address of the control interface.
	Control string `yaml:"control"`
	// State is the file that stores the state of the network.
	State string `yaml:"state"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bridge CONFIG")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bridge:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	cfg, networkCfg, err := load(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	log, err := cfg.Logging.Compile()
	if err != nil {
		return fmt.Errorf("configure logging: %w", err)
	}
	network, err := demonet.Open(networkCfg.State)
	if err != nil {
		return err
	}
	db, err := dbutil.NewFromConfig("demonet", cfg.Database, dbutil.ZeroLogger(*log))
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	demo := &connector{network: network}
	mx := matrix.NewConnector(cfg)
	bridge := bridgev2.NewBridge("", db, *log, &cfg.Bridge, mx, demo, commands.NewProcessor)
	mx.AS.DoublePuppetValue = bridgeName

	ctx = log.WithContext(ctx)
	if err := bridge.Start(ctx); err != nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	defer bridge.StopWithTimeout(5 * time.Second)
	if err := demo.logIn(ctx, networkCfg.Owner); err != nil {
		return fmt.Errorf("log %s in: %w", networkCfg.Owner, err)
	}
	return serve(ctx, networkCfg.Control, demonet.NewHandler(network, demo))
}

func load(path string) (*bridgeconfig.Config, networkConfig, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, networkConfig{}, err
	}
	var cfg bridgeconfig.Config
	if err := yaml.Unmarshal(data, &cfg); err != nil {
		return nil, networkConfig{}, err
	}
	var network networkConfig
	if err := cfg.Network.Decode(&network); err != nil {
		return nil, networkConfig{}, err
	}
	cfg.Bridge.Backfill = cfg.Backfill
	return &cfg, network, nil
}

// serve answers the control interface until ctx is done.
func serve(ctx context.Context, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	zerolog.Ctx(ctx).Info().Str("address", address).Msg("Control interface is up")
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.Join(server.Close(), <-done)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
