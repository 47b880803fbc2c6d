package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"sync/atomic"
)

// openAI implements the chat completions protocol of OpenAI, which most other providers serve too. It uses no SDK, because those of the
// providers make the program 35 MB larger.
type openAI struct {
	model   string
	api     api
	dialect atomic.Pointer[dialect] // what the server supports; nil before the first answer
}

func newOpenAI(e endpoint) *adapter {
	m := &openAI{model: e.Model, api: api{e.BaseURL, bearer(e.APIKey), newClient(e.Name)}}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *openAI) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		body, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer body.Close()
		var answer openAIAnswer
		for data, err := range events(body) {
			if bytes.HasPrefix(data, []byte("[DONE]")) {
				return
			}
			var chunk openAIChunk
			if err == nil {
				err = withoutTypeError(json.Unmarshal(data, &chunk))
			}
			if err == nil && len(chunk.Error) > 0 && string(chunk.Error) != "null" {
				err = &Error{Reason: ReasonServer}
			}
			if err != nil {
				yield(Delta{}, err)
				return
			}
			for _, d := range answer.read(chunk) {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// open sends the request and returns when the server begins to answer. It retries without each feature that the server
// rejects.
func (m *openAI) open(ctx context.Context, r Request) (io.ReadCloser, error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		body, err := m.request(r, d)
		if err != nil {
			return nil, err
		}
		res, err := m.api.postJSON(ctx, "/chat/completions", body)
		if err == nil {
			m.dialect.Store(&d)
			return res.Body, nil
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
