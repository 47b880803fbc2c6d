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

// refusal is an answer with a bad status.
type refusal struct {
	Error
	complaint string // what the server said, in lower case; it may quote the prompt, so it goes nowhere
}

// readRefusal reads a bad answer to its (bounded) end.
func readRefusal(model string, res *http.Response) refusal {
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body) // half a complaint is better than none
	r := refusal{
		Error: Error{
			Model: model, Status: res.StatusCode, Code: errorCode(body),
			RetryAfter: retryAfter(res.Header, time.Now()),
		},
		complaint: strings.ToLower(string(body)),
	}
	r.Reason = reason(res.StatusCode, r.Code)
	return r
}

func reason(status int, code string) Reason {
	switch {
	case code == "insufficient_quota", status == http.StatusPaymentRequired:
		return ReasonQuota
	case code == "model_not_found", status == http.StatusNotFound, status < http.StatusBadRequest:
		return ReasonModel
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ReasonKey
	case status == http.StatusTooManyRequests:
		return ReasonLimit
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return ReasonServer
	default:
		return ReasonRequest
	}
}

// plainCode is what an error code may look like to be repeated. No key looks like that.
var plainCode = regexp.MustCompile(`^[a-z_]{1,48}$`)

// errorCode is the provider's own word for the error, or "".
func errorCode(body []byte) string {
	var wire struct {
		Error json.RawMessage `json:"error"` // an object, or just a sentence
	}
	var e struct {
		Code json.RawMessage `json:"code"` // a word, a number or null
		Type string          `json:"type"`
	}
	if json.Unmarshal(body, &wire) != nil || json.Unmarshal(wire.Error, &e) != nil {
		return ""
	}
	for _, code := range []string{strings.Trim(string(e.Code), `"`), e.Type} {
		if code != "null" && plainCode.MatchString(code) {
			return code
		}
	}
	return ""
}

// retryAfter reads how long the server asks to wait: at most a day, 0 when it says nothing readable.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	text := h.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		wait = time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, longest))
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
func (d dialect) learn(r refusal) (dialect, bool) {
	was := d
	if r.Reason != ReasonRequest {
		return d, false
	}
	switch {
	case strings.Contains(r.complaint, "max_completion_tokens"):
		d.completionTokens = true
	case strings.Contains(r.complaint, "stream_options"):
		d.noUsage = true
	case strings.Contains(r.complaint, "temperature"):
		d.noTemperature = true
	case strings.Contains(r.complaint, "response_format"):
		d.noFormat = true
	}
	return d, d != was
}
