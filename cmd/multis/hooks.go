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

// openHooks makes the hooks of the configuration.
func openHooks(cfg *config.Config, st *store.Store, box *outbox.Box, defaults policy.Defaults) *hooks.Hooks {
	targets := map[string]hooks.Target{}
	for name, h := range cfg.Hooks {
		t := hooks.Target{URL: h.URL.Value(), Secret: h.Secret.Value(), Private: h.Private}
		for _, e := range h.Events {
			t.Events = append(t.Events, store.HookEvent(e))
		}
		targets[name] = t
	}
	return hooks.New(hooks.Options{Store: st, Box: box, Defaults: defaults, Agent: userAgent(), Targets: targets})
}

// userAgent is how multis calls itself to other servers.
func userAgent() string { return "multis/" + version }

// callAddress is where other programs call in; empty when they cannot.
func callAddress(w config.Watches) string {
	if w.Port == 0 {
		return ""
	}
	return w.Address
}

// serveCalls lets other programs call in until ctx ends, if that is wanted.
func serveCalls(ctx context.Context, w config.Watches, inbox *hooks.Webhooks) error {
	if w.Port == 0 {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(w.Hostname, strconv.Itoa(w.Port)))
	if err != nil {
		return fmt.Errorf("listen for calls: %w; check watches.hostname and watches.port", err)
	}
	return listen(ctx, listener, inbox.Handler())
}
