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

// crashWindow is the time in which crashes are counted.
const crashWindow = 5 * time.Minute

// startLog notes starts and clean stops of multis run in the data folder, and so finds crashes: a start after one that was not stopped. It is a file,
// because the database may be why multis crashes. The first process of a data folder keeps it; others there note nothing.
type startLog struct {
	path string
	file *os.File // locked while the process runs; nil if nothing is noted
	once sync.Once
}

// startNotes is the content of the file.
type startNotes struct {
	Running bool        `json:"running"` // a process has started and not stopped
	Crashes []time.Time `json:"crashes"` // when the starts after the last crashes were
}

// noteStart notes a start at a time, and returns how many crashes there were within crashWindow. A folder that cannot be written to is
// logged, and counts no crashes.
func noteStart(ctx context.Context, folder string, now time.Time) (*startLog, int) {
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
	case errors.Is(err, syscall.EWOULDBLOCK): // another process keeps the notes
		return 0, file.Close()
	case err != nil:
		return 0, errors.Join(fmt.Errorf("note the start: %w", err), file.Close())
	}
	l.file = file
	var notes startNotes
	raw, err := os.ReadFile(l.path)
	if err == nil {
		err = json.Unmarshal(raw, &notes)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notes = startNotes{} // it was written by half in a crash of the machine
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
	return len(recent), l.write(startNotes{Running: true, Crashes: recent})
}

// Stop notes a clean stop, which forgets the crashes. It may be called more than once.
func (l *startLog) Stop() {
	l.once.Do(func() {
		if l.file != nil {
			_ = l.write(startNotes{}) // a stop that cannot be noted counts as a crash
			_ = l.file.Close()
		}
	})
}

func (l *startLog) write(n startNotes) error {
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
