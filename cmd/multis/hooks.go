package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"multis/config"
	"multis/hooks"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// openHooks returns the configured hooks.
func openHooks(cfg *config.Config, st *store.Store, box *outbox.Box, defaults policy.Defaults) *hooks.Hooks {
	targets := map[string]hooks.Target{}
	for name, h := range cfg.Hooks {
		targets[name] = hooks.Target{URL: h.URL.Value(), Events: h.Events, Secret: h.Secret.Value(), Private: h.Private}
	}
	return hooks.New(hooks.Options{Store: st, Box: box, Defaults: defaults, Agent: userAgent(), Targets: targets})
}

// userAgent is the User-Agent of requests to other servers.
func userAgent() string { return "multis/" + version }

// webhookAddress returns the public address of incoming webhooks. It is empty when they are off.
func webhookAddress(w config.Watches) string {
	if w.Port == 0 {
		return ""
	}
	return w.Address
}

// serveWebhooks serves incoming webhooks until ctx ends. It returns at once when they are off.
func serveWebhooks(ctx context.Context, w config.Watches, webhooks *hooks.Webhooks) error {
	if w.Port == 0 {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(w.Hostname, strconv.Itoa(w.Port)))
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w; check watches.hostname and watches.port", err)
	}
	return listen(ctx, listener, webhooks.Handler())
}
