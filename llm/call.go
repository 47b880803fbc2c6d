package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
)

// maxMalformedArgs is how much is kept of arguments that cannot be read, for the model to see.
const maxMalformedArgs = 1 << 10

// partialCall are a call that comes in pieces.
type partialCall struct {
	index          int64 // which call of the answer it is, where they come side by side
	id, name, args string
}

// newCall is a call as a provider described it. Models write arguments like any text, so they may be no JSON.
func newCall(id, name, args string) *Call {
	c := &Call{ID: id, Name: name, Args: json.RawMessage(strings.TrimSpace(args))}
	if c.ID == "" {
		c.ID = "call_" + rand.Text()
	}
	switch {
	case len(c.Args) == 0: // how many say that there are none
		c.Args = json.RawMessage("{}")
	case !isObject(c.Args):
		c.Args = nil
		c.Malformed = strings.ToValidUTF8(args[:min(len(args), maxMalformedArgs)], "\uFFFD")
	}
	return c
}

// arguments are the call's as they are sent back to a provider, which wants an object in any case.
func (c Call) arguments() json.RawMessage {
	if isObject(c.Args) {
		return c.Args
	}
	return json.RawMessage("{}")
}

func isObject(data json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data)
}

// parameters is the schema of a tool's arguments, with nothing in it for a tool that takes none.
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
