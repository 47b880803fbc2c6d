package config

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Monitor configures a monitor: an address or a command that is checked regularly. Either URL or Command is set.
type Monitor struct {
	URL             Secret        // secret because its path or query may hold a key
	Private         bool          // whether URL may be on this machine or in a private network
	Status          []StatusRange // the statuses of HTTP that are good; empty means success
	CertificateDays int           // how many days the certificate must be valid for; zero means that any valid one is good
	Command         []string      // program and arguments
	ReadPaths       []string      // folders that Command may read
	Contains        string        // a text that the answer or the output must contain; empty means anything
	Lacks           string        // a text that it must not contain; empty means none
	Every           time.Duration // between two checks
	Timeout         time.Duration // of one check
	Failures        int           // how many checks in a row must fail for an alert
	Cooldown        time.Duration // the least time between two alerts
	Room            MonitorRoom   // where the alerts are sent
}

// MonitorRoom is where the alerts of a monitor are sent.
type MonitorRoom string

// The values of Monitor.Room.
const (
	MonitorAdmin     MonitorRoom = "admin"     // the admin room
	MonitorOperators MonitorRoom = "operators" // the room for operators
)

// StatusRange is a range of statuses of HTTP.
type StatusRange struct{ From, To int }

// String returns the range as it is written in the file.
func (s StatusRange) String() string {
	if s.From == s.To {
		return strconv.Itoa(s.From)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// Accepts reports whether a status of HTTP is good.
func (m *Monitor) Accepts(status int) bool {
	if len(m.Status) == 0 {
		return status >= http.StatusOK && status < http.StatusMultipleChoices
	}
	return slices.ContainsFunc(m.Status, func(s StatusRange) bool { return status >= s.From && status <= s.To })
}

// Target returns what is checked, for people: the program, or the address without what may be a key.
func (m *Monitor) Target() string {
	if len(m.Command) > 0 {
		return m.Command[0]
	}
	at, err := url.Parse(m.URL.Value())
	if err != nil {
		return "" // an invalid one is reported when the configuration is read
	}
	return at.Scheme + "://" + at.Host
}

// RunsCommands reports whether the configuration has multis run commands in its sandbox.
func (c *Config) RunsCommands() bool {
	return c.Exec.Enabled || len(c.CommandHooks) > 0 || c.MonitorsCommands()
}

// MonitorsCommands reports whether a monitor runs a command.
func (c *Config) MonitorsCommands() bool {
	for _, m := range c.Monitors {
		if len(m.Command) > 0 {
			return true
		}
	}
	return false
}

func defaultMonitor() Monitor {
	return Monitor{
		Every:    time.Minute,
		Timeout:  10 * time.Second,
		Failures: 2,
		Cooldown: 5 * time.Minute,
		Room:     MonitorAdmin,
	}
}

// The limits of the times of a monitor.
const (
	minMonitorInterval = 10 * time.Second
	maxMonitorInterval = 24 * time.Hour
	maxMonitorTimeout  = time.Minute
	maxMonitorCooldown = 7 * 24 * time.Hour
)

// fields lists the keys of one monitor.
func (m *Monitor) fields(section string) []field {
	return []field{
		value(section+".url", &m.URL, secretURL),
		value(section+".private", &m.Private, boolean),
		list(section+".status", &m.Status, statusRange),
		value(section+".certificate_days", &m.CertificateDays, between(0, 365)),
		list(section+".command", &m.Command, lineOf(1, 1000)),
		list(section+".read_paths", &m.ReadPaths, filePath),
		value(section+".contains", &m.Contains, lineOf(1, 200)),
		value(section+".lacks", &m.Lacks, lineOf(1, 200)),
		value(section+".every", &m.Every, timeBetween(minMonitorInterval, maxMonitorInterval)),
		value(section+".timeout", &m.Timeout, timeBetween(time.Second, maxMonitorTimeout)),
		value(section+".failures", &m.Failures, between(1, 100)),
		value(section+".cooldown", &m.Cooldown, timeBetween(time.Second, maxMonitorCooldown)),
		value(section+".room", &m.Room, oneOf(MonitorAdmin, MonitorOperators)),
	}
}

// statusRange parses a status of HTTP, or a range of them.
func statusRange(s string) (StatusRange, error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	first, err := between(100, 599)(strings.TrimSpace(from))
	if err == nil {
		var last int
		if last, err = between(first, 599)(strings.TrimSpace(to)); err == nil {
			return StatusRange{first, last}, nil
		}
	}
	return StatusRange{}, fmt.Errorf("%.60q is not a status of HTTP; write one such as 200, or a range such as 200-299", s)
}

// checkMonitors rejects monitors that check nothing, or have keys of the other kind.
func (c *Config) checkMonitors(r *reader) {
	for _, name := range slices.Sorted(maps.Keys(c.Monitors)) {
		m, key := c.Monitors[name], "monitors."+name
		hasAddress, hasCommand := m.URL != "", len(m.Command) > 0
		switch {
		case hasAddress == hasCommand:
			r.reportKey(key, "needs either url or command; write exactly one of them")
		case hasCommand && (m.Private || len(m.Status) > 0 || m.CertificateDays > 0):
			r.reportKey(key, "has private, status or certificate_days, which only work with a url; remove them")
		case hasAddress && len(m.ReadPaths) > 0:
			r.reportKey(key+".read_paths", "only works with a command; remove it")
		case m.CertificateDays > 0 && !strings.HasPrefix(m.URL.Value(), "https://"):
			r.reportKey(key+".certificate_days", "needs a url with https://; write one, or remove it")
		}
		if m.Timeout >= m.Every {
			r.reportKey(key+".timeout", "is not shorter than every; write a shorter timeout, or a longer every")
		}
		if m.Room == MonitorOperators && !c.Business.Escalation.Room {
			r.reportKey(key+".room", "is operators, and there is no such room; write business.escalation.room: true, or admin")
		}
	}
}
