package policy

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnopqrstuvwxyz0123", "sk-ant-api03-abcdefghijklmnop0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
		"AKIAABCDEFGHIJKLMNOP",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "Bearer abcdefghijklmnopqrstuvwxyz", "as_abcdefghijklmnopqrstuvwxyz0123456789",
		"password: hunter2hunter2", "api_key=abcdef123456", "as_token: abcdef0123456789", "hs_token: abcdef0123456789",
		"OPENAI_API_KEY=abcdef0123", "DB_PASSWORD=hunter2hunter2",
		"client_secret: abcdef0123456789", "AWS_SECRET_ACCESS_KEY=abcdef/0123+456789", "AWS_ACCESS_KEY_ID=abcdef0123",
		"refresh_token=abcdef0123456789", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"gsk_abcdefghijklmnopqrst0123456789", "xai-abcdefghijklmnopqrst0123456789", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
		"110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
		"X-Auth-Token: abcdef0123456789", "TELEGRAM_BOT_TOKEN=abcdef0123456789", "https://tools.example.com/mcp?api_key=abcdef0123456789",
		"https://x.example/?a=1&token=abcdef0123456789", "db-password = 'hunter2hunter2",
		"mct_abcdefghijklmnopqrstuvwxyz0123456789", `client_secret\": \"abcdef0123456789`, "postgres://multis:hunter2@db/multis",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
	} {
		t.Run(secret, func(t *testing.T) {
			got := Redact("before " + secret + " after")
			require.Contains(t, got, Mask, secret)
			require.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
			require.NotContains(t, got, "abcdef0123", secret)
			require.Equal(t, got, Redact(got), "once is enough")
			require.NotContains(t, got, "hunter2")
			raw, err := json.Marshal(map[string]string{"q": "before " + secret + " after"})
			require.NoError(t, err)
			require.True(t, json.Valid([]byte(Redact(string(raw)))), "JSON stays JSON: %s", Redact(string(raw)))
			if name, value, is := strings.Cut(secret, ": "); is {
				raw, err := json.Marshal(map[string]string{name: value})
				require.NoError(t, err)
				require.True(t, json.Valid([]byte(Redact(string(raw)))), "JSON stays JSON: %s", Redact(string(raw)))
			}
		})
	}
	for _, plain := range []string{
		"Delivery costs 5 euro.", "the secret of a good soup", "https://example.com/path?x=1", "call me at 9:30", "task-force meeting on friday",
		"token: the word of the day", "the key: it is under the mat", "https://example.com/path?page=2&sort=newest", "at 10:15:00 we met",
		"12345678:90", "secrets are fine, keys too", "postgres://multis:PASSWORD@HOST/multis",
	} {
		t.Run(plain, func(t *testing.T) {
			require.Equal(t, plain, Redact(plain))
		})
	}
}

func TestHide_MasksConfiguredSecrets(t *testing.T) { //nolint:paralleltest // the secrets are in a package variable
	t.Cleanup(func() { SetSecrets(nil) })
	SetSecrets([]string{"", "abc", "correct horse/battery\"staple", "correct horse", "a+b=c&d"})
	require.Equal(t, "abc is too short to be looked for", Hide("abc is too short to be looked for"))
	for _, text := range []string{
		`correct horse/battery"staple`, `correct horse/battery\"staple`, "correct+horse%2Fbattery%22staple",
		"correct%20horse%2Fbattery%22staple", "correct horse", "a%2Bb%3Dc%26d",
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, "x"+Mask+"y", Hide("x"+text+"y"))
			require.Equal(t, "x "+Mask+" y", Redact("x "+text+" y"))
		})
	}
}

func TestHide_MasksCutSecret(t *testing.T) { //nolint:paralleltest // the secrets are in a package variable
	t.Cleanup(func() { SetSecrets(nil) })
	const secret = `K9x_7*&Qm<2v>"z'5`
	SetSecrets([]string{secret, "another secret of the configuration"})
	for n := minFragment; n < len(secret); n++ {
		begin, end := secret[:n], secret[len(secret)-n:]
		require.Equal(t, "x "+Mask, HideBeforeCut("x "+begin), "%d bytes", n)
		require.Equal(t, Mask+" y", HideAfterCut(end+" y"), "%d bytes", n)
		require.Equal(t, "x "+Mask+"… and "+Mask+"…", Hide("x "+begin+"… and "+text.Clip(secret+secret, n+1)), "%d characters", n)
	}
	require.Equal(t, "K9x… is too short", Hide("K9x… is too short"))
	require.Equal(t, "x "+Mask+" y", HideBeforeCut("x "+secret+" y"))
	require.Equal(t, "x "+Mask+" y", HideAfterCut("x "+secret+" y"))
	for _, written := range []string{text.Escape(secret), html.EscapeString(secret), `K9x_7*&amp;Qm&lt;2v&gt;&quot;z'5`} {
		t.Run(written, func(t *testing.T) {
			require.Equal(t, "x "+Mask+" y", Hide("x "+written+" y"), "as it is written in Markdown and HTML")
		})
	}
}

// A text without any hint is skipped. The fuzz test checks that no pattern would have matched it.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{
		"password: hunter2hunter2", "BEARER ABCDEFGHIJKLMNOPQRST", "Api-Key='abcdefg'", "ASIAABCDEFGHIJKLMNOP",
		"x://a:b@", "Secret:\n123456", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, '\u017f') { // the long s, which case-insensitive patterns treat as an s
			return
		}
		whole := text
		for _, form := range secretPatterns {
			whole = form.pattern.ReplaceAllString(whole, maskWithContext)
		}
		require.Equal(t, whole, Redact(text))
		require.Equal(t, Redact(whole), whole, "once is enough")
	})
}

// A prompt of 16 kB without a secret: most texts that are stored are like that.
func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("We are open from Monday to Friday, and a skipper costs 180 EUR a day. ", 230)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if Redact(text) != text {
			b.Fatal("changed")
		}
	}
}
