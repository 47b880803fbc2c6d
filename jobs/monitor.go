package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// CheckMonitorArgs asks to check a monitor. The job stays and snoozes until the monitor's next time, as long as the monitor is configured
// and not paused.
type CheckMonitorArgs struct {
	MonitorID store.MonitorID `json:"monitor"`
}

// Kind names the job.
func (CheckMonitorArgs) Kind() string { return "check_monitor" }

// InsertOpts allows one such job for a monitor at a time.
func (CheckMonitorArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueMonitor, MaxAttempts: 25, UniqueOpts: uniqueByArgs()}
}

// MonitorChecker checks a monitor. While it is to be checked, it returns Snooze with the time to the next check.
type MonitorChecker interface {
	CheckMonitor(ctx context.Context, monitor store.MonitorID) error
}
