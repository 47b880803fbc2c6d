package llm

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"
)

const (
	// maxReplyBytes limits the size of a response body.
	maxReplyBytes = 8 << 20
	// maxErrorBytes limits the size of an error's body.
	maxErrorBytes = 16 << 10
	// maxCallDuration limits the duration of a stream that keeps sending.
	maxCallDuration = 10 * time.Minute
	// defaultCallTimeout is the default timeout of a call that is not streamed.
	defaultCallTimeout = time.Minute
)

var (
	errTimeout    = errors.New("timeout")
	errTooLong    = errors.New("too long")
	errNoStream   = errors.New("not a stream")
	errBadRequest = errors.New("cannot be sent")
)

// newClient returns the HTTP client of one model. It treats redirects as errors, so that prompts only go to the configured
// URL.
func newClient(model string) *http.Client {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library says what it is
	return &http.Client{Transport: transport{model: model, next: next}}
}

// newJSONClient returns an HTTP client that also accepts JSON responses instead of streams.
func newJSONClient(model string) *http.Client {
	c := newClient(model)
	c.Transport = transport{model: model, next: c.Transport.(transport).next, allowJSON: true} //nolint:forcetypeassert // made above
	return c
}

// transport is an HTTP transport that returns only successful responses, with a size limit and activity reports. For
// other responses it returns errors of this package, so that no caller has to check the status.
type transport struct {
	model     string
	next      http.RoundTripper
	allowJSON bool // whether a response may be JSON instead of a stream
}

// RoundTrip sends the request on. For a bad status it returns a *statusError.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(anonymous(req))
	if err != nil {
		return nil, err
	}
	body := res.Body
	if res.StatusCode >= http.StatusMultipleChoices {
		defer body.Close()
		return nil, readStatusError(t.model, res.StatusCode, res.Header, io.LimitReader(body, maxErrorBytes))
	}
	if !t.allowJSON && !mayBeEventStream(res) {
		return nil, errors.Join(errNoStream, body.Close())
	}
	if t.allowJSON {
		res.Header.Set("Content-Type", "application/json") // some servers send another one, and the SDK then refuses the answer
	}
	res.Body = &limitedBody{from: body, left: maxReplyBytes, onRead: activityCallback(req.Context())}
	return res, nil
}

// anonymous returns a request without the headers in which the SDKs tell the provider about this machine.
func anonymous(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	maps.DeleteFunc(req.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "X-Stainless-") })
	req.Header.Set("User-Agent", "multis")
	return req
}

// mayBeEventStream reports whether a response may be a stream of events. It rejects only HTML and JSON, because some servers send
// no content type or a wrong one.
func mayBeEventStream(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind != "text/html" && kind != "application/json"
}

// limitedBody is a response body with a size limit. It calls onRead whenever it has read something.
type limitedBody struct {
	from   io.ReadCloser
	left   int
	onRead func()
}

// Read returns errTooLong once the limit is reached.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	if n > 0 {
		b.onRead()
	}
	return n, err
}

// Close closes the response body.
func (b *limitedBody) Close() error { return b.from.Close() }

type activityKey struct{}

// withSilenceTimeout returns a context that is canceled with the cause errTimeout when nothing was read for silence.
func withSilenceTimeout(ctx context.Context, silence time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, done := context.WithTimeoutCause(ctx, maxCallDuration, errTimeout)
	timer := time.AfterFunc(silence, func() { cancel(errTimeout) })
	ctx = context.WithValue(ctx, activityKey{}, func() { timer.Reset(silence) })
	return ctx, func() {
		timer.Stop()
		done()
		cancel(nil)
	}
}

// activityCallback returns the function that restarts the silence timeout of ctx.
func activityCallback(ctx context.Context) func() {
	if beat, ok := ctx.Value(activityKey{}).(func()); ok {
		return beat
	}
	return func() {}
}
