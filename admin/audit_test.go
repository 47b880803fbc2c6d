package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestAudit_ShowsCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Zone = zoneAtNoon() // the log has the time of the database
	r.restart()
	r.asOwner("/pause all")
	r.asOwner("/resume")
	log := r.asOwner("/audit")
	require.Contains(t, log, "command · owner")
	require.Contains(t, log, "pause: answered")
	require.Contains(t, log, "config · owner · pause: set")
	links, err := store.ListAudit(r.ctx, r.st.DB(), store.AuditFilter{Limit: 1})
	require.NoError(t, err)
	require.Contains(t, r.asOwner("/audit "+links[0].At.In(r.settings.Zone).Format(time.DateOnly)), "resume: answered")
	require.Contains(t, r.asOwner("/audit 2020-01-01"), "no entry")
	require.Contains(t, r.asOwner("/audit 4711"), "no entry")
	require.Contains(t, r.asOwner("/audit verify"), "as it was written")
	require.Contains(t, r.asOwner("/audit 2026-13-45"), "A day is written like `2026-11-23`")
	require.Contains(t, r.asOwner("/audit verify 1"), "write its number and its 16 letters and digits")
	require.Contains(t, r.asOwner("/audit verify 1 0000000000000000"), "was changed: link 1 is")
	var hash string
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select encode(hash, 'hex') from audit_chain where seq = 1").Scan(&hash))
	require.Contains(t, r.asOwner("/audit verify 1 "+hash[:16]), "and link 1 is the one that you named")
}

func TestAudit_HidesNoticesByDefault(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/pause all")
	_, err := r.st.Pool().Exec(r.ctx,
		"insert into audit_entries (kind, actor, action, outcome) values ('send', 'system', 'notice', 'failed'), ('send', 'system', 'answer', 'sent')")
	require.NoError(t, err)
	links, err := store.ListAudit(r.ctx, r.st.DB(), store.AuditFilter{Limit: 1})
	require.NoError(t, err)
	today := links[0].At.In(r.settings.Zone).Format(time.DateOnly)
	for _, short := range []string{"/audit", "/audit " + today} {
		log := r.asOwner(short)
		require.NotContains(t, log, "notice: queued", short)
		for _, want := range []string{"pause: answered", "notice: failed", "answer: sent"} {
			require.Contains(t, log, want, short)
		}
	}
	require.Contains(t, r.asOwner("/audit all"), "notice: queued")
	r.chat("all hands", "whatsapp")
	require.Contains(t, r.asOwner("/audit all hands"), "all hands · WhatsApp")
	require.Contains(t, r.asOwner("/audit all "+today), "notice: queued")
}
