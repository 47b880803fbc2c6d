// Package llm talks to language models. A Model streams one answer; Open builds one that is safe to hand out: every
// call of it is paid for from a budget before it is made, and what is worth a second try is tried again.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
)

// ErrNoModel is returned by every call of None: there is no model, so the caller answers from passages alone.
var ErrNoModel = errors.New("no model is configured")

// DefaultMaxTokens is the longest answer of a request that names no limit of its own. There always is a limit, as
// the worst case must be known before a call.
const DefaultMaxTokens = 1024

// Model answers requests.
type Model interface {
	// Name is "provider/model", as people read it and as usage is booked.
	Name() string
	// Stream makes one call when it is ranged over. An error is the last thing it yields; what came before it is an
	// answer cut short. Leaving the loop early ends the call.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Role says whose words a message holds.
type Role string

// The roles of a conversation. Instructions are the request's System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // what a call gave
)

// Image is a picture within a message.
type Image struct {
	MIME string // "image/jpeg"
	Data []byte
}

// Call is a model's wish to use a tool.
type Call struct {
	ID        string // unique within a conversation; made up here where a provider gives none
	Name      string
	Args      json.RawMessage // one whole JSON object
	Malformed string          `json:",omitempty"` // what came instead of a JSON object. Args is nil then: nothing is run, the model is told.
	Signature []byte          `json:",omitempty"` // the provider's own, to be sent back with the call
}

// Message is one message of the conversation.
type Message struct {
	Role    Role
	Text    string
	Images  []Image // of a user's message
	Calls   []Call  // of an assistant's message. Each is answered by a tool's message before anybody else speaks.
	CallID  string  // of a tool's message: which call Text is the result of
	IsError bool    // of a tool's message: the call failed, and Text says how
}

// Tool is what a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object. Nil: none are taken.
}

// Request is one question to a model.
type Request struct {
	System      string
	Messages    []Message
	Tools       []Tool
	MaxTokens   int     // Longest answer, in tokens. Defaults to DefaultMaxTokens.
	Temperature float64 // Zero leaves it to the provider.
	JSON        bool    // Asks for one JSON object. The instructions must ask for it as well.
	Purpose     string  // What it is for, as usage is shown: "reply", "ask".
	Chat        int64   // The chat whose daily cap applies as well as the day's. Zero: none.
	Agent       string  // The agent whose daily cap applies. Empty: none.
	Run         string  // The run (a task, with all it starts) whose cap applies. Empty: none.
}

// StopReason says why an answer ended. It is empty until it has.
type StopReason string

// Why an answer ended.
const (
	StopEnd       StopReason = "end"     // the model was done
	StopToolCalls StopReason = "calls"   // it waits for the results of its calls
	StopLength    StopReason = "length"  // MaxTokens were used up
	StopFilter    StopReason = "filter"  // the provider withheld the rest
	StopRefusal   StopReason = "refusal" // the model would not; its text, if any, says so
)

// Usage counts tokens as the provider counted them. The zero value means that it did not say.
type Usage struct {
	In, Out               int64
	CacheRead, CacheWrite int64 // parts of In: read from the provider's cache, and written to it
}

// Delta is a piece of an answer. Any of its fields may be zero, never all.
type Delta struct {
	Text  string
	Call  *Call // a whole one
	Stop  StopReason
	Usage Usage  // of the whole call so far; the last one counts
	Model string // who answered, "provider/model", beside Stop. Empty: the one that was asked.
}

// Response is a whole answer.
type Response struct {
	Text  string
	Calls []Call
	Stop  StopReason
	Usage Usage
	Model string // who answered, "provider/model"
}

// Complete makes one call and collects its answer. With an error it returns what came before it.
func Complete(ctx context.Context, m Model, r Request) (Response, error) {
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
	res.Text = text.String()
	return res, nil
}

// None is the model of an installation without one.
type None struct{}

// Name is "none".
func (None) Name() string { return "none" }

// Stream yields ErrNoModel.
func (None) Stream(context.Context, Request) iter.Seq2[Delta, error] { return failing(ErrNoModel) }

// failing is a call that was not made, and why.
func failing(err error) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) { yield(Delta{}, err) }
}
