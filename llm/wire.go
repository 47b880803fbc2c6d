package llm

import (
	"errors"
	"io"
	"net/http"
)

const (
	// longestReply bounds what is read of an answer, in bytes with its wire format around it.
	longestReply = 8 << 20
	// longestComplaint bounds what is read of an error.
	longestComplaint = 16 << 10
)

var (
	errTimeout  = errors.New("timeout")
	errTooLong  = errors.New("too long")
	errNoStream = errors.New("not a stream")
)

// bounded keeps every body that comes back below a limit.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends the request on.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		// An error is cut rather than refused: its status says enough.
		res.Body = limited{Reader: io.LimitReader(res.Body, longestComplaint), Closer: res.Body}
	} else {
		res.Body = limited{Reader: &ending{res.Body, longestReply}, Closer: res.Body}
	}
	return res, nil
}

type limited struct {
	io.Reader
	io.Closer
}

// ending reads so many bytes and fails then.
type ending struct {
	from io.Reader
	left int
}

// Read returns errTooLong at the limit.
func (e *ending) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, errTooLong
	}
	n, err := e.from.Read(p[:min(len(p), e.left)])
	e.left -= n
	return n, err
}
