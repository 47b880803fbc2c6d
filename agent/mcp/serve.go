package mcp

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"multis/agent/tools"
	"multis/policy"
	"multis/policy/rules"
)

// servedTools are multis' tools that other programs may call. They only read.
var servedTools = []string{"search_docs", "recall_memory"} //nolint:gochecknoglobals // a constant, were there constant lists

// maxRequest is the maximum size of a request, in bytes.
const maxRequest = 1 << 20

// ServeOptions configures multis' own MCP server. Record must be set.
type ServeOptions struct {
	Registry *tools.Registry
	// Token is the bearer token that programs must send. If it is empty, all requests are refused.
	Token   string
	Version string
	// Record writes a call into the audit log before its result is returned. If Record fails, no result is returned.
	Record func(ctx context.Context, call tools.Call, outcome string) error
}

// Serve returns an MCP server with which programs that have the token search everything that the owner may search.
func Serve(ctx context.Context, s ServeOptions) http.Handler {
	caller := tools.Caller{Owner: true, Surface: rules.SurfaceMCP, Scope: policy.OwnerScope(), Allow: servedTools}
	server := mcp.NewServer(&mcp.Implementation{Name: "multis", Version: s.Version}, nil)
	var calls atomic.Int64
	for _, spec := range s.Registry.All() {
		if !matchesAny(servedTools, spec.Name) {
			continue
		}
		server.AddTool(&mcp.Tool{
			Name:        spec.Name,
			Description: spec.Description,
			InputSchema: spec.Schema,
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			call := tools.Call{ID: fmt.Sprintf("mcp_%d", calls.Add(1)), Name: r.Params.Name, Args: r.Params.Arguments, Caller: caller}
			return s.call(ctx, call)
		})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return server
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxRequest})
	log := zerolog.Ctx(ctx)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		presented, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !isBearer || s.Token == "" || subtle.ConstantTimeCompare([]byte(presented), []byte(s.Token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r.WithContext(log.WithContext(r.Context())))
	})
}

// call makes one call, records it and converts its result.
func (s ServeOptions) call(ctx context.Context, call tools.Call) (*mcp.CallToolResult, error) {
	if len(call.Args) == 0 {
		call.Args = json.RawMessage("{}")
	}
	res, err := s.Registry.Do(ctx, call, false)
	outcome := "done"
	if err != nil || res.IsError {
		outcome = cmp.Or(string(res.Code), "failed")
	}
	if err = errors.Join(err, s.Record(ctx, call, outcome)); err != nil {
		zerolog.Ctx(ctx).Err(err).Str("tool", call.Name).Msg("A call from outside failed")
		return nil, fmt.Errorf("%s is broken; the log of multis says how", call.Name)
	}
	parts := []mcp.Content{}
	if res.ForLLM != "" {
		parts = append(parts, &mcp.TextContent{Text: res.ForLLM})
	}
	for _, hit := range res.Passages {
		source := hit.Title
		if hit.Section != "" {
			source += " › " + hit.Section
		}
		if hit.Source != "" {
			source = hit.Source
		}
		parts = append(parts, &mcp.TextContent{Text: "[" + source + "]\n" + hit.Text})
	}
	return &mcp.CallToolResult{Content: parts, IsError: res.IsError}, nil
}
