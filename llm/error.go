package llm

import (
	"fmt"
	"time"
)

// Reason classifies the failure of a call.
type Reason string

// Why a call failed.
const (
	ReasonKey            Reason = "key"         // the key is missing, wrong or lacks permission
	ReasonModel          Reason = "model"       // the model or the URL does not exist
	ReasonRequest        Reason = "request"     // the provider rejects this request; a retry cannot succeed
	ReasonQuota          Reason = "quota"       // the account has no credit left
	ReasonRateLimit      Reason = "limit"       // too many requests
	ReasonOverloaded     Reason = "overloaded"  // the provider is overloaded
	ReasonUnreachable    Reason = "unreachable" // no connection to the server
	ReasonTLS            Reason = "tls"         // the TLS handshake or the certificate check failed
	ReasonTimeout        Reason = "timeout"     // the answer took too long
	ReasonServer         Reason = "server"      // internal error of the provider
	ReasonDisconnected   Reason = "cut"         // the connection ended before the answer was complete
	ReasonMalformedReply Reason = "reply"       // the answer violates the protocol
	ReasonMalformedCall  Reason = "call"        // the model's tool call was malformed
	ReasonPromptCut      Reason = "window"      // the server read only a part of the prompt
	ReasonCircuitOpen    Reason = "resting"     // the circuit breaker is open after repeated failures
)

// Error is returned by a model whose call failed. Its text names the model and the failure, and what to check where the owner
// can mend it. It never contains the key, the prompt, or the provider's message, which may quote both.
type Error struct {
	Model      string
	Reason     Reason
	Status     int           // HTTP status; zero means that there was no response
	Code       string        // the provider's error code; empty if there was none
	RetryAfter time.Duration // wait requested by the provider; zero means none
	Last       *Error        // with ReasonCircuitOpen, the last of the failures; else nil
}

// Error returns the model, the failure and what to check.
func (e *Error) Error() string {
	text := e.Model + ": "
	if e.Last != nil {
		text += "calls are suspended for a moment, because they kept failing: " + e.Last.failure()
	} else {
		text += e.failure()
	}
	if e.RetryAfter > 0 {
		text += ", try again in " + e.RetryAfter.Round(time.Second).String()
	}
	return text
}

// failure returns the failure and what to check.
func (e *Error) failure() string {
	switch {
	case e.Status == 0:
		return e.message()
	case e.Code == "":
		return fmt.Sprintf("%s (HTTP %d)", e.message(), e.Status)
	default:
		return fmt.Sprintf("%s (HTTP %d, %s)", e.message(), e.Status, e.Code)
	}
}

func (e *Error) message() string {
	switch e.Reason {
	case ReasonKey:
		return "the key was refused, check api_key"
	case ReasonModel:
		return "the model or the address does not exist, check the model's name and base_url"
	case ReasonRequest:
		return "the request was refused"
	case ReasonQuota:
		return "the account has no credit left"
	case ReasonRateLimit:
		return "too many requests"
	case ReasonOverloaded:
		return "the provider is overloaded"
	case ReasonTLS:
		return "the address has no certificate that this machine trusts, check base_url and the clock"
	case ReasonUnreachable:
		return "no server answers at the address, check base_url"
	case ReasonTimeout:
		return "no answer in time"
	case ReasonServer:
		return "the provider has a problem"
	case ReasonDisconnected:
		return "the answer was cut off"
	case ReasonMalformedCall:
		return "the model's tool call is malformed"
	case ReasonPromptCut:
		return "the server read only a part of the prompt, because its context window is too small"
	case ReasonCircuitOpen:
		return "the provider failed repeatedly, calls to it are suspended for a moment"
	default:
		return "the answer does not follow the protocol, check base_url"
	}
}

// isTransient reports whether a retry may succeed.
func (e *Error) isTransient() bool {
	switch e.Reason {
	case ReasonRateLimit, ReasonOverloaded, ReasonUnreachable, ReasonTimeout, ReasonServer, ReasonDisconnected, ReasonMalformedCall:
		return true
	default:
		return false
	}
}

// isUnbilled reports whether the provider certainly did not charge for the call. In doubt it returns false.
func (e *Error) isUnbilled() bool {
	switch e.Reason {
	case ReasonKey, ReasonModel, ReasonRequest, ReasonQuota, ReasonRateLimit, ReasonUnreachable, ReasonTLS, ReasonCircuitOpen:
		return true
	default:
		return false
	}
}
