//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/rig"
)

// A newcomer with a running Synapse and a bridge: from an empty folder to the first answer in the admin room. Each command that README has
// people type is counted.
func TestInit_EmptyFolderToFirstAnswer(t *testing.T) {
	t.Parallel()
	const maxCommands, maxTime = 6, 10 * time.Minute
	around, err := rig.Start(t.Context(), rig.Options{Dir: filepath.Join(dir, "init"), Out: os.Stdout})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, around.Stop()) })
	_, err = around.Say(t.Context(), "newcomer", "hello, are you there?") // a chat from before multis
	require.NoError(t, err)
	program, err := around.Program(t.Context())
	require.NoError(t, err)
	folder := filepath.Join(around.Dir, "assistant")
	require.NoError(t, os.Mkdir(folder, 0o755))

	began := time.Now()
	// The answers to: who are you, profile, name, model, embeddings, speech, write it?
	setup := initCommand(t, program, folder, around.Stack, string(rig.OwnerID)+strings.Repeat("\n", 7))
	room, commands := driveInit(t, around.Stack, setup, func(string) {})
	_, err = around.Owner.JoinRoomByID(t.Context(), room)
	require.NoError(t, err)
	greeting := awaitNotice(t, around, room, "multis is ready")
	require.Contains(t, greeting, "silent", "nothing was switched on")

	commands++
	config, err := os.ReadFile(filepath.Join(folder, "config.yaml"))
	require.NoError(t, err)
	running := exec.CommandContext(t.Context(), program, "run")
	running.Dir, running.Stderr = folder, io.Discard
	running.Cancel = func() error { return running.Process.Signal(syscall.SIGTERM) }
	require.NoError(t, running.Start())
	t.Cleanup(func() {
		_ = running.Process.Signal(syscall.SIGTERM)
		_ = running.Wait()
	})
	_, err = around.Owner.SendText(t.Context(), room, "/mode")
	require.NoError(t, err)
	awaitNotice(t, around, room, "Newcomer")
	took := time.Since(began)
	t.Logf("%d commands and %.0f seconds to the first answer", commands, took.Seconds())
	require.LessOrEqual(t, commands, maxCommands)
	require.Less(t, took, maxTime)

	again := exec.CommandContext(t.Context(), program, "init", "--service", "none", "--yes", "--synapse",
		filepath.Join(around.Stack.Dir(), "homeserver.yaml"))
	again.Dir = folder
	out, err := again.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "config.yaml stays as it is")
	require.NotContains(t, string(out), "install -m", "Synapse has it")
	require.Contains(t, string(out), "greeted you", "the running multis is found")
	after, err := os.ReadFile(filepath.Join(folder, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(config), string(after))
}

// initCommand is multis init in a folder, for a Synapse, with these lines as answers.
func initCommand(t *testing.T, program, folder string, synapse *devstack.Stack, answers string, args ...string) *exec.Cmd {
	t.Helper()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	args = append([]string{
		"init", "--service", "none", "--synapse", filepath.Join(synapse.Dir(), "homeserver.yaml"), "--time-zone", "Europe/Berlin",
		"--set", fmt.Sprintf("appservice.port=%d", ports[0]), "--set", fmt.Sprintf("appservice.address=http://127.0.0.1:%d", ports[0]),
	}, args...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	cmd.Stdin = strings.NewReader(answers)
	cmd.Stderr = os.Stdout
	return cmd
}

// driveInit runs multis init, does what it prints for root, and returns the admin room and the number of commands that were typed. each is
// called with each line that it prints.
func driveInit(t *testing.T, synapse *devstack.Stack, init *exec.Cmd, each func(line string)) (room id.RoomID, commands int) {
	t.Helper()
	printed, err := init.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, init.Start())
	commands = 1
	var said []string
	for line := range readLines(printed) {
		said = append(said, line)
		command := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(command, "install "), strings.HasPrefix(command, "grep "), strings.HasPrefix(command, "sed "),
			strings.HasPrefix(command, "echo "):
			commands++
			out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput()
			require.NoError(t, err, "%s: %s", command, out)
		case strings.HasPrefix(command, "systemctl restart "): // of this Synapse
			commands++
			require.NoError(t, synapse.StopSynapse(syscall.SIGTERM))
			require.NoError(t, synapse.StartSynapse(t.Context()))
		case strings.Contains(line, "https://matrix.to/#/"):
			_, name, _ := strings.Cut(line, "https://matrix.to/#/")
			room = id.RoomID(name)
		}
		each(command)
	}
	require.NoError(t, init.Wait(), strings.Join(said, "\n"))
	require.NotEmpty(t, room, strings.Join(said, "\n"))
	return room, commands
}

// The owner is whoever sends the code that init prints.
func TestInit_PairsOwnerByCode(t *testing.T) {
	t.Parallel()
	around, err := rig.Start(t.Context(), rig.Options{Dir: filepath.Join(dir, "pair"), Out: os.Stdout})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, around.Stop()) })
	program, err := around.Program(t.Context())
	require.NoError(t, err)
	folder := filepath.Join(around.Dir, "assistant")
	require.NoError(t, os.Mkdir(folder, 0o755))
	// The answers to: profile, name, model, embeddings, speech, write it?
	setup := initCommand(t, program, folder, around.Stack, strings.Repeat("\n", 6), "--pair")
	var joined id.RoomID
	room, _ := driveInit(t, around.Stack, setup, func(line string) {
		alias, isAlias := strings.CutPrefix(line, "/join ")
		switch {
		case isAlias:
			answer, err := around.Owner.JoinRoom(t.Context(), alias, nil)
			require.NoError(t, err)
			joined = answer.RoomID
			_, err = around.Owner.SendText(t.Context(), joined, "is it this one?")
			require.NoError(t, err)
		case joined != "" && len(line) == len("ABCD-EFGH") && line[4] == '-':
			_, err = around.Owner.SendText(t.Context(), joined, line)
			require.NoError(t, err)
		}
	})
	_, err = around.Owner.JoinRoomByID(t.Context(), room)
	require.NoError(t, err, "the owner is invited")
	awaitNotice(t, around, room, "multis is ready")
	config, err := os.ReadFile(filepath.Join(folder, "config.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(config), rig.OwnerID.String())
}

// readLines returns the lines of r as they come.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// awaitNotice waits for a message of the bot with a text, and returns it.
func awaitNotice(t *testing.T, around *rig.Rig, room id.RoomID, text string) (found string) {
	t.Helper()
	require.NoError(t, rig.Await(t.Context(), "a message with "+text, func(ctx context.Context) (bool, error) {
		events, err := around.Timeline(ctx, room)
		for _, evt := range events {
			if evt.Type == event.EventMessage && evt.Sender != rig.OwnerID && strings.Contains(bodyOf(t, evt), text) {
				found = bodyOf(t, evt)
			}
		}
		return found != "", err
	}))
	return found
}
