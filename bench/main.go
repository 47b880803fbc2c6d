// Command bench measures search: its retrieval quality on a collection with known answers, and its speed on a large one. Both
// are compared with SQLite's FTS5 on the same rows. It runs its own Postgres server. It also compares the speed of two commits.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Retrieval retrievalCmd `cmd:"" help:"Answer the queries of a collection; prints the ranked passages of each."`
	Recall    recallCmd    `cmd:"" help:"Answer them through the assistant: messages in, recall_memory out."`
	Search    searchCmd    `cmd:"" help:"Measure latency, sizes and ingestion on invented passages."`
	Growth    growthCmd    `cmd:"" help:"Measure how latency grows with the number of passages; draws a chart."`
	Compare   compareCmd   `cmd:"" help:"Measure two commits side by side: intake, turns, reminders, search, memory; prints ratios."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var c cli
	selected := kong.Parse(&c, kong.Name("bench"), kong.Description("Measures search, and compares two commits."), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := selected.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// progress reports progress on standard error; standard output is for results.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
