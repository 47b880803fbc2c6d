// Package metrics exports metrics for Prometheus. Metrics of the database are read at a scrape, at most every few seconds; the rest is
// counted by this process.
//
// A counter of the database starts at midnight in the owner's time zone. Prometheus takes the reset for a restart, so rate and increase
// are right, and every process on the database exports the same value. No label has an id, a name or a text.
package metrics

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"github.com/rs/zerolog"

	"multis/clock/schedule"
	"multis/ops/health"
	"multis/store"
)

// Options are what the metrics are read from.
type Options struct {
	DB     store.DB
	Health *health.Checker
	// Pool returns the use of the connections to the database; nil where no program runs.
	Pool   func() store.PoolUse
	Zone   *time.Location
	DayCap int64 // the budget of a day, in millionths of the currency
	// Events returns how many events this process got by push and by sync; nil where no program runs.
	Events func() (pushed, synced int64)
	// ToolName returns the name of a tool if there is such a tool, else another. A model may ask for a name that it made up.
	ToolName func(string) string
	Version  string
	Now      func() time.Time
}

// Metrics is all metrics of a process.
type Metrics struct {
	registry *prometheus.Registry
	search   prometheus.Histogram
}

// New returns the metrics.
func New(o Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		search: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "multis_search_seconds",
			Help:    "Duration of searches.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
	}
	m.registry.MustRegister(m.search, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &collector{Options: o, highest: map[string]float64{}})
	return m
}

// ObserveSearch counts a search.
func (m *Metrics) ObserveSearch(took time.Duration) { m.search.Observe(took.Seconds()) }

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Write writes all metrics in Prometheus' text format.
func (m *Metrics) Write(w io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return fmt.Errorf("read the metrics: %w", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("write the metrics: %w", err)
		}
	}
	return nil
}

// family is a metric that is read from the database.
type family struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string // names of Measurement.A and B
	max        int      // series; the rest is counted as "other"
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// families are the metrics of the database, by Measurement.Family.
var families = map[string]family{
	"decisions": {
		"multis_decisions_total", "Messages by what was decided and why; archive is silence.", counter,
		[]string{"action", "code"},
		80,
	},
	"sends":      {"multis_sends_total", "Outgoing messages by state.", counter, []string{"state"}, 8},
	"suppressed": {"multis_sends_suppressed_total", "Outgoing messages that were not sent, by reason.", counter, []string{"code"}, 40},
	"waiting": {
		"multis_waiting", "What waits: queued messages, drafts, escalations, messages without a key.", gauge,
		[]string{"what"},
		8,
	},
	"waiting_age":  {"multis_waiting_age_seconds", "Age of the oldest of what waits.", gauge, []string{"what"}, 8},
	"escalations":  {"multis_escalations_total", "Escalations by cause.", counter, []string{"cause"}, 20},
	"unsupported":  {"multis_answers_unsupported_total", "Answers that failed the check against their sources.", counter, nil, 1},
	"jobs":         {"multis_jobs", "Jobs by queue and state.", gauge, []string{"queue", "state"}, 80},
	"job_age":      {"multis_queue_age_seconds", "How long the oldest due job of a queue has waited.", gauge, []string{"queue"}, 20},
	"job_attempts": {"multis_queue_attempts", "Attempts of the job of a queue that was tried most often.", gauge, []string{"queue"}, 20},
	"tasks":        {"multis_tasks", "Tasks that are not finished, by state.", gauge, []string{"state"}, 8},
	"tool_calls":   {"tool_calls_total", "Tool calls of finished tasks.", counter, []string{"tool"}, 50},
	"tool_errors":  {"tool_errors_total", "Tool calls that failed.", counter, []string{"tool", "code"}, 50},
	"requests":     {"llm_requests_total", "Calls of models.", counter, []string{"provider", "model"}, 20},
	"tokens":       {"llm_tokens_total", "Tokens in and out.", counter, []string{"provider", "direction"}, 20},
	"cost": {
		"multis_llm_cost_total", "Cost of paid calls by purpose, in the currency of the budget.", counter,
		[]string{"purpose"},
		20,
	},
	"monitors":       {"multis_monitors", "Monitors of the configuration by state.", gauge, []string{"state"}, 3},
	"monitor_alerts": {"multis_monitor_alerts_total", "Alerts of monitors.", counter, nil, 1},
	"door_age":       {"multis_door_age_seconds", "Since the last push and the last stored sync.", gauge, []string{"door"}, 2},
}

// collector reads the metrics of the database and of the process.
type collector struct {
	Options

	mu      sync.Mutex
	readAt  time.Time
	found   []store.Measurement
	day     string
	highest map[string]float64 // of the counters of the day, so that what is erased does not look like a restart
}

// Describe describes nothing, because the series depend on what happened.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

const (
	readTimeout = 5 * time.Second
	// readLifetime is how long what was read is shown again.
	readLifetime = 10 * time.Second
)

// Collect sends all metrics.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout) //nolint:forbidigo // Prometheus hands on no context
	defer cancel()
	c.collectProcess(ctx, to)
	if err := c.read(ctx); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot read the metrics of the database")
		return
	}
	c.collectTasks(to)
	for _, name := range slices.Sorted(maps.Keys(families)) {
		c.collectFamily(to, name, families[name])
	}
}

// collectProcess sends what this process knows.
func (c *collector) collectProcess(ctx context.Context, to chan<- prometheus.Metric) {
	send := func(name, help string, kind prometheus.ValueType, value float64, labels ...string) {
		var names, values []string
		for pair := range slices.Chunk(labels, 2) {
			names, values = append(names, pair[0]), append(values, pair[1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
	send("multis_info", "Always 1.", gauge, 1, "version", clean(c.Version))
	for _, check := range c.Health.Report(ctx).Checks {
		value := 1.
		if check.Status == health.Failed || check.Status == health.Unknown {
			value = 0
		}
		send("multis_health", "Whether a check of /health passes.", gauge, value, "check", check.Name)
	}
	if c.Events == nil {
		return
	}
	pushed, synced := c.Events()
	const events = "Events that this process got."
	send("multis_events_total", events, counter, float64(pushed), "door", "push")
	send("multis_events_total", events, counter, float64(synced), "door", "sync")
	pool := c.Pool()
	const connections = "Connections to the database."
	send("multis_pool_connections", connections, gauge, float64(pool.InUse), "state", "in_use")
	send("multis_pool_connections", connections, gauge, float64(pool.Idle), "state", "idle")
	send("multis_pool_connections", connections, gauge, float64(pool.Max), "state", "max")
	send("multis_pool_waits_total", "How often no connection was free.", counter, float64(pool.Waits))
	send("multis_pool_wait_seconds_total", "How long it took to get one then.", counter, pool.Waited.Seconds())
}

// read reads the database, at most every few seconds.
func (c *collector) read(ctx context.Context) (err error) {
	now := c.Now().In(c.Zone)
	if now.Sub(c.readAt).Abs() < readLifetime {
		return nil
	}
	begin := schedule.DayStart(now.Year(), now.Month(), now.Day(), c.Zone)
	if c.found, err = store.Measurements(ctx, c.DB, begin); err != nil {
		c.readAt = time.Time{}
		return err
	}
	c.readAt = now
	if day := begin.Format(time.DateOnly); day != c.day {
		c.day = day
		clear(c.highest)
	}
	return nil
}

// collectFamily sends the series of a family: the first of them, and the sum of the others.
func (c *collector) collectFamily(to chan<- prometheus.Metric, name string, f family) {
	series := map[[2]string]float64{}
	for _, m := range c.found {
		if m.Family != name {
			continue
		}
		if strings.HasPrefix(name, "tool_") {
			m.A = c.ToolName(m.A)
		}
		key := [2]string{clean(m.A), clean(m.B)}
		if _, known := series[key]; !known && len(series) >= f.max-1 {
			key = [2]string{other, other}
		}
		series[key] += m.Value
	}
	desc := prometheus.NewDesc(f.name, f.help, f.labels, nil)
	for key, value := range series {
		if f.kind == counter {
			value = c.highestOf(name+key[0]+" "+key[1], value)
		}
		to <- prometheus.MustNewConstMetric(desc, f.kind, value, key[:len(f.labels)]...)
	}
	if name == "cost" {
		c.collectBudget(to)
	}
}

// highestOf returns the highest value of a counter today.
func (c *collector) highestOf(key string, value float64) float64 {
	value = max(value, c.highest[key])
	c.highest[key] = value
	return value
}

// collectBudget sends the budget of the day and what is left of it.
func (c *collector) collectBudget(to chan<- prometheus.Metric) {
	const micros = 1e6
	for _, m := range c.found {
		if m.Family != "committed" {
			continue
		}
		limit := float64(c.DayCap) / micros
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("multis_budget", "The budget of a day.", nil, nil), gauge, limit)
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("multis_budget_left", "What is left of today's budget.", nil, nil),
			gauge, max(limit-m.Value, 0))
	}
}

// collectTasks sends the duration of finished tasks as a histogram.
func (c *collector) collectTasks(to chan<- prometheus.Metric) {
	sums := map[string]float64{}
	buckets := map[string]map[float64]uint64{}
	for _, m := range c.found {
		switch m.Family {
		case "task_seconds":
			sums[m.A] = m.Value
		case "task_bucket":
			if buckets[m.A] == nil {
				buckets[m.A] = map[float64]uint64{}
			}
			le, err := strconv.ParseFloat(m.B, 64)
			if err != nil {
				panic(fmt.Sprintf("metrics: the bucket %q is not a number", m.B))
			}
			buckets[m.A][le] = uint64(c.highestOf("task "+m.A+m.B, m.Value))
		}
	}
	desc := prometheus.NewDesc("task_duration_seconds", "Duration of finished tasks.", []string{"status"}, nil)
	for state, counts := range buckets {
		all := counts[math.Inf(1)]
		delete(counts, math.Inf(1))
		to <- prometheus.MustNewConstHistogram(desc, all, c.highestOf("task sum"+state, sums[state]), counts, clean(state))
	}
}

// other is the label of what has no label of its own.
const other = "other"

// word matches what may be a label: a name of a state, queue, code, model or tool.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/ -]{0,63}$`)

// clean returns a label's value, or other if it does not look like one.
func clean(value string) string {
	if value == "" || word.MatchString(value) {
		return value
	}
	return other
}
