package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/knowledge/search"
	"multis/policy"
)

// percentile returns the latency below which the share p of the samples lies.
func percentile(list []time.Duration, p float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func summary(list []time.Duration) string {
	return fmt.Sprintf("p50 %.2f  p95 %.2f  p99 %.2f ms", milliseconds(percentile(list, .5)), milliseconds(percentile(list, .95)),
		milliseconds(percentile(list, .99)))
}

// ratio returns the ratio of medians.
func ratio(a, b []time.Duration) float64 {
	return float64(percentile(a, .5)) / float64(max(percentile(b, .5), 1))
}

const contentWordsSQL = "select w from unnest($1::text[]) with ordinality u(w, o) where ts_lexize('english_stem', w) <> '{}' order by o"

// contentWords returns the words of a query without stop words, which SQLite does not remove itself.
func contentWords(ctx context.Context, db *database, text string) ([]string, error) {
	rows, err := db.Pool().Query(ctx, contentWordsSQL, search.Words(text))
	if err != nil {
		return nil, fmt.Errorf("drop stop words: %w", err)
	}
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("drop stop words: %w", err)
	}
	return words, nil
}

// scopeOf returns the scope for writing data of a role.
func scopeOf(role policy.Role) policy.Scope {
	var chat policy.ChatID
	if n, _ := fmt.Sscanf(string(role), "user:%d", &chat); n == 1 {
		return policy.OwnerScope(chat)
	}
	return policy.OwnerScope()
}
