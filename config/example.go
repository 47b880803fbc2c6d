package config

import _ "embed" // example.yaml

//go:embed example.yaml
var example []byte

// Example returns a config.yaml with a comment for every key. Its tokens have the value "generate", which Generate replaces.
func Example() []byte { return append([]byte(nil), example...) }
