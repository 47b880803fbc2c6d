package config

import (
	"slices"
	"time"
)

// NoModel is the LLM.Model that means: answer with quoted passages only.
const NoModel = "none"

// LLM says which language models answer, and where they are.
type LLM struct {
	Model      string // NoModel, one as "provider/name", or one of Strategies' names
	BaseURL    string // of the provider of Model, without a slash at the end; empty where it is known or in Providers
	APIKey     Secret // of the provider of Model
	Local      bool   // the provider of Model costs nothing
	Timeout    time.Duration
	Providers  map[string]Provider // by name
	Strategies Strategies
	Prices     []Price // of models whose price is not known, or is another one
}

// Provider says where models are served and how.
type Provider struct {
	Type    string // "anthropic", "openai" or "gemini"; empty: by the provider's name, else openai
	BaseURL string
	APIKey  Secret
	Local   bool
}

// Embeddings is the model that finds passages by what they mean.
type Embeddings struct {
	Model        string // NoModel, or "openai/" or "ollama/" and the model's name at BaseURL
	BaseURL      string // of an OpenAI-compatible API, without a slash at the end; empty means OpenAI's or Ollama's own
	APIKey       Secret // empty for servers that want none
	Dimensions   int    // of the vectors; zero leaves it to the model
	PricePerMTok Money  // in Budget.Currency
	Local        bool   // the model costs nothing; only then may its price be zero. Always true for Ollama's.
}

// Speech is the model that turns voice notes into words.
type Speech struct {
	Model          string        // NoModel, or "openai/" and the model's name at BaseURL
	BaseURL        string        // of an API with /audio/transcriptions, without a slash at the end; empty means OpenAI's own
	APIKey         Secret        // empty for servers that want none
	Timeout        time.Duration // of one call
	PricePerMinute Money         // of a recording, in Budget.Currency
	Local          bool          // the model costs nothing; only then may the price be zero
}

// The names of the strategies.
const (
	CheapFirst    = "cheap_first"
	FastFirst     = "fast_first"
	PowerfulFirst = "powerful_first"
	OfflineFirst  = "offline_first"
	Custom        = "custom"
)

// Strategies are lists of models, tried in the order they were written in.
type Strategies struct {
	CheapFirst    []string
	FastFirst     []string
	PowerfulFirst []string
	OfflineFirst  []string
	Custom        []string
}

// byName is a strategy's models, or nil for a name that is none.
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
	return Strategies{CheapFirst: []string{}, FastFirst: []string{}, PowerfulFirst: []string{}, OfflineFirst: []string{}, Custom: []string{}}
}

// ResolveModels are the models behind a value of LLM.Model, in the order they are tried: none for NoModel.
func (l *LLM) ResolveModels(model string) []string {
	if model == NoModel || model == "" {
		return nil
	}
	if list := l.Strategies.byName(model); list != nil {
		return *list
	}
	return []string{model}
}

// AllModels are the models of the configuration, each once: those behind Model, then those of the strategies that are not in use.
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

// Price is what a model's provider charges for a million tokens, in Budget.Currency.
type Price struct {
	Model      string // "provider/name"
	In, Out    Money
	CacheRead  Money // of input from the provider's cache; zero: as In
	CacheWrite Money // of input put there; zero: as In
}
