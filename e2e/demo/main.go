// Command demo shows the main function of multis, from a contact's message to an answer with its source, on a real
// Synapse, a real Postgres and a real bridge to a simulated network. It prints all messages and checks the result of each
// step. Its exit status is 0 if all steps succeeded, else 1.
//
// In a terminal it then keeps running until Ctrl-C, so that you can continue by hand. Without a terminal it ends by
// itself. In the end it removes everything, except the logs if a step failed.
//
// Answers are quoted passages. With DEMO_MODEL=1 they come from the language model that MULTIS_LLM_MODEL and the related
// variables configure.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	// A closed terminal counts as Ctrl-C. Further signals do not interrupt the cleanup.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	out := newTranscript(os.Stdout, isTerminal(os.Stdout))
	d, err := prepare(out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	out.line("multis at its main job. Ana, Ben, Cleo, Dora, Emil and Finn are contacts on a made-up network, you are the owner.")
	out.line("Answers come from %s.", d.describeAnswerSource())
	results := d.play(ctx)
	interrupted := ctx.Err() != nil
	held := !interrupted && out.summary(results)
	if d.cookie != nil && !interrupted {
		d.printPage(ctx)
	}
	if d.multis != nil && !interrupted {
		stay := isTerminal(os.Stdin) && isTerminal(os.Stdout)
		d.printManualSteps(stay)
		if stay {
			<-ctx.Done()
		}
	}
	if err := d.cleanUp(held || interrupted); err != nil {
		out.line("Cleaning up: %v", err)
		return 1
	}
	if !held {
		return 1
	}
	return 0
}

// result is the result of a step.
type result struct {
	name string
	// reached is false for a step after one that failed.
	reached bool
	err     error
	took    time.Duration
}

// play runs the steps, and stops at the first one that fails.
func (d *demo) play(ctx context.Context) []result {
	var results []result
	broken := false
	for i, s := range d.steps() {
		r := result{name: s.name, reached: !broken}
		if r.reached {
			d.out.title(i+1, s.name)
			started := time.Now()
			r.err = s.run(ctx)
			r.took = time.Since(started)
		}
		switch {
		case r.err == nil:
		case ctx.Err() != nil:
			broken = true
			d.out.line("   interrupted")
		default:
			broken = true
			d.out.failure(r.err, d.log())
		}
		results = append(results, r)
	}
	return results
}

// log is the log file to read first if a step fails.
func (d *demo) log() string {
	if d.multis != nil {
		return d.multis.Log
	}
	return d.dir
}

// cleanUp stops everything and removes the folder. If a step failed, it keeps the logs.
func (d *demo) cleanUp(well bool) error {
	var errs []error
	err := d.out.showWhile("cleaning up", func() error {
		if d.db != nil {
			errs = append(errs, d.db.Close(context.Background()))
		}
		if d.rig != nil {
			errs = append(errs, d.rig.Stop())
		}
		if d.settings.ExecIn != "" {
			errs = append(errs, os.RemoveAll(d.settings.ExecIn))
		}
		if well {
			return os.RemoveAll(d.dir)
		}
		return keepLogs(d.dir)
	})
	if !well {
		d.out.line("The logs are kept in %s", d.dir)
	}
	return errors.Join(append(errs, err)...)
}

// keepLogs removes everything below dir except the logs.
func keepLogs(dir string) error {
	var folders []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, path)
			return nil
		case filepath.Ext(path) == ".log":
			return nil
		default:
			return os.Remove(path)
		}
	})
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // fails for folders that contain a log
	}
	return err
}
