package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestLog_RepeatedErrorOncePerMinute(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	h := newThrottledHandler(slog.NewTextHandler(&text, nil)).WithGroup("river").WithAttrs([]slog.Attr{slog.String("part", "jobs")})
	start := time.Now()
	say := func(after time.Duration, message string) string {
		text.Reset()
		require.NoError(t, h.Handle(t.Context(), slog.NewRecord(start.Add(after), slog.LevelError, message, 0)))
		return text.String()
	}
	const failed, other = "producer.producer: Error fetching jobs", "Elector: Error attempting to elect"
	require.Contains(t, say(0, failed), failed)
	require.Empty(t, say(time.Second, failed))
	require.Empty(t, say(59*time.Second, failed))
	require.Contains(t, say(2*time.Second, other), other, "another error is another line")
	require.Contains(t, say(time.Minute, failed), "skipped=2")
	require.NotContains(t, say(2*time.Minute, failed), "skipped")
	require.Contains(t, say(0, "job cancelled remotely"), "cancelled")
	require.Contains(t, say(0, "job cancelled remotely"), "cancelled", "what is no error of a service is always logged")
}

func TestLog_SkipsCancelledContext(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(withoutCancelled{slog.NewTextHandler(&text, nil)}).With("part", "jobs").WithGroup("river")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	log.ErrorContext(stopped, "Error inserting periodic jobs")
	require.Empty(t, text.String())
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	log.ErrorContext(late, "too late")
	log.ErrorContext(t.Context(), "failed")
	require.Contains(t, text.String(), "too late")
	require.Contains(t, text.String(), "failed")
}

func TestLog_NamesJobOfFailure(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx     context.Context
		attempt int
		err     error
		level   string
	}{
		"done":                  {t.Context(), 1, nil, ""},
		"comes back later":      {t.Context(), 1, fmt.Errorf("busy: %w", Snooze(time.Second)), ""},
		"stopped":               {stopped, 1, context.Canceled, ""},
		"tried again":           {t.Context(), 1, errors.New("away"), "warn"},
		"the last attempt":      {t.Context(), 5, errors.New("away"), "error"},
		"no attempt would help": {t.Context(), 1, Permanent(errors.New("away")), "info"},
	} {
		var text bytes.Buffer
		ctx := zerolog.New(&text).WithContext(c.ctx)
		job := &rivertype.JobRow{ID: 7, Kind: "turn", Attempt: c.attempt, MaxAttempts: 5}
		err := logAttempts().Work(ctx, job, func(ctx context.Context) error {
			zerolog.Ctx(ctx).Debug().Msg("at work")
			return c.err
		})
		require.Equal(t, c.err, err, name)
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		require.JSONEq(t, fmt.Sprintf(`{"level": "debug", "job": "turn", "job_id": 7, "attempt": %d, "message": "at work"}`, c.attempt), lines[0],
			name)
		if c.level == "" {
			require.Len(t, lines, 1, name)
			continue
		}
		var line struct{ Level, Job, Error string }
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &line), name)
		require.Equal(t, struct{ Level, Job, Error string }{c.level, "turn", "away"}, line, name)
	}
}
