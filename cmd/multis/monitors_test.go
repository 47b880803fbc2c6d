package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

func TestMonitors_ListAndStatus(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "monitors: {shop: {url: \"https://shop.example.org/health\"}}\n")
	said, _, err := program(t, dir, "", "monitors")
	require.NoError(t, err)
	require.Contains(t, said, "Nothing is monitored or watched.")
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

	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		return store.SyncMonitors(t.Context(), tx, map[string]time.Duration{"shop": time.Minute})
	}))
	said, _, err = program(t, dir, "", "monitors")
	require.NoError(t, err)
	require.Contains(t, said, "· shop: https://shop.example.org, every 60 s · not checked yet\n")
	_, err = st.Pool().Exec(t.Context(), "update monitors set checked_at = now(), failures = 2, failing_since = now(), error = 'the server says 502'")
	require.NoError(t, err)
	said, _, err = program(t, dir, "", "monitors")
	require.Error(t, err)
	require.Contains(t, said, "✗ shop: https://shop.example.org, every 60 s · 2 failed checks since ")
	_, err = st.Pool().Exec(t.Context(), "update monitors set paused = true")
	require.NoError(t, err)
	said, _, err = program(t, dir, "", "monitors")
	require.NoError(t, err)
	require.Contains(t, said, "⏸ shop: https://shop.example.org, every 60 s · paused\n")

	_, err = st.Pool().Exec(t.Context(), "update watches set failures = 3, error = 'no answer' where name = 'jobs'")
	require.NoError(t, err)
	said, _, err = program(t, dir, "", "monitors")
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.ExitCode())
	require.Contains(t, said, "✗ jobs: https://example.com/jobs, every 6 h · cannot be read: no answer\n")
}
