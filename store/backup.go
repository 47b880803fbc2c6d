package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Backup is the last backup that was made, and what went wrong since. It is the setting SettingBackup.
type Backup struct {
	At        time.Time `json:"at"` // when it was made; zero for none yet
	File      string    `json:"file"`
	SizeBytes int64     `json:"bytes"`
	// Problem is why the last attempt failed; empty if it did not.
	Problem string `json:"problem,omitempty"`
	// TriedAt is when the last attempt failed.
	TriedAt time.Time `json:"tried_at,omitzero"`
	// WarnedAt is when the owner was told that the backup is old; zero if not since At.
	WarnedAt time.Time `json:"warned_at,omitzero"`
}

// maxBackupAge is how old the last backup may be when the database is migrated.
const maxBackupAge = 24 * time.Hour

// IsRecent reports whether the database may be migrated with this backup at hand.
func (b Backup) IsRecent(now time.Time) bool {
	age := now.Sub(b.At)
	return age >= 0 && age < maxBackupAge
}

// LastBackup returns the last backup. The zero value means that there is none.
func LastBackup(ctx context.Context, db DB) (Backup, error) {
	var b Backup
	_, err := GetSetting(ctx, db, SettingBackup, &b)
	return b, err
}

const databaseMadeAtSQL = "select min(tstamp)::timestamptz from goose_db_version"

// DatabaseMadeAt returns when the tables of the database were made.
func DatabaseMadeAt(ctx context.Context, db DB) (time.Time, error) {
	return row.Value[time.Time](ctx, db, "the age of the database", databaseMadeAtSQL)
}
