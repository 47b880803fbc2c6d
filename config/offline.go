package config

import (
	"fmt"
	"os"
)

// offlineValues replaces the Matrix and database settings in offline mode. No server exists at these addresses.
var offlineValues = map[string]string{
	"homeserver.address":          "http://terminal.invalid",
	"homeserver.domain":           "terminal.invalid",
	"appservice.as_token":         "unused",
	"appservice.hs_token":         "unused_too",
	"appservice.sender_localpart": "unused",
	"owner":                       "@you:terminal.invalid",
	"database.url":                "",
	"database.direct":             "",
}

// LoadOffline reads the configuration at path for use without a homeserver; see ParseOffline.
func LoadOffline(path string) (*Config, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseOffline(path, data, os.LookupEnv)
}

// ParseOffline parses a configuration for use without a homeserver (multis chat). It ignores the Matrix and database
// keys, which may be missing, and leaves Database.URL empty. TimeZone may be missing too and is nil then.
func ParseOffline(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := defaults()
	r := newReader(name, c)
	for key, text := range offlineValues {
		if err := r.fields[key].set(text); err != nil {
			return nil, fmt.Errorf("%s without a homeserver: %w", key, err)
		}
		r.ignored[key], r.ignored[key+fileSuffix] = true, true
		r.source[key] = place{}
	}
	r.source["time_zone"] = place{}
	return c.parse(r, data, nil, env)
}
