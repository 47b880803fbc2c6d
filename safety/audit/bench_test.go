package audit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

// BenchmarkAppend measures what the log costs a turn: the median time of a transaction that writes one row, of one that
// also writes an entry, in turns, and the difference.
func BenchmarkAppend(b *testing.B) {
	st, log := storetest.New(b), newLog(b)
	write := func(entries int) time.Duration {
		began := time.Now()
		err := st.InTx(b.Context(), func(tx store.Tx) error {
			err := store.PutSetting(b.Context(), tx, "bench", 1)
			if err != nil {
				return err
			}
			if entries == 0 {
				return nil
			}
			return log.Append(b.Context(), tx, audit.Entry{
				Kind:    audit.Send,
				Actor:   audit.Agent,
				Chat:    1,
				Outcome: "sent",
				Content: []byte("text"),
			})
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
	const entries = 1_000_000
	for _, sql := range []string{ // one loop links them: the trigger takes minutes
		"alter table audit_entries disable trigger audit_link",
		`insert into audit_entries (kind, actor, outcome, chat_id, ref, action, content)
			select 'send', 'agent', 'sent', n % 500, 'out-' || n, 'reply', sha256(n::text::bytea) from generate_series(1, 1000000) n`,
		`do $$ declare
			e audit_entries;
			last audit_head;
		begin
			select * into strict last from audit_head;
			for e in select * from audit_entries order by id loop
				last.seq := last.seq + 1;
				last.hash := sha256(last.hash || int8send(last.seq) || audit_bytes(e));
				insert into audit_chain (seq, entry_id, hash) values (last.seq, e.id, last.hash);
			end loop;
			update audit_head set seq = last.seq, hash = last.hash;
		end $$`,
		"alter table audit_entries enable trigger audit_link", // Verify finds one that is switched off
	} {
		_, err := st.Pool().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	for b.Loop() {
		report, err := log.Verify(b.Context(), st)
		require.NoError(b, err)
		require.Equal(b, entries, report.Entries)
	}
}
