package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"multis/business/hours"
	"multis/internal/text"
)

// SafeKeys lists the keys that can be set in chat, with the PIN if there is one. None of them moves files, deletes
// messages, or makes multis answer in more chats. Only "operators" gives access: to the users whom the owner names, and
// to commands that only show something.
func SafeKeys() []string {
	return []string{
		"budget.per_day", "budget.per_chat_day", "budget.per_agent_day", "budget.per_run", "budget.at_cap",
		"business.ask_rating", "business.greeting", "business.escalation.keywords", "business.escalation.text", "business.follow_up_days",
		"business.outside_hours",
		"business.holidays", "business.hours", "business.language", "business.name", "business.pages", "business.rules", "business.tone",
		"business.topics",
		"chats.admin_pause_minutes", "chats.burst_max", "chats.burst_quiet", "chats.contact_caps.per_day", "chats.contact_caps.per_minute",
		"chats.delete_answers", "chats.reply_max_age",
		"heartbeat.enabled", "heartbeat.every",
		"operators",
		"memory.capture_minimum", "memory.capture_quiet", "memory.capture_threshold", "memory.memory_max_sections", "memory.recent_window",
		"memory.search_messages",
	}
}

// restartPrefixes are prefixes of keys that take effect only at the next start.
var restartPrefixes = []string{"database.", "logging."}

// NeedsRestart reports whether a key takes effect only at the next start.
func NeedsRestart(key string) bool {
	return slices.ContainsFunc(restartPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// LoadWith is Load with settings that were made in chat, by key. They override the file, and the environment overrides them. Keys that are
// not in SafeKeys are ignored.
func LoadWith(path string, settings map[string]string) (*Config, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := defaults()
	return c.parse(newReader(path, c), data, settings, os.LookupEnv)
}

// The sources of a value.
const (
	FromDefault     = "default"
	FromFile        = "config.yaml"
	FromSettings    = "set in chat"
	FromEnvironment = "environment"
)

// Entry is a key of the configuration with its value.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as in the file; for a secret that is set, "…" or its reference
	Source string `json:"source"`
}

// Values returns all keys with a fixed name, in the order of the documentation. If the configuration is not valid, it
// returns the error of LoadWith.
func Values(path string, settings map[string]string) ([]Entry, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := defaults()
	r := newReader(path, c)
	if _, err := c.parse(r, data, settings, os.LookupEnv); err != nil {
		return nil, err
	}
	var list []Entry
	for _, key := range r.fieldOrder {
		if r.inGroup(key) || strings.HasSuffix(key, fileSuffix) {
			continue
		}
		shown := r.fields[key].display()
		if at, ok := r.references[key]; ok {
			shown = at
		}
		list = append(list, Entry{key, shown, r.sourceOf(key)})
	}
	return list, nil
}

// Holidays returns the holidays of the business, with those of its calendar.
func Holidays(path string, settings map[string]string) ([]hours.Days, error) {
	c, err := LoadWith(path, settings)
	if err != nil {
		return nil, err
	}
	return c.Business.allHolidays(), nil
}

// Differences returns the entries of Values whose values differ from the defaults.
func Differences(path string, settings map[string]string) ([]Entry, error) {
	values, err := Values(path, settings)
	if err != nil {
		return nil, err
	}
	c := defaults()
	c.complete(filepath.Dir(path))
	usual := newReader(path, c).fields
	return slices.DeleteFunc(values, func(v Entry) bool {
		return v.Source == FromDefault || v.Value == usual[v.Key].display()
	}), nil
}

// sourceOf returns where the value of a key comes from.
func (r *reader) sourceOf(key string) string {
	at, ok := r.source[key]
	if !ok {
		at, ok = r.source[key+fileSuffix]
	}
	switch {
	case !ok:
		return FromDefault
	case at.variable != "":
		return FromEnvironment
	case at.setting:
		return FromSettings
	default:
		return FromFile
	}
}

// display returns the value of a key as it could be written in the file.
func (f field) display() string {
	if f.show != nil {
		return f.show()
	}
	return display(f.value())
}

// display returns a value as it could be written in the file.
func display(v any) string {
	switch v := v.(type) {
	case Secret:
		if v == "" {
			return ""
		}
	case time.Duration:
		text := v.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if short, ok := strings.CutSuffix(text, zero); ok {
				text = short + zero[:1]
			}
		}
		return text
	case *time.Location:
		if v == nil {
			return ""
		}
		return v.String()
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		items := make([]string, list.Len())
		for i := range items {
			items[i] = fmt.Sprint(list.Index(i).Interface())
		}
		return strings.Join(items, ", ")
	}
	return fmt.Sprint(v)
}

// Changes returns the keys in which two configurations differ. For a section whose names are chosen, it returns the section's name.
func Changes(a, b *Config) []string {
	var keys []string
	before, after := a.fields(), b.fields()
	for i, f := range before {
		if !strings.HasSuffix(f.key, fileSuffix) && !reflect.DeepEqual(f.value(), after[i].value()) {
			keys = append(keys, f.key)
		}
	}
	for _, group := range []struct {
		name string
		a, b any
	}{
		{"chats.networks", a.Chats.Networks, b.Chats.Networks},
		{"chats.labels", a.Chats.Labels, b.Chats.Labels},
		{"business.texts", a.Business.Texts, b.Business.Texts},
		{"business.holiday_calendar", a.Business.CalendarHolidays, b.Business.CalendarHolidays},
		{"llm.providers", a.LLM.Providers, b.LLM.Providers},
		{"hooks", a.Hooks, b.Hooks},
		{"command_hooks", a.CommandHooks, b.CommandHooks},
		{"monitors", a.Monitors, b.Monitors},
		{"mcp", a.MCP, b.MCP},
		{"agents", a.Agents, b.Agents},
		{"policy.file", a.Policy.FileRules, b.Policy.FileRules},
	} {
		if !reflect.DeepEqual(group.a, group.b) && !slices.Contains(keys, group.name) {
			keys = append(keys, group.name)
		}
	}
	return keys
}

// nearestSafeKey returns the question whether the safe key is meant that ends with a name, or is spelled like it; empty if there is none.
func nearestSafeKey(name string) string {
	best, least := "", 3
	for _, known := range SafeKeys() {
		switch {
		case keyName(known) == name:
			best, least = known, 0
		case len(name) > 2*len(known): // too long to be a misspelling
		default:
			if d := text.EditDistance(strings.ToLower(name), known); d < least {
				best, least = known, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "? "
}

// CheckSetting returns an error if a key cannot be set to a value in chat. The error says what to write instead.
func CheckSetting(path string, settings map[string]string, key, value string) error {
	if !slices.Contains(SafeKeys(), key) {
		if _, known := newReader("", defaults()).fields[key]; known {
			return fmt.Errorf("%s can only be changed in config.yaml, on the machine: multis config set %[1]s VALUE", key)
		}
		return fmt.Errorf("%s is no key that can be set here; %s/config lists them", key, nearestSafeKey(key))
	}
	if name := EnvName(key); os.Getenv(name) != "" {
		return fmt.Errorf("the variable %s of multis' environment sets %s, and wins; change it there", name, key)
	}
	if isMasked(value) {
		return maskedError(key)
	}
	changed := map[string]string{key: value}
	for k, v := range settings {
		if k != key {
			changed[k] = v
		}
	}
	_, err := LoadWith(path, changed)
	if err != nil {
		if what, ok := strings.CutPrefix(err.Error(), settingPlace+": "); ok { // the owner has just written the value, so its place is omitted
			return errors.New(what)
		}
	}
	return err
}
