package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"multis/admin"
	"multis/config"
	"multis/internal/text"
	"multis/jobs"
	"multis/ops/monitor"
	"multis/store"
)

// startMonitors starts the configured monitors and returns what checks them. A rehearsal checks none.
func (a *assistant) startMonitors(ctx context.Context) (jobs.MonitorChecker, error) {
	if a.front.rehearsing {
		return nil, nil //nolint:nilnil // nil checks no monitors
	}
	o := monitor.Options{
		Store:     a.store,
		Box:       a.box,
		UserAgent: userAgent(),
		Folder:    filepath.Join(a.cfg.Database.DataDir, "monitors"),
		Zone:      a.cfg.TimeZone,
	}
	switch {
	case a.monitorProblem != nil:
		o.Problem = a.monitorProblem.Error()
	case a.monitorRunner != nil:
		o.Runner = a.monitorRunner
	}
	for _, name := range slices.Sorted(maps.Keys(a.cfg.Monitors)) {
		m := a.cfg.Monitors[name]
		o.Monitors = append(o.Monitors, monitor.Monitor{
			Name:            name,
			URL:             m.URL.Value(),
			IsPrivate:       m.Private,
			Accepts:         m.Accepts,
			CertificateDays: m.CertificateDays,
			Command:         m.Command,
			ReadPaths:       m.ReadPaths,
			Contains:        m.Contains,
			Lacks:           m.Lacks,
			Every:           m.Every,
			Timeout:         m.Timeout,
			Failures:        m.Failures,
			Cooldown:        m.Cooldown,
			ForOperators:    m.Room == config.MonitorOperators,
		})
	}
	checker, err := monitor.New(o)
	if err != nil {
		return nil, err
	}
	return checker, checker.Start(ctx)
}

// shownMonitors returns the configured monitors as the admin room shows them.
func shownMonitors(cfg *config.Config) []admin.Monitor {
	var list []admin.Monitor
	for _, name := range slices.Sorted(maps.Keys(cfg.Monitors)) {
		m := cfg.Monitors[name]
		list = append(list, admin.Monitor{Name: name, Target: m.Target(), Every: m.Every})
	}
	return list
}

// monitorsCmd lists what multis checks and watches.
type monitorsCmd struct {
	JSON bool `help:"Print JSON."`
}

// checked is a monitor of the configuration, a watched page, or a webhook that another program calls.
type checked struct {
	Kind         string     `json:"kind"` // monitor, page or webhook
	Name         string     `json:"name"`
	Address      string     `json:"address,omitempty"` // of a page, or the target of a monitor
	Every        string     `json:"every,omitempty"`
	Paused       bool       `json:"paused,omitempty"`
	CheckedAt    *time.Time `json:"checked_at,omitempty"`
	ChangedAt    *time.Time `json:"changed_at,omitempty"` // when there was last news
	Failures     int        `json:"failures"`             // failed checks since the last good one
	FailingSince *time.Time `json:"failing_since,omitempty"`
	Error        string     `json:"error,omitempty"`
}

// kindMonitor is the kind of a monitor of the configuration; those of watches are theirs.
const kindMonitor = "monitor"

// Run lists the monitors of config.yaml, and the watches that /watch made in the admin room. It exits with 1 if a check fails.
func (m monitorsCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	list, err := allChecked(ctx, cfg, st)
	if err != nil {
		return err
	}
	switch {
	case m.JSON:
		raw, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
		fmt.Println(string(raw))
	case len(list) == 0:
		fmt.Println("Nothing is monitored or watched. monitors: in config.yaml checks servers and commands. In the admin room, /watch https://example.com/jobs tells you when a page changes, /watch inbox ci lets another program call in.")
	}
	for _, found := range list {
		if !m.JSON {
			fmt.Println(found.describe(cfg.TimeZone))
		}
	}
	if slices.ContainsFunc(list, checked.isFailing) {
		return statusError(1)
	}
	return nil
}

// allChecked returns the monitors and then the watches, by name.
func allChecked(ctx context.Context, cfg *config.Config, st *store.Store) ([]checked, error) {
	monitors, err := store.Monitors(ctx, st.DB())
	if err != nil {
		return nil, err
	}
	watches, err := store.Watches(ctx, st.DB())
	if err != nil {
		return nil, err
	}
	list := make([]checked, 0, len(monitors)+len(watches))
	for _, m := range monitors {
		configured := cfg.Monitors[m.Name]
		list = append(list, checked{
			Kind:         kindMonitor,
			Name:         m.Name,
			Address:      configured.Target(),
			Every:        text.Duration(configured.Every),
			Paused:       m.Paused,
			CheckedAt:    m.CheckedAt,
			Failures:     m.Failures,
			FailingSince: m.FailingSince,
			Error:        m.Error,
		})
	}
	for _, w := range watches {
		found := checked{
			Kind:      string(w.Kind),
			Name:      w.Name,
			Address:   w.Address,
			CheckedAt: w.CheckedAt,
			ChangedAt: w.ChangedAt,
			Failures:  w.Failures,
			Error:     w.Error,
		}
		if w.Kind == store.WatchPage {
			found.Every = text.Duration(time.Duration(w.Interval) * time.Second)
		}
		list = append(list, found)
	}
	return list, nil
}

// isFailing reports whether the last check failed.
func (m checked) isFailing() bool { return m.Failures > 0 && !m.Paused }

// describe returns a line about what is checked.
func (m checked) describe(zone *time.Location) string {
	const layout = "Mon 2 Jan, 15:04"
	mark := "✓"
	what := "for programs that call in"
	news := "nothing new so far"
	if m.Address != "" {
		what = m.Address + ", every " + m.Every
	}
	switch {
	case m.Paused:
		mark, news = "⏸", "paused"
	case m.Failures > 0 && m.Kind == kindMonitor:
		mark = "✗"
		news = fmt.Sprintf("%s since %s: %s", text.Count(m.Failures, "failed check"), m.FailingSince.In(zone).Format(layout), m.Error)
	case m.Failures > 0:
		mark, news = "✗", "cannot be read: "+text.Clip(m.Error, 100)
	case m.Kind == kindMonitor && m.CheckedAt == nil:
		mark, news = "·", "not checked yet"
	case m.Kind == kindMonitor:
		news = "good, last check " + m.CheckedAt.In(zone).Format(layout)
	case m.ChangedAt != nil:
		news = "last news " + m.ChangedAt.In(zone).Format(layout)
	}
	return text.OneLine(fmt.Sprintf("%s %s: %s · %s", mark, m.Name, what, news))
}
