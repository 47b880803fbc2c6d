package llm

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"multis/internal/sleep"
)

// DefaultTimeout is how long a model may send nothing, before its answer and within it.
const DefaultTimeout = 30 * time.Second

// ErrConfig is wrapped by the errors for invalid settings. Their texts name the setting and the fix.
var ErrConfig = errors.New("llm")

// Options configures Models.
type Options struct {
	Providers map[string]Provider // by name
	Prices    map[string]Price    // by "provider/model", in the budget's currency; they override the built-in prices
	// Price of a dollar, in millionths of the currency. The built-in prices are in dollars; with zero they are not used.
	PerDollar int64
	Timeout   time.Duration // Defaults to DefaultTimeout.
	MaxTokens int           // the limit on answers of requests without one; defaults to DefaultMaxTokens
	Budget    Budget        // shared by all models; its Price is ignored
}

// Models opens models. It is the only way to get one, so that every call is paid from the budget. Models of one account
// share a circuit breaker, and a model is opened only once for each key.
type Models struct {
	Options
	builtInPrices map[string]Price
	priceListDate string // date of the built-in price list
	contextWindow int    // minimum context window of the models in the built-in price list, in tokens

	mu       sync.Mutex
	opened   map[account]Model
	breakers map[account]*breaker
}

// account identifies a model and the key used for it. With an empty model it identifies the account of a key at a provider.
type account struct{ provider, model, key string }

// New returns Models with these options.
func New(o Options) (*Models, error) {
	list, err := knownPrices()
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Models{
		Options:       o,
		builtInPrices: list.prices,
		priceListDate: list.date,
		contextWindow: list.contextWindow,
		opened:        map[account]Model{},
		breakers:      map[account]*breaker{},
	}, nil
}

// Open returns a model that calls the models with these names ("provider/model") in order, until one answers. Without names, or with
// "none", it returns None. If key is not empty, it replaces the configured key of the first model's provider. Open returns
// ErrConfig or ErrNoPrice.
func (ms *Models) Open(names []string, key string) (Model, error) {
	if len(names) == 0 || len(names) == 1 && (names[0] == "" || names[0] == None{}.Name()) {
		return None{}, nil
	}
	first, _, _ := strings.Cut(names[0], "/")
	list := make(fallback, 0, len(names))
	for _, name := range names {
		own := ""
		if provider, _, _ := strings.Cut(name, "/"); provider == first {
			own = key
		}
		m, err := ms.open(name, own)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (ms *Models) open(name, key string) (Model, error) {
	offer, p, err := ms.describe(name, key)
	if err != nil {
		return nil, err
	}
	provider, model, _ := strings.Cut(name, "/")
	ms.mu.Lock()
	defer ms.mu.Unlock()
	id := account{provider, model, p.APIKey}
	if m, ok := ms.opened[id]; ok {
		return m, nil
	}
	paid, err := ms.paid(offer, p, ms.Budget.Ledger)
	if err != nil {
		return nil, err
	}
	rest := account{provider: provider, key: p.APIKey}
	if ms.breakers[rest] == nil {
		ms.breakers[rest] = &breaker{now: time.Now}
	}
	ms.opened[id] = retryModel{Model: paid, breaker: ms.breakers[rest], pause: sleep.For}
	return ms.opened[id], nil
}

// paid returns a model with a budget, but without retries and circuit breaker.
func (ms *Models) paid(o ModelInfo, p Provider, from Ledger) (Model, error) {
	_, model, _ := strings.Cut(o.Name, "/")
	bare, err := p.connect(endpoint{
		Name:    o.Name,
		Model:   model,
		BaseURL: p.BaseURL,
		APIKey:  p.APIKey,
		Timeout: ms.Timeout,
	})
	if err != nil {
		return nil, err
	}
	budget := ms.Budget
	budget.Ledger = from
	budget.Price = o.Price
	budget.Local = o.Local
	budget.FromPriceList = o.PriceListDate != ""
	budget.MaxTokens = ms.MaxTokens
	return Budgeted(bare, budget)
}

// ModelInfo describes a configured model.
type ModelInfo struct {
	Name          string
	Protocol      Protocol
	Address       string
	Local         bool   // whether its calls may be free
	Price         Price  // in the budget's currency
	PriceListDate string // date of the built-in price list; empty if the price was configured
}

// ContextWindow returns the minimum context window of these models, in tokens. It is zero if it is unknown for one of them.
func (ms *Models) ContextWindow(names []string) int {
	for _, name := range names {
		provider, _, _ := strings.Cut(name, "/")
		p, err := ms.Providers[provider].complete(provider)
		if err != nil {
			return 0
		}
		if !p.usesKnownAddress(provider) {
			return 0
		}
		if _, plain := ms.builtInPrices[undatedName(name)]; !plain {
			return 0
		}
	}
	if len(names) == 0 {
		return 0
	}
	return ms.contextWindow
}

// Describe returns information about a model without calling it. If key is not empty, it replaces the provider's key.
// Describe returns ErrConfig or ErrNoPrice.
func (ms *Models) Describe(name, key string) (ModelInfo, error) {
	o, _, err := ms.describe(name, key)
	return o, err
}

func (ms *Models) describe(name, key string) (ModelInfo, Provider, error) {
	provider, model, ok := strings.Cut(name, "/")
	if !ok || provider == "" || model == "" {
		return ModelInfo{}, Provider{}, fmt.Errorf("%w: a model is written PROVIDER/NAME, such as anthropic/claude-haiku-4-5, not %q", ErrConfig,
			name)
	}
	p := ms.Providers[provider]
	if key != "" {
		p.APIKey = key
	}
	p, err := p.complete(provider)
	if err != nil {
		return ModelInfo{}, p, err
	}
	o := ModelInfo{Name: name, Protocol: p.Protocol, Address: p.BaseURL, Local: p.Local}
	if price, ok := ms.Prices[name]; ok {
		o.Price = price
		return o, p, nil
	}
	if p.Local {
		return o, p, nil
	}
	price, ok := ms.builtInPrices[name]
	if !ok {
		price, ok = ms.builtInPrices[undatedName(name)]
	}
	switch {
	case !ok || !p.usesKnownAddress(provider):
		return o, p, fmt.Errorf("%s: %w; write what a million tokens cost into llm.prices, or llm.providers.%s.local: true if they cost nothing",
			name, ErrNoPrice, provider)
	case ms.PerDollar <= 0:
		return o, p, fmt.Errorf("%s: %w in your currency; write what a dollar costs into budget.per_dollar, or the price into llm.prices", name,
			ErrNoPrice)
	}
	o.Price, o.PriceListDate = price.convert(ms.PerDollar), ms.priceListDate
	return o, p, nil
}
