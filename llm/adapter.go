package llm

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"time"
)

// endpoint is one model at one provider.
type endpoint struct {
	Name    string // "provider/model"
	Model   string // as the provider calls it
	BaseURL string
	APIKey  string
	Timeout time.Duration // how long the provider may send nothing
}

// adapter is a model without a budget and without retries.
type adapter struct {
	endpoint
	// stream makes one call in the provider's protocol and returns errors unconverted. The adapter cancels its context when
	// nothing arrives for Timeout.
	stream func(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Name is "provider/model".
func (a *adapter) Name() string { return a.endpoint.Name }

// Stream makes one call, with the secrets of the configuration masked. Its errors are *Error, or the context's error.
func (a *adapter) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		call, stop := withSilenceTimeout(ctx, a.Timeout)
		defer stop()
		ended := false
		for d, err := range a.stream(call, r.masked()) {
			if err != nil {
				yield(Delta{}, classifyError(ctx, call, a.Name(), err))
				return
			}
			ended = ended || d.Stop != ""
			if !yield(d, nil) {
				return
			}
		}
		if !ended {
			yield(Delta{}, &Error{Model: a.Name(), Reason: ReasonDisconnected})
		}
	}
}

// classifyError converts an error of a call to an *Error. If the caller's context ended, it returns the context's error. The
// text of err is left out, because it may quote the prompt.
func classifyError(caller, call context.Context, model string, err error) error {
	if caller.Err() != nil {
		return fmt.Errorf("%s: %w", model, caller.Err())
	}
	if known, ok := errors.AsType[*Error](err); ok {
		known.Model = model
		return known
	}
	e := &Error{Model: model, Reason: ReasonDisconnected}
	switch {
	case errors.Is(context.Cause(call), errTimeout):
		e.Reason = ReasonTimeout
	case isTLSError(err):
		e.Reason = ReasonTLS
	case isUnreachable(err):
		e.Reason = ReasonUnreachable
	case isMalformedReply(err):
		e.Reason = ReasonMalformedReply
	case errors.Is(err, errBadRequest):
		e.Reason = ReasonRequest
	}
	return e
}

// isTLSError reports whether the TLS handshake or the certificate check failed.
func isTLSError(err error) bool {
	var stranger *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	return errors.As(err, &stranger) || errors.As(err, &alert) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// isUnreachable reports whether no connection to a server was made.
func isUnreachable(err error) bool {
	var unknownHost *net.DNSError
	var network *net.OpError
	return errors.As(err, &unknownHost) || errors.As(err, &network) && network.Op == "dial"
}

// isMalformedReply reports whether an answer violates the protocol.
func isMalformedReply(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.Is(err, errTooLong) || errors.Is(err, errNoStream) || errors.Is(err, bufio.ErrTooLong) ||
		errors.As(err, &syntax) || errors.As(err, &kind)
}
