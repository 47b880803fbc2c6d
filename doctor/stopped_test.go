package doctor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestAStoppedMultisIsNamedWithTheReason(t *testing.T) {
	t.Parallel()
	const why = "mkdir /etc/x: read-only file system"
	in := &Input{Config: &config.Config{Appservice: config.Appservice{Hostname: "127.0.0.1", Port: 1}}, StopReason: func(context.Context) string { return why }}
	r, skipped := checkRunning(t.Context(), in)
	require.Empty(t, skipped)
	require.Len(t, r.Findings, 1)
	require.Equal(t, MultisStopped, r.Findings[0].ID)
	require.Contains(t, r.Findings[0].Message, "It ended last with: "+why+".")
	require.Contains(t, r.Findings[0].Fix, "correct that, then ")
}
