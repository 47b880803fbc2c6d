package main

import (
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
	return hooks.New(hooks.Options{Store: st, Box: box, Defaults: defaults, Agent: "multis/" + version, Targets: targets})
}
