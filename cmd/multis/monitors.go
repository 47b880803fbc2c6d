package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"multis/internal/text"
	"multis/store"
)

// monitorsCmd lists what multis watches.
type monitorsCmd struct {
	JSON bool `help:"Print JSON."`
}

// monitor is a watched page, or a webhook that another program calls.
type monitor struct {
	Name      string     `json:"name"`
	Address   string     `json:"address,omitempty"` // of a page
	Every     string     `json:"every,omitempty"`
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	ChangedAt *time.Time `json:"changed_at,omitempty"` // when there was last news
	Failures  int        `json:"failures"`             // failed checks since the last good one
	Error     string     `json:"error,omitempty"`
}

// Run lists the watches that /watch made in the admin room. It exits with 1 if a page cannot be read.
func (m monitorsCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	watches, err := store.Watches(ctx, st.DB())
	if err != nil {
		return err
	}
	list, failed := make([]monitor, 0, len(watches)), false
	for _, w := range watches {
		found := monitor{
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
		list, failed = append(list, found), failed || w.Failures > 0
	}
	switch {
	case m.JSON:
		raw, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
		fmt.Println(string(raw))
	case len(list) == 0:
		fmt.Println("Nothing is watched. In the admin room, /watch https://example.com/jobs tells you when a page changes, /watch inbox ci lets another program call in.")
	}
	for _, found := range list {
		if !m.JSON {
			fmt.Println(found.describe(cfg.TimeZone))
		}
	}
	if failed {
		return statusError(1)
	}
	return nil
}

// describe returns a line about a monitor.
func (m monitor) describe(zone *time.Location) string {
	mark := "✓"
	what := "for programs that call in"
	news := "nothing new so far"
	if m.Address != "" {
		what = m.Address + ", every " + m.Every
	}
	switch {
	case m.Failures > 0:
		mark, news = "✗", "cannot be read: "+text.Clip(m.Error, 100)
	case m.ChangedAt != nil:
		news = "last news " + m.ChangedAt.In(zone).Format("Mon 2 Jan, 15:04")
	}
	return text.OneLine(fmt.Sprintf("%s %s: %s · %s", mark, m.Name, what, news))
}
