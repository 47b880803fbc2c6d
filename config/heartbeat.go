package config

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Heartbeat configures the periodic check of one agent.
type Heartbeat struct {
	Enabled      bool
	Every        time.Duration // interval between checks; one of heartbeatIntervals
	ActiveFrom   int           // first hour of the day with checks, in Config.TimeZone
	ActiveUntil  int           // hour at which checks end; if less than ActiveFrom, on the next day
	Checklist    []string      // instructions for a model, in addition to the built-in checks
	ChecksPerDay int           // maximum number of model checks of Checklist a day
	Tasks        bool          // whether stalled and failed tasks are reported
	Drafts       bool          // whether messages to contacts are drafted
	PerDay       Money         // cap on the heartbeat's cost in a day
}

// heartbeatIntervals lists the valid values of Heartbeat.Every. Each divides a day evenly.
func heartbeatIntervals() []string {
	return []string{"10m", "15m", "20m", "30m", "1h", "2h", "3h", "4h", "6h", "12h"}
}

// defaultHeartbeat returns the default settings, with the heartbeat disabled.
func defaultHeartbeat() Heartbeat {
	return Heartbeat{
		Every:        30 * time.Minute,
		ActiveFrom:   7,
		ActiveUntil:  23,
		Checklist:    []string{},
		ChecksPerDay: 4,
		PerDay:       200_000,
	}
}

// fields lists the keys of one heartbeat.
func (h *Heartbeat) fields(section string) []field {
	return []field{
		value(section+".enabled", &h.Enabled, boolean),
		value(section+".every", &h.Every, heartbeatInterval),
		value(section+".active_from", &h.ActiveFrom, between(0, 23)),
		value(section+".active_until", &h.ActiveUntil, between(0, 24)),
		list(section+".checklist", &h.Checklist, lineOf(3, 300)),
		value(section+".checks_per_day", &h.ChecksPerDay, between(0, 48)),
		value(section+".tasks", &h.Tasks, boolean),
		value(section+".drafts", &h.Drafts, boolean),
		value(section+".per_day", &h.PerDay, ParseMoney),
	}
}

// heartbeatInterval parses an interval that divides a day evenly, so that checks run at the same times every day.
func heartbeatInterval(s string) (time.Duration, error) {
	if !slices.Contains(heartbeatIntervals(), s) {
		return 0, errors.New("is not a valid interval; write one of " + strings.Join(heartbeatIntervals(), ", "))
	}
	return time.ParseDuration(s) //nolint:wrapcheck // every valid interval can be parsed
}

// checkHeartbeat rejects an empty range of active hours.
func (c *Config) checkHeartbeat(r *reader, section string, h Heartbeat) {
	if h.ActiveFrom == h.ActiveUntil {
		r.reportKey(section+".active_until", "is the same as active_from; write 0 and 24 for the whole day, or enabled: false")
	}
}
