package llm

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// openAI implements the chat completions protocol of OpenAI, which most other providers serve too.
type openAI struct {
	model   string
	chat    openai.ChatCompletionService
	dialect atomic.Pointer[dialect] // what the server supports; nil before the first answer
}

func newOpenAI(e endpoint) *adapter {
	m := &openAI{
		model: e.Model,
		// The service alone, as the whole client would take keys and addresses from the environment too.
		chat: openai.NewChatCompletionService(option.WithBaseURL(e.BaseURL), option.WithAPIKey(e.APIKey),
			option.WithHTTPClient(newClient(e.Name)), option.WithMaxRetries(0)),
	}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *openAI) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		stream, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
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
		var inStream *ssestream.StreamError
		if err := stream.Err(); errors.As(err, &inStream) {
			yield(Delta{}, &Error{Reason: ReasonServer})
		} else if err != nil {
			yield(Delta{}, err)
		}
	}
}

// open sends the request and returns when the server begins to answer. It retries without each feature that the server
// rejects.
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
		stream := m.chat.NewStreaming(ctx, params)
		if stream.Err() == nil {
			m.dialect.Store(&d)
			return stream, nil
		}
		if refused, ok := errors.AsType[*statusError](stream.Err()); ok {
			if next, ok := d.learn(refused); ok {
				d = next
				continue
			}
		}
		return nil, stream.Err()
	}
}
