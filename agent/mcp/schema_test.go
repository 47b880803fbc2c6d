package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortableSchema_Converts(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"type": "object"}`: `{"type": "object", "properties": {}}`,
		`{"type": "object", "properties": {"a": {}, "b.c-d": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false}`:                                                                                  `{"type": "object", "properties": {"a": {}, "b.c-d": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false}`,
		`{"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}, "anyOf": [{"required": ["a"]}, true]}`:                                                                                   `{"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}`,
		`{"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {}}}], "oneOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}], "not": {"required": ["c"]}, "enum": [{}]}`: `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}`,
	} {
		raw, err := portableSchema(json.RawMessage(said))
		require.NoError(t, err, said)
		require.JSONEq(t, want, string(raw))
	}
	for said, want := range map[string]string{
		`null`:                         "not an object",
		`[]`:                           "cannot be read",
		`{"type": "string"}`:           "not an object",
		`{"type": ["object", "null"]}`: "not an object",
		`{"type": "object", "properties": {"a": "text"}}`:                       "cannot be read",
		`{"type": "object", "properties": {"a": {"exclusiveMinimum": true}}}`:   "cannot be read",
		`{"type": "object", "properties": {"a": {"required": true}}}`:           "cannot be read",
		`{"type": "object", "properties": {"two words": {}}}`:                   `its argument "two words" is too long, or has signs in it`,
		`{"type": "object", "oneOf": [{"properties": {"ä": {}}}]}`:              "has signs in it",
		`{"type": "object", "title": "` + strings.Repeat("x", maxSchema) + `"}`: "more than 16000 bytes",
	} {
		_, err := portableSchema(json.RawMessage(said))
		require.ErrorContains(t, err, want, said)
	}
}
