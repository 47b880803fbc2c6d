package store

import (
	"context"
	"time"

	"multis/policy"
)

// PausedAll tells whether everything is silent.
func PausedAll(ctx context.Context, db DB) (bool, error) {
	var pause Pause
	return GetSetting(ctx, db, SettingPause, &pause)
}

// Presence tells what keeps the assistant quiet in the chat now: a pause of everything, a pause of the chat, or in a
// business chat the owner, who wrote there less than ownerPause ago.
func (c Chat) Presence(pausedAll bool, mode policy.Mode, ownerPause time.Duration, now time.Time) policy.Presence {
	p := policy.Presence{PausedAll: pausedAll, PausedChat: c.PausedUntil != nil && c.PausedUntil.After(now)}
	if c.OwnerLastAt != nil && mode == policy.ModeBusiness {
		p.OwnerWroteAt, p.OwnerPause = *c.OwnerLastAt, ownerPause
	}
	return p
}
