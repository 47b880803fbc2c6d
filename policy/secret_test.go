package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsAreTakenOutAndTheRestStays(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnopqrstuvwxyz0123", "sk-ant-api03-abcdefghijklmnop0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAABCDEFGHIJKLMNOP",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "Bearer abcdefghijklmnopqrstuvwxyz", "as_abcdefghijklmnopqrstuvwxyz0123456789",
		"password: hunter2hunter2", "api_key=abcdef123456", "postgres://multis:hunter2@db/multis", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
	} {
		got := Redact("before " + secret + " after")
		require.Contains(t, got, hidden, secret)
		require.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
		require.NotContains(t, got, "hunter2")
		raw, err := json.Marshal(map[string]string{"q": "before " + secret + " after"})
		require.NoError(t, err)
		require.True(t, json.Valid([]byte(Redact(string(raw)))), "JSON stays JSON: %s", Redact(string(raw)))
	}
	for _, plain := range []string{"Delivery costs 5 euro.", "the secret of a good soup", "https://example.com/path?x=1", "call me at 9:30", "task-force meeting on friday"} {
		require.Equal(t, plain, Redact(plain))
	}
}

// What is passed over for the want of a sign is what no form would have found.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"password: hunter2hunter2", "BEARER ABCDEFGHIJKLMNOPQRST", "Api-Key='abcdefg'", "ASIAABCDEFGHIJKLMNOP", "x://a:b@", "Secret:\n123456", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, '\u017f') { // a letter that a pattern takes for an s in any case
			return
		}
		whole := text
		for _, form := range secrets {
			whole = form.pattern.ReplaceAllString(whole, hidden)
		}
		require.Equal(t, whole, Redact(text))
	})
}
