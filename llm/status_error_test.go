package llm

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":                              0,
		"soon":                          0,
		"NaN":                           0,
		"-3":                            0,
		"3":                             3 * time.Second,
		"0.5":                           500 * time.Millisecond,
		"999999999999":                  24 * time.Hour,
		"Fri, 20 Nov 2026 12:01:00 GMT": time.Minute,
		"Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Fri, 20 Nov 2099 11:00:00 GMT": 24 * time.Hour,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, retryAfter(http.Header{"Retry-After": {header}}, now))
		})
	}
}

// FuzzRefusal checks that an error contains nothing of the response body but a plain error code.
func FuzzRefusal(f *testing.F) {
	f.Add(401, `{"error":{"message":"no","code":"invalid_api_key"}}`, "3")
	f.Add(429, `{"error":{"code":429,"type":"rate_limit"}}`, "Fri, 20 Nov 2026 12:01:00 GMT")
	f.Add(500, `{"error":"no"}`, "NaN")
	f.Add(302, "<html>", "")
	f.Add(400, `{"error":{"code":null,"type":null}}`, "1e300")
	f.Add(418, "\xff\x00", "-Inf")
	f.Fuzz(func(t *testing.T, status int, body, wait string) {
		if status < 300 || status > 999 {
			return
		}
		res := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {wait}}, Body: io.NopCloser(strings.NewReader(body))}
		refused := readStatusError("openai/test-1", res.StatusCode, res.Header, res.Body)
		r := refused.cause
		require.NotEmpty(t, r.Reason)
		require.GreaterOrEqual(t, r.RetryAfter, time.Duration(0))
		require.LessOrEqual(t, r.RetryAfter, 24*time.Hour)
		if r.Code != "" {
			require.Regexp(t, `^[a-z_]{1,48}$`, r.Code)
		}
		d, learned := dialect{}.withoutRejected(refused)
		require.Equal(t, d != dialect{}, learned)
	})
}
