package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// statusError is a response with an HTTP error status.
type statusError struct {
	cause *Error
	body  string // response body in lower case; never logged or shown, because it may quote the prompt
}

// Error returns the text of the cause.
func (r *statusError) Error() string { return r.cause.Error() }

// Unwrap makes it an *Error for errors.As.
func (r *statusError) Unwrap() error { return r.cause }

// readStatusError reads a response with an error status.
func readStatusError(model string, status int, header http.Header, from io.Reader) *statusError {
	body, _ := io.ReadAll(from) // a partial body is still useful
	complaint := strings.ToLower(string(body))
	e := &Error{Model: model, Status: status, Code: errorCode(body), RetryAfter: retryAfter(header, time.Now())}
	if e.RetryAfter == 0 {
		e.RetryAfter = retryDelay(body)
	}
	e.Reason = classifyStatus(status, e.Code, complaint)
	return &statusError{cause: e, body: complaint}
}

func classifyStatus(status int, code, complaint string) Reason {
	switch {
	case code == "insufficient_quota", code == "billing_error", status == http.StatusPaymentRequired,
		// Two providers report an account without credit by a status that has other meanings, too.
		strings.Contains(complaint, "credit balance is too low"), strings.Contains(complaint, "check your plan and billing"):
		return ReasonQuota
	case code == "api_key_invalid", strings.Contains(complaint, "api key not valid"):
		return ReasonKey
	case code == "overloaded_error", status == statusOverloaded, status == http.StatusServiceUnavailable:
		return ReasonOverloaded
	case code == "model_not_found", status == http.StatusNotFound, status < http.StatusBadRequest:
		return ReasonModel
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ReasonKey
	case status == http.StatusTooManyRequests:
		return ReasonRateLimit
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return ReasonServer
	default:
		return ReasonRequest
	}
}

// statusOverloaded is Anthropic's status for an overload.
const statusOverloaded = 529

// safeCode matches the error codes that may be shown. It matches no API key.
var safeCode = regexp.MustCompile(`^[A-Za-z_]{1,48}$`)

// errorCode returns the provider's error code, or "" if there is none that may be shown.
func errorCode(body []byte) string {
	var wire struct {
		Error json.RawMessage `json:"error"` // an object, or just a sentence
	}
	var e struct {
		Code   json.RawMessage `json:"code"` // a word, a number or null
		Type   string          `json:"type"`
		Status string          `json:"status"`
	}
	if json.Unmarshal(body, &wire) != nil || json.Unmarshal(wire.Error, &e) != nil {
		return ""
	}
	for _, code := range []string{strings.Trim(string(e.Code), `"`), e.Type, e.Status} {
		if code != "null" && safeCode.MatchString(code) {
			return strings.ToLower(code)
		}
	}
	return ""
}

// maxRetryAfter limits the wait that a provider can request.
const maxRetryAfter = 24 * time.Hour

// retryAfter parses the Retry-After header. It returns at most maxRetryAfter, and zero if the header is missing or invalid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, maxRetryAfter))
}

// retryDelay parses the wait in the body of a Gemini error. It returns at most maxRetryAfter, and zero if there is none.
func retryDelay(body []byte) time.Duration {
	var wire struct {
		Error struct {
			Details []struct {
				RetryDelay string `json:"retryDelay"` // "17s"
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return 0
	}
	for _, d := range wire.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			return max(0, min(wait, maxRetryAfter))
		}
	}
	return 0
}

// dialect records the features of the protocol that a server rejects. The zero value means that it supports all.
type dialect struct {
	completionTokens bool // requires max_completion_tokens instead of max_tokens
	noUsage          bool
	noTemperature    bool
	noFormat         bool
}

// withoutRejected returns the dialect without the feature that was rejected. It returns false if the error names no such feature. The
// token limit is renamed, never dropped, because it bounds the cost.
func (d dialect) withoutRejected(r *statusError) (dialect, bool) {
	was := d
	if r.cause.Reason != ReasonRequest {
		return d, false
	}
	switch {
	case strings.Contains(r.body, "max_completion_tokens"):
		d.completionTokens = true
	case strings.Contains(r.body, "stream_options"):
		d.noUsage = true
	case strings.Contains(r.body, "temperature"):
		d.noTemperature = true
	case strings.Contains(r.body, "response_format"):
		d.noFormat = true
	}
	return d, d != was
}
