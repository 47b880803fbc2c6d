package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Secret is a text that no log, error or dump shows. The zero value is no secret at all.
type Secret string

// hidden stands for a secret wherever one is printed.
const hidden = "…"

// Value returns the text itself, for the one place that needs it.
func (s Secret) Value() string { return string(s) }

// String returns "…".
func (s Secret) String() string { return hidden }

// Format prints "…" for every verb, so that %d or %x of a whole Config show nothing either.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText gives "…" to JSON, YAML and logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Secrets returns every secret of the configuration, so that each can be taken out of what is written. Of an address it adds the parts that may
// be one by themselves.
func (c *Config) Secrets() []string {
	var found []string
	collectSecrets(reflect.ValueOf(*c), &found)
	for _, s := range slices.Clone(found) {
		if at, err := url.Parse(s); err == nil && at.Scheme != "" && at.Host != "" {
			found = append(found, secretParts(at)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func collectSecrets(v reflect.Value, found *[]string) {
	switch v.Kind() { //nolint:exhaustive // nothing else holds one
	case reflect.Struct:
		for _, field := range v.Fields() {
			collectSecrets(field, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collectSecrets(v.MapIndex(key), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collectSecrets(v.Index(i), found)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[Secret]() && v.String() != "" {
			*found = append(*found, v.String())
		}
	}
}

// secretParts are a password, the values of a query and the long parts of a path. A password that is only the name of the user, the host or
// the database is none that could be hidden.
func secretParts(at *url.URL) []string {
	var parts []string
	if password, set := at.User.Password(); set && !slices.Contains([]string{at.User.Username(), at.Hostname(), strings.Trim(at.Path, "/")}, password) {
		parts = append(parts, password)
	}
	if at.Scheme != "http" && at.Scheme != "https" {
		return parts // what follows is no secret of a database's
	}
	for _, values := range at.Query() {
		parts = append(parts, values...)
	}
	const long = 16
	for part := range strings.SplitSeq(at.Path, "/") {
		if len(part) >= long {
			parts = append(parts, part)
		}
	}
	return parts
}
