package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"multis/store/row"
)

// PIN is the state of the owner's PIN.
type PIN struct {
	Hash          *string // nil while none is set
	SetAt         *time.Time
	Failures      int        // wrong PINs since the last right one or the last lock
	LockedUntil   *time.Time // no PIN is checked until then
	UnlockedUntil *time.Time // until then only commands that change the machine ask for the PIN
}

const readPINSQL = "select hash, set_at, failures, locked_until, unlocked_until from pin"

// ReadPIN returns the state of the PIN.
func ReadPIN(ctx context.Context, db DB) (PIN, error) {
	return row.One[PIN](ctx, db, "PIN", readPINSQL)
}

// LockPIN is ReadPIN with a lock until the end of the transaction, so that only one PIN is checked at a time.
func LockPIN(ctx context.Context, tx Tx) (PIN, error) {
	return row.One[PIN](ctx, tx, "PIN", readPINSQL+" for update")
}

const savePINSQL = "update pin set hash = $1, set_at = $2, failures = $3, locked_until = $4, unlocked_until = $5"

// SavePIN stores the state of the PIN.
func SavePIN(ctx context.Context, tx Tx, p PIN) error {
	return row.Exec(ctx, tx, "store the PIN", savePINSQL, p.Hash, p.SetAt, p.Failures, p.LockedUntil, p.UnlockedUntil)
}

// DialogPIN is the kind of a dialog that asks for the PIN.
const DialogPIN = "pin"

const dialogByIDSQL = "select " + dialogColumns + " from dialogs d where d.id = $1"

// DialogByID returns a question, answered or not, or ErrNotFound.
func DialogByID(ctx context.Context, db DB, dialog int64) (Dialog, error) {
	return row.One[Dialog](ctx, db, "dialog", dialogByIDSQL, dialog)
}

const lockPINDialogSQL = "select " + dialogColumns + ` from dialogs d
	where d.chat_id = $1 and d.kind = '` + DialogPIN +
	`' and d.done_at is null and d.payload->>'Stage' <> 'granted' and d.expires_at > $2 order by d.id desc limit 1 for update`

// LockPINDialog returns the open question for a PIN, locked, or ErrNotFound. A question that was answered, and whose
// command is about to run, is not open any more.
func LockPINDialog(ctx context.Context, tx Tx, chat ChatID, now time.Time) (Dialog, error) {
	return row.One[Dialog](ctx, tx, "dialog", lockPINDialogSQL, chat, now)
}

const hadPINDialogSQL = "select exists (select from dialogs d where d.kind = '" + DialogPIN + "' and d.expires_at > $1)"

// HadPINDialog reports whether a question for a PIN was open at a time or later, in any room, because its answer may be
// typed in another room.
func HadPINDialog(ctx context.Context, db DB, since time.Time) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, hadPINDialogSQL, since).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for a question for the PIN: %w", err)
	}
	return yes, nil
}

const closePINDialogsSQL = "update dialogs set done_at = now() where chat_id = $1 and kind = '" + DialogPIN +
	"' and done_at is null and payload->>'Stage' <> 'granted'"

// ClosePINDialogs closes the questions for a PIN in a chat. The commands that waited for them do not run.
func ClosePINDialogs(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "close the questions for the PIN", closePINDialogsSQL, chat)
}

const setDialogPayloadSQL = "update dialogs set payload = $2, expires_at = $3 where id = $1 and done_at is null"

// SetDialogPayload changes the payload of an open question, and until when it is open.
func SetDialogPayload(ctx context.Context, tx Tx, dialog int64, payload any, expires time.Time) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("write question: %w", err)
	}
	return row.Exec(ctx, tx, "change a question", setDialogPayloadSQL, dialog, raw, expires)
}
