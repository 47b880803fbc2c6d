package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
)

// maxMalformedArgs is the number of bytes kept of malformed arguments, to show them to the model.
const maxMalformedArgs = 1 << 10

// partialCall is a tool call that is still being received.
type partialCall struct {
	index          int64 // position of the call in the answer, for parallel calls
	id, name, args string
}

// newCall returns a tool call. Models generate args as text, so they may be invalid JSON; they are in Malformed then.
func newCall(id, name, args string) *ToolCall {
	c := &ToolCall{ID: id, Name: name, Args: json.RawMessage(strings.TrimSpace(args))}
	if c.ID == "" {
		c.ID = "call_" + rand.Text()
	}
	switch {
	case len(c.Args) == 0: // many providers send an empty text for a call without arguments
		c.Args = json.RawMessage("{}")
	case !isObject(c.Args):
		c.Args = nil
		c.Malformed = strings.ToValidUTF8(args[:min(len(args), maxMalformedArgs)], "\uFFFD")
	}
	return c
}

// arguments returns Args, or "{}" if Args is not a JSON object, because providers require one.
func (c ToolCall) arguments() json.RawMessage {
	if isObject(c.Args) {
		return c.Args
	}
	return json.RawMessage("{}")
}

func isObject(data json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data)
}

// parameters returns the schema of a tool's arguments, or that of an empty object for a tool without arguments.
func (t Tool) parameters() (map[string]any, error) {
	if len(t.Schema) == 0 {
		return map[string]any{"type": "object", "properties": map[string]any{}}, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return nil, fmt.Errorf("%w: the schema of tool %s: %w", errBadRequest, t.Name, err)
	}
	return schema, nil
}
