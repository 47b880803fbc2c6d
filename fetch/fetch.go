// Package fetch gets what stands under addresses that people or models name. It reaches the open internet and nothing else:
// no address of this machine, of its networks or of a cloud's inside, whatever a name resolves to or a page redirects to.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Why an address was not fetched. Get returns them; each goes on a sentence for the person who named the address.
var (
	ErrAddress     = errors.New("an address begins with http:// or https:// and a name")
	ErrPrivate     = errors.New("it leads to this machine or into a private network, where I read nothing")
	ErrRedirects   = errors.New("it sends me on and on: 5 times are enough")
	ErrTooBig      = errors.New("it is too big: 10 MB at most")
	ErrTooSlow     = errors.New("the server took too long")
	ErrNoServer    = errors.New("there is no server of that name")
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrUnchanged says that what was fetched before is still what there is.
	ErrUnchanged = errors.New("it has not changed")
)

// StatusError is what a server said instead of giving the page.
type StatusError struct {
	Code int
	// RetryAfter is how long the server wants to be left alone. Zero: it does not say.
	RetryAfter time.Duration
}

// NotAllowedError is returned for an address that was not allowed, such as one that a server redirects to.
type NotAllowedError struct{ To string }

// Error says where it leads.
func (e NotAllowedError) Error() string { return "it leads to " + e.To + ", which nobody allowed" }

// Error says it in the words of HTTP.
func (e StatusError) Error() string {
	return fmt.Sprintf("the server says %d %s", e.Code, http.StatusText(e.Code))
}

// Temporary tells whether the server may say something else later.
func (e StatusError) Temporary() bool {
	return e.Code == http.StatusTooManyRequests || e.Code == http.StatusRequestTimeout || e.Code >= http.StatusInternalServerError
}

const (
	maxSize      = 10 << 20
	maxRedirects = 5
	maxTime      = 20 * time.Second
	maxValidator = 1000
)

// Validator is how a server recognises a version of a page: its ETag, or else when it was changed. Empty: it does not.
type Validator string

func (v Validator) header() string {
	if strings.HasPrefix(string(v), `"`) || strings.HasPrefix(string(v), "W/") {
		return "If-None-Match"
	}
	return "If-Modified-Since"
}

// Page is what stood under an address.
type Page struct {
	Address   string // after all redirects
	Type      string // media type with its parameters, as the server says; empty if it does not
	Data      []byte
	Validator Validator
}

// Options are what differs between clients.
type Options struct {
	// UserAgent is how the client calls itself. Defaults to multis.
	UserAgent string
	// AllowPrivate lets this machine and its networks be reached, because the owner himself named the addresses.
	AllowPrivate bool
}

// Client fetches pages. It keeps no cookies and no connections.
type Client struct {
	agent       string
	http        http.Client
	postTimeout time.Duration
}

// New makes a client.
func New(o Options) *Client {
	if o.UserAgent == "" {
		o.UserAgent = "multis"
	}
	kinds := []Kind{Public}
	if o.AllowPrivate {
		kinds = append(kinds, Private, OwnInterface, Loopback)
	}
	dialer := &net.Dialer{Timeout: maxTime, Control: Control(kinds...)}
	return &Client{agent: o.UserAgent, postTimeout: postTimeout, http: http.Client{
		Transport: &http.Transport{ // no proxy: it would be asked for what we must not reach
			DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: maxTime, MaxResponseHeaderBytes: 64 << 10,
		},
	}}
}

// Get fetches what stands under an address, unless it is the version that known stands for.
func (c *Client) Get(ctx context.Context, address string, known Validator) (Page, error) {
	return c.GetWithin(ctx, address, known, func(string) bool { return true })
}

// GetWithin is Get that stays with the addresses for which may says yes: it is asked about the first one and about each that the server
// redirects to. What it says no to is an NotAllowedError.
func (c *Client) GetWithin(ctx context.Context, address string, known Validator, may func(address string) bool) (Page, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return Page{}, ErrAddress
	}
	check := func(to *url.URL) error {
		if err := checkURL(to); err != nil || may(to.String()) {
			return err
		}
		return NotAllowedError{To: to.Redacted()}
	}
	if err := check(target); err != nil {
		return Page{}, err
	}
	client := c.http
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return ErrRedirects
		}
		return check(req.URL)
	}
	target.User, target.Fragment = nil, ""
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, ErrTooSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return Page{}, ErrAddress
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.8")
	if known != "" {
		req.Header.Set(known.header(), string(known))
	}
	resp, err := client.Do(req)
	if err != nil {
		return Page{}, readableError(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && known != "":
		return Page{}, ErrUnchanged
	case resp.StatusCode != http.StatusOK:
		return Page{}, StatusError{Code: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxSize+1))
	if err != nil {
		return Page{}, readableError(ctx, err)
	}
	if len(data) > maxSize {
		return Page{}, ErrTooBig
	}
	return Page{Address: resp.Request.URL.String(), Type: resp.Header.Get("Content-Type"), Data: data, Validator: validator(resp.Header)}, nil
}

// validator is what a server says of a version of a page, unless it is nothing that can be kept and sent back.
func validator(header http.Header) Validator {
	v := Validator(header.Get("ETag"))
	if v.header() != "If-None-Match" {
		v = Validator(header.Get("Last-Modified"))
	}
	if len(v) > maxValidator || strings.ContainsFunc(string(v), func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return v
}

// retryAfter reads for how long a server wants to be left alone: seconds, or a date. Zero for anything else.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func checkURL(u *url.URL) error {
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return ErrAddress
	}
	return nil
}

// readableError finds what people can make sense of in an error of the network. What it hides is no more than the address.
func readableError(ctx context.Context, err error) error {
	if elsewhere, is := errors.AsType[NotAllowedError](err); is {
		return elsewhere
	}
	for _, known := range []error{ErrPrivate, ErrRedirects, ErrAddress} {
		if errors.Is(err, known) {
			return known
		}
	}
	var name *net.DNSError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTooSlow
	case errors.As(err, &name) && name.IsNotFound:
		return ErrNoServer
	default:
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
}
