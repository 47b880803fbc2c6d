package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"multis/tools"
)

// The limits of what a server says of itself.
const (
	maxTools       = 64
	maxDescription = 2000
	maxToolsText   = 100_000 // of all descriptions and schemas, in bytes: they are part of every prompt
	maxText        = 64_000  // of one result; the registry cuts it further
)

// toolName matches the names that providers accept.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// tool is a tool of a server's.
type tool struct {
	from *connection
	name string // the server's name for it
	spec tools.Spec
}

// newTool returns a tool as the server describes it. It is nil if the tool cannot be used, for a reason, or, without one, if Allow does not match.
func (c *connection) newTool(t *mcp.Tool) (*tool, string) {
	if len(c.Allow) > 0 && !matchesAny(c.Allow, t.Name) {
		return nil, ""
	}
	name := c.prefix() + t.Name
	if !toolName.MatchString(name) {
		return nil, fmt.Sprintf("%.60q: its name is too long, or has signs in it", t.Name)
	}
	schema, err := portableSchema(t.InputSchema)
	if err != nil {
		return nil, t.Name + ": " + err.Error()
	}
	tier := tools.Confirm
	switch {
	case matchesAny(c.Pin, t.Name):
		tier = tools.Pin
	case matchesAny(c.Read, t.Name):
		tier = tools.Read
	}
	return &tool{from: c, name: t.Name, spec: tools.Spec{
		Name: name, Description: tools.Clip(strings.ToValidUTF8(t.Description, "\uFFFD"), maxDescription), Schema: schema, Tier: tier, Effect: tier != tools.Read,
		Foreign: true,
	}}, ""
}

func (t *tool) size() int { return len(t.spec.Description) + len(t.spec.Schema) }

// Spec describes the tool.
func (t *tool) Spec() tools.Spec { return t.spec }

// Run has the server carry out the call.
func (t *tool) Run(ctx context.Context, c tools.Call) (tools.Result, error) {
	session := t.from.openSession()
	if session == nil {
		return tools.Failed("The server that has this tool is not there now.", true), nil
	}
	calling, cancel := context.WithTimeoutCause(ctx, t.from.callTimeout(), errCallTimeout)
	defer cancel()
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, err := session.CallTool(calling, &mcp.CallToolParams{Name: t.name, Arguments: args})
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case err != nil && errors.Is(context.Cause(calling), errCallTimeout):
		return t.unanswered("The server took too long.", tools.CodeTimeout), nil
	case err != nil && !isCertainlyNotDone(err):
		return t.unanswered("The server was lost before it answered: "+problem(err)+".", tools.CodeFailed), nil
	case err != nil:
		return tools.Failed("The server did not do it: "+problem(err), false), nil
	}
	text := textOf(res)
	if res.IsError {
		return tools.Failed(text, false), nil
	}
	return tools.Result{ForLLM: text, ForUser: "used " + t.spec.Name}, nil
}

// unanswered returns the result of a call that was sent and not answered. A tool that only reads can be called again.
func (t *tool) unanswered(why string, code tools.Code) tools.Result {
	if t.spec.Effect {
		return tools.UnknownOutcome(t.spec.Name, why)
	}
	return tools.Result{ForLLM: why, IsError: true, Code: code, Retriable: true}
}

// codeRejected is the SDK's own code for a request that it could not send, or that got an answer outside of the protocol. It does not tell which.
const codeRejected = -32005

// isCertainlyNotDone reports whether a call was certainly not carried out: the server says so, or never received it.
func isCertainlyNotDone(err error) bool {
	said, answered := errors.AsType[*jsonrpc.Error](err)
	network, lost := errors.AsType[*net.OpError](err)
	_, closed := errors.AsType[*loginError](err)
	return answered && said.Code != codeRejected || lost && network.Op == "dial" || closed
}

var errCallTimeout = errors.New("the call took too long")

func (c *connection) callTimeout() time.Duration {
	if c.Timeout > 0 {
		return min(c.Timeout, time.Minute)
	}
	return time.Minute
}

// textOf writes a result as text for a model.
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
	return tools.Clip(strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD"), maxText)
}

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil })
}
