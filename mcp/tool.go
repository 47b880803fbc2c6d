package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"multis/tools"
)

// What is taken of a server's word.
const (
	maxTools       = 64
	maxDescription = 2000
	maxSchema      = 16_000
	maxText        = 64_000 // of one result; the registry cuts it further
)

// toolName is what providers take as a name.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// tool is one of a server's.
type tool struct {
	from *connection
	name string // as the server calls it
	spec tools.Spec
}

// take makes a tool of what a server says of one. nil without a reason: it is not wanted.
func (c *connection) take(t *mcp.Tool) (tools.Tool, string) {
	if len(c.Allow) > 0 && !on(c.Allow, t.Name) {
		return nil, ""
	}
	name := c.prefix() + t.Name
	if !toolName.MatchString(name) {
		return nil, fmt.Sprintf("%.60q: its name is too long, or has signs in it", t.Name)
	}
	schema, err := json.Marshal(t.InputSchema)
	var top struct {
		Type string `json:"type"`
	}
	switch {
	case err != nil, json.Unmarshal(schema, &top) != nil, top.Type != "object":
		return nil, t.Name + ": its arguments are no object"
	case len(schema) > maxSchema:
		return nil, fmt.Sprintf("%s: its schema has more than %d bytes", t.Name, maxSchema)
	}
	tier := tools.Confirm
	switch {
	case on(c.Pin, t.Name):
		tier = tools.Pin
	case on(c.Read, t.Name):
		tier = tools.Read
	}
	return &tool{from: c, name: t.Name, spec: tools.Spec{
		Name: name, Description: cut(strings.ToValidUTF8(t.Description, "\uFFFD"), maxDescription), Schema: schema, Tier: tier, Can: []string{"mcp", c.Name}, Effect: tier != tools.Read,
		Foreign: true,
	}}, ""
}

// Spec describes it.
func (t *tool) Spec() tools.Spec { return t.spec }

// Run has the server do it.
func (t *tool) Run(ctx context.Context, c tools.Call) (tools.Result, error) {
	session := t.from.open()
	if session == nil {
		return tools.Failed("The server that has this tool is not there now.", true), nil
	}
	calling, cancel := context.WithTimeoutCause(ctx, t.from.timeout(), errSlow)
	defer cancel()
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, err := session.CallTool(calling, &mcp.CallToolParams{Name: t.name, Arguments: args})
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case err != nil && errors.Is(context.Cause(calling), errSlow):
		return tools.Result{ForLLM: "The server took too long. Whether it was done is not known.", IsError: true, Code: tools.CodeTimeout}, nil
	case err != nil:
		return tools.Failed("The server did not do it: "+problem(err), false), nil
	}
	text := textOf(res)
	if res.IsError {
		return tools.Failed(text, false), nil
	}
	return tools.Result{ForLLM: text, ForUser: "used " + t.spec.Name}, nil
}

var errSlow = errors.New("the call took too long")

func (c *connection) timeout() time.Duration {
	if c.Timeout > 0 {
		return min(c.Timeout, time.Minute)
	}
	return time.Minute
}

// textOf is a result as a model can read it.
func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, content := range res.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			parts = append(parts, content.Text)
		case *mcp.EmbeddedResource:
			if content.Resource != nil && content.Resource.Text != "" {
				parts = append(parts, content.Resource.Text)
			} else {
				parts = append(parts, "[a file, which is not shown]")
			}
		case *mcp.ResourceLink:
			parts = append(parts, content.Name+" "+content.URI)
		default:
			parts = append(parts, "[a picture or a sound, which is not shown]")
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	return cut(strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD"), maxText)
}

// on tells whether a name is on a list of patterns.
func on(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil })
}

// cut shortens a text to so many bytes, and says so.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes]", strings.ToValidUTF8(s[:most], ""), most, len(s))
}
