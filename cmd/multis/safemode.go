package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/internal/text"
	"multis/jobs"
	"multis/store"
)

// safeModeReason returns the reason why multis starts in safe mode; empty if it starts normally.
func safeModeReason(asked bool, crashes int, c config.SafeMode) string {
	switch {
	case asked:
		return "It was started with --safe."
	case c.AfterCrashes > 0 && crashes >= c.AfterCrashes:
		return fmt.Sprintf("It crashed %s within five minutes; the log says how it ended.", text.Count(crashes, "time"))
	default:
		return ""
	}
}

// safeModeStart says what a start means for safe mode.
type safeModeStart struct {
	why     string // the reason to start in safe mode; empty if there is none
	crashed bool   // it follows a crash
}

// setSafeMode turns safe mode on if the start has a reason, and off if it has none and follows a clean end, and notifies
// the owner of a change. A start after a crash leaves it on, because nobody decided to end it.
func setSafeMode(ctx context.Context, st *store.Store, start safeModeStart) error {
	return st.InTx(ctx, func(tx store.Tx) error {
		now, on, err := store.SafeModeOf(ctx, tx)
		if err != nil {
			return err
		}
		if (start.why == "" && !on) || (on && now.Why == start.why) {
			return nil
		}
		if start.why == "" && start.crashed {
			zerolog.Ctx(ctx).Warn().Str("why",
				now.Why).Msg("Still in safe mode, because multis did not end normally; /safe off or a normal restart ends it")
			return nil
		}
		if start.why == "" {
			zerolog.Ctx(ctx).Info().Msg("Left safe mode")
			if err := store.DropSetting(ctx, tx, store.SettingSafeMode); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSafeModeOff})
		}
		zerolog.Ctx(ctx).Warn().Str("why", start.why).Msg("In safe mode: no model, no tools, nothing to contacts")
		if err := store.PutSetting(ctx, tx, store.SettingSafeMode, store.SafeMode{Since: time.Now().UTC(), Why: start.why}); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSafeModeOn})
	})
}
