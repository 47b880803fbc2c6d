package audit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/audit"
	"multis/store"
	"multis/store/storetest"
)

// BenchmarkAppend compares a transaction that writes one row with one that also writes an entry: the difference is what the log costs a turn.
func BenchmarkAppend(b *testing.B) {
	st, log := storetest.New(b), newLog(b)
	for name, entries := range map[string]int{"without": 0, "with": 1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				err := st.InTx(b.Context(), func(tx store.Tx) error {
					if err := store.PutSetting(b.Context(), tx, "bench", 1); err != nil || entries == 0 {
						return err
					}
					return log.Append(b.Context(), tx, audit.Entry{Kind: audit.Send, Actor: audit.Agent, Chat: 1, Outcome: "sent", Content: []byte("text")})
				})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkVerify checks a million entries.
func BenchmarkVerify(b *testing.B) {
	st, log := storetest.New(b), newLog(b)
	_, err := st.Pool().Exec(b.Context(), `insert into audit_entries (kind, actor, outcome, chat_id, ref, action, content)
		select 'send', 'agent', 'sent', n % 500, 'out-' || n, 'reply', sha256(n::text::bytea) from generate_series(1, 1000000) n`)
	require.NoError(b, err)
	for b.Loop() {
		report, err := log.Verify(b.Context(), st)
		require.NoError(b, err)
		require.Equal(b, 1_000_000, report.Entries)
	}
}
