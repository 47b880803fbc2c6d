// Package agent answers: what waits in a contact's chat, and what the owner asks. It sends nothing itself. Its answers go to the
// outbox, in the transaction that marks the messages as answered.
package agent

import (
	"time"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/skills"
	"multis/store"
	"multis/tools"
)

// Options configure an Agent.
type Options struct {
	Store  *store.Store
	Box    *outbox.Box
	Search *search.Searcher
	// Memory searches messages and notes. Nil searches documents alone.
	Memory *memory.Memory
	// Personas are who answers, and with which model. Without any the assistant itself does.
	Personas persona.Set
	// OpenModel opens a model that the owner names; nil where he cannot.
	OpenModel func(name string) (llm.Model, error)
	// Tools are what the model may call. Defaults to none.
	Tools *tools.Registry
	// Skills are instructions for answers. Defaults to those that are built in.
	Skills *skills.Set
	// Defaults decide the mode of a chat that has none of its own.
	Defaults policy.Defaults
	// Currency is that of the budget.
	Currency string
	// Name is the assistant's, unless the owner renamed it.
	Name string
	// Greeting answers a greeting.
	Greeting string
	// Handover is sent once when a chat is escalated to a person.
	Handover string
	// HandOverAtCap escalates contacts' questions once the budget is used up. Defaults to answers in the documents' own words.
	HandOverAtCap bool
	// BurstQuiet is the silence that ends a burst of messages, BurstMax the longest wait for it.
	BurstQuiet time.Duration
	BurstMax   time.Duration
	Zone       *time.Location
}

// Agent answers contacts and the owner.
type Agent struct {
	Options
	now   func() time.Time
	fence func() string
}

// New returns an Agent.
func New(o Options) *Agent {
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(tools.Tiers{})
	}
	return &Agent{Options: o, now: time.Now, fence: run.NewFence}
}

// attempt is a persona's attempt at a task.
type attempt struct {
	agent   *Agent
	persona persona.Persona
	run     *run.Attempt
	skills  []skills.Skill
	// noNotes leaves notes out of the prompt, noHistory what was said in the room before.
	noNotes   bool
	noHistory bool
	places    places // where the owner's question is answered from
	summarise bool   // the conversation is long enough to be summarised
}

// newAttempt returns an attempt of a persona's.
func (a *Agent) newAttempt(p persona.Persona, maxRounds int) *attempt {
	r := &attempt{agent: a, persona: p}
	r.run = run.Engine{Store: a.Store, Tools: a.Tools, Now: a.now, Fence: a.fence}.New(a.Personas.ModelOf(p))
	r.run.MaxRounds, r.run.Payer, r.run.Instructions = maxRounds, p.ID, contactRules
	return r
}

// name returns what the assistant is called in this attempt, when the owner calls it as given.
func (r *attempt) name(assistant string) string {
	if r.persona.Name != "" {
		return r.persona.Name
	}
	return assistant
}
