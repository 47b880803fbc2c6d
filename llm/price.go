package llm

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"

	"gopkg.in/yaml.v3"
)

// Price is the price of a model, in millionths of the currency for a million tokens: 0.15 for a million is 150_000. The
// zero value means that the price is unknown.
type Price struct {
	In, Out               int64
	CacheRead, CacheWrite int64 // of input read from the provider's cache, and written to it. Zero means In.
}

// Cost returns the price of these tokens in millionths of the currency, rounded up.
func (p Price) Cost(u Usage) int64 {
	plain := u.In - u.CacheRead - u.CacheWrite
	sum := plain*p.In + u.CacheRead*orElse(p.CacheRead, p.In) + u.CacheWrite*orElse(p.CacheWrite, p.In) + u.Out*p.Out
	return (sum + 999_999) / 1_000_000
}

// worstCase returns the price with all input at the most expensive input price.
func (p Price) worstCase() Price {
	return Price{In: max(p.In, p.CacheRead, p.CacheWrite), Out: p.Out}
}

// convert converts a price in dollars. perDollar is the price of a dollar in millionths of the other currency. Results are
// rounded up.
func (p Price) convert(perDollar int64) Price {
	turn := func(amount int64) int64 { return (amount*perDollar + 999_999) / 1_000_000 }
	return Price{In: turn(p.In), Out: turn(p.Out), CacheRead: turn(p.CacheRead), CacheWrite: turn(p.CacheWrite)}
}

func orElse(price, other int64) int64 {
	if price == 0 {
		return other
	}
	return price
}

//go:embed prices.yaml
var priceList []byte

// knownModels is the built-in price list.
type knownModels struct {
	prices        map[string]Price // in dollars, by "provider/model"
	date          string
	contextWindow int // minimum context window of these models, in tokens
}

func knownPrices() (knownModels, error) {
	var list struct {
		Date   string `yaml:"date"`
		Holds  int    `yaml:"holds"`
		Models map[string]struct {
			In    float64 `yaml:"in"`
			Out   float64 `yaml:"out"`
			Read  float64 `yaml:"read"`
			Write float64 `yaml:"write"`
		} `yaml:"models"`
	}
	if err := yaml.Unmarshal(priceList, &list); err != nil {
		return knownModels{}, fmt.Errorf("read the list of prices: %w", err)
	}
	micros := func(dollars float64) int64 { return int64(math.Round(dollars * 1_000_000)) }
	prices := make(map[string]Price, len(list.Models))
	for name, p := range list.Models {
		prices[name] = Price{In: micros(p.In), Out: micros(p.Out), CacheRead: micros(p.Read), CacheWrite: micros(p.Write)}
	}
	return knownModels{prices, list.Date, list.Holds}, nil
}

// snapshotDate matches the date suffix of a model snapshot. It does not match "-latest", whose price may change.
var snapshotDate = regexp.MustCompile(`-(20\d{6}|20\d{2}-\d{2}-\d{2})$`)

// undatedName returns a model's name without the date of its snapshot.
func undatedName(name string) string { return snapshotDate.ReplaceAllString(name, "") }
