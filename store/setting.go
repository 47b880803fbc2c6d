package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/store/row"
)

// Setting is the name of a value that is set while multis runs.
type Setting string

// The settings and what they hold.
const (
	SettingOwnerDevice      Setting = "owner_device"       // the owner's masqueraded device
	SettingBotDevice        Setting = "bot_device"         // the bot's device
	SettingBotSyncToken     Setting = "bot_sync_token"     // string: the position of the bot's sync
	SettingBotRecovery      Setting = "bot_recovery"       // string: the recovery key of the bot's cross-signing keys
	SettingPickle           Setting = "pickle"             // string: the key that encrypts the keys in the schema matrix
	SettingSyncToken        Setting = "sync_token"         // string: the position of the owner's sync
	SettingKeylessSyncToken Setting = "keyless_sync_token" // string: the position of the sync without keys, while they cannot be decrypted
	SettingKeysUnreadable   Setting = "keys_unreadable"    // bool: the owner was told that the keys cannot be decrypted
	SettingPushedAt         Setting = "pushed_at"          // time: when the last transaction of the homeserver was processed
	SettingPushStalled      Setting = "push_stalled"       // Stall: the owner was told that no transaction arrives
	SettingSyncStalled      Setting = "sync_stalled"       // Stall: the owner was told that the sync does not advance
	SettingPause            Setting = "pause"              // Pause: everything is paused
	SettingSafeMode         Setting = "safe_mode"          // SafeMode: multis is in safe mode
	SettingWelcomed         Setting = "welcomed"           // bool: the welcome message was shown
	SettingSlash            Setting = "slash"              // bool: a command with "/" has arrived, so the owner's client sends such commands
	SettingLastChange       Setting = "last_change"        // what was changed last in the admin room, and how it is taken back
	SettingRehearsal        Setting = "rehearsal"          // Rehearsal: the last one
	SettingName             Setting = "name"               // string: the name of the assistant, instead of that in config.yaml
	SettingLogin            Setting = "login:"             // string, followed by the name of an MCP server: its encrypted tokens
	SettingRestore          Setting = "restore"            // policy.Restore: a backup was restored
	SettingBackup           Setting = "backup.last"        // Backup: the last backup
	// followed by SettingOwnerDevice or SettingBotDevice: the device before a backup was restored.
	SettingFormer        Setting = "former_"
	SettingBusinessSetup Setting = "business_setup"  // where the setup of the business stands, until it is done
	SettingConfig        Setting = "config:"         // string, followed by a key of the configuration: its value, set in chat
	SettingConfigRefused Setting = "config_refused"  // RefusedConfig: the owner was told that a changed configuration is not used
	SettingSkillNotified Setting = "skill_notified:" // bool, followed by the hash of a problem with a skill: the owner was told
)

// Stall says that nothing arrives through the push or the sync, and since when.
type Stall struct {
	Since time.Time `json:"since"`
}

// RefusedConfig says that multis runs with the configuration from before a change.
type RefusedConfig struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"` // one problem a line
}

// Pause says that everything is paused, and since when.
type Pause struct {
	Since time.Time `json:"since"`
}

const getSettingSQL = "select value from settings where key = $1"

// GetSetting reads a setting into value. It returns false if it was never set.
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

const initSettingSQL = "insert into settings (key, value) values ($1, $2) on conflict (key) do nothing"

// InitSetting stores a setting that was never set. It changes no value, also if several processes call it at once.
func InitSetting(ctx context.Context, w Writer, key Setting, value any) error {
	return writeSetting(ctx, w, initSettingSQL, key, value)
}

const putSettingSQL = "insert into settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value, updated_at = now()"

// PutSetting stores a setting.
func PutSetting(ctx context.Context, w Writer, key Setting, value any) error {
	return writeSetting(ctx, w, putSettingSQL, key, value)
}

func writeSetting(ctx context.Context, w Writer, sql string, key Setting, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write setting %s: %w", key, err)
	}
	return row.Exec(ctx, w, "write setting "+string(key), sql, key, raw)
}

const replaceSettingSQL = "update settings set value = $3, updated_at = now() where key = $1 and value = $2"

// ReplaceSetting stores a setting if its value is still old. It returns false if the value has changed.
func ReplaceSetting(ctx context.Context, w Writer, key Setting, old, value any) (bool, error) {
	oldJSON, err := json.Marshal(old)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	tag, err := w.Exec(ctx, replaceSettingSQL, key, oldJSON, raw)
	if err != nil {
		return false, fmt.Errorf("replace setting %s: %w", key, err)
	}
	return tag.RowsAffected() == 1, nil
}

// AssistantName returns the name of the assistant: the one set in the admin room, else configured.
func AssistantName(ctx context.Context, db DB, configured string) (string, error) {
	name := configured
	_, err := GetSetting(ctx, db, SettingName, &name)
	return name, err
}

const dropSettingSQL = "delete from settings where key = $1"

// DropSetting deletes a setting.
func DropSetting(ctx context.Context, w Writer, key Setting) error {
	return row.Exec(ctx, w, "drop setting "+string(key), dropSettingSQL, key)
}

const configSettingsSQL = "select substr(key, $1), value #>> '{}' from settings where starts_with(key, $2) order by key"

// ConfigSettings returns the keys of the configuration that were set in chat.
func ConfigSettings(ctx context.Context, db DB) (map[string]string, error) {
	rows, err := db.Query(ctx, configSettingsSQL, len(SettingConfig)+1, string(SettingConfig))
	if err != nil {
		return nil, fmt.Errorf("read the settings of the configuration: %w", err)
	}
	settings := map[string]string{}
	var key, value string
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		settings[key] = value
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the settings of the configuration: %w", err)
	}
	return settings, nil
}
