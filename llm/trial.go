package llm

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"time"

	"multis/policy"
)

// TryResult is the result of a test call.
type TryResult struct {
	Answer   string
	Duration time.Duration
	Cost     int64 // booked cost, in millionths of the currency
}

// testCallTokens limits the answer of a test call. Reasoning models need some tokens before the answer.
const testCallTokens = 256

// Try makes one small test call of a model. If sees is true, the call includes a one-pixel picture, to test its vision.
// The call is paid from the budget, is not retried, and ignores the circuit breaker. If key is not empty, it replaces the
// provider's key.
func (ms *Models) Try(ctx context.Context, name, key string, sees bool) (TryResult, error) {
	info, p, err := ms.describe(name, key)
	if err != nil {
		return TryResult{}, err
	}
	recorder := &costRecorder{Ledger: ms.Budget.Ledger}
	m, err := ms.paid(info, p, recorder)
	if err != nil {
		return TryResult{}, err
	}
	start := time.Now()
	question := Message{Role: RoleUser, Text: "Answer with one word: ready"}
	if sees {
		question.Images = []Image{{MIME: "image/png", Data: onePixel()}}
	}
	res, err := Complete(ctx, m, Request{Messages: []Message{question}, MaxTokens: testCallTokens, Purpose: "test"})
	return TryResult{Answer: res.Text, Duration: time.Since(start), Cost: recorder.amount}, err
}

// onePixel returns a PNG of one white pixel.
func onePixel() []byte {
	pixel := image.NewGray(image.Rect(0, 0, 1, 1))
	pixel.SetGray(0, 0, color.Gray{Y: 255})
	var data bytes.Buffer
	if err := png.Encode(&data, pixel); err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return data.Bytes()
}

// costRecorder is a Ledger that also records the settled cost.
type costRecorder struct {
	Ledger
	amount int64
}

// Settle records the amount and settles the call in the Ledger.
func (r *costRecorder) Settle(ctx context.Context, id int64, s policy.Settlement) error {
	r.amount = s.Amount
	return r.Ledger.Settle(ctx, id, s)
}

// slowModel says what to do about a model that does not answer in time.
const slowModel = "raise llm.timeout, or use a smaller model"

// HowToFix returns one line that says how to fix the cause of a failed call. It is empty for errors that are not of this package.
func HowToFix(err error) string {
	if errors.Is(err, ErrOverBudget) {
		return "raise budget.per_day, or wait until midnight"
	}
	var e *Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) { // of who asked, before the provider's own
			return slowModel
		}
		return ""
	}
	switch e.Reason {
	case ReasonKey:
		return "write the provider's key into llm.api_key, or into llm.providers.NAME.api_key"
	case ReasonModel:
		return "use a model name from the provider's list; with Ollama, pull the model first"
	case ReasonUnreachable:
		return "start the model's server, or correct its base_url"
	case ReasonTLS:
		return "use the host name of the certificate and the right scheme (http or https), and check this machine's clock"
	case ReasonQuota:
		return "add credit to the account at the provider"
	case ReasonPromptCut:
		return "raise the context window of the model's server, or write it into llm.context"
	case ReasonTimeout:
		return slowModel
	case ReasonRequest:
		return "use a chat model, for vision.model one that sees pictures; models for embeddings or for making pictures refuse chat requests"
	case ReasonRateLimit, ReasonOverloaded, ReasonServer, ReasonDisconnected, ReasonCircuitOpen:
		return "try again later, or use a strategy (llm.strategies) with a model of another provider"
	default:
		return "check that base_url is the address of the provider's API, and type its protocol"
	}
}
