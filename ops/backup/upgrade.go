package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/internal/sleep"
	"multis/store"
)

// ErrNoRecent is returned by EnsureRecent if there is no recent backup and the Scheduler makes none.
var ErrNoRecent = errors.New("there is none in backup.folder, and multis makes none automatically because backup.every is off")

// EnsureRecent makes sure that a whole backup of the last 24 hours exists before the database is migrated: an older
// multis refuses the database after that, so only a backup leads back. If there is none, it makes one.
func (p *Scheduler) EnsureRecent(ctx context.Context) error {
	for {
		last, err := store.LastBackup(ctx, p.Create.Store.DB())
		if err != nil {
			return err
		}
		if last.IsRecent(p.Create.now()) && isWhole(ctx, last.File) {
			return nil
		}
		if p.Every == 0 {
			return ErrNoRecent
		}
		zerolog.Ctx(ctx).Info().Msg("This multis changes the database; before that it makes a backup, because there is none of the last 24 hours")
		info, err := Create(ctx, p.Create)
		if errors.Is(err, ErrRunning) { // perhaps by the older multis that still runs
			if err := sleep.For(ctx, time.Second); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if !isWhole(ctx, info.Path) {
			return fmt.Errorf("%s: %w", info.Path, ErrDamaged)
		}
		return p.recordSuccess(ctx, info)
	}
}

// isWhole reports whether a file is a backup whose checksum is right.
func isWhole(ctx context.Context, file string) bool {
	a, err := Open(ctx, file)
	if err != nil {
		return false
	}
	a.Close()
	return true
}
