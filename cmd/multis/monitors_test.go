package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

func TestMonitors_ListAndStatus(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "")
	said, _, err := program(t, dir, "", "monitors")
	require.NoError(t, err)
	require.Contains(t, said, "Nothing is watched.")
	said, _, err = program(t, dir, "", "monitors", "--json")
	require.NoError(t, err)
	require.Equal(t, "[]\n", said)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		for _, w := range []store.Watch{
			{Name: "jobs", Kind: store.WatchPage, Address: "https://example.com/jobs", Interval: 21600},
			{Name: "ci", Kind: store.WatchWebhook, Token: []byte("x")},
		} {
			if _, err := store.InsertWatch(t.Context(), tx, w); err != nil {
				return err
			}
		}
		return nil
	}))
	said, _, err = program(t, dir, "", "monitors")
	require.NoError(t, err)
	require.Contains(t, said, "✓ jobs: https://example.com/jobs, every 6 h · nothing new so far\n")
	require.Contains(t, said, "✓ ci: for programs that call in · nothing new so far\n")

	_, err = st.Pool().Exec(t.Context(), "update watches set failures = 3, error = 'no answer' where name = 'jobs'")
	require.NoError(t, err)
	said, _, err = program(t, dir, "", "monitors")
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.ExitCode())
	require.Contains(t, said, "✗ jobs: https://example.com/jobs, every 6 h · cannot be read: no answer\n")
}
