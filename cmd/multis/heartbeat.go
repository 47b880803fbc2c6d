package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/agent/heartbeat"
	"multis/clock"
	"multis/config"
	"multis/llm"
	"multis/store"
)

// heartbeats returns the enabled heartbeats by agent. The heartbeat of the assistant itself has an empty name.
func heartbeats(cfg *config.Config) map[string]config.Heartbeat {
	all := map[string]config.Heartbeat{}
	if cfg.Heartbeat.Enabled {
		all[""] = cfg.Heartbeat
	}
	for name, a := range cfg.Agents {
		if a.Heartbeat.Enabled {
			all[name] = a.Heartbeat
		}
	}
	return all
}

// heartbeatConfigs returns the enabled heartbeats. The model of each has a budget of its own.
func heartbeatConfigs(cfg *config.Config, st *store.Store) ([]heartbeat.Config, error) {
	var all []heartbeat.Config
	for name, h := range heartbeats(cfg) {
		model, err := heartbeatModel(cfg, st, name, h)
		if err != nil {
			return nil, err
		}
		all = append(all, heartbeat.Config{
			Agent:      name,
			Items:      h.Checklist,
			ItemChecks: h.ChecksPerDay,
			Active:     activeTime(h),
			Tasks:      h.Tasks,
			Drafts:     h.Drafts,
			Model:      model,
		})
	}
	return all, nil
}

// heartbeatModel opens the model of an agent with the budget of its heartbeat.
func heartbeatModel(cfg *config.Config, st *store.Store, name string, h config.Heartbeat) (llm.Model, error) {
	own := *cfg
	own.Budget.PerAgentDay = min(h.PerDay, cfg.Budget.PerDay)
	models, err := newModels(&own, st)
	if err != nil {
		return nil, err
	}
	a := cfg.Agents[name]
	model, err := models.Open(cfg.LLM.ResolveModels(cmp.Or(a.Model, cfg.LLM.Model)), a.APIKey.Value())
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	return model, nil
}

// heartbeatTimes returns the schedules of the enabled heartbeats.
func heartbeatTimes(cfg *config.Config) []clock.Heartbeat {
	all := heartbeats(cfg)
	times := make([]clock.Heartbeat, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		times = append(times, clock.Heartbeat{Agent: name, Cron: heartbeatCron(all[name])})
	}
	return times
}

// activeTime returns how long a heartbeat is active each day.
func activeTime(h config.Heartbeat) time.Duration {
	hours := (h.ActiveUntil - h.ActiveFrom + 24) % 24
	return time.Duration(cmp.Or(hours, 24)) * time.Hour
}

// heartbeatCron returns the times of a heartbeat as a cron expression. Active hours may extend past midnight, and follow the wall clock.
func heartbeatCron(h config.Heartbeat) string {
	minute, step := "0", 1
	if h.Every < time.Hour {
		minute = fmt.Sprintf("*/%d", int(h.Every.Minutes()))
	} else {
		step = int(h.Every.Hours())
	}
	var hours []string
	for n := 0; n < int(activeTime(h).Hours()); n += step {
		hours = append(hours, strconv.Itoa((h.ActiveFrom+n)%24))
	}
	return minute + " " + strings.Join(hours, ",") + " * * *"
}
