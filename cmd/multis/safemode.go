package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/jobs"
	"multis/store"
	"multis/text"
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

// setSafeMode turns safe mode on if why is not empty, and off otherwise, and notifies the owner of a change. Each start calls it, so a normal
// start ends safe mode.
func setSafeMode(ctx context.Context, st *store.Store, why string) error {
	return st.InTx(ctx, func(tx store.Tx) error {
		now, on, err := store.SafeModeOf(ctx, tx)
		if err != nil || (why == "" && !on) || (on && now.Why == why) {
			return err
		}
		if why == "" {
			zerolog.Ctx(ctx).Info().Msg("Left safe mode")
			if err := store.DropSetting(ctx, tx, store.SettingSafeMode); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSafeModeOff})
		}
		zerolog.Ctx(ctx).Warn().Str("why", why).Msg("In safe mode: no model, no tools, nothing to contacts")
		if err := store.PutSetting(ctx, tx, store.SettingSafeMode, store.SafeMode{Since: time.Now().UTC(), Why: why}); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSafeModeOn})
	})
}
