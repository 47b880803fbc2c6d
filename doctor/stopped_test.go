package doctor

import (
	"context"
	"net"
	"testing"
	"time"

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

func TestAMultisThatHangsIsAskedOnlyForSomeSeconds(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	address, ok := silent.Addr().(*net.TCPAddr)
	require.True(t, ok)
	answered := make(chan bool, 1)
	go func() {
		answers, _ := IsListening(context.Background(), config.Appservice{Hostname: "127.0.0.1", Port: address.Port})
		answered <- answers
	}()
	select {
	case answers := <-answered:
		require.False(t, answers)
	case <-time.After(time.Minute):
		require.Fail(t, "it waits for ever")
	}
}
