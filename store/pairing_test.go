package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

func TestPairing_CodeIsLimited(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	now := time.Now()
	open := func() (code string) {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
			code, err = store.OpenPairing(t.Context(), tx, now)
			return err
		}))
		return code
	}
	try := func(text string) (result store.PairingResult) {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
			result, err = store.TryPairing(t.Context(), tx, text, now)
			return err
		}))
		return result
	}
	require.Equal(t, store.PairingClosed, try("ABCD-EFGH"), "nobody opened one")

	code := open()
	require.Regexp(t, "^[A-Z2-7]{4}-[A-Z2-7]{4}$", code)
	var stored string
	require.NoError(t, st.DB().QueryRow(t.Context(), "select value::text from settings where key = 'pairing'").Scan(&stored))
	require.NotContains(t, stored, code)
	require.NotContains(t, stored, strings.ReplaceAll(code, "-", ""))
	require.Equal(t, store.PairingWrong, try("AAAA-AAAA"))
	require.Equal(t, store.PairingTooSoon, try(code), "the right code has to wait as well")
	now = now.Add(time.Second)
	require.Equal(t, store.PairingAccepted, try(" "+strings.ToLower(strings.ReplaceAll(code, "-", ""))+"\n"))
	require.Equal(t, store.PairingClosed, try(code), "it is used up")

	code = open()
	now = now.Add(store.PairingLifetime + time.Second)
	require.Equal(t, store.PairingClosed, try(code), "it has expired")

	code = open()
	for range 10 {
		require.Equal(t, store.PairingWrong, try("wrong"))
		now = now.Add(time.Second)
	}
	require.Equal(t, store.PairingClosed, try(code), "it was tried too often")

	first := open()
	require.NotEqual(t, first, open())
	require.Equal(t, store.PairingWrong, try(first), "a new code ends the old one")
}
