package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeakForms_FoundAtEachPlace(t *testing.T) {
	t.Parallel()
	long := "abcdefghijklmnopqrstuvwxyz0123456789"
	forms := newLeakForms([]string{"xk29vq7m", long, "aaaaaaaab"})
	for place := range 12 {
		for _, form := range []string{"xk29vq7m", long, "aaaaaaaab"} {
			for _, after := range []string{"", "z", "a sentence behind it"} {
				require.True(t, forms.in([]byte(strings.Repeat("a", place)+form+after)), "%s at %d", form, place)
			}
			require.False(t, forms.in([]byte(strings.Repeat("z", place)+form[:len(form)-1]+"-")), "a part of %s at %d", form, place)
		}
	}
	require.False(t, forms.in(nil))
	require.Nil(t, newLeakForms([]string{"short"}))
}

// BenchmarkLeaksSecretInAFile measures files of the largest size that is sent, with as many secrets as a large configuration has.
func BenchmarkLeaksSecretInAFile(b *testing.B) {
	const size = 20 << 20
	binary := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(binary)
	secrets := make([]string, 30)
	for i := range secrets {
		key := make([]byte, 24)
		_, _ = random.Read(key)
		for k, c := range key {
			key[k] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[c%64]
		}
		secrets[i] = string(key)
	}
	SetSecrets(secrets)
	b.Cleanup(func() { SetSecrets(nil) })
	for name, file := range map[string]string{
		"picture": string(binary), "table": strings.Repeat("2026-11-28;Ana Pérez;Málaga;12,50 EUR;\"paid\"\r\n", size/48),
		"page": strings.Repeat("<p class=\"a\">We deliver on <b>Mondays</b> &amp; Fridays.</p>\n", size/61),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for range b.N {
				LeaksSecret(file)
			}
		})
	}
}
