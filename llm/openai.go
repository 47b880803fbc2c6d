package llm

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// openAI speaks the chat completions protocol, as OpenAI and most others serve it.
type openAI struct {
	name    string
	model   string
	chat    openai.ChatCompletionService
	timeout time.Duration
	dialect atomic.Pointer[dialect] // what the server taught us, nil before it did
}

// newOpenAI returns a bare model: no budget, no second try.
func newOpenAI(c Config) *openAI {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library says what it is
	client := &http.Client{
		Transport: bounded{transport},
		// A prompt goes to the address that was configured and to no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &openAI{
		name:    c.Model,
		model:   strings.TrimPrefix(c.Model, provider),
		timeout: c.Timeout,
		// The service alone, as the whole client would take keys and addresses from the environment too.
		chat: openai.NewChatCompletionService(option.WithBaseURL(c.BaseURL), option.WithAPIKey(c.APIKey),
			option.WithHTTPClient(client), option.WithMaxRetries(0)),
	}
}

// Name is "provider/model".
func (m *openAI) Name() string { return m.name }

// Stream makes one call. Its errors are *Error, or the context's.
func (m *openAI) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		call, cancel := context.WithTimeoutCause(ctx, m.timeout, errTimeout)
		defer cancel()
		stream, err := m.open(call, r)
		if err != nil {
			yield(Delta{}, m.because(ctx, call, err))
			return
		}
		defer stream.Close()
		var answer openAIAnswer
		for stream.Next() {
			for _, d := range answer.read(stream.Current()) {
				if !yield(d, nil) {
					return
				}
			}
		}
		if err := stream.Err(); err != nil {
			yield(Delta{}, m.because(ctx, call, err))
		} else if !answer.ended {
			yield(Delta{}, &Error{Model: m.name, Reason: ReasonCut})
		}
	}
}

// open sends the request, in as many dialects as it takes, and returns once the server begins to answer.
func (m *openAI) open(ctx context.Context, r Request) (*ssestream.Stream[openai.ChatCompletionChunk], error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		params, err := m.params(r, d)
		if err != nil {
			return nil, err
		}
		var res *http.Response
		stream := m.chat.NewStreaming(ctx, params, option.WithResponseInto(&res))
		if res == nil { // nobody answered
			return nil, stream.Err()
		}
		if res.StatusCode < http.StatusMultipleChoices && stream.Err() == nil {
			if !streams(res) {
				return nil, errors.Join(errNoStream, stream.Close())
			}
			m.dialect.Store(&d)
			return stream, nil
		}
		refused := readRefusal(m.name, res)
		if next, ok := d.learn(refused); ok {
			d = next
			continue
		}
		return nil, &refused.Error
	}
}

// streams tells whether a good answer is a stream of events. Servers that name no type, or a wrong one, are believed;
// pages and whole objects are not.
func streams(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind != "text/html" && kind != "application/json"
}

// because turns what went wrong with a call into our words. The caller's own end is passed on as it is.
func (m *openAI) because(caller, call context.Context, err error) error {
	var known *Error
	var inStream *ssestream.StreamError
	var syntax *json.SyntaxError
	e := &Error{Model: m.name, Reason: ReasonCut}
	switch {
	case caller.Err() != nil:
		return fmt.Errorf("%s: %w", m.name, caller.Err())
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(call), errTimeout):
		e.Reason = ReasonTimeout
	case unreachable(err):
		e.Reason = ReasonUnreachable
	case errors.As(err, &inStream):
		e.Reason = ReasonServer
	case errors.Is(err, errTooLong), errors.Is(err, errNoStream), errors.Is(err, bufio.ErrTooLong), errors.As(err, &syntax):
		e.Reason = ReasonReply
	}
	return e
}

// unreachable tells whether a request never got to a server.
func unreachable(err error) bool {
	var unknownHost *net.DNSError
	var network *net.OpError
	var stranger *tls.CertificateVerificationError
	return errors.As(err, &unknownHost) || errors.As(err, &stranger) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, &network) && network.Op == "dial"
}
