package llm

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Protocol is the API protocol of a provider.
type Protocol string

// The supported protocols.
const (
	ProtocolAnthropic Protocol = "anthropic" // Anthropic's Messages
	ProtocolOpenAI    Protocol = "openai"    // chat completions: OpenAI, and most others
	ProtocolGemini    Protocol = "gemini"    // Google's generateContent
	ProtocolOllama    Protocol = "ollama"    // Ollama's own chat API
)

// Provider configures a provider of models. A known provider needs only a key.
type Provider struct {
	Protocol Protocol // Defaults to the known provider's, else ProtocolOpenAI.
	BaseURL  string   // Defaults to the known provider's.
	APIKey   string
	Local    bool // whether its models are free, because the owner runs them
}

// DefaultBaseURL is the base URL of OpenAI.
const DefaultBaseURL = "https://api.openai.com/v1"

// openAIPrefix is the prefix of embedding and speech models at servers with OpenAI's protocol.
const openAIPrefix = "openai/"

// knownProviders lists the providers with a built-in base URL.
var knownProviders = map[string]Provider{
	"anthropic":  {Protocol: ProtocolAnthropic, BaseURL: "https://api.anthropic.com"},
	"openai":     {Protocol: ProtocolOpenAI, BaseURL: DefaultBaseURL},
	"gemini":     {Protocol: ProtocolGemini, BaseURL: "https://generativelanguage.googleapis.com"},
	"ollama":     {Protocol: ProtocolOllama, BaseURL: "http://localhost:11434", Local: true},
	"groq":       {Protocol: ProtocolOpenAI, BaseURL: "https://api.groq.com/openai/v1"},
	"openrouter": {Protocol: ProtocolOpenAI, BaseURL: "https://openrouter.ai/api/v1"},
	"cerebras":   {Protocol: ProtocolOpenAI, BaseURL: "https://api.cerebras.ai/v1"},
	"mistral":    {Protocol: ProtocolOpenAI, BaseURL: "https://api.mistral.ai/v1"},
	"deepseek":   {Protocol: ProtocolOpenAI, BaseURL: "https://api.deepseek.com/v1"},
	"xai":        {Protocol: ProtocolOpenAI, BaseURL: "https://api.x.ai/v1"},
}

// usesKnownAddress reports whether the provider is a known one at its built-in base URL. Only then the built-in prices
// apply.
func (p Provider) usesKnownAddress(name string) bool {
	k, ok := knownProviders[name]
	return ok && k.BaseURL == p.BaseURL
}

// complete sets the defaults of a known provider and validates the result.
func (p Provider) complete(name string) (Provider, error) {
	k, isKnown := knownProviders[name]
	if p.Protocol == "" {
		p.Protocol = ProtocolOpenAI
		if isKnown {
			p.Protocol = k.Protocol
		}
	}
	if p.BaseURL == "" {
		if !isKnown {
			return p, fmt.Errorf("%w: %s is no provider that is known here (%s); write its llm.providers.%[2]s.base_url",
				ErrConfig, name, strings.Join(slices.Sorted(maps.Keys(knownProviders)), ", "))
		}
		p.BaseURL, p.Local = k.BaseURL, p.Local || k.Local
	}
	if p.Protocol == ProtocolOllama { // the same server has OpenAI's API there
		p.BaseURL = strings.TrimSuffix(strings.TrimRight(p.BaseURL, "/"), "/v1")
	}
	address, err := url.Parse(p.BaseURL)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return p, fmt.Errorf("%w: base_url of %s must look like %s", ErrConfig, name, DefaultBaseURL)
	}
	if p.APIKey == "" && !p.Local && (p.usesKnownAddress(name) || p.Protocol == ProtocolGemini) {
		return p,
			fmt.Errorf("%w: %s needs a key; write llm.api_key beside llm.model, or llm.providers.%[2]s.api_key (in the environment MULTIS_LLM_API_KEY)", ErrConfig, name)
	}
	return p, nil
}

// connect returns the model without budget and retries.
func (p Provider) connect(e endpoint) (*adapter, error) {
	switch p.Protocol {
	case ProtocolAnthropic:
		return newAnthropic(e), nil
	case ProtocolGemini:
		return newGemini(e), nil
	case ProtocolOpenAI:
		return newOpenAI(e), nil
	case ProtocolOllama:
		return newOllama(e), nil
	default:
		return nil, fmt.Errorf("%w: the protocol of %s must be anthropic, openai, gemini or ollama", ErrConfig, e.Name)
	}
}
