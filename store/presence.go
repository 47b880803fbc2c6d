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

// AdmissionState is what decisions about incoming messages need to know beside a chat's own row.
type AdmissionState struct {
	Name    string // of the assistant
	Paused  bool   // everything is paused
	Restore policy.Restore
}

// AdmissionState reads the admission state. configured is the name of the assistant, unless the owner set another one.
func (s *Store) AdmissionState(ctx context.Context, tx Tx, configured string) (a AdmissionState, err error) {
	if a.Name, err = AssistantName(ctx, tx, configured); err != nil {
		return a, err
	}
	if a.Paused, err = PausedAll(ctx, tx); err != nil {
		return a, err
	}
	a.Restore, err = s.RestoreState(ctx, tx)
	return a, err
}

// SendingState is what the gate needs to know beside a chat's own row.
type SendingState struct {
	Name        string // of the assistant; empty if the owner set none
	Paused      bool   // everything is paused
	Minute, Day int    // the messages sent to the chat in the last minute and day; a message in parts counts once
	SafeMode    bool   // multis is in safe mode
	// OnHold is true while a restored backup is on hold. It is not set by SendingStateOf: see Store.RestoreState.
	OnHold bool `db:"-"`
}

const sendingStateOfSQL = `select coalesce((select value #>> '{}' from settings where key = 'name'), '') as name, exists (select from settings where key = 'pause') as paused,
	exists (select from settings where key = 'safe_mode') as safe_mode, ` + countOutColumns

// SendingStateOf returns the sending state of a chat. The outbox message excluded is not counted.
func SendingStateOf(ctx context.Context, db DB, chat ChatID, minuteAgo, dayAgo time.Time, excluded uuid.UUID) (SendingState, error) {
	return row.One[SendingState](ctx, db, "the sending state of a chat", sendingStateOfSQL, chat, minuteAgo, dayAgo, excluded)
}

// Presence returns what keeps the assistant quiet in the chat: a pause of everything, a pause of the chat, or, in a business chat, a
// message of the owner or an operator less than ownerPause ago.
func (c Chat) Presence(pausedAll bool, mode policy.Mode, ownerPause time.Duration, now time.Time) policy.Presence {
	p := policy.Presence{PausedAll: pausedAll, PausedChat: c.PausedUntil != nil && c.PausedUntil.After(now)}
	if c.OwnerWroteAt != nil && mode == policy.ModeBusiness {
		p.OwnerWroteAt = *c.OwnerWroteAt
		p.OperatorWrote = c.OwnerWroteBy.Localpart()
		p.OwnerPause = ownerPause
	}
	return p
}
