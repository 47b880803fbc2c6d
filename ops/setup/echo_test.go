package setup_test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"multis/ops/setup"
)

// The question is written to a pipe that is full, so that it is not there yet while the terminal is looked at.
func TestTerminal_EchoesNoEarlyKey(t *testing.T) {
	t.Parallel()
	keyboard, terminal, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	size, err := unix.FcntlInt(writer.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize())
	require.NoError(t, err)
	_, err = writer.Write(make([]byte, size))
	require.NoError(t, err)
	asker := setup.NewAsker(terminal, writer)
	answered := make(chan string, 1)
	go func() {
		answer, _ := asker.Ask(t.Context(), setup.Question{Title: "The API key", Secret: true})
		answered <- answer
	}()
	require.Eventually(t, func() bool {
		state, err := unix.IoctlGetTermios(int(keyboard.Fd()), unix.TCGETS)
		return err == nil && state.Lflag&unix.ECHO == 0
	}, time.Minute, time.Millisecond)
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		close(drained)
	}()
	_, err = keyboard.WriteString("a-key\n")
	require.NoError(t, err)
	require.Equal(t, "a-key", <-answered)

	// The asker reads until its terminal is gone.
	require.NoError(t, keyboard.Close())
	_, err = asker.Ask(t.Context(), setup.Question{Title: "Another"})
	require.Error(t, err)
	require.NoError(t, writer.Close())
	<-drained
	require.NoError(t, reader.Close())
}
