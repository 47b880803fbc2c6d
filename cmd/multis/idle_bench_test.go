package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

var switchesLine = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)`)

// contextSwitches returns how often the threads of this process have gone to sleep.
func contextSwitches(b *testing.B) (n int) {
	b.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	require.NoError(b, err)
	for _, file := range files {
		status, err := os.ReadFile(file)
		found := switchesLine.FindSubmatch(status)
		if err != nil || found == nil {
			continue // the thread has ended
		}
		more, err := strconv.Atoi(string(found[1]))
		require.NoError(b, err)
		n += more
	}
	return n
}

// activity is what a process and its database have done so far.
type activity struct {
	transactions, written, switches int
}

const activitySQL = `select (select xact_commit + xact_rollback from pg_stat_database where datname = current_database()), pg_current_wal_insert_lsn() - '0/0'::pg_lsn`

func activityOf(b *testing.B, st *store.Store) (a activity) {
	b.Helper()
	require.NoError(b, st.DB().QueryRow(b.Context(), activitySQL).Scan(&a.transactions, &a.written))
	a.switches = contextSwitches(b)
	return a
}

// BenchmarkIdle measures what multis does in a minute without work: how often its threads go to sleep, its transactions,
// and what they write to the log of the database. Half a minute before that is for what is done at start.
func BenchmarkIdle(b *testing.B) {
	const started, measured = 30 * time.Second, time.Minute
	for range b.N {
		st := storetest.NewDurable(b)
		ctx, cancel := context.WithCancel(b.Context())
		silence, end := io.Pipe()
		ended, cfg := make(chan error, 1), offlineConfig(b)
		go func() {
			ended <- converse(ctx, cfg, st, silence, newTerminal(io.Discard, false, nil))
		}()
		time.Sleep(started)
		before := activityOf(b, st)
		time.Sleep(measured)
		after := activityOf(b, st)
		b.ReportMetric(float64(after.switches-before.switches)/measured.Seconds(), "sleeps/s")
		b.ReportMetric(float64(after.transactions-before.transactions)/measured.Seconds(), "tx/s")
		b.ReportMetric(float64(after.written-before.written)/measured.Hours()/1e6, "MB-WAL/h")
		cancel()
		require.NoError(b, end.Close())
		require.NoError(b, <-ended)
	}
}
