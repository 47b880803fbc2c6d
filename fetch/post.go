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

// postTimeout bounds a POST request.
const postTimeout = 10 * time.Second

// Post sends a body and returns the status that the server answers with, 0 if it does not answer. A status that is no
// success is a StatusError as well. A redirect is not followed: the body is for the address that was named.
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
	// What it has to say does not matter, and may be endless; a little of it is read so that it need not see a reset.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, StatusError{Code: resp.StatusCode}
	}
	return resp.StatusCode, nil
}
