package config

import (
	"slices"
	"time"
)

// NoModel is the model name that means "no model". With it as LLM.Model, answers only quote passages.
const NoModel = "none"

// AgentModel is the name that means the model of the agent that answers.
const AgentModel = "agent"

// LLM configures the language models.
type LLM struct {
	Model      string              // NoModel, "provider/name", or the name of a strategy
	BaseURL    string              // base URL of Model's provider, without a trailing slash; empty means the built-in one or that of Providers
	APIKey     Secret              // key for Model's provider
	Local      bool                // whether Model's provider is free
	Timeout    time.Duration       // how long a model may send nothing, before and within its answer
	Providers  map[string]Provider // by name
	Strategies Strategies
	Prices     []Price // override the built-in prices
	MaxTokens  int     // limit on an answer
	Contexts   []ContextWindow
	Small      []string // models that get few tools, few passages and short prompts
	Rounds     int      // calls of a model for one task of the owner's
	// AnswerTimeout bounds one attempt at an answer, UnattendedTimeout a schedule or heartbeat with all its attempts.
	AnswerTimeout     time.Duration
	UnattendedTimeout time.Duration
}

// ContextWindow is how much a model reads and writes at once.
type ContextWindow struct {
	Model  string // "provider/name"
	Tokens int
}

// ContextWindow returns the smallest configured context window of some models, or 0 if one of them has none.
func (l *LLM) ContextWindow(names []string) int {
	smallest := 0
	for _, name := range names {
		i := slices.IndexFunc(l.Contexts, func(c ContextWindow) bool { return c.Model == name })
		if i < 0 {
			return 0
		}
		if tokens := l.Contexts[i].Tokens; smallest == 0 || tokens < smallest {
			smallest = tokens
		}
	}
	return smallest
}

// IsSmall reports whether one of some models gets few tools, few passages and short prompts.
func (l *LLM) IsSmall(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(l.Small, name) })
}

// Provider configures one provider of language models.
type Provider struct {
	Type    string // protocol: "anthropic", "openai", "gemini" or "ollama"; empty means the provider's known protocol, else "openai"
	BaseURL string
	APIKey  Secret
	Local   bool // whether its models are free
}

// Embeddings configures the embedding model for semantic search.
type Embeddings struct {
	Model        string // NoModel, "openai/NAME" or "ollama/NAME"
	BaseURL      string // base URL of an OpenAI-compatible API, without a trailing slash; empty means that of OpenAI or Ollama
	APIKey       Secret // empty if the server requires none
	Dimensions   int    // of the vectors; zero means the model's default
	PricePerMTok Money  // price of a million tokens, in Budget.Currency
	Local        bool   // whether the model is free; only then may its price be zero. Always true for Ollama.
}

// Speech configures the model that transcribes voice notes.
type Speech struct {
	Model          string        // NoModel or "openai/NAME"
	BaseURL        string        // base URL of an API with /audio/transcriptions, without a trailing slash; empty means OpenAI's
	APIKey         Secret        // empty if the server requires none
	Timeout        time.Duration // of one call
	PricePerMinute Money         // price of one minute of audio, in Budget.Currency
	Local          bool          // whether the model is free; only then may the price be zero
}

// Vision configures the model that looks at pictures.
type Vision struct {
	Model string // NoModel, "provider/name", or the name of a strategy; LLM configures its provider and its price
}

// The names of the strategies.
const (
	CheapFirst    = "cheap_first"
	FastFirst     = "fast_first"
	PowerfulFirst = "powerful_first"
	OfflineFirst  = "offline_first"
	Custom        = "custom"
)

// Strategies holds the list of models of each strategy. The models of a list are tried in order.
type Strategies struct {
	CheapFirst    []string
	FastFirst     []string
	PowerfulFirst []string
	OfflineFirst  []string
	Custom        []string
}

// byName returns the models of a strategy, or nil if name is not a strategy.
func (s *Strategies) byName(name string) *[]string {
	switch name {
	case CheapFirst:
		return &s.CheapFirst
	case FastFirst:
		return &s.FastFirst
	case PowerfulFirst:
		return &s.PowerfulFirst
	case OfflineFirst:
		return &s.OfflineFirst
	case Custom:
		return &s.Custom
	default:
		return nil
	}
}

func emptyStrategies() Strategies {
	return Strategies{
		CheapFirst:    []string{},
		FastFirst:     []string{},
		PowerfulFirst: []string{},
		OfflineFirst:  []string{},
		Custom:        []string{},
	}
}

// ResolveModels returns the models that a value of LLM.Model means, in the order in which they are tried. It is empty for
// NoModel, and for AgentModel, which names none.
func (l *LLM) ResolveModels(model string) []string {
	if model == NoModel || model == AgentModel || model == "" {
		return nil
	}
	if list := l.Strategies.byName(model); list != nil {
		return *list
	}
	return []string{model}
}

// AllModels returns all configured models without duplicates: those of Model first, then those of the other strategies.
func (l *LLM) AllModels() []string {
	var all []string
	for _, value := range []string{l.Model, CheapFirst, FastFirst, PowerfulFirst, OfflineFirst, Custom} {
		for _, name := range l.ResolveModels(value) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Price is what a model's provider charges for a million tokens of each kind, in Budget.Currency.
type Price struct {
	Model      string // "provider/name"
	In, Out    Money
	CacheRead  Money // input read from the provider's cache; zero means In
	CacheWrite Money // input written to it; zero means In
}
