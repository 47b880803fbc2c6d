// Package llm calls language models. A Model streams an answer. Models.Open returns a Model that reserves the cost of each
// call from a budget and retries transient failures.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"multis/llm/reply"
	"multis/policy"
)

// ErrNoModel is returned by every call of None. The caller then answers with quoted passages.
var ErrNoModel = errors.New("no model is configured")

// DefaultMaxTokens limits the answer of a request without MaxTokens. There always is a limit, because the worst-case cost
// must be known before a call.
const DefaultMaxTokens = 1024

// lengthFactor is by how much the limit grows when an answer has reached it; see Request.Longer.
const lengthFactor = 4

// Model answers requests.
type Model interface {
	// Name returns "provider/model".
	Name() string
	// Stream makes one call when it is ranged over. An error is the last value; the values before it are an incomplete
	// answer. Breaking out of the loop cancels the call.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Role is the author of a message.
type Role string

// The roles of messages. There is no system role: instructions are in Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the result of a tool call
)

// Image is a picture within a message.
type Image struct {
	MIME string // "image/jpeg"
	Data []byte
}

// ToolCall is a model's request to use a tool.
type ToolCall struct {
	ID   string // unique within a conversation; generated if the provider gives none
	Name string
	Args json.RawMessage // a JSON object; nil if Malformed is set
	// the arguments if they are not a JSON object. Then the tool is not run, and the model gets an error.
	Malformed string `json:",omitempty"`
	Signature []byte `json:",omitempty"` // opaque to multis; the provider requires it when the call is sent back
}

// Message is one message of the conversation.
type Message struct {
	Role    Role
	Text    string
	Images  []Image    // of a user's message
	Calls   []ToolCall // the calls in an assistant's message; the tool messages with their results must follow directly
	CallID  string     // of a tool's message: the ToolCall whose result Text is
	IsError bool       // of a tool's message: the call failed, and Text says how
}

// Tool describes a tool that a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, of type object. Nil means no arguments.
}

// Request is one question to a model.
type Request struct {
	System      string
	Messages    []Message
	Tools       []Tool
	MaxTokens   int           // Limit on the answer, in tokens. Defaults to DefaultMaxTokens.
	Longer      bool          // Whether the limit is lengthFactor times as high, because the answer ended there.
	Temperature float64       // Zero means the provider's default.
	NoCalls     bool          // Whether the model must answer without calling any of Tools.
	JSON        bool          // Whether the answer must be one JSON object. The instructions must say so as well.
	Purpose     string        // Label for the usage statistics: "reply", "ask".
	Chat        policy.ChatID // The chat whose daily cap applies in addition to the day's. Zero means none.
	Agent       string        // The agent whose daily cap applies. Empty means none.
	Run         string        // The run (a task and everything it starts) whose cap applies. Empty means none.
}

// StopReason says why an answer ended. It is empty until it has.
type StopReason string

// Why an answer ended.
const (
	StopEnd       StopReason = "end"     // the model finished its answer
	StopToolCalls StopReason = "calls"   // the model waits for the results of its tool calls
	StopLength    StopReason = "length"  // MaxTokens were used up
	StopFilter    StopReason = "filter"  // the provider withheld the rest
	StopRefusal   StopReason = "refusal" // the model refused; the text may say why
)

// Usage holds the token counts of the provider. The zero value means that it reported none.
type Usage struct {
	In, Out               int64
	CacheRead, CacheWrite int64 // parts of In: read from the provider's cache, and written to it
}

// Delta is a part of a streamed answer. At least one field is set.
type Delta struct {
	Text  string
	Call  *ToolCall // a complete call
	Stop  StopReason
	Usage Usage  // of the whole call so far; the last one counts
	Model string // model that answered, as "provider/model"; only set with Stop. Empty means the model that was called.
}

// Response is a complete answer.
type Response struct {
	Text  string
	Calls []ToolCall
	Stop  StopReason
	Usage Usage
	Model string // model that answered, as "provider/model"
}

// Complete makes one call and collects its answer, without the model's thoughts. An answer that ends at its limit is asked
// for once more with a higher one. With an error it returns the incomplete answer.
func Complete(ctx context.Context, m Model, r Request) (Response, error) {
	res, err := complete(ctx, m, r)
	if err != nil {
		return res, err
	}
	if res.Stop != StopLength || r.Longer {
		return res, nil
	}
	r.Longer = true
	longer, err := complete(ctx, m, r)
	if err != nil {
		return res, nil //nolint:nilerr // the answer that there is, such as when the budget is used up
	}
	longer.Usage = longer.Usage.Add(res.Usage)
	return longer, nil
}

// Add returns the sum of two usages.
func (u Usage) Add(other Usage) Usage {
	return Usage{
		In:         u.In + other.In,
		Out:        u.Out + other.Out,
		CacheRead:  u.CacheRead + other.CacheRead,
		CacheWrite: u.CacheWrite + other.CacheWrite,
	}
}

// complete makes one call and collects its answer.
func complete(ctx context.Context, m Model, r Request) (Response, error) {
	var text strings.Builder
	res := Response{Model: m.Name()}
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			res.Text = text.String()
			return res, err
		}
		text.WriteString(d.Text)
		if d.Call != nil {
			res.Calls = append(res.Calls, *d.Call)
		}
		if d.Stop != "" {
			res.Stop = d.Stop
		}
		if d.Model != "" {
			res.Model = d.Model
		}
		if d.Usage != (Usage{}) {
			res.Usage = d.Usage
		}
	}
	res.Text = reply.Clean(text.String())
	return res, nil
}

// None is the Model of an installation that has no language model.
type None struct{}

// Name is "none".
func (None) Name() string { return "none" }

// Stream yields ErrNoModel.
func (None) Stream(context.Context, Request) iter.Seq2[Delta, error] { return errorStream(ErrNoModel) }

// errorStream returns a stream that only yields err.
func errorStream(err error) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) { yield(Delta{}, err) }
}
