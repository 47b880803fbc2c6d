package jobs

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatEndsBecauseItWasToldToIsNotLogged(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(stopping{slog.NewTextHandler(&text, nil)}).With("part", "jobs").WithGroup("river")
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
