// Package agent answers the messages that wait in contacts' chats, and the owner's questions. It sends nothing itself: its answers go to
// the outbox, in the transaction that marks the messages as answered.
package agent

import (
	"cmp"
	"context"
	"time"

	"github.com/rs/zerolog"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/business/answers"
	"multis/business/catalog"
	"multis/business/desk"
	"multis/business/hours"
	"multis/knowledge/search"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// Options configure an Agent.
type Options struct {
	Store  *store.Store
	Box    *outbox.Box
	Search *search.Searcher
	// Memory searches messages and notes. If it is nil, only documents are searched.
	Memory *memory.Memory
	// Pages finds web pages to answer contacts from if no document has the answer. Nil for none.
	Pages Pages
	// Pictures describes pictures. If it is nil, messages of contacts with pictures are escalated in chats that need a
	// viewer (policy.NeedsViewer).
	Pictures Pictures
	// Personas are the configured agents and their models. Without any, the assistant itself answers.
	Personas persona.Set
	// OpenModel opens the model with a name that the owner gives. If it is nil, he cannot choose a model.
	OpenModel func(name string) (llm.Model, error)
	// Tools are the tools that the model may call. Defaults to none.
	Tools *tools.Registry
	// Surface is where the owner's questions come from, as rules see it. Defaults to rules.SurfaceOwner.
	Surface rules.Surface
	// Skills are instructions for answers. Nil for none.
	Skills *skills.Set
	// Injection configures how contacts' messages are checked before a model reads them.
	Injection Injection
	// Defaults decide the mode of a chat that has none of its own.
	Defaults policy.Defaults
	// Currency is the currency of the budget.
	Currency string
	// Name is the assistant's name, unless the owner renamed it.
	Name string
	// Texts are the standard texts to contacts. Language is their language for contacts whose language is not known.
	Texts    catalog.Texts
	Language catalog.Lang
	// Hours are the opening hours. Defaults to always open. LabelHours are those of chats with a label, by its name.
	Hours      hours.Hours
	LabelHours map[string]hours.Hours
	// AwayOutsideHours answers contacts outside of the opening hours with the away text only.
	AwayOutsideHours bool
	// Answers has the owner's canned and learned answers. Nil for none.
	Answers *answers.Keeper
	// Business is what models are told about the business.
	Business Business
	// EscalationKeywords are the words that escalate a message. Only Preview uses them here, because the inbox checks the
	// messages of contacts.
	EscalationKeywords []string
	// Desk passes conversations to people. Defaults to one without operators.
	Desk *desk.Desk
	// EscalateAtCap escalates contacts' questions when the budget is used up. Defaults to answers that quote the documents.
	EscalateAtCap bool
	// AnswerJudge decides whether a sentence to a contact follows from what it cites where its words do not tell. Nil refuses
	// such a sentence.
	AnswerJudge llm.Model
	// MayJudgeItself reports whether the model that wrote an answer may be its judge. isRead says that a person reads the
	// answer before it is sent. Nil says that no model may.
	MayJudgeItself func(ctx context.Context, model string, isRead bool) (bool, error)
	// ShadowJudge is the model that compares shadow answers with the owner's. Nil compares them by their words only.
	ShadowJudge llm.Model
	// OwnerPause is how long the assistant stays quiet after a person wrote. A conversation is over after the same time of
	// silence, but at least minQuiet.
	OwnerPause time.Duration
	// BurstQuiet is the silence that ends a burst of messages, BurstMax the longest wait for that silence.
	BurstQuiet time.Duration
	BurstMax   time.Duration
	Zone       *time.Location
	// Rehearsing keeps answers from raising the rank of the passages that they used, so that no answer changes another.
	Rehearsing bool
}

// Agent answers contacts and the owner. Each of its parts does one kind of work.
type Agent struct {
	*core
	Turns     *Turns
	Quiet     *QuietChats
	Shadows   *ShadowJudge
	Questions *Questions
	Plans     *Plans
	Tasks     *Tasks
	Replays   *Replays
	Summaries *Summaries
}

// New returns an Agent.
func New(o Options) *Agent {
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(tools.TierPolicy{})
	}
	if o.Desk == nil {
		o.Desk = desk.New(desk.Options{Store: o.Store, Box: o.Box, Name: o.Name, Zone: o.Zone})
	}
	if o.ShadowJudge == nil {
		o.ShadowJudge = llm.None{}
	}
	o.Language = cmp.Or(o.Language, catalog.English)
	standard := standardTexts{
		texts:      o.Texts,
		language:   o.Language,
		hours:      o.Hours,
		labelHours: o.LabelHours,
		defaults:   o.Defaults,
	}
	c := &core{
		store:      o.Store,
		box:        o.Box,
		search:     o.Search,
		memory:     o.Memory,
		personas:   o.Personas,
		tools:      o.Tools,
		surface:    o.Surface,
		skills:     o.Skills,
		injection:  o.Injection,
		business:   o.Business,
		pages:      o.Pages,
		pictures:   o.Pictures,
		judge:      o.AnswerJudge,
		judgesSelf: o.MayJudgeItself,
		defaults:   o.Defaults,
		currency:   o.Currency,
		language:   o.Language,
		rehearsing: o.Rehearsing,
		name:       o.Name,
		zone:       o.Zone,
		now:        time.Now,
		fence:      run.NewFence,
	}
	a := &Agent{
		core:      c,
		Quiet:     &QuietChats{core: c, standard: standard, quietAfter: max(o.OwnerPause, minQuiet)},
		Shadows:   &ShadowJudge{c, o.ShadowJudge},
		Questions: &Questions{c},
		Plans:     &Plans{c},
		Replays:   &Replays{c, o.OpenModel},
		Summaries: &Summaries{c},
		Turns: &Turns{
			core:               c,
			desk:               o.Desk,
			standard:           standard,
			awayOutsideHours:   o.AwayOutsideHours,
			escalationKeywords: o.EscalationKeywords,
			answers:            o.Answers,
			escalateAtCap:      o.EscalateAtCap,
			burstQuiet:         o.BurstQuiet,
			burstMax:           o.BurstMax,
		},
	}
	a.Tasks = &Tasks{
		core:      c,
		questions: a.Questions,
		plans:     a.Plans,
		replays:   a.Replays,
		subtasks:  &subtasks{c},
	}
	return a
}

// Pages are the web pages that contacts may be answered from, kept as public documents.
type Pages interface {
	// Refresh fetches the stored pages again that are old, first those among the documents found, and reports whether a
	// search may find something else now.
	Refresh(ctx context.Context, found []store.DocumentID) (changed bool, err error)
	// Find fetches pages that may answer a question, and reports whether a search may find more now.
	Find(ctx context.Context, question string) (changed bool)
}

// core holds what all parts of an Agent use.
type core struct {
	store    *store.Store
	box      *outbox.Box
	search   *search.Searcher
	memory   *memory.Memory
	personas persona.Set
	tools    *tools.Registry
	surface  rules.Surface
	skills   *skills.Set

	injection Injection
	business  Business

	pages      Pages
	pictures   Pictures
	judge      llm.Model // of answers; nil for none
	judgesSelf func(ctx context.Context, model string, isRead bool) (bool, error)
	defaults   policy.Defaults
	currency   string
	language   catalog.Lang // of texts to contacts that are too short to tell
	rehearsing bool
	name       string
	zone       *time.Location
	now        func() time.Time
	fence      func() string
}

// attempt is one attempt of a persona at a task.
type attempt struct {
	core    *core
	persona persona.Persona
	run     *run.Attempt
	skills  []skills.Skill
	// omitNotes leaves the notes out of the prompt, omitHistory the earlier conversation in the room.
	omitNotes   bool
	omitHistory bool
	area        searchArea // where the owner's question is answered from
	notes       string     // the owner's notes in the prompt
	summarise   bool       // whether the conversation is long enough to be summarised
	// draftCalls is how many messages the task has drafted.
	draftCalls int
}

// newAttempt returns an attempt of a persona.
func (c *core) newAttempt(p persona.Persona, maxRounds int) *attempt {
	r := &attempt{core: c, persona: p}
	r.run = run.Engine{
		Store: c.store,
		Tools: c.tools,
		Now:   c.now,
		Zone:  c.zone,
		Fence: c.fence,
	}.NewAttempt(c.personas.ModelOf(p))
	if r.run.MaxRounds = maxRounds; maxRounds == ownerRounds {
		r.run.MaxRounds = r.run.Limits.Rounds
	}
	r.run.PayingAgent = p.ID
	r.run.Judge = c.judge
	if c.judgesSelf != nil {
		r.run.Judge = r.run.Model
	}
	r.run.Instructions = r.rules(contactRules, smallContactRules)
	return r
}

// checkJudge takes the judge away from a model that may not judge its own answer. isRead says that a person reads the answer
// before it is sent.
func (r *attempt) checkJudge(ctx context.Context, isRead bool) error {
	if r.core.judgesSelf == nil {
		return nil
	}
	ok, err := r.core.judgesSelf(ctx, r.run.Model.Name(), isRead)
	if !ok {
		r.run.Judge = nil
	}
	return err
}

// rules returns the instructions for the attempt's model, which may be a small one.
func (r *attempt) rules(full, small string) string {
	if r.run.Limits.Small {
		return small
	}
	return full
}

// assistantName returns the name under which the persona answers: its own, or else the assistant's.
func (r *attempt) assistantName(ctx context.Context) (string, error) {
	if r.persona.Name != "" {
		return r.persona.Name, nil
	}
	return store.AssistantName(ctx, r.core.store.DB(), r.core.name)
}

// personaOf returns the persona that answers in a contact's chat.
func (c *core) personaOf(chat store.Chat) persona.Persona {
	p, _ := c.personas.Route(persona.RouteInput{Chat: chat, Mode: chat.ModeIn(c.defaults)})
	return p
}

// AnsweringAgent returns the id of the agent that answers in a contact's chat, and what decided that. Both are empty for
// the assistant itself.
func (c *core) AnsweringAgent(chat store.Chat) (agent, by string) {
	p, by := c.personas.Route(persona.RouteInput{Chat: chat, Mode: chat.ModeIn(c.defaults)})
	return p.ID, by
}

// recordAccessTimeout bounds recordAccess.
const recordAccessTimeout = time.Second

// recordAccess records which passages a committed answer used. A failure is only logged.
func (c *core) recordAccess(ctx context.Context, scope policy.Scope, used []search.Hit) {
	if c.rehearsing {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordAccessTimeout)
	defer cancel()
	if err := c.search.RecordAccess(ctx, scope, used); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot note which passages were used")
	}
}
