package jobs

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"multis/internal/trace"
	ops "multis/ops/trace"
)

func TestTrace_IsInTheLogOfItsJob(t *testing.T) { //nolint:paralleltest // tests share the tracer of the process
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	attempt := func() (id, line string) {
		var out bytes.Buffer
		log := zerolog.New(&out)
		err := traceAttempts().Work(log.WithContext(t.Context()), &rivertype.JobRow{ID: 7, Kind: "turn"}, func(ctx context.Context) error {
			id = trace.ID(ctx)
			zerolog.Ctx(ctx).Info().Msg("Answered")
			return nil
		})
		require.NoError(t, err)
		return id, out.String()
	}
	_, line := attempt()
	require.NotContains(t, line, "trace")
	stop, err := ops.Start(t.Context(), ops.Options{Endpoint: collector.URL})
	require.NoError(t, err)
	defer stop()
	id, line := attempt()
	require.Len(t, id, 32)
	require.Contains(t, line, `"trace":"`+id+`"`)
}
