package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/business/hours"
	"multis/config"
	"multis/internal/text"
	"multis/safety/pin"
	"multis/store"
)

// Configuration shows and checks the keys of the configuration that can be set in chat. settings are the values that are
// set in chat, by key.
type Configuration interface {
	Values(settings map[string]string) ([]config.Entry, error)
	Check(settings map[string]string, key, value string) error
	// Holidays returns the days on which the business is closed, in no particular order.
	Holidays(settings map[string]string) ([]hours.Days, error)
}

// configCommands shows and changes the configuration.
type configCommands struct {
	base

	config Configuration // nil without a configuration file
}

// commands returns the commands about the configuration.
func (cs *configCommands) commands() []command {
	if cs.config == nil {
		return []command{{
			name:        "config",
			aliases:     configAliases,
			alone:       true,
			unavailable: "Settings are in config.yaml. `/name`, `/mode` and `/delivery` are set here.",
		}}
	}
	return []command{{
		name: "config", args: "[get, set or reset KEY]", group: groupControl, run: cs.run,
		summary: "change settings",
		aliases: configAliases,
		hint:    "`/config` shows and changes most settings; the others are in config.yaml.",
		alone:   true,
		help: "`/config` lists what can be set here, `/config get budget` only those keys, `/config set budget.per_day 3` sets one, `/config reset budget.per_day` goes back to config.yaml. " +
			"It applies within seconds, and wins over config.yaml. Keys that move files, delete messages, give access or make me answer in more chats " +
			"are in config.yaml only: `multis config get` and `multis config set` on the machine know all.",
	}}
}

// configAliases are the aliases of /config.
var configAliases = []string{"set", "get", "settings"}

// run carries out /config.
func (cs *configCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	settings, err := store.ConfigSettings(ctx, cs.store.DB())
	if err != nil {
		return answer{}, err
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	key, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	value = text.OneLine(value)
	switch strings.ToLower(verb) {
	case "", "get", "show":
		return cs.get(settings, key)
	case "set":
		return cs.set(settings, key, value), nil
	case "reset":
		return cs.reset(settings, key), nil
	default:
		return answer{text: "Try `/config`, `/config get budget`, `/config set budget.per_day 3`, `/config reset budget.per_day`."}, nil
	}
}

// get lists the keys that begin with a prefix, with their values.
func (cs *configCommands) get(settings map[string]string, prefix string) (answer, error) {
	values, err := cs.config.Values(settings)
	if err != nil {
		return answer{text: "config.yaml has become invalid; I keep what I read before:\n" + esc(err.Error())}, nil
	}
	if i := slices.IndexFunc(values, func(v config.Entry) bool { return v.Key == prefix }); i >= 0 {
		values = values[i : i+1]
	}
	values = slices.DeleteFunc(values, func(v config.Entry) bool { return !strings.HasPrefix(v.Key, prefix) })
	if len(values) == 0 {
		return answer{text: "No key that can be set here begins like " + quote(prefix, 60) +
			". `/config` lists them, and `multis config get` on the machine all others."}, nil
	}
	lines := []string{"**Settings**"}
	for _, v := range values {
		shown := text.Clip(text.OneLine(v.Value), 80)
		if shown == "" {
			shown = "(empty)"
		}
		line := code(v.Key) + " " + esc(shown)
		if v.Source != "" {
			line += " · " + esc(v.Source)
		}
		lines = append(lines, line)
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// emptyList is the value of a list without items.
const emptyList = "[]"

// set stores a value.
func (cs *configCommands) set(settings map[string]string, key, value string) answer {
	if key == "" || value == "" {
		return answer{text: "Try `/config set budget.per_day 3`."}
	}
	err := cs.config.Check(settings, key, value)
	shown := esc(text.Clip(value, 100))
	if err != nil && strings.EqualFold(value, "none") && cs.config.Check(settings, key, emptyList) == nil { // as in /business setup
		value = emptyList
		shown = "empty"
		err = nil
	}
	if err != nil {
		return answer{text: "Not set: " + esc(firstMistake(err, nil)) + "."}
	}
	return answer{
		text:   fmt.Sprintf("%s is **%s** from now on. Undo: %s.", code(key), shown, code("/config reset "+key)),
		reason: "The owner changed a setting.",
		pin:    &pinNeed{pin.ActionConfig, "set " + key + " to " + value},
		change: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingConfig+store.Setting(key), value)
		},
	}
}

// reset deletes a stored value.
func (cs *configCommands) reset(settings map[string]string, key string) answer {
	if _, set := settings[key]; !set {
		return answer{text: "It is not set here. `/config` lists what is."}
	}
	return answer{
		text: code(key) + " is as in config.yaml again.", reason: "The owner changed a setting.",
		pin: &pinNeed{pin.ActionConfig, "reset " + key},
		change: func(ctx context.Context, tx store.Tx) error {
			return store.DropSetting(ctx, tx, store.SettingConfig+store.Setting(key))
		},
	}
}
