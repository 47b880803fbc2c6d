package llm

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

const (
	// maxReplyBytes bounds what is read of an answer, in bytes with its wire format around it.
	maxReplyBytes = 8 << 20
	// maxErrorBytes bounds what is read of an error.
	maxErrorBytes = 16 << 10
	// maxCallDuration bounds a call that never falls silent and never ends.
	maxCallDuration = 10 * time.Minute
	// defaultCallTimeout is how long a call with an answer in one piece may take.
	defaultCallTimeout = time.Minute
)

var (
	errTimeout    = errors.New("timeout")
	errTooLong    = errors.New("too long")
	errNoStream   = errors.New("not a stream")
	errBadRequest = errors.New("cannot be sent")
)

// newClient is the HTTP client of one model. It follows no redirect: a prompt goes to the address that was configured.
func newClient(model string) *http.Client {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library says what it is
	return &http.Client{Transport: transport{model: model, next: next}}
}

// newJSONClient is one for a model whose answers come as whole objects.
func newJSONClient(model string) *http.Client {
	c := newClient(model)
	c.Transport = transport{model: model, next: c.Transport.(transport).next, allowJSON: true} //nolint:forcetypeassert // made above
	return c
}

// transport lets only good answers through, bounded and watched. Anything else comes back as an error of ours, so that no SDK
// has to tell us what happened.
type transport struct {
	model     string
	next      http.RoundTripper
	allowJSON bool // an answer may be one object
}

// RoundTrip sends the request on. It returns *refusal for a bad status.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body := res.Body
	if res.StatusCode >= http.StatusMultipleChoices {
		defer body.Close()
		return nil, readStatusError(t.model, res.StatusCode, res.Header, io.LimitReader(body, maxErrorBytes))
	}
	if !t.allowJSON && !isEventStream(res) {
		return nil, errors.Join(errNoStream, body.Close())
	}
	res.Body = &limitedBody{from: body, left: maxReplyBytes, onRead: activityCallback(req.Context())}
	return res, nil
}

// isEventStream tells whether a good answer is a stream of events. Servers that name no type, or a wrong one, are believed;
// pages and whole objects are not.
func isEventStream(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind != "text/html" && kind != "application/json"
}

// limitedBody reads so many bytes of an answer and fails then. It says each time that there was something to read.
type limitedBody struct {
	from   io.ReadCloser
	left   int
	onRead func()
}

// Read returns errTooLong at the limit.
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

// Close closes the answer.
func (b *limitedBody) Close() error { return b.from.Close() }

type activityKey struct{}

// withSilenceTimeout is a context that ends, with errTimeout as its cause, when nothing was read for so long.
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

func activityCallback(ctx context.Context) func() {
	if beat, ok := ctx.Value(activityKey{}).(func()); ok {
		return beat
	}
	return func() {}
}
