package config

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Heartbeat is how somebody looks around by himself.
type Heartbeat struct {
	Enabled      bool
	Every        time.Duration // one of heartbeatIntervals
	ActiveFrom   int           // the first hour, in TimeZone
	ActiveUntil  int           // the hour in which it is over; before ActiveFrom: on the next day
	Checklist    []string      // what to look at beside what is built in
	ChecksPerDay int           // how often a model looks at Checklist at most
	Tasks        bool          // whether tasks that stand still or failed are looked at
	Drafts       bool          // whether what could be written to a contact is drafted
	PerDay       Money         // what it may cost
}

// heartbeatIntervals are the distances between two looks that fit the clock.
func heartbeatIntervals() []string {
	return []string{"10m", "15m", "20m", "30m", "1h", "2h", "3h", "4h", "6h", "12h"}
}

// defaultHeartbeat is a heartbeat until it is configured: none.
func defaultHeartbeat() Heartbeat {
	return Heartbeat{Every: 30 * time.Minute, ActiveFrom: 7, ActiveUntil: 23, Checklist: []string{}, ChecksPerDay: 4, PerDay: 200_000}
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

// heartbeatInterval reads a distance that divides the hours of a day evenly, so that looks stay at the same minutes.
func heartbeatInterval(s string) (time.Duration, error) {
	if !slices.Contains(heartbeatIntervals(), s) {
		return 0, errors.New("is no distance that fits; write one of " + strings.Join(heartbeatIntervals(), ", "))
	}
	return time.ParseDuration(s) //nolint:wrapcheck // all of them can be read
}

// checkHeartbeat refuses a day of no hours, which nobody means.
func (c *Config) checkHeartbeat(r *reader, section string, h Heartbeat) {
	if h.ActiveFrom == h.ActiveUntil {
		r.reportKey(section+".active_until", "is active_from; write 0 and 24 for the whole day, or enabled: false")
	}
}
