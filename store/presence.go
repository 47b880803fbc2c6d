package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

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

const admissionStateSQL = `select coalesce((select value #>> '{}' from settings where key = 'name'), $1) as name,
	exists (select from settings where key = 'pause') as paused, coalesce((select value from settings where key = 'restore'), '{}') as restore`

// AdmissionState reads the admission state. configured is the name of the assistant, unless the owner set another one.
func (s *Store) AdmissionState(ctx context.Context, tx Tx, configured string) (AdmissionState, error) {
	return row.One[AdmissionState](ctx, tx, "admission state", admissionStateSQL, configured)
}

// ContactRate is how many messages of a contact were stored in a chat, and how many were sent to the chat, in the last minute and day.
type ContactRate struct {
	ChatID ChatID
	Sender id.UserID
	StoredMinute, StoredDay,
	SentMinute, SentDay int
}

// contactRatesSQL reads at most the newest $5 messages of a contact. All edits of a message count as if made at the time of the last one.
// A sent message in parts counts once. With unnest, Postgres would plan it each time, because it takes an array that it knows for shorter.
const contactRatesSQL = `select c.chat_id, c.sender, stored.*, sent.* from generate_subscripts($1::bigint[], 1) n,
	lateral (select ($1::bigint[])[n] as chat_id, ($2::text[])[n] as sender) c,
	lateral (select coalesce(sum(n) filter (where at > $3), 0)::int as stored_minute, coalesce(sum(n), 0)::int as stored_day from (
		(select 1 as n, ts as at from messages m where m.chat_id = c.chat_id and m.sender = c.sender and code <> 'flood' and ts > $4 order by ts desc limit $5)
		union all select edits, edited_at from messages m where m.chat_id = c.chat_id and m.sender = c.sender and edited_at > $4) s) stored,
	lateral (select count(distinct coalesce(part_of, id)) filter (where created_at > $3)::int as sent_minute, count(distinct coalesce(part_of, id))::int as sent_day
		from outbox o where o.chat_id = c.chat_id and send_as = 'owner' and state in ('queued', 'sent', 'delivered', 'failed') and created_at > $4) sent`

// ContactRates returns the rates of contacts, each in its chat: those of the element with the same index. More than limit messages of a
// contact count as limit.
func ContactRates(ctx context.Context, db DB, chats []ChatID, senders []id.UserID, minute, day time.Time, limit int) ([]ContactRate, error) {
	return row.All[ContactRate](ctx, db, "rates of contacts", contactRatesSQL, chats, senders, minute, day, limit)
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
