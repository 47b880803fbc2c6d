package metrics_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/ops/health"
	"multis/ops/metrics"
	"multis/store"
	"multis/store/storetest"
)

// newMetrics returns metrics of a database.
func newMetrics(st *store.Store, now func() time.Time) *metrics.Metrics {
	return metrics.New(metrics.Options{
		DB:   st.DB(),
		Pool: st.PoolUse,
		Health: &health.Checker{
			Config:    &config.Config{LLM: config.LLM{Model: config.NoModel}},
			DB:        st.DB(),
			Now:       now,
			Ping:      func(context.Context) error { return nil },
			FreeBytes: func(string) (uint64, error) { return 1 << 40, nil },
		},
		Zone:   time.UTC,
		DayCap: 2_000_000,
		Events: func() (int64, int64) { return 7, 9 },
		ToolName: func(name string) string {
			if name != "search_docs" {
				return "unknown"
			}
			return name
		},
		Version: "1.2",
		Now:     now,
	})
}

// canary is in everything that contacts write, and in all ids.
const canary = "Zxqv"

// traffic is a day with hundreds of chats, codes, tools and models.
const traffic = `insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot, room_id)
		select 'whatsapp', 'Zxqv' || n, '', 'dm', 'Zxqv ' || n, '@bot:x', '!Zxqv' || n || ':x' from generate_series(1, 300) n;
	insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason)
		select id, '$Zxqv' || id || n, 'contact', '@Zxqv:x', 'text', 'I am Zxqv', now(), case n when 1 then 'answer' else 'archive' end, 'code_' || id % 97, 'Zxqv said so'
		from chats, generate_series(1, 3) n;
	insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, sent_at, error)
		select gen_random_uuid(), id, 'owner', 'reply', 'm.room.message', '{"body": "Zxqv"}', 'code_' || id % 97, 'Zxqv', s, case when s in ('sent', 'delivered') then now() end, 'Zxqv'
		from chats, unnest(array['queued', 'sent', 'delivered', 'failed', 'dropped', 'draft']) s;
	insert into tasks (key, kind, chat_id, state, input, answer, error, started_at, finished_at)
		select 'Zxqv' || id, 'turn', id, 'completed', 'Zxqv', 'Zxqv', 'Zxqv', now() - interval '3 seconds', now() from chats;
	insert into task_steps (task_id, seq, kind, name, arguments, text, is_error, code)
		select id, 1, 'tool', case id % 2 when 0 then 'search_docs' else 'tell_Zxqv_' || id end, 'Zxqv', 'Zxqv', id % 3 = 0, 'code_' || id % 97 from tasks;
	insert into usage (day, chat_id, purpose, model, reserved, cost, tokens_in, tokens_out, settled_at)
		select (now() at time zone 'UTC')::date, id, 'reply', 'provider' || id % 97 || '/model', 10, 5, 3, 2, now() from chats;
	insert into budgets (day, cap, subject, committed) select (now() at time zone 'UTC')::date, 'day', '', 500000;
	insert into escalations (chat_id, message_id, reason, cause) select m.chat_id, min(m.id), 'Zxqv', case m.chat_id % 2 when 0 then 'unsupported' else 'person' end from messages m group by m.chat_id;
	insert into river.river_job (state, kind, queue, args, max_attempts, attempt, scheduled_at)
		select 'available', 'turn', 'queue' || n % 60, '{"text": "Zxqv"}', 9, 3, now() - interval '1 minute' from generate_series(1, 300) n;`

func TestMetrics_StayFewAndNameNobody(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	_, err := st.Pool().Exec(t.Context(), traffic)
	require.NoError(t, err)
	m := newMetrics(st, time.Now)
	m.ObserveSearch(20 * time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	shown := w.Body.String()
	series := 0
	for line := range strings.Lines(shown) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	t.Log(series, "series")
	require.LessOrEqual(t, series, 500)
	require.NotContains(t, shown, canary)
	for _, line := range []string{
		`multis_info{version="1.2"} 1`,
		`multis_health{check="database"} 1`,
		`multis_events_total{door="push"} 7`,
		`multis_events_total{door="sync"} 9`,
		`multis_sends_total{state="sent"} 600`,
		`multis_sends_total{state="failed"} 300`,
		`multis_waiting{what="queued"} 300`,
		`multis_waiting{what="draft"} 300`,
		`multis_waiting{what="escalation"} 300`,
		`multis_answers_unsupported_total 150`,
		`multis_escalations_total{cause="person"} 150`,
		`task_duration_seconds_bucket{status="completed",le="2"} 0`,
		`task_duration_seconds_bucket{status="completed",le="5"} 300`,
		`task_duration_seconds_count{status="completed"} 300`,
		`tool_calls_total{tool="search_docs"} 150`,
		`tool_calls_total{tool="unknown"} 150`,
		`multis_budget 2`,
		`multis_budget_left 1.5`,
		`multis_llm_cost_total{purpose="reply"} 0.0015`,
		`multis_search_seconds_bucket{le="0.025"} 1`,
		`multis_decisions_total{action="other",code="other"}`,
	} {
		require.Contains(t, shown, "\n"+line)
	}
	for _, name := range []string{
		"llm_requests_total{", "llm_tokens_total{", "tool_errors_total{", "multis_queue_age_seconds{",
		"multis_queue_attempts{", "multis_pool_connections{",
	} {
		require.Contains(t, shown, "\n"+name)
	}
}

func TestMetrics_CountersOnlyRiseInADay(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	_, err := st.Pool().Exec(t.Context(), traffic)
	require.NoError(t, err)
	now := time.Now()
	m := newMetrics(st, func() time.Time { return now })
	read := func() string {
		var shown bytes.Buffer
		require.NoError(t, m.Write(&shown))
		return shown.String()
	}
	const line = `multis_sends_total{state="failed"} 300`
	require.Contains(t, read(), line)
	_, err = st.Pool().Exec(t.Context(), "delete from chats where id % 2 = 0")
	require.NoError(t, err)
	now = now.Add(11 * time.Second)
	require.Contains(t, read(), line, "an erased chat is not a restart")
	now = now.Add(24 * time.Hour)
	require.NotContains(t, read(), "multis_sends_total{state=\"failed\"}", "a new day begins with nothing")
}
