// Package fetch downloads web pages whose address a person or a model names. By default it connects to the public internet only: not to
// this machine, private networks or cloud metadata services, even if a name resolves to them or a page redirects there.
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

// The reasons why an address was not fetched. Each completes a sentence for the person who named the address.
var (
	ErrAddress     = errors.New("an address begins with http:// or https:// and a name")
	ErrPrivate     = errors.New("it leads to this machine or into a private network, where I read nothing")
	ErrRedirects   = errors.New("it redirects more than 5 times")
	ErrTooBig      = errors.New("it is too big: at most 10 MB")
	ErrTooSlow     = errors.New("the server took too long")
	ErrNoServer    = errors.New("there is no server of that name")
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrUnchanged means that the server still has the version of the given Validator.
	ErrUnchanged = errors.New("it has not changed")
)

// StatusError is returned for a response with an HTTP status other than success.
type StatusError struct {
	Code int
	// RetryAfter is how long the server asks to wait before the next request. Zero means that it does not say.
	RetryAfter time.Duration
}

// NotAllowedError is returned by GetAllowed for an address that isAllowed refuses, such as the target of a redirect.
type NotAllowedError struct{ Address string }

// Error names the refused address.
func (e NotAllowedError) Error() string { return "it leads to " + e.Address + ", which is not allowed" }

// Error names the HTTP status.
func (e StatusError) Error() string {
	return fmt.Sprintf("the server says %d %s", e.Code, http.StatusText(e.Code))
}

// Temporary reports whether a later request may succeed.
func (e StatusError) Temporary() bool {
	return e.Code == http.StatusTooManyRequests || e.Code == http.StatusRequestTimeout || e.Code >= http.StatusInternalServerError
}

const (
	maxSize      = 10 << 20
	maxRedirects = 5
	maxTime      = 20 * time.Second
	maxValidator = 1000
)

// Validator identifies a version of a page on its server: the ETag, or else the Last-Modified date. Empty means that the server sent
// neither.
type Validator string

func (v Validator) header() string {
	if strings.HasPrefix(string(v), `"`) || strings.HasPrefix(string(v), "W/") {
		return "If-None-Match"
	}
	return "If-Modified-Since"
}

// Page is a downloaded page.
type Page struct {
	Address   string // after all redirects
	Type      string // media type with its parameters, as the server sends it; may be empty
	Data      []byte
	Validator Validator
}

// Options configure a Client. The zero value is valid.
type Options struct {
	// UserAgent is the User-Agent header. Defaults to multis.
	UserAgent string
	// AllowPrivate allows connections to this machine and private networks, for addresses that the owner configured.
	AllowPrivate bool
}

// Client fetches pages. It keeps no cookies and no open connections.
type Client struct {
	agent       string
	http        http.Client
	postTimeout time.Duration
}

// New returns a Client.
func New(o Options) *Client {
	if o.UserAgent == "" {
		o.UserAgent = "multis"
	}
	kinds := []AddressKind{Public}
	if o.AllowPrivate {
		kinds = append(kinds, Private, OwnInterface, Loopback)
	}
	dialer := &net.Dialer{Timeout: maxTime, Control: Control(kinds...)}
	return &Client{agent: o.UserAgent, postTimeout: postTimeout, http: http.Client{
		Transport: &http.Transport{ // no proxy: it could connect to addresses that Control refuses
			DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: maxTime, MaxResponseHeaderBytes: 64 << 10,
		},
	}}
}

// Get fetches a page. It returns ErrUnchanged if the page is still the version of known; an empty known always fetches.
func (c *Client) Get(ctx context.Context, address string, known Validator) (Page, error) {
	return c.GetAllowed(ctx, address, known, func(string) bool { return true })
}

// GetAllowed is Get for allowed addresses only: it calls isAllowed with the first address and with the target of each redirect, and
// returns a NotAllowedError if one is refused.
func (c *Client) GetAllowed(ctx context.Context, address string, known Validator, isAllowed func(address string) bool) (Page, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return Page{}, ErrAddress
	}
	check := func(to *url.URL) error {
		err := checkURL(to)
		if err != nil {
			return err
		}
		if isAllowed(to.String()) {
			return nil
		}
		return NotAllowedError{Address: to.Redacted()}
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

// validator returns the Validator of a response; empty if there is none or it cannot be stored and sent back.
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

// retryAfter parses a Retry-After header: seconds, or a date. It is zero for anything else.
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

// readableError converts a network error to one that people understand. An error that it does not know only loses the address.
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
