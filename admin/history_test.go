package admin_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestImport_AsksForHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	require.Contains(t, r.asOwner("/import"), "Which chat?")
	require.Contains(t, r.asOwner("/import Ana since soon"), "I don't know the day “soon”. Write it as 2026-05-01")
	require.Equal(t, "📥 I read **Ana · WhatsApp** back to Fri 1 May 2026, a few hundred messages a minute. Nothing of it is answered. "+
		"What is older than 90 days goes again tonight (config: memory.retention_days). I tell you when it is done.",
		r.asOwner("/import ana since 2026-05-01"))
	var args jobs.HistoryArgs
	var raw []byte
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select args from river.river_job where kind = 'history'").Scan(&raw))
	require.NoError(t, json.Unmarshal(raw, &args))
	require.Equal(t, ana.ID, args.ChatID)
	require.Equal(t, "2026-05-01", time.Unix(args.SinceUnix, 0).In(r.settings.Zone).Format(time.DateOnly))

	require.NoError(t, r.admin.Imports.NotifyImported(r.ctx, ana.ID, 1234))
	require.Equal(t, "📥 **Ana · WhatsApp**: 1234 older messages read and remembered.", bodies(r.sendQueued()))
}

func TestImport_SkipsOffChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModeOff) })
	require.Contains(t, r.asOwner("/import Ana"), "is off")
	require.Zero(t, r.count("select count(*) from river.river_job where kind = 'history'"))
}
