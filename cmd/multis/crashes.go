package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// crashWindow is the period in which crashes are counted.
const crashWindow = 5 * time.Minute

// startLog records starts and clean stops of multis run, to count crashes. A crash is a start without a clean stop before
// it. The log is a file in the data folder, because the database may be the cause of crashes. Only the first process of a
// data folder writes it.
type startLog struct {
	path string
	file *os.File // locked while the process runs; nil if nothing is recorded
	once sync.Once
}

// startState is the content of the file.
type startState struct {
	Running bool        `json:"running"` // a process has started and not stopped cleanly
	Crashes []time.Time `json:"crashes"` // the times of those starts within crashWindow that followed a crash
}

// recordStart records a start at now, and returns the number of crashes within crashWindow before it. If the log cannot
// be written, it logs that and returns 0.
func recordStart(ctx context.Context, folder string, now time.Time) (*startLog, int) {
	l := &startLog{path: filepath.Join(folder, "starts.json")}
	crashes, err := l.begin(folder, now)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Crashes are not counted")
	}
	return l, crashes
}

func (l *startLog) begin(folder string, now time.Time) (int, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return 0, fmt.Errorf("make the data folder: %w", err)
	}
	file, err := os.OpenFile(l.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return 0, fmt.Errorf("note the start: %w", err)
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK): // another process of this data folder writes the log
		return 0, file.Close()
	case err != nil:
		return 0, errors.Join(fmt.Errorf("note the start: %w", err), file.Close())
	}
	l.file = file
	var notes startState
	raw, err := os.ReadFile(l.path)
	if err == nil {
		err = json.Unmarshal(raw, &notes)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notes = startState{} // the file was written incompletely when the machine crashed
	}
	if notes.Running {
		notes.Crashes = append(notes.Crashes, now)
	}
	var recent []time.Time
	for _, at := range notes.Crashes {
		if age := now.Sub(at); age >= 0 && age < crashWindow {
			recent = append(recent, at)
		}
	}
	return len(recent), l.save(startState{Running: true, Crashes: recent})
}

// noteStop calls run and records a clean stop as soon as ctx ends, so that a kill after that is no crash, or when run
// returns. A panic of run is no stop, so what follows run is not deferred.
func (l *startLog) noteStop(ctx context.Context, run func() error) error {
	defer context.AfterFunc(ctx, l.Stop)()
	err := run()
	l.Stop()
	return err
}

// Stop records a clean stop and resets the count of crashes. It may be called more than once.
func (l *startLog) Stop() {
	l.once.Do(func() {
		if l.file != nil {
			_ = l.save(startState{}) // if the stop cannot be recorded, the next start counts as a crash
			_ = l.file.Close()
		}
	})
}

// save replaces the content of the file.
func (l *startLog) save(n startState) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("note the start: %w", err)
	}
	if err := os.WriteFile(l.path+".new", raw, 0o600); err != nil {
		return fmt.Errorf("note the start: %w", err)
	}
	if err := os.Rename(l.path+".new", l.path); err != nil {
		return fmt.Errorf("note the start: %w", err)
	}
	return nil
}
