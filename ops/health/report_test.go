package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/ops/health"
	"multis/store"
	"multis/store/storetest"
)

// patient is an installation whose work is checked.
type patient struct {
	*health.Checker

	st   *store.Store
	ping error  // what a ping of the homeserver returns
	free uint64 // bytes
}

// newPatient returns an installation in which everything works.
func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{st: storetest.New(t), free: 10 << 30}
	p.Checker = &health.Checker{
		Config:    &config.Config{LLM: config.LLM{Model: "anthropic/claude"}},
		DB:        p.st.DB(),
		Now:       time.Now,
		Ping:      func(context.Context) error { return p.ping },
		FreeBytes: func(string) (uint64, error) { return p.free, nil },
	}
	p.set(t, store.SettingSyncToken, "s1")
	return p
}

func (p *patient) set(t *testing.T, s store.Setting, value any) {
	t.Helper()
	require.NoError(t, store.PutSetting(t.Context(), p.st.Writer(), s, value))
}

func (p *patient) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := p.st.Pool().Exec(t.Context(), sql)
	require.NoError(t, err)
}

// calls adds settled calls of a paid model, each of which cost and brought so much.
func (p *patient) calls(t *testing.T, n, cost, tokens int) {
	t.Helper()
	_, err := p.st.Pool().Exec(t.Context(), `insert into usage (day, chat_id, purpose, model, reserved, cost, tokens_in, settled_at)
		select current_date, 0, 'reply', 'anthropic/claude', 500, $2, $3, now() from generate_series(1, $1)`, n, cost, tokens)
	require.NoError(t, err)
}

func TestReport_NamesWhatFails(t *testing.T) {
	t.Parallel()
	const unreadable = `with c as (insert into chats (protocol, channel_id, receiver, kind, name, bridge_bot) values ('whatsapp', '1', '', 'dm', 'Ana Weber', '@bot:x') returning id)
		insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason, parked)
		select id, '$1', 'contact', '@ana:x', 'encrypted', '', now(), now() - interval '5 minutes', 'archive', 'locked', '', '{}' from c`
	for name, c := range map[string]struct {
		breakIt func(t *testing.T, p *patient)
		check   string
		status  health.Status
		detail  string
	}{
		"nothing pushed and no ping": {
			func(_ *testing.T, p *patient) { p.ping = errors.New("the homeserver gets no answer from multis") },
			"intake", health.Failed, "the homeserver gets no answer from multis",
		},
		"a push makes a ping superfluous": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.ping = errors.New("never asked")
				p.set(t, store.SettingPushedAt, time.Now().Add(-3*time.Minute))
			},
			"intake", health.OK, "last push 3 min ago",
		},
		"a job that waits": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.exec(t, `insert into river.river_job (state, kind, queue, args, max_attempts, scheduled_at)
					values ('available', 'turn', 'chat', '{}', 5, now() - interval '20 minutes')`)
			},
			"queues", health.Failed, "a job has waited for 20 min, 0 jobs run",
		},
		"a stalled push": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.set(t, store.SettingPushStalled, store.Stall{Since: time.Now().Add(-7 * time.Minute)})
			},
			"push", health.Failed, "nothing has arrived for 7 min",
		},
		"an old sync": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.exec(t, "update settings set updated_at = now() - interval '4 minutes' where key = 'sync_token'")
			},
			"sync", health.Failed, "the last one was 4 min ago",
		},
		"a message without a key": {
			func(t *testing.T, p *patient) { t.Helper(); p.exec(t, unreadable) },
			"encryption", health.Failed, "1 message of the last hour cannot be read yet",
		},
		"lost keys": {
			func(t *testing.T, p *patient) { t.Helper(); p.set(t, store.SettingKeysUnreadable, true) },
			"encryption", health.Failed, "the stored keys cannot be decrypted",
		},
		"a full disk": {func(_ *testing.T, p *patient) { p.free = 1 << 29 }, "disk", health.Failed, "only 0.5 GiB free"},
		"calls that were refused": {
			func(t *testing.T, p *patient) { t.Helper(); p.calls(t, 3, 0, 0) },
			"model", health.Failed, "the last calls of anthropic/claude failed",
		},
		"calls that timed out": {
			func(t *testing.T, p *patient) { t.Helper(); p.calls(t, 1, 40, 100); p.calls(t, 3, 500, 0) },
			"model", health.Failed, "the last calls of anthropic/claude failed",
		},
		"a provider that reports no tokens": {
			func(t *testing.T, p *patient) { t.Helper(); p.calls(t, 5, 500, 0) },
			"model", health.OK, "no call fails",
		},
		"a model that answers again": {
			func(t *testing.T, p *patient) { t.Helper(); p.calls(t, 9, 0, 0); p.calls(t, 1, 40, 100) },
			"model", health.OK, "no call fails",
		},
		"no model": {func(_ *testing.T, p *patient) { p.Config.LLM.Model = config.NoModel }, "model", health.Off, "none is configured"},
		"an old backup": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.set(t, store.SettingBackup, store.Backup{At: time.Now().Add(-9 * 24 * time.Hour)})
			},
			"backup", health.Failed, "last one 9 days ago",
		},
		"a failed backup": {
			func(t *testing.T, p *patient) {
				t.Helper()
				p.set(t, store.SettingBackup, store.Backup{Problem: "no room for Ana", TriedAt: time.Now().Add(-time.Hour)})
			},
			"backup", health.Failed, "the last one failed 60 min ago",
		},
		"no database": {
			func(_ *testing.T, p *patient) { p.st.Close() },
			"database", health.Failed, "it does not answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			c.breakIt(t, p)
			report := p.Report(t.Context())
			var found health.Check
			for _, check := range report.Checks {
				if check.Name == c.check {
					found = check
				}
			}
			require.Equal(t, health.Check{Name: c.check, Status: c.status, Detail: c.detail}, found)
			if c.status != health.Failed {
				require.Equal(t, health.OK, report.Status)
				return
			}
			require.Equal(t, health.Degraded, report.Status)
			require.Contains(t, report.Summary(), c.check+": "+c.detail)
			require.NotContains(t, report.Summary(), "Ana")
		})
	}
}

func TestServeHTTP_AnswersMonitors(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	now := time.Now()
	p.Now = func() time.Time { return now }
	answer := func() (int, health.Report) {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", nil))
		var report health.Report
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &report))
		return w.Code, report
	}
	code, report := answer()
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, health.OK, report.Status)
	require.Len(t, report.Checks, 9)
	require.Equal(t, "good (9 checks)", report.Summary())

	p.free = 0
	code, _ = answer()
	require.Equal(t, http.StatusOK, code, "the report is a moment old")
	now = now.Add(6 * time.Second)
	code, report = answer()
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, health.Degraded, report.Status)
	require.Equal(t, []health.Check{{Name: "disk", Status: health.Failed, Detail: "only 0.0 GiB free"}}, report.Failures())
}
