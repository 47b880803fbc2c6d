package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Secret is a text that is shown as "…" in logs, errors and dumps. The zero value means that no secret is set.
type Secret string

// hidden is shown instead of a secret.
const hidden = "…"

// Value returns the secret itself.
func (s Secret) Value() string { return string(s) }

// String returns "…".
func (s Secret) String() string { return hidden }

// Format writes "…" for every verb, so that %d or %x of a whole Config show no secret either.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText returns "…", for JSON, YAML and logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Secrets returns all secrets of the configuration, so that they can be removed from output. For a URL it also returns
// the parts that may be secret by themselves.
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
	switch v.Kind() { //nolint:exhaustive // no other kind of value contains a secret
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

// secretParts returns the parts of a URL that may be secret: the password, query values and long path segments. It omits
// a password that equals the user, host or database name, because masking it would mask those names everywhere.
func secretParts(at *url.URL) []string {
	var parts []string
	if password, set := at.User.Password(); set && !slices.Contains([]string{at.User.Username(), at.Hostname(), strings.Trim(at.Path, "/")},
		password) {
		parts = append(parts, password)
	}
	if at.Scheme != "http" && at.Scheme != "https" {
		return parts // a database URL has no other secret parts
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
