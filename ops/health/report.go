package health

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"multis/config"
	"multis/internal/text"
	"multis/store"
)

// Limits between what is normal and what is not.
const (
	MinFreeBytes = 1 << 30            // free on the disk of the data folder
	MaxBackupAge = 7 * 24 * time.Hour // of the newest backup
	MaxJobDelay  = 10 * time.Minute   // how long a job may wait for a worker
	MaxPushLag   = 2 * time.Minute    // how far the push may be behind the sync
	maxSyncLag   = 2 * time.Minute    // since the last stored sync, which ends after half a minute at the latest
	maxIntakeAge = 5 * time.Minute    // since the last push; after that the homeserver is asked for a ping
)

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Failed  Status = "failed"
	Off     Status = "off"     // there is nothing to check
	Unknown Status = "unknown" // it could not be checked, for a reason that another check reports
	// Degraded is the status of a report in which a check failed.
	Degraded Status = "degraded"
)

// Check is the state of one part of multis.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"` // a few words; they name no contact, chat or message
}

// Report is the state of all parts.
type Report struct {
	At     time.Time `json:"at"`
	Status Status    `json:"status"` // OK, or Degraded if a check failed
	Checks []Check   `json:"checks"`
}

// Failures returns the checks that failed.
func (r Report) Failures() []Check {
	var failed []Check
	for _, c := range r.Checks {
		if c.Status == Failed {
			failed = append(failed, c)
		}
	}
	return failed
}

// Summary returns the failures in one line, or that there are none.
func (r Report) Summary() string {
	failed := r.Failures()
	if len(failed) == 0 {
		return "good (" + text.Count(len(r.Checks), "check") + ")"
	}
	var parts []string
	for _, c := range failed {
		parts = append(parts, c.Name+": "+c.Detail)
	}
	return strings.Join(parts, " · ")
}

// Checker checks the work of multis. It is safe for concurrent use. All exported fields are required.
type Checker struct {
	Config *config.Config
	DB     store.DB
	// Ping makes the homeserver call multis.
	Ping func(ctx context.Context) error
	// FreeBytes returns the free space, in bytes, of the disk that contains a path.
	FreeBytes func(path string) (uint64, error)
	Now       func() time.Time

	mu   sync.Mutex
	last Report
}

const (
	checkTimeout = 10 * time.Second
	// reportLifetime is how long a report is given again before the next check.
	reportLifetime = 5 * time.Second
)

// ServeHTTP answers with the report: 200 if its status is OK, else 503.
func (c *Checker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	report := c.Report(r.Context())
	code := http.StatusOK
	if report.Status != OK {
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(report) // if the connection broke, there is nobody to tell
}

// Report checks everything, at most once in a few seconds.
func (c *Checker) Report(ctx context.Context) Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Now().Sub(c.last.At).Abs() < reportLifetime {
		return c.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	c.last = c.check(ctx)
	return c.last
}

// part is a part of multis that is checked.
type part struct {
	name      string
	needsData bool // whether the check reads the database
	check     func(context.Context, facts) (Status, string)
}

func (c *Checker) parts() []part {
	return []part{
		{"intake", false, c.intake},
		{"database", false, c.database},
		{"queues", true, c.queues},
		{"push", true, c.push},
		{"sync", true, c.sync},
		{"encryption", true, c.encryption},
		{"disk", false, c.disk},
		{"model", true, c.model},
		{"backup", true, c.backup},
	}
}

// check checks everything.
func (c *Checker) check(ctx context.Context) Report {
	r := Report{At: c.Now(), Status: OK}
	found := c.read(ctx)
	for _, p := range c.parts() {
		done := Check{Name: p.name, Status: Unknown, Detail: "the database does not answer"}
		if found.err == nil || !p.needsData {
			done.Status, done.Detail = p.check(ctx, found)
		}
		if done.Status == Failed {
			r.Status = Degraded
		}
		r.Checks = append(r.Checks, done)
	}
	return r
}

// facts is what the database says.
type facts struct {
	store.Vitals

	err          error         // why the rest is missing
	took         time.Duration // to read all of it
	pushedAt     time.Time
	fresh        time.Time // when the last fresh message arrived, of those that a push has had time for
	pushStall    *store.Stall
	syncStall    *store.Stall
	keysLost     bool
	lastBackup   store.Backup
	installedAt  time.Time
	runsSafeMode bool
}

// read reads the facts.
func (c *Checker) read(ctx context.Context) (f facts) {
	began := time.Now()
	f.err = c.readInto(ctx, &f)
	f.took = time.Since(began)
	return f
}

func (c *Checker) readInto(ctx context.Context, f *facts) (err error) {
	if f.Vitals, err = store.ReadVitals(ctx, c.DB); err != nil {
		return err
	}
	for setting, value := range map[store.Setting]any{
		store.SettingPushedAt:       &f.pushedAt,
		store.SettingPushStalled:    &f.pushStall,
		store.SettingSyncStalled:    &f.syncStall,
		store.SettingKeysUnreadable: &f.keysLost,
		store.SettingBackup:         &f.lastBackup,
	} {
		if _, err := store.GetSetting(ctx, c.DB, setting, value); err != nil {
			return err
		}
	}
	if f.fresh, err = store.LastFreshMessage(ctx, c.DB, c.Now().Add(-MaxPushLag)); err != nil {
		return err
	}
	if f.installedAt, err = store.InstalledAt(ctx, c.DB); err != nil {
		return err
	}
	_, f.runsSafeMode, err = store.SafeModeOf(ctx, c.DB)
	return err
}

// intake checks that the homeserver reaches multis: it has just pushed something, or it answers when it is asked for a ping.
func (c *Checker) intake(ctx context.Context, f facts) (Status, string) {
	if age := c.Now().Sub(f.pushedAt); f.err == nil && age < maxIntakeAge {
		return OK, "last push " + ago(age)
	}
	if err := c.Ping(ctx); err != nil {
		return Failed, text.Clip(text.OneLine(err.Error()), maxDetail)
	}
	return OK, "the homeserver reaches multis"
}

// maxDetail is the maximum number of characters of an error in a detail.
const maxDetail = 200

// database checks that the database answers.
func (c *Checker) database(_ context.Context, f facts) (Status, string) {
	if f.err != nil {
		return Failed, "it does not answer" // the error may contain its address
	}
	return OK, "answers in " + text.Latency(f.took)
}

// queues checks that no job waits for too long.
func (c *Checker) queues(_ context.Context, f facts) (Status, string) {
	runs := text.Count(f.Running, "job") + " " + text.Plural(f.Running, "runs", "run")
	if f.DueSince == nil {
		return OK, "nothing waits, " + runs
	}
	age := c.Now().Sub(*f.DueSince)
	if age > MaxJobDelay {
		return Failed, "a job has waited for " + text.Duration(age) + ", " + runs
	}
	return OK, runs
}

// push checks that the homeserver pushes what the sync brings.
func (c *Checker) push(_ context.Context, f facts) (Status, string) {
	switch {
	case f.pushStall != nil:
		return Failed, "nothing has arrived for " + text.Duration(c.Now().Sub(f.pushStall.Since))
	case f.fresh.Unix() > 0 && f.fresh.Sub(f.pushedAt) > MaxPushLag:
		return Failed, "messages come by sync only"
	case f.pushedAt.IsZero():
		return OK, "nothing was pushed yet"
	}
	return OK, "last one " + ago(c.Now().Sub(f.pushedAt))
}

// sync checks that one process syncs.
func (c *Checker) sync(_ context.Context, f facts) (Status, string) {
	switch {
	case f.syncStall != nil:
		return Failed, "stuck for " + text.Duration(c.Now().Sub(f.syncStall.Since))
	case f.SyncedAt == nil:
		return Failed, "there was none yet"
	}
	age := c.Now().Sub(*f.SyncedAt)
	if age > maxSyncLag {
		return Failed, "the last one was " + ago(age)
	}
	return OK, "last one " + ago(age)
}

// encryption checks that what arrives encrypted can be read.
func (c *Checker) encryption(_ context.Context, f facts) (Status, string) {
	switch {
	case f.keysLost:
		return Failed, "the stored keys cannot be decrypted"
	case f.Unreadable > 0:
		return Failed, text.Count(f.Unreadable, "message") + " of the last hour cannot be read yet"
	}
	return OK, "everything of the last hour could be read"
}

// disk checks the free space of the data folder.
func (c *Checker) disk(context.Context, facts) (Status, string) {
	free, err := c.FreeBytes(c.Config.Database.DataDir)
	if err != nil {
		return Failed, "the data folder cannot be read"
	}
	const gib = 1 << 30
	detail := fmt.Sprintf("%.1f GiB free", float64(free)/gib)
	if free < MinFreeBytes {
		return Failed, "only " + detail
	}
	return OK, detail
}

// model checks the last calls of each model. It makes none, because calls cost money.
func (c *Checker) model(_ context.Context, f facts) (Status, string) {
	switch {
	case len(f.FailingModels) > 0:
		return Failed, "the last calls of " + text.List(f.FailingModels) + " failed"
	case f.runsSafeMode:
		return Off, "safe mode calls none"
	case c.Config.LLM.Model == config.NoModel:
		return Off, "none is configured"
	}
	return OK, "no call fails"
}

// backup checks that there is a recent backup.
func (c *Checker) backup(_ context.Context, f facts) (Status, string) {
	last, since := f.lastBackup, f.lastBackup.At
	if last.Problem != "" && last.TriedAt.After(last.At) {
		return Failed, "the last one failed " + ago(c.Now().Sub(last.TriedAt))
	}
	detail := "last one "
	if since.IsZero() {
		since, detail = f.installedAt, "none, and multis was installed "
	}
	age := c.Now().Sub(since)
	switch {
	case age > MaxBackupAge || age < -time.Hour: // by a clock that was wrong
		return Failed, detail + ago(age)
	case last.At.IsZero():
		return OK, "none yet"
	}
	return OK, detail + ago(age)
}

// ago says how long ago something was.
func ago(age time.Duration) string { return text.Duration(max(age, 0).Round(time.Second)) + " ago" }
