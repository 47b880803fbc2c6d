package hooks

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// markNoticesSent gives all notices an event, as if they were sent.
func (r *rig) markNoticesSent() {
	r.t.Helper()
	_, err := r.st.Pool().Exec(r.t.Context(), "update outbox set state = 'sent', event_id = '$e' || seq, sent_at = now() where event_id is null")
	require.NoError(r.t, err)
}

// lastNotice returns the event that the last notice edits, empty for none, and its text.
func (r *rig) lastNotice() (edits, body string) {
	r.t.Helper()
	require.NoError(r.t, r.st.DB().QueryRow(r.t.Context(), `select coalesce(content->'m.relates_to'->>'event_id', ''),
		coalesce(content->'m.new_content'->>'body', content->>'body') from outbox order by seq desc limit 1`).Scan(&edits, &body))
	return edits, body
}

// TestIncident_EndsInItsMessage: one message changes from firing to resolved.
func TestIncident_EndsInItsMessage(t *testing.T) {
	t.Parallel()
	alert := func(status, what string) string {
		return fmt.Sprintf(`{"groupKey":"{}:{alertname=\"Disk\"}","status":%q,"alerts":[{"status":%[1]q,"labels":{"alertname":"Disk"},"annotations":{"summary":%q}}]}`,
			status, what)
	}
	grafana := func(state, what string) string {
		return fmt.Sprintf(`{"ruleId":7,"ruleName":"Disk","state":%q,"message":%q}`, state, what)
	}
	kuma := func(status, what string) string {
		return fmt.Sprintf(`{"monitor":{"id":3,"name":"nas"},"heartbeat":{"status":%s,"msg":%q},"msg":"x"}`, status, what)
	}
	for name, c := range map[string]struct {
		body         func(state, what string) string
		begins, ends string
	}{
		"Alertmanager": {alert, "firing", "resolved"},
		"old Grafana":  {grafana, "alerting", "ok"},
		"Uptime Kuma":  {kuma, "0", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, address := startWebhook(t)
			call := func(state, what string) (edits, body string) {
				require.Equal(t, http.StatusAccepted, post(t, address+"/watch/ci/"+token, "application/json", c.body(state, what)))
				edits, body = r.lastNotice()
				r.markNoticesSent()
				return edits, body
			}
			edits, body := call(c.begins, "disk full")
			require.Empty(t, edits)
			require.Contains(t, body, "🔴")
			require.Contains(t, body, "disk full")
			first, body := call(c.begins, "disk still full")
			require.NotEmpty(t, first, "what goes on is no news")
			require.Contains(t, body, "still full")
			edits, body = call(c.ends, "disk fine")
			require.Equal(t, first, edits)
			require.Contains(t, body, "✅")
			require.Equal(t, 1, r.countAlerts())
			edits, _ = call(c.begins, "disk full again")
			require.Empty(t, edits, "another incident is another message")
			require.Equal(t, 2, r.countAlerts())
		})
	}
}

// TestIncident_UnsentMessageIsNotEdited: what nobody has seen yet cannot change.
func TestIncident_UnsentMessageIsNotEdited(t *testing.T) {
	t.Parallel()
	r, address := startWebhook(t)
	for _, status := range []string{"firing", "resolved"} {
		require.Equal(t, http.StatusAccepted, post(t, address+"/watch/ci/"+token, "application/json", fmt.Sprintf(
			`{"groupKey":"a","status":%q,"alerts":[{"status":%[1]q,"labels":{"alertname":"Disk"}}]}`, status)))
		edits, _ := r.lastNotice()
		require.Empty(t, edits)
	}
	require.Len(t, r.notices(), 2)
}
