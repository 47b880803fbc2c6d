package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/store"
)

func TestMonitors_ListPauseAndResume(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/monitors"), "I check nothing. Add monitors in config.yaml: under `monitors:`")
	r.settings.Monitors = []admin.Monitor{
		{Name: "disk", Target: "df", Every: 10 * time.Minute},
		{Name: "shop", Target: "https://shop.example.com", Every: time.Minute},
	}
	r.restart()
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		return store.SyncMonitors(r.ctx, tx, map[string]time.Duration{"shop": time.Minute, "disk": 10 * time.Minute})
	}))
	r.exec("update monitors set checked_at = now(), failures = 3, error = 'the server says 502', failing_since = now() where name = 'shop'")
	list := r.asOwner("/monitors")
	require.Contains(t, list, "⏳ **disk** — df, every 10 min · not checked yet")
	require.Contains(t, list, "🔴 **shop** — https://shop.example.com, every 60 s · 3 failed checks since ")
	require.Contains(t, list, "the server says 502")
	require.Contains(t, r.asOwner("/status"), "🔴 shop fails: `/monitors` says why.")
	require.Contains(t, r.asOperator("/monitors"), "Only the owner can use")

	require.Equal(t, "⏸ **shop** is paused. Undo: `/monitors resume shop`", r.asOwner("/monitors pause Shop"))
	require.Contains(t, r.asOwner("/monitors pause shop"), "is paused already")
	require.Contains(t, r.asOwner("/monitors"), "⏸ **shop** — https://shop.example.com, every 60 s · paused")
	require.NotContains(t, r.asOwner("/status"), "🔴")
	require.Zero(t, r.count("select count(*) from river.river_job where kind = 'check_monitor'"))
	require.Equal(t, "I'm checking **shop** again. Undo: `/monitors pause shop`", r.asOwner("/monitors resume shop"))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'check_monitor'"))
	require.Contains(t, r.asOwner("/monitors resume shop"), "is not paused")
	require.Contains(t, r.asOwner("/monitors pause nas"), "There's no monitor `nas`, only disk and shop.")
	require.Contains(t, r.asOwner("/monitors delete shop"), "Try `/monitors`")
	r.exec("update monitors set checked_at = now(), failures = 0 where name = 'disk'")
	require.Contains(t, r.asOwner("/monitors"), "✅ **disk** — df, every 10 min · good, checked ")
}
