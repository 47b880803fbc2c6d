// Package monitor checks the monitors of the configuration, web addresses and the output of commands, and tells the owner when one begins
// to fail and when it works again.
//
// A check is a durable job that snoozes until the next one. What it finds, the alert and the next time are stored in one transaction, which
// only the first of several processes can commit: no alert is lost or repeated, whatever crashes. An alert and its end are one message.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"multis/internal/fetch"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/safety/sandbox"
	"multis/store"
)

// Monitor is what is checked, and how often. Either URL or Command is set.
type Monitor struct {
	Name string

	URL             string
	IsPrivate       bool                  // URL may be on this machine or in a private network
	Accepts         func(status int) bool // whether a status of HTTP is good
	CertificateDays int                   // how many days the certificate must be valid for; zero means that any that is valid is good

	Command   []string // a program and its arguments
	ReadPaths []string // folders that the command may read, beside those of the system and its own

	Contains, Lacks string // what the body, or the output, must and must not contain; empty means anything

	Every    time.Duration // between two checks
	Timeout  time.Duration // of one check
	Failures int           // how many checks in a row must fail for an alert
	Cooldown time.Duration // the least time between two alerts

	ForOperators bool // alerts go to the room for operators, if there is one
}

// Runner runs a command in a sandbox. *sandbox.Sandbox is one.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Options are what New needs.
type Options struct {
	Store     *store.Store
	Box       *outbox.Box
	UserAgent string
	// Runner runs the commands. If it is nil, Problem says why, and the monitors of commands fail.
	Runner   Runner
	Problem  string
	Folder   string // each command has a folder in it, by the name of its monitor, that it may change
	Zone     *time.Location
	Monitors []Monitor
}

// Checker checks monitors.
type Checker struct {
	Options

	public, private *fetch.Client
	now             func() time.Time
}

// New returns a Checker, and makes the folders of its commands.
func New(o Options) (*Checker, error) {
	for _, m := range o.Monitors {
		if len(m.Command) == 0 {
			continue
		}
		if err := sandbox.MakeWorkspace(filepath.Join(o.Folder, m.Name)); err != nil {
			return nil, fmt.Errorf("make the folder of the monitor %s: %w", m.Name, err)
		}
	}
	return &Checker{
		Options: o,
		public:  fetch.New(fetch.Options{UserAgent: o.UserAgent}),
		private: fetch.New(fetch.Options{UserAgent: o.UserAgent, AllowPrivate: true}),
		now:     time.Now,
	}, nil
}

// Start stores which monitors there are, and enqueues the job of each that is not paused and has none.
func (c *Checker) Start(ctx context.Context) error {
	every := map[string]time.Duration{}
	for _, m := range c.Monitors {
		every[m.Name] = m.Every
	}
	return c.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SyncMonitors(ctx, tx, every); err != nil {
			return err
		}
		all, err := store.Monitors(ctx, tx)
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.Paused {
				continue
			}
			if err := jobs.Enqueue(ctx, tx, jobs.CheckMonitorArgs{MonitorID: m.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxSnooze is the longest time for which a job sleeps, so that it soon follows an interval that was made shorter.
const maxSnooze = 5 * time.Minute

// CheckMonitor checks a monitor if that is due, and returns jobs.Snooze with the time to the next check. Of one that is paused, or no
// longer configured, the job ends.
func (c *Checker) CheckMonitor(ctx context.Context, id store.MonitorID) error {
	row, err := store.MonitorByID(ctx, c.Store.DB(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.Monitors, func(m Monitor) bool { return m.Name == row.Name })
	if i < 0 || row.Paused {
		return nil
	}
	m, due := c.Monitors[i], row.NextAt
	if wait := due.Sub(c.now()); wait > 0 {
		return jobs.Snooze(min(wait, maxSnooze))
	}
	problem, err := c.probe(ctx, m)
	if err != nil {
		return err
	}
	began := row.FailingSince
	now := c.now()
	change := apply(&row, m, problem, now)
	err = c.Store.InTx(ctx, func(tx store.Tx) error {
		first, err := store.RecordMonitorCheck(ctx, tx, row, due)
		if err != nil {
			return err
		}
		if !first || change == unchanged {
			return nil
		}
		return c.notify(ctx, tx, m, row, change, began)
	})
	if err != nil {
		return err
	}
	return jobs.Snooze(min(row.NextAt.Sub(now), maxSnooze))
}

// change is what a check changes for people.
type change int

const (
	unchanged change = iota
	fires            // an alert
	recovers         // the end of an alert
)

// apply changes the state of a monitor by the result of a check; problem is empty for a good one.
func apply(row *store.Monitor, m Monitor, problem string, now time.Time) change {
	row.CheckedAt = &now
	row.NextAt = now.Add(m.Every)
	if problem == "" {
		wasFiring := row.Firing
		row.Failures, row.Error = 0, ""
		row.FailingSince = nil
		row.Firing = false
		if wasFiring {
			return recovers
		}
		return unchanged
	}
	row.Failures++
	row.Error = problem
	if row.FailingSince == nil {
		row.FailingSince = &now
	}
	isCooling := row.AlertedAt != nil && now.Sub(*row.AlertedAt) < m.Cooldown
	if row.Firing || row.Failures < m.Failures || isCooling {
		return unchanged
	}
	row.Firing, row.AlertedAt = true, &now
	row.Alerts++
	return fires
}

// notify tells the owner that a monitor fails, or that it works again; it began to fail at began.
func (c *Checker) notify(ctx context.Context, tx store.Tx, m Monitor, row store.Monitor, change change, began *time.Time) error {
	room, err := c.room(ctx, tx, m)
	if err != nil {
		return err
	}
	if change == fires {
		message, _, err := c.Box.QueueIncident(ctx, tx, room, nil, outbox.Alert, c.alertText(row))
		if err != nil {
			return err
		}
		return store.SetMonitorMessage(ctx, tx, row.ID, message)
	}
	var shown *store.OutboxMessage
	if row.OutboxID != nil {
		message, err := store.OutboxMessageByID(ctx, tx, *row.OutboxID)
		if err != nil {
			return err
		}
		shown = &message
	}
	_, _, err = c.Box.QueueIncident(ctx, tx, room, shown, outbox.Quiet, c.recoveryText(row, began))
	return err
}

// room returns the room of a monitor's messages.
func (c *Checker) room(ctx context.Context, tx store.Tx, m Monitor) (store.Chat, error) {
	if m.ForOperators {
		room, err := store.OperatorsChat(ctx, tx)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return room, err
		}
	}
	return outbox.AdminRoom(ctx, tx)
}

// alertText says that a monitor fails.
func (c *Checker) alertText(row store.Monitor) string {
	lines := []string{fmt.Sprintf("🔴 **%s** fails: %s.", text.Escape(row.Name), text.Escape(row.Error))}
	if row.Failures > 1 {
		lines = append(lines, fmt.Sprintf("%d checks in a row have failed, the first at %s.", row.Failures, c.clock(*row.FailingSince)))
	}
	return strings.Join(append(lines, "`/monitors pause "+row.Name+"` ends its checks."), " ")
}

// recoveryText says that a monitor works again.
func (c *Checker) recoveryText(row store.Monitor, began *time.Time) string {
	said := "✅ **" + text.Escape(row.Name) + "** works again."
	if began == nil { // it was paused meanwhile
		return said
	}
	return said + fmt.Sprintf(" It failed from %s to %s (%s).", c.clock(*began), c.clock(*row.CheckedAt), text.Duration(row.CheckedAt.Sub(*began)))
}

func (c *Checker) clock(t time.Time) string { return t.In(c.Zone).Format("Mon 2 Jan, 15:04") }
