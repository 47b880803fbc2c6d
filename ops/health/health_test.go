package health_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/ops/health"
)

// startServer starts a server with the answers of a state, and returns its address.
func startServer(t *testing.T, state *health.State) string {
	t.Helper()
	mux := http.NewServeMux()
	state.Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// A program is ready when it is connected to the homeserver, as long as its database answers.
func TestState_IsReadyWithDatabase(t *testing.T) {
	t.Parallel()
	var down error
	state := health.New(func(context.Context) error { return down })
	address := startServer(t, state)
	require.EqualError(t, health.CheckReady(t.Context(), address), "multis is not ready")
	state.SetReady()
	require.NoError(t, health.CheckReady(t.Context(), address))
	down = errors.New("the database is gone")
	require.EqualError(t, health.CheckReady(t.Context(), address), "multis is not ready")
}

func TestState_LivesBeforeItIsReady(t *testing.T) {
	t.Parallel()
	answers, other := health.IsListening(t.Context(), startServer(t, health.New(nil)))
	require.True(t, answers)
	require.False(t, other)
}

func TestIsListening_TellsOtherPrograms(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	answers, other := health.IsListening(t.Context(), address)
	require.True(t, answers)
	require.True(t, other)
	server.Close()
	answers, _ = health.IsListening(t.Context(), address)
	require.False(t, answers)
	require.ErrorContains(t, health.CheckReady(t.Context(), address), "multis does not answer: ")
}

// A program that hangs accepts the connection and never answers.
func TestIsListening_GivesUpOnSilence(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	answered := make(chan bool, 1)
	go func() {
		answers, _ := health.IsListening(context.Background(), silent.Addr().String())
		answered <- answers
	}()
	select {
	case answers := <-answered:
		require.False(t, answers)
	case <-time.After(time.Minute):
		require.Fail(t, "it waits for ever")
	}
}
