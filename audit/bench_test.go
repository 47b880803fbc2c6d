package audit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/audit"
	"multis/store"
	"multis/store/storetest"
)

// BenchmarkAppend measures what the log costs a turn: the median time of a transaction that writes one row, of one that also writes an entry, in
// turns, and the difference.
func BenchmarkAppend(b *testing.B) {
	st, log := storetest.New(b), newLog(b)
	write := func(entries int) time.Duration {
		began := time.Now()
		err := st.InTx(b.Context(), func(tx store.Tx) error {
			if err := store.PutSetting(b.Context(), tx, "bench", 1); err != nil || entries == 0 {
				return err
			}
			return log.Append(b.Context(), tx, audit.Entry{Kind: audit.Send, Actor: audit.Agent, Chat: 1, Outcome: "sent", Content: []byte("text")})
		})
		require.NoError(b, err)
		return time.Since(began)
	}
	var without, with []time.Duration
	for b.Loop() {
		without, with = append(without, write(0)), append(with, write(1))
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(median(without), "ms-without/op")
	b.ReportMetric(median(with), "ms-with/op")
	b.ReportMetric(median(with)-median(without), "ms-added/op")
}

// BenchmarkVerify checks a million entries.
func BenchmarkVerify(b *testing.B) {
	st, log := storetest.New(b), newLog(b)
	const entries, batch = 1_000_000, 1000 // one transaction with all of them takes hours: each entry updates the one row of the head
	for n := 0; n < entries; n += batch {
		_, err := st.Pool().Exec(b.Context(), `insert into audit_entries (kind, actor, outcome, chat_id, ref, action, content)
			select 'send', 'agent', 'sent', n % 500, 'out-' || n, 'reply', sha256(n::text::bytea) from generate_series($1::int, $2::int) n`, n+1, n+batch)
		require.NoError(b, err)
	}
	for b.Loop() {
		report, err := log.Verify(b.Context(), st)
		require.NoError(b, err)
		require.Equal(b, entries, report.Entries)
	}
}
