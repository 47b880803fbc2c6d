package store

import (
	"context"
	"time"
)

// SafeMode says since when multis is in safe mode, and why. In safe mode no model and no tool is called and contacts are sent nothing; the
// admin room works, and messages are stored.
type SafeMode struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// SafeModeOf returns the safe mode, and false if multis is not in it.
func SafeModeOf(ctx context.Context, db DB) (safe SafeMode, on bool, err error) {
	on, err = GetSetting(ctx, db, SettingSafeMode, &safe)
	return safe, on, err
}
