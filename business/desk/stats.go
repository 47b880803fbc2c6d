package desk

import (
	"slices"
	"time"

	"multis/policy"
	"multis/store"
)

// Stats say what happened in a period.
type Stats struct {
	Counts          map[store.DeskFactKind]int
	ByCause         map[policy.Cause]int // of escalations
	FirstAnswerWait time.Duration        // median wait for the first answer; zero without any
	PersonWait      time.Duration        // median wait for a person; zero without any
	Cost            int64                // of all answers, in millionths of the currency
}

// Summarize sums up facts.
func Summarize(facts []store.DeskFact) Stats {
	n := Stats{Counts: map[store.DeskFactKind]int{}, ByCause: map[policy.Cause]int{}}
	waits := map[store.DeskFactKind][]float64{}
	for _, f := range facts {
		n.Counts[f.Kind]++
		n.Cost += f.Cost
		waits[f.Kind] = append(waits[f.Kind], f.Seconds)
		if f.Kind == store.FactEscalated {
			n.ByCause[f.Cause]++
		}
	}
	n.FirstAnswerWait, n.PersonWait = median(waits[store.FactAnswered]), median(waits[store.FactPerson])
	return n
}

// IsZero reports whether nothing happened.
func (n Stats) IsZero() bool { return len(n.Counts) == 0 }

// CostPerConversation returns what a conversation cost on average; zero without any.
func (n Stats) CostPerConversation() int64 {
	if n.Counts[store.FactConversation] == 0 {
		return 0
	}
	return n.Cost / int64(n.Counts[store.FactConversation])
}

// median returns the middle of seconds, the mean of both middle ones for an even number.
func median(seconds []float64) time.Duration {
	if len(seconds) == 0 {
		return 0
	}
	slices.Sort(seconds)
	half := len(seconds) / 2
	middle := seconds[half]
	if len(seconds)%2 == 0 {
		middle = (middle + seconds[half-1]) / 2
	}
	return time.Duration(middle * float64(time.Second)).Round(time.Second)
}
