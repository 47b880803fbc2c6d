package llm

import (
	"fmt"
	"time"
)

// Reason says what went wrong with a call, as far as it matters for what to do next.
type Reason string

// Why a call failed.
const (
	ReasonKey            Reason = "key"         // the key is missing, wrong or may not do this
	ReasonModel          Reason = "model"       // there is no such model or address
	ReasonRequest        Reason = "request"     // the provider refuses this request, as often as it is made
	ReasonQuota          Reason = "quota"       // the account has nothing left
	ReasonRateLimit      Reason = "limit"       // too many requests for now
	ReasonOverloaded     Reason = "overloaded"  // the provider cannot keep up
	ReasonUnreachable    Reason = "unreachable" // nobody answers at the address
	ReasonTLS            Reason = "tls"         // who answers there cannot prove to be the right one
	ReasonTimeout        Reason = "timeout"     // the answer took too long
	ReasonServer         Reason = "server"      // the provider has a problem of its own
	ReasonDisconnected   Reason = "cut"         // the connection ended before the answer did
	ReasonMalformedReply Reason = "reply"       // the answer is not what the protocol says
	ReasonMalformedCall  Reason = "call"        // the provider could not read the call that its own model wrote
	ReasonCircuitOpen    Reason = "resting"     // it failed so often lately that it is left alone for now
)

// Error is returned by a model whose call failed. Its text names the model and what to do; it never holds the key,
// the prompt, or a sentence of the provider (which like to quote both).
type Error struct {
	Model      string
	Reason     Reason
	Status     int           // HTTP status, 0 when there was none
	Code       string        // the provider's word for it, "" when it gave none
	RetryAfter time.Duration // how long the provider asks to wait, 0 when it did not say
}

// Error says what happened and what to look at.
func (e *Error) Error() string {
	text := e.Model + ": " + e.message()
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d", e.Status)
		if e.Code != "" {
			text += ", " + e.Code
		}
		text += ")"
	}
	if e.RetryAfter > 0 {
		text += ", try again in " + e.RetryAfter.Round(time.Second).String()
	}
	return text
}

func (e *Error) message() string {
	switch e.Reason {
	case ReasonKey:
		return "the key was refused, check api_key"
	case ReasonModel:
		return "model or address unknown, check the model's name and base_url"
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
		return "nobody answers at the address, check base_url"
	case ReasonTimeout:
		return "no answer in time"
	case ReasonServer:
		return "the provider has a problem"
	case ReasonDisconnected:
		return "the answer was cut off"
	case ReasonMalformedCall:
		return "the model wrote a tool call that nobody can read"
	case ReasonCircuitOpen:
		return "the provider failed too often, it is left alone for a moment"
	default:
		return "the answer makes no sense, check base_url"
	}
}

// isTransient tells whether the same call may succeed a little later.
func (e *Error) isTransient() bool {
	switch e.Reason {
	case ReasonRateLimit, ReasonOverloaded, ReasonUnreachable, ReasonTimeout, ReasonServer, ReasonDisconnected, ReasonMalformedCall:
		return true
	default:
		return false
	}
}

// isUnbilled tells whether the provider certainly did no work for the call. Anything less than certain is paid for.
func (e *Error) isUnbilled() bool {
	switch e.Reason {
	case ReasonKey, ReasonModel, ReasonRequest, ReasonQuota, ReasonRateLimit, ReasonUnreachable, ReasonTLS, ReasonCircuitOpen:
		return true
	default:
		return false
	}
}
