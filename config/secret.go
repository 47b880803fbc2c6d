package config

import "fmt"

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
