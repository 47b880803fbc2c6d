package policy

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeaksSecretInAnyEncoding(t *testing.T) { //nolint:paralleltest // what the configuration holds is the same for all
	t.Cleanup(func() { SetSecrets(nil) })
	const secret = "tK9-pq.Z7_xw/42mN"
	SetSecrets([]string{"short", "no", secret, "https://tools.example.com/s/0123456789abcdef"})
	for _, text := range []string{
		secret, "it is " + secret + ".", strings.ToUpper(secret), strings.Join(strings.Split(secret, ""), " "), strings.Join(strings.Split(secret, ""), "\u200b"),
		strings.Join(strings.Split(secret, ""), "*"), secret[:8] + "\n\n" + secret[8:],
		"tK9-pq.Z7_xw%2F42mN", "ｔＫ９-pq.Z7_xw/42mN", hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte("a" + secret)), base64.StdEncoding.EncodeToString([]byte("key: " + secret + " and more")),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + secret)), "https://tools.example.com/s/0123456789abcdef",
	} {
		require.True(t, LeaksSecret(text), text)
	}
	for _, text := range []string{"", "short", "We deliver on Mondays.", secret[:9], "https://tools.example.com/s", base64.StdEncoding.EncodeToString([]byte("something else entirely"))} {
		require.False(t, LeaksSecret(text), text)
	}
	SetSecrets(nil)
	require.False(t, LeaksSecret(secret))
}

func FuzzLeaksSecretInBase64(f *testing.F) {
	f.Add("", "")
	f.Add("a", "bc")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "tK9pqZ7xw42mNvv"
		forms := leakForms([]string{secret})
		folded, found := foldSecret(base64.StdEncoding.EncodeToString([]byte(before+secret+after))), false
		for _, form := range *forms {
			found = found || strings.Contains(folded, form)
		}
		require.True(t, found)
	})
}
