package fetch

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// postTimeout is the timeout of a POST request.
const postTimeout = 10 * time.Second

// Post sends a body and returns the HTTP status, or 0 if there was no response. A status other than success is also returned as a
// StatusError. Redirects are not followed: the body is only for the given address.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body []byte) (int, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return 0, ErrAddress
	}
	if err := checkURL(target); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.postTimeout, ErrTooSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return 0, ErrAddress
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", c.agent)
	sender := c.http
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := sender.Do(req)
	if err != nil {
		return 0, readableError(ctx, err)
	}
	defer resp.Body.Close()
	// The response body is not used and may be endless. Up to 64 KiB are read, so that the server does not see a connection reset.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, StatusError{Code: resp.StatusCode}
	}
	return resp.StatusCode, nil
}
