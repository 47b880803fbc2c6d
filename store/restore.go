package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

// RestoreState returns whether the database was restored from a backup, and whether the owner has released it since.
// Whatever could reach anybody calls it first: the gate, the admission of messages, and the job queue, which runs only
// some kinds of jobs until then. Once nothing is on hold, the database is not asked again, because only an empty database
// is restored.
func (s *Store) RestoreState(ctx context.Context, db DB) (policy.Restore, error) {
	if known := s.notOnHold.Load(); known != nil {
		return *known, nil
	}
	var r policy.Restore
	if _, err := GetSetting(ctx, db, SettingRestore, &r); err != nil {
		return r, err
	}
	if !r.OnHold() && db == DB(s.pool) { // a transaction may yet be rolled back
		s.notOnHold.Store(&r)
	}
	return r, nil
}

// holdSQL puts a restored database on hold, together with holdOutboxSQL and archiveWaitingSQL. Work that waited or was
// running when the backup was made was done afterwards, or is too old now. So it is ended and not repeated.
var holdSQL = []string{
	// The devices are replaced, because their one-time keys were used after the backup was made, and using a key twice weakens the encryption.
	`insert into settings (key, value) select '` + string(SettingFormer) + `' || key, value from settings where key in ('` +
		string(SettingOwnerDevice) + `', '` + string(SettingBotDevice) + `')
		on conflict (key) do update set value = excluded.value`,
	`delete from settings where key in ('` + string(SettingOwnerDevice) + `', '` + string(SettingBotDevice) + `', '` +
		string(SettingBotSyncToken) + `', '` + string(SettingKeylessSyncToken) + `',
		'` + string(SettingKeysUnreadable) + `', '` + string(SettingPushedAt) + `', '` + string(SettingPushStalled) + `', '` +
		string(SettingSyncStalled) + `', '` + string(SettingConfigRefused) + `')`,
	`update approvals set allowed = false, decided_at = now() where decided_at is null`,
	`delete from web_links`,
	`delete from web_sessions`,
	`update pin set unlocked_until = null`,
	`update dialogs set done_at = now() where kind = '` + DialogPIN + `' and done_at is null`,
	`update approval_grants set revoked_at = now() where revoked_at is null`,
	`update tasks set state = 'killed', error = 'a backup was restored', finished_at = now() where finished_at is null`,
	`update schedule_executions set state = 'skipped', note = 'a backup was restored', ended_at = now() where state = 'running'`,
	`update chats set locked_by = '', locked_until = '-infinity' where locked_by <> ''`,
}

const (
	// holdOutboxSQL drops queued messages with the code of the restore. ReleaseOutbox queues them again.
	holdOutboxSQL     = `update outbox set state = 'dropped', code = $1, reason = $2 where state = 'queued'`
	archiveWaitingSQL = `update messages set action = 'archive', code = $1, reason = $2, answered_at = now()
		where (action in ('answer', 'escalate', 'command') and answered_at is null) or action = 'transcribe'`
)

// HoldRestored puts everything outgoing on hold, in the transaction that ends the restore of a backup.
func HoldRestored(ctx context.Context, tx Tx, backupAt time.Time) error {
	for _, sql := range holdSQL {
		if err := row.Exec(ctx, tx, "hold what a backup would do", sql); err != nil {
			return err
		}
	}
	for _, sql := range []string{holdOutboxSQL, archiveWaitingSQL} {
		if err := row.Exec(ctx, tx, "hold what a backup would send", sql, policy.CodeRestored, policy.CodeRestored.Sentence()); err != nil {
			return err
		}
	}
	now, err := row.Value[time.Time](ctx, tx, "the time", "select now()")
	if err != nil {
		return err
	}
	return PutSetting(ctx, tx, SettingRestore, policy.Restore{BackupAt: backupAt, RestoredAt: now})
}

const outboxOnHoldSQL = "select " + outboxColumns +
	" from outbox o where o.state = 'dropped' and o.code = $1 and o.created_at < $2 and o.content <> '{}' order by o.seq"

const countsOnHoldSQL = `select (select count(*) from messages where code = $1 and received_at < $2 and answered_at >= $2 and redacted_at is null and author = 'contact') as messages,
	(select count(*) from hook_deliveries where state = 'queued') as deliveries,
	(select count(*) from outbox where state = 'draft' and coalesce(part_of = id, true) and content <> '{}') as drafts`

// OnHold is what waits for the owner's decision after a backup was restored.
type OnHold struct {
	Outbox     []OutboxMessage // would be sent, the oldest first
	Messages   int             // of contacts, which waited for an answer and get none
	Deliveries int             // to webhooks
	Drafts     int
}

// WorkOnHold returns what a restored backup holds back.
func WorkOnHold(ctx context.Context, db DB, r policy.Restore) (h OnHold, err error) {
	type counts struct{ Messages, Deliveries, Drafts int }
	n, err := row.One[counts](ctx, db, "what is on hold", countsOnHoldSQL, policy.CodeRestored, r.RestoredAt)
	if err != nil {
		return OnHold{}, err
	}
	out, err := row.All[OutboxMessage](ctx, db, "what is on hold", outboxOnHoldSQL, policy.CodeRestored, r.RestoredAt)
	return OnHold{Outbox: out, Messages: n.Messages, Deliveries: n.Deliveries, Drafts: n.Drafts}, err
}

const (
	endHoldSQL           = `update settings set value = value || jsonb_build_object('released_at', now()), updated_at = now() where key = $1 and not value ? 'released_at' returning 1`
	releaseOutboxSQL     = `with released as (update outbox set state = 'queued' where state = 'dropped' and code = $1 and created_at < $2 and content <> '{}' returning id, seq) select id from released order by seq`
	deleteFilesOnHoldSQL = `delete from outbox_files where outbox_id in (select id from outbox where state = 'dropped' and code = $1)`
	dropOutboxSQL        = `update outbox set code = $2, reason = $3 where state = 'dropped' and code = $1`
	dropDraftsSQL        = `update outbox set state = 'dropped', code = $1, reason = $2 where state = 'draft'`
	dropDeliverySQL      = `update hook_deliveries set state = 'dropped', error = $1, done_at = now() where state = 'queued'`
)

// EndHold ends the hold of a restored backup. It returns false if it was ended before.
func EndHold(ctx context.Context, tx Tx) (bool, error) {
	n, err := row.Changed(ctx, tx, "end the hold", endHoldSQL, SettingRestore)
	return n == 1, err
}

// ReleaseOutbox queues what a restored backup holds back and returns it, the oldest first. The caller enqueues the jobs.
func ReleaseOutbox(ctx context.Context, tx Tx, r policy.Restore) ([]uuid.UUID, error) {
	return row.Values[uuid.UUID](ctx, tx, "release what is on hold", releaseOutboxSQL, policy.CodeRestored, r.RestoredAt)
}

// DropOnHold drops what a restored backup holds back, with its drafts and deliveries. The outbox messages get another
// code, so that a later restore does not offer them again.
func DropOnHold(ctx context.Context, tx Tx) error {
	if err := row.Exec(ctx, tx, "drop drafts", dropDraftsSQL, policy.CodeDraftDropped, policy.CodeDraftDropped.Sentence()); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "delete files on hold", deleteFilesOnHoldSQL, policy.CodeRestored); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "drop messages", dropOutboxSQL, policy.CodeRestored, policy.CodeRestoreDropped,
		policy.CodeRestoreDropped.Sentence()); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "drop deliveries", dropDeliverySQL, "a backup was restored, and you dropped it")
}

const overdueSchedulesSQL = "select " + scheduleColumns +
	` from schedules s where s.next_at <= $1 and s.paused_at is null and s.action <> 'upkeep' order by s.next_at, s.id`

// OverdueSchedules returns the schedules whose time has come, without multis' own upkeep.
func OverdueSchedules(ctx context.Context, db DB, now time.Time) ([]Schedule, error) {
	return row.All[Schedule](ctx, db, "schedules that are due", overdueSchedulesSQL, now)
}

const restoreCatchUpSQL = `select exists (select from settings where key = $1 and updated_at > $2) as synced, not exists (select from pending_gaps)
	and not exists (select from river.river_job where kind in ('describe', 'history') and state not in ('completed', 'cancelled', 'discarded')) as complete`

// RestoreCatchUp reports how much was read of what was written between a backup and its restore: synced is true once the
// sync has caught up, complete if nothing is left to fetch.
func RestoreCatchUp(ctx context.Context, db DB, r policy.Restore) (synced, complete bool, err error) {
	type progress struct{ Synced, Complete bool }
	p, err := row.One[progress](ctx, db, "what was read", restoreCatchUpSQL, SettingSyncToken, r.RestoredAt)
	return p.Synced, p.Complete, err
}

const (
	moveRoomKeysSQL     = "update matrix.crypto_megolm_inbound_session set account_id = $2 where account_id = $1"
	deleteOlmSQL        = "delete from matrix.crypto_olm_session where account_id = $1"
	deleteMegolmSQL     = "delete from matrix.crypto_megolm_outbound_session where account_id = $1"
	deleteOlmAccountSQL = "delete from matrix.crypto_account where account_id = $1"
)

// MoveRoomKeys gives a new device the room keys that a former one received, and deletes the former device's other keys.
// from and to are ids of accounts in the schema matrix.
func MoveRoomKeys(ctx context.Context, tx Tx, from, to string) error {
	if err := row.Exec(ctx, tx, "move room keys", moveRoomKeysSQL, from, to); err != nil {
		return err
	}
	for _, sql := range []string{deleteOlmSQL, deleteMegolmSQL, deleteOlmAccountSQL} {
		if err := row.Exec(ctx, tx, "delete former keys", sql, from); err != nil {
			return err
		}
	}
	return nil
}
