package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"multis/agent/tools"
	"multis/policy/rules"
)

// The limits of a server's tools and results.
const (
	maxTools       = 64
	maxOffered     = 1000 // tools of one server, of which those that Allow names are used
	maxDescription = 2000
	maxToolsText   = 100_000 // of all descriptions and schemas, in bytes: they are part of every prompt
	maxText        = 64_000  // of one result; the registry cuts it further
)

// tool is a tool of an MCP server.
type tool struct {
	conn *connection
	name string // the server's name for it
	spec tools.Spec
}

// newTool returns a tool as the server describes it, under a name that models accept. It returns nil and a problem if the tool cannot be
// used, and nil without a problem if the tool does not match Allow.
func (c *connection) newTool(t *mcp.Tool, name string) (_ *tool, problem string) {
	if len(c.Allow) > 0 && !matchesAny(c.Allow, t.Name) {
		return nil, ""
	}
	if name == "" {
		return nil, "a tool without a name"
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
	class := rules.ClassOutward // what it does is not known
	if tier == tools.Read {
		class = rules.ClassRead // the owner says that it only reads
	}
	return &tool{conn: c, name: t.Name, spec: tools.Spec{
		Name:        name,
		Description: tools.Clip(strings.ToValidUTF8(t.Description, "\uFFFD"), maxDescription),
		Schema:      schema,
		Tier:        tier,
		Class:       class,
		HasEffect:   tier != tools.Read,
		External:    true,
	}}, ""
}

func (t *tool) size() int { return len(t.spec.Description) + len(t.spec.Schema) }

// Spec describes the tool.
func (t *tool) Spec() tools.Spec { return t.spec }

// Run has the server carry out the call.
func (t *tool) Run(ctx context.Context, c tools.Call) (tools.Result, error) {
	session := t.conn.currentSession()
	if session == nil {
		return tools.Failed("The server that has this tool is not there now.", true), nil
	}
	calling, cancel := context.WithTimeoutCause(ctx, t.conn.callTimeout(), errCallTimeout)
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
		return t.unansweredResult("The server took too long.", tools.CodeTimeout), nil
	case err != nil && !isNotExecuted(err):
		return t.unansweredResult("The server was lost before it answered: "+problemText(err)+".", tools.CodeFailed), nil
	case err != nil:
		return tools.Failed("The server did not do it: "+problemText(err), false), nil
	}
	text := resultText(res)
	if res.IsError {
		return tools.Failed(text, false), nil
	}
	return tools.Result{ForLLM: text, ForUser: "used " + t.spec.Name}, nil
}

// unansweredResult returns the result of a call that was sent but not answered. A call of a tool that only reads may be repeated.
func (t *tool) unansweredResult(why string, code tools.Code) tools.Result {
	if t.spec.HasEffect {
		return tools.UnknownOutcome(t.spec.Name, why)
	}
	return tools.Result{ForLLM: why, IsError: true, Code: code, Retriable: true}
}

// codeRejected is the SDK's code for a request that it could not send, or whose answer violates the protocol. The code does not say which.
const codeRejected = -32005

// isNotExecuted reports whether a call was certainly not executed: the server says so, or never received it.
func isNotExecuted(err error) bool {
	response, isResponse := errors.AsType[*jsonrpc.Error](err)
	network, isNetwork := errors.AsType[*net.OpError](err)
	_, needsLogin := errors.AsType[*loginError](err)
	return isResponse && response.Code != codeRejected || isNetwork && network.Op == "dial" || needsLogin
}

var errCallTimeout = errors.New("the call took too long")

func (c *connection) callTimeout() time.Duration {
	if c.Timeout > 0 {
		return min(c.Timeout, time.Minute)
	}
	return time.Minute
}

// resultText returns a result as text for a model.
func resultText(res *mcp.CallToolResult) string {
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

// matchesAny reports whether a name matches one of the patterns. In names a slash is a character like others, which a star matches.
func matchesAny(patterns []string, name string) bool {
	noSlash := strings.NewReplacer("/", "\x01")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(noSlash.Replace(pattern), noSlash.Replace(name))
		return ok && err == nil
	})
}
