package backup

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/store"
)

const (
	// maxAge is the age of the last backup after which the owner is notified.
	maxAge = 7 * 24 * time.Hour
	// retryAfter is the time after a failed backup until the next attempt.
	retryAfter = time.Hour
)

// SchedulerOptions are the options of NewScheduler.
type SchedulerOptions struct {
	Create CreateOptions
	Every  time.Duration // interval between two backups; zero means that none are made
	Series Series
}

// Scheduler makes backups at an interval, and notifies the owner once when the last one is too old.
type Scheduler struct{ SchedulerOptions }

// NewScheduler returns a Scheduler, which does nothing until MakeBackup is called.
func NewScheduler(o SchedulerOptions) *Scheduler { return &Scheduler{o} }

// MakeBackup makes a backup if one is due, and removes old ones after that.
func (p *Scheduler) MakeBackup(ctx context.Context) error {
	last, err := store.LastBackup(ctx, p.Create.Store.DB())
	if err != nil {
		return err
	}
	now := p.Create.now()
	if p.Every == 0 || elapsed(now, last.At) < p.Every || elapsed(now, last.TriedAt) < retryAfter {
		return p.warn(ctx, last)
	}
	info, err := Create(ctx, p.Create)
	if errors.Is(err, ErrRunning) {
		return nil
	}
	if err == nil {
		err = p.recordSuccess(ctx, info)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, p.recordFailure(ctx, last, err))
}

// elapsed returns how long ago a time was. One in the future was written by a clock that was wrong, and counts as long
// ago: otherwise no backup would be made until then.
func elapsed(now, at time.Time) time.Duration {
	if at.After(now) {
		return math.MaxInt64
	}
	return now.Sub(at)
}

// recordSuccess records a backup and removes old ones.
func (p *Scheduler) recordSuccess(ctx context.Context, info Info) error {
	if err := RecordBackup(ctx, p.Create.Store, info); err != nil {
		return err
	}
	removed, err := p.Series.Prune(p.Create.now())
	zerolog.Ctx(ctx).Info().Str("file", info.Path).Int64("bytes", info.Size).Int64("rows", info.Manifest.Rows()).Int("removed",
		len(removed)).Int("omitted", len(info.Manifest.Omitted)).Msg("Backup made")
	return err
}

// recordFailure records why a backup was not made. The owner is notified of the first failure after a successful backup.
func (p *Scheduler) recordFailure(ctx context.Context, last store.Backup, cause error) error {
	isNews := last.Problem == ""
	last.Problem, last.TriedAt = cause.Error(), p.Create.now()
	return p.storeState(ctx, last, isNews, jobs.TopicBackupFailed)
}

// warn enqueues the notice that the last backup is too old, once.
func (p *Scheduler) warn(ctx context.Context, last store.Backup) error {
	since := last.At
	if since.IsZero() {
		var err error
		if since, err = store.DatabaseMadeAt(ctx, p.Create.Store.DB()); err != nil {
			return err
		}
	}
	if !last.WarnedAt.IsZero() || elapsed(p.Create.now(), since) < maxAge {
		return nil
	}
	last.WarnedAt = p.Create.now()
	return p.storeState(ctx, last, true, jobs.TopicBackupOld)
}

// storeState stores the state of backups and enqueues the job that notifies the owner, if there is one.
func (p *Scheduler) storeState(ctx context.Context, b store.Backup, tell bool, topic jobs.NoticeTopic) error {
	return p.Create.Store.InTx(ctx, func(tx store.Tx) error {
		err := store.PutSetting(ctx, tx, store.SettingBackup, b)
		if err != nil {
			return err
		}
		if !tell {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: topic})
	})
}

// RecordBackup records that a backup was made.
func RecordBackup(ctx context.Context, st *store.Store, info Info) error {
	return store.PutSetting(ctx, st.Writer(), store.SettingBackup, store.Backup{
		At:        info.Manifest.CreatedAt,
		File:      info.Path,
		SizeBytes: info.Size,
	})
}
