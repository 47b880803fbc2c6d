package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

// PausedAll reports whether everything is paused.
func PausedAll(ctx context.Context, db DB) (bool, error) {
	var pause Pause
	return GetSetting(ctx, db, SettingPause, &pause)
}

// Standing is what the gate needs to know beside a chat's own row.
type Standing struct {
	Name        string // of the assistant; empty if the owner set none
	Paused      bool   // everything is paused
	Minute, Day int    // the messages sent to the chat since two times; a message in parts counts once
}

const standingSQL = `select coalesce((select value #>> '{}' from settings where key = 'name'), ''), exists (select from settings where key = 'pause'), ` + countOutColumns

// StandingOf returns the standing of a chat. The outbox message except is not counted.
func StandingOf(ctx context.Context, db DB, chat ChatID, minute, day time.Time, except uuid.UUID) (Standing, error) {
	return row.One[Standing](ctx, db, "how things stand", standingSQL, chat, minute, day, except)
}

// Presence returns what keeps the assistant quiet in the chat: a pause of everything, a pause of the chat, or, in a business chat, a
// message of the owner less than ownerPause ago.
func (c Chat) Presence(pausedAll bool, mode policy.Mode, ownerPause time.Duration, now time.Time) policy.Presence {
	p := policy.Presence{PausedAll: pausedAll, PausedChat: c.PausedUntil != nil && c.PausedUntil.After(now)}
	if c.OwnerLastAt != nil && mode == policy.ModeBusiness {
		p.OwnerWroteAt, p.OwnerPause = *c.OwnerLastAt, ownerPause
	}
	return p
}
