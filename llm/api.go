package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
)

// api sends requests to the HTTP API of a provider whose SDK is not used (see gemini and ollama). Its client returns an error for a
// bad status (see transport).
type api struct {
	base   string      // URL without the path of the request
	header http.Header // of each request; contains the key
	client *http.Client
}

// postJSON sends body as JSON. The caller closes the body of the response.
func (a api) postJSON(ctx context.Context, path string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(a.base, "/")+path, bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	req.Header = a.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return a.client.Do(req)
}

// withoutTypeError returns nil instead of a *json.UnmarshalTypeError: a field of an unexpected type stays empty, because
// servers add fields of their own.
func withoutTypeError(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// events yields the data of each server-sent event.
func events(from io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, maxReplyBytes)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			if part, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(part, []byte(" "))...), '\n')
			}
			if len(line) > 0 || len(data) == 0 {
				continue
			}
			if !yield(data, nil) {
				return
			}
			data = nil
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
