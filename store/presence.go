package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

// PausedAll tells whether everything is silent.
func PausedAll(ctx context.Context, db DB) (bool, error) {
	var pause Pause
	return GetSetting(ctx, db, SettingPause, &pause)
}

// Standing is what decides, beside a chat's own row, whether something may go out there, and in whose name.
type Standing struct {
	Name        string // of the assistant; empty: nobody renamed it
	Paused      bool   // everything is silent
	Minute, Day int    // how much was sent to the chat since two instants, the parts of a letter as one
}

const standingSQL = `select coalesce((select value #>> '{}' from settings where key = 'name'), ''), exists (select from settings where key = 'pause'), ` + countOutColumns

// StandingOf reads how things stand for a chat, without what was sent as the row except.
func StandingOf(ctx context.Context, db DB, chat ChatID, minute, day time.Time, except uuid.UUID) (Standing, error) {
	return row.One[Standing](ctx, db, "how things stand", standingSQL, chat, minute, day, except)
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
