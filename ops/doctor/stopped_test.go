package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/deploy/devstack"
)

func TestService_StoppedNamesReason(t *testing.T) {
	t.Parallel()
	const why = "mkdir /etc/x: read-only file system"
	in := &Input{
		Config: &config.Config{Appservice: config.Appservice{Hostname: "127.0.0.1", Port: 1}},
		StopReason: func(context.Context) string {
			return why
		},
	}
	r, skipped := checkRunning(t.Context(), in)
	require.Empty(t, skipped)
	require.Len(t, r.Findings, 1)
	require.Equal(t, MultisStopped, r.Findings[0].ID)
	require.Contains(t, r.Findings[0].Message, "It ended last with: "+why+".")
	require.Contains(t, r.Findings[0].Fix, "correct that, then ")
}

func TestService_RestartGetsTime(t *testing.T) {
	t.Parallel()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	in := &Input{Config: &config.Config{Appservice: config.Appservice{Hostname: "127.0.0.1", Port: ports[0]}}}
	asked := false
	in.IsStarting = func(context.Context) bool { // the first answer of systemd; then multis listens
		if !asked {
			asked = true
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0]))
			if err != nil {
				return false
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("{}"))
			}), ReadHeaderTimeout: time.Second}
			go func() { _ = server.Serve(listener) }()
			t.Cleanup(func() { _ = server.Close() })
		}
		return true
	}
	answers, other := awaitListening(t.Context(), in)
	require.True(t, asked)
	require.True(t, answers)
	require.False(t, other)

	in.Config.Appservice.Port, in.StopReason = 1, func(context.Context) string { return "an older reason" }
	require.Contains(t, stopped(t.Context(), in).Findings[0].Message, "is being started and does not answer yet")
	in.IsStarting = func(context.Context) bool { return false }
	answers, _ = awaitListening(t.Context(), in)
	require.False(t, answers)
	require.Contains(t, stopped(t.Context(), in).Findings[0].Message, "an older reason")
}
