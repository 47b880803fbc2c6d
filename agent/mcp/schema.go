package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxSchema is the maximum size of the schema of a tool's arguments, in bytes.
const maxSchema = 16_000

// argumentNamePattern matches the names of arguments that providers accept.
var argumentNamePattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// portableSchema converts a server's schema of a tool's arguments to a form that every provider of models accepts. With any other schema, a
// provider refuses the whole request. The server still checks the rules that are left out.
func portableSchema(declared any) (json.RawMessage, error) {
	raw, err := json.Marshal(declared)
	if err != nil {
		return nil, errors.New("its schema cannot be read")
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	var read jsonschema.Schema
	var schema map[string]json.RawMessage
	if json.Unmarshal(raw, &read) != nil || json.Unmarshal(raw, &schema) != nil {
		return nil, errors.New("its schema cannot be read")
	}
	if read.Type != "object" {
		return nil, errors.New("its arguments are not an object")
	}
	properties := map[string]json.RawMessage{}
	for _, rule := range []string{"allOf", "anyOf", "oneOf", "not", "enum"} { // providers accept none of them at the top
		var choices []struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(schema[rule], &choices) // only choices with properties matter
		for _, choice := range choices {
			maps.Copy(properties, choice.Properties)
		}
		delete(schema, rule)
	}
	_ = json.Unmarshal(schema["properties"], &properties) // it was parsed above, and may be missing
	for name := range properties {
		if !argumentNamePattern.MatchString(name) {
			return nil, fmt.Errorf("its argument %.60q is too long, or has signs in it", name)
		}
	}
	if schema["properties"], err = json.Marshal(properties); err != nil {
		return nil, errors.New("its schema cannot be read")
	}
	return json.Marshal(schema)
}
