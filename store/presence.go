package store

import (
	"context"
	"time"

	"multis/policy"
)

// PresenceIn tells what keeps the assistant quiet in a chat now: a pause of everything, a pause of the chat, or in a
// business chat the owner, who wrote there less than ownerPause ago.
func PresenceIn(ctx context.Context, db DB, c Chat, mode policy.Mode, ownerPause time.Duration, now time.Time) (policy.Presence, error) {
	var pause Pause
	paused, err := GetSetting(ctx, db, SettingPause, &pause)
	if err != nil {
		return policy.Presence{}, err
	}
	p := policy.Presence{PausedAll: paused, PausedChat: c.PausedUntil != nil && c.PausedUntil.After(now)}
	if c.OwnerLastAt != nil && mode == policy.ModeBusiness {
		p.OwnerWroteAt, p.OwnerPause = *c.OwnerLastAt, ownerPause
	}
	return p, nil
}
