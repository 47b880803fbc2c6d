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

// statusError is an answer with a bad status.
type statusError struct {
	cause *Error
	body  string // what the server said, in lower case; it may quote the prompt, so it goes nowhere
}

// Error says what the cause says.
func (r *statusError) Error() string { return r.cause.Error() }

// Unwrap makes it an *Error for errors.As.
func (r *statusError) Unwrap() error { return r.cause }

// readStatusError reads a bad answer.
func readStatusError(model string, status int, header http.Header, from io.Reader) *statusError {
	body, _ := io.ReadAll(from) // half a complaint is better than none
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
		// Two providers say it with a status that means something else as well.
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

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// safeCode is what an error code may look like to be repeated. No key looks like that.
var safeCode = regexp.MustCompile(`^[A-Za-z_]{1,48}$`)

// errorCode is the provider's own word for the error, or "".
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

// maxRetryAfter is what any longer wait is cut to.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long the server asks to wait: at most a day, 0 when it says nothing readable.
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

// retryDelay reads how long an error itself asks to wait, where that is not in a header.
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

// dialect is what a server does not understand of the protocol as it is today. The zero value speaks all of it.
type dialect struct {
	completionTokens bool // wants the limit under its newer name
	noUsage          bool
	noTemperature    bool
	noFormat         bool
}

// learn returns the dialect that avoids what was refused, if the refusal names such a thing. The limit is renamed,
// never dropped: without it nothing would bound the cost.
func (d dialect) learn(r *statusError) (dialect, bool) {
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
