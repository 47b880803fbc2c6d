package config

import (
	"fmt"
	"os"
)

// offlineValues are the values of the keys about Matrix and the database in a conversation without a homeserver. Nothing answers there.
var offlineValues = map[string]string{
	"homeserver.address":          "http://terminal.invalid",
	"homeserver.domain":           "terminal.invalid",
	"appservice.as_token":         "unused",
	"appservice.hs_token":         "unused_too",
	"appservice.sender_localpart": "unused",
	"owner":                       "@you:terminal.invalid",
	"database.url":                "",
}

// LoadOffline is Load for a conversation without a homeserver, as ParseOffline is Parse.
func LoadOffline(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return ParseOffline(path, data, os.LookupEnv)
}

// ParseOffline is Parse for a conversation without a homeserver: what is said about Matrix and about the database is neither read nor
// missed, and Database.URL is empty. TimeZone is nil when none is said.
func ParseOffline(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := defaults()
	r := newReader(name, c)
	for key, text := range offlineValues {
		if err := r.fields[key].set(text); err != nil {
			return nil, fmt.Errorf("%s without a homeserver: %w", key, err)
		}
		r.preset[key], r.preset[key+fileSuffix] = true, true
		r.source[key] = place{}
	}
	r.source["time_zone"] = place{}
	return c.parse(r, data, env)
}
