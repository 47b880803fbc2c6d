// Package llm talks to language models. A Model streams one answer; Open builds one that is safe to hand out: every
// call of it is paid for from a budget before it is made, and what is worth a second try is tried again.
package llm

import (
	"context"
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
)

// Message is one message of the conversation.
type Message struct {
	Role Role
	Text string
}

// Request is one question to a model.
type Request struct {
	System      string
	Messages    []Message
	MaxTokens   int     // Longest answer, in tokens. Defaults to DefaultMaxTokens.
	Temperature float64 // Zero leaves it to the provider.
	JSON        bool    // Asks for one JSON object. The instructions must ask for it as well.
	Purpose     string  // What it is for, as usage is shown: "reply", "ask".
	Chat        int64   // The chat whose daily cap applies as well as the day's. Zero: none.
}

// Stop says why an answer ended. It is empty until it has.
type Stop string

// Why an answer ended.
const (
	StopEnd    Stop = "end"    // the model was done
	StopLength Stop = "length" // MaxTokens were used up
	StopFilter Stop = "filter" // the provider withheld the rest
)

// Usage counts tokens as the provider counted them. The zero value means that it did not say.
type Usage struct {
	In, Out int64
}

// Delta is a piece of an answer. Any of its fields may be zero, never all.
type Delta struct {
	Text  string
	Stop  Stop
	Usage Usage // of the whole call so far; the last one counts
}

// Response is a whole answer.
type Response struct {
	Text  string
	Stop  Stop
	Usage Usage
}

// Complete makes one call and collects its answer. With an error it returns what came before it.
func Complete(ctx context.Context, m Model, r Request) (Response, error) {
	var text strings.Builder
	var res Response
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			res.Text = text.String()
			return res, err
		}
		text.WriteString(d.Text)
		if d.Stop != "" {
			res.Stop = d.Stop
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
