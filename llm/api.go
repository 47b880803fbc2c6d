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

// api sends requests to a provider's HTTP API. Its client returns an error for a bad status (see transport).
type api struct {
	base   string      // URL without the path of the request
	header http.Header // of each request; contains the key
	client *http.Client
}

// bearer returns the header with a key. The header is empty if the key is, for servers that need none.
func bearer(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return header
}

// post sends a request. The caller closes the body of the response.
func (a api) post(ctx context.Context, path, contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(a.base, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	req.Header = a.header.Clone()
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "multis")
	return a.client.Do(req)
}

// postJSON sends body as JSON.
func (a api) postJSON(ctx context.Context, path string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return a.post(ctx, path, "application/json", bytes.NewReader(data))
}

// readJSON decodes a response and closes it. It returns io.ErrUnexpectedEOF if the response ends too early.
func readJSON(res *http.Response, into any) error {
	return errors.Join(withoutTypeError(json.NewDecoder(res.Body).Decode(into)), res.Body.Close())
}

// withoutTypeError returns nil instead of a *json.UnmarshalTypeError: a field of an unexpected type stays empty, because servers add fields of their own.
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
