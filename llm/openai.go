package llm

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// openAI calls chat completions by OpenAI's SDK. Most other providers serve this protocol, too.
type openAI struct {
	model   string
	client  openai.Client
	dialect atomic.Pointer[dialect] // what the server supports; nil before the first answer
}

func newOpenAI(e endpoint) *adapter {
	m := &openAI{model: e.Model, client: openai.Client{Options: openAIOptions(e.BaseURL, e.APIKey, newClient(e.Name))}}
	return &adapter{endpoint: e, stream: m.stream}
}

// openAIOptions returns the options of the SDK's services. The SDK retries nothing, because each attempt is paid. A
// client or a service that is made with these options takes nothing from the environment; openai.NewClient would.
func openAIOptions(baseURL, key string, client *http.Client) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(baseURL), option.WithAPIKey(key), option.WithHTTPClient(client), option.WithMaxRetries(0)}
}

func (m *openAI) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		events, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer events.Close()
		var answer openAIAnswer
		for events.Next() {
			data := events.Event().Data
			if bytes.HasPrefix(data, []byte("[DONE]")) {
				return
			}
			list, err := answer.readEvent(data)
			if err != nil {
				yield(Delta{}, err)
				return
			}
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
		}
		if err := events.Err(); err != nil {
			yield(Delta{}, err)
		}
	}
}

// open sends the request and returns when the server begins to answer. It retries without each feature that the server
// rejects.
func (m *openAI) open(ctx context.Context, r Request) (ssestream.Decoder, error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		params, err := m.params(r, d)
		if err != nil {
			return nil, err
		}
		events, err := m.post(ctx, params)
		if err == nil {
			m.dialect.Store(&d)
			return events, nil
		}
		if refused, ok := errors.AsType[*statusError](err); ok {
			if next, ok := d.withoutRejected(refused); ok {
				d = next
				continue
			}
		}
		return nil, err
	}
}

// post sends a request for a stream. It does not use the SDK's own stream, which ends with an error at a chunk with "error": null.
func (m *openAI) post(ctx context.Context, params openai.ChatCompletionNewParams) (ssestream.Decoder, error) {
	var res *http.Response
	if err := m.client.Post(ctx, "chat/completions", params, &res, option.WithJSONSet("stream", true)); err != nil {
		return nil, err
	}
	return ssestream.NewDecoder(res), nil
}
