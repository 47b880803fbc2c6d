package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"multis/store/row"
)

// Setting is the name of one thing that is decided while running.
type Setting string

// The settings and what they hold.
const (
	SettingOwnerDevice  Setting = "owner_device"  // the owner's masqueraded device
	SettingBotDevice    Setting = "bot_device"    // the bot's device
	SettingBotSince     Setting = "bot_since"     // string: where the bot's sync stands
	SettingBotRecovery  Setting = "bot_recovery"  // string: the recovery key of the bot's cross-signing keys
	SettingPickle       Setting = "pickle"        // string: what the keys in schema matrix are wrapped with
	SettingSince        Setting = "since"         // string: where the owner's sync stands
	SettingKeylessSince Setting = "keyless_since" // string: where the sync stands that goes on while the keys do not open
	SettingKeysGone     Setting = "keys_gone"     // bool: the owner was told that the keys do not open
	SettingPushedAt     Setting = "pushed_at"     // time: when a transaction of the homeserver was last taken in
	SettingPushStalled  Setting = "push_stalled"  // Stall: the owner was told that none gets through
	SettingSyncStalled  Setting = "sync_stalled"  // Stall: the owner was told that the sync stands still
	SettingPause        Setting = "pause"         // Pause: everything is silent
	SettingWelcomed     Setting = "welcomed"      // bool: the first message was shown
	SettingName         Setting = "name"          // string: what the assistant is called, instead of what config.yaml says
	SettingLogin        Setting = "login:"        // string, with the name of an MCP server behind it: what it gave at a login, sealed
	SettingToldSkill    Setting = "told_skill:"   // bool, with a hash behind it: the owner was told of that problem with a skill
)

// Stall says since when nothing comes in through a door.
type Stall struct {
	Since time.Time `json:"since"`
}

// Pause says since when nothing is sent to anybody.
type Pause struct {
	Since time.Time `json:"since"`
}

const getSettingSQL = "select value from settings where key = $1"

// GetSetting reads a setting into value. False: it was never set.
func GetSetting(ctx context.Context, db DB, key Setting, value any) (bool, error) {
	var raw json.RawMessage
	err := row.NotFound(db.QueryRow(ctx, getSettingSQL, key).Scan(&raw))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read setting %s: %w", key, err)
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return false, fmt.Errorf("read setting %s: %w", key, err)
	}
	return true, nil
}

const putSettingSQL = "insert into settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value, updated_at = now()"

// PutSetting writes a setting.
func PutSetting(ctx context.Context, w Writer, key Setting, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write setting %s: %w", key, err)
	}
	return row.Exec(ctx, w, "write setting "+string(key), putSettingSQL, key, raw)
}

const replaceSettingSQL = "update settings set value = $3, updated_at = now() where key = $1 and value = $2"

// ReplaceSetting writes a setting if it still is what it was. False: it is not.
func ReplaceSetting(ctx context.Context, w Writer, key Setting, was, value any) (bool, error) {
	old, err := json.Marshal(was)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	tag, err := w.Exec(ctx, replaceSettingSQL, key, old, raw)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	return tag.RowsAffected() == 1, nil
}

// AssistantName is what the assistant is called: the name set in the admin room, else configured.
func AssistantName(ctx context.Context, db DB, configured string) (string, error) {
	name := configured
	_, err := GetSetting(ctx, db, SettingName, &name)
	return name, err
}

const dropSettingSQL = "delete from settings where key = $1"

// DropSetting removes a setting.
func DropSetting(ctx context.Context, w Writer, key Setting) error {
	return row.Exec(ctx, w, "drop setting "+string(key), dropSettingSQL, key)
}
