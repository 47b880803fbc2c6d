package heartbeat

import (
	"time"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/tools"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Config configures one agent's heartbeat.
type Config struct {
	// Agent is the id of the persona that judges. Empty means the assistant itself.
	Agent string
	// Items are the owner's own instructions on what else to check, one text each.
	Items []string
	// ItemChecks is how many times a day a model may check the items. The checks are spread over Active.
	ItemChecks int
	// Active is the part of a day in which heartbeats are scheduled.
	Active time.Duration
	// Tasks includes tasks that failed or make no progress.
	Tasks bool
	// Drafts makes the model draft messages to contacts. None is sent before the owner approves it.
	Drafts bool
	// Model judges the findings, paid from the heartbeat's own budget. Defaults to the persona's model.
	Model llm.Model
}

// Options configure a Checker.
type Options struct {
	Store    *store.Store
	Box      *outbox.Box
	Memory   *memory.Memory // nil for none
	Personas persona.Set
	Tools    *tools.Registry
	// Defaults decide the mode of a chat that has none of its own.
	Defaults policy.Defaults
	// Name is the assistant's, unless the owner renamed it.
	Name    string
	Zone    *time.Location
	Configs []Config
}

// Checker carries out heartbeats.
type Checker struct {
	Options
	now   func() time.Time
	fence func() string
}

// New returns a Checker.
func New(o Options) *Checker { return &Checker{Options: o, now: time.Now, fence: run.NewFence} }

// taskKind is the kind of a heartbeat's task, and the prefix of the name of its budget.
const taskKind = store.TaskHeartbeat

// check is one execution of a heartbeat.
type check struct {
	checker       *Checker
	config        Config
	persona       persona.Persona
	model         llm.Model
	limits        run.Limits
	room          store.Chat
	at            time.Time
	findings      []finding
	items         []string
	conversations memory.Conversations // the messages since the last check of the items
}

// newCheck returns an execution of a heartbeat.
func (h *Checker) newCheck(config Config, room store.Chat) *check {
	c := &check{checker: h, config: config, room: room, at: h.now()}
	if config.Agent != "" {
		c.persona = h.Personas.ByID(config.Agent)
	}
	c.model, c.limits = h.Personas.ModelOf(c.persona)
	if config.Model != nil {
		c.model = config.Model
	}
	c.limits = c.limits.WithDefaults()
	return c
}

// day returns the date of the check in the owner's time zone.
func (c *check) day() string { return c.at.In(c.checker.Zone).Format(time.DateOnly) }
