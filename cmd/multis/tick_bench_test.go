package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dueSQL returns, for each execution, the time from its due time to the start of its Send job, which is a little after the commit.
const dueSQL = `select extract(epoch from j.attempted_at - r.due_at) * 1000 from schedule_executions r
	join river.river_job j on j.kind = 'send' and j.args->>'outbox' = r.outbox_id::text where j.attempted_at is not null`

// BenchmarkDueToOutbox measures the delay of schedules, 20 of which are due per second.
func BenchmarkDueToOutbox(b *testing.B) {
	const perSecond, seconds = 20, 20
	for range b.N {
		h := newProcessGroup(b, 1)
		chats := h.chats(100)
		warm := h.addSchedules(perSecond, chats, time.Second)
		require.Eventually(b, func() bool {
			return len(h.homeserver.sentCounts()) == len(warm)
		}, time.Minute, 100*time.Millisecond, "multis to be up")
		_, err := h.st.Pool().Exec(b.Context(), "delete from schedules where created_by <> ''")
		require.NoError(b, err)
		texts := h.addSchedules(perSecond*seconds, chats, seconds*time.Second)
		require.Eventually(b, func() bool { return h.sent() == len(texts) }, 5*time.Minute, 100*time.Millisecond)
		rows, err := h.st.DB().Query(b.Context(), dueSQL)
		require.NoError(b, err)
		late, err := pgx.CollectRows(rows, pgx.RowTo[float64])
		require.NoError(b, err)
		slices.Sort(late)
		at := func(p int) float64 { return late[min(len(late)*p/100, len(late)-1)] }
		b.ReportMetric(at(50), "p50-ms")
		b.ReportMetric(at(95), "p95-ms")
		b.ReportMetric(at(99), "p99-ms")
		b.Log(drawHistogram(late))
		for n := range h.procs {
			h.kill(n)
		}
	}
}

// drawHistogram draws the number of values in each interval. It has few intervals, because a benchmark may log only ten lines.
func drawHistogram(values []float64) string {
	var b strings.Builder
	low := 0.0
	for _, high := range []float64{25, 50, 100, 150, 200, 250, 500, 1e9} {
		n := 0
		for _, v := range values {
			if v >= low && v < high {
				n++
			}
		}
		name := fmt.Sprintf("< %4.0f ms", high)
		if high == 1e9 {
			name = "  longer "
		}
		fmt.Fprintf(&b, "\n%s %5d %s", name, n, strings.Repeat("▇", n*60/max(len(values), 1)))
		low = high
	}
	return b.String()
}
