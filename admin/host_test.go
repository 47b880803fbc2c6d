package admin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/jobs"
	"multis/policy"
	"multis/safety/sandbox"
	"multis/store"
	"multis/store/storetest"
)

// fakeHost records what it runs. Commands that begin with rm need the PIN, and those that begin with sudo never run.
type fakeHost struct {
	ran     []string
	version int  // of the program that commands run
	strict  bool // every command needs the PIN
	run     func(ctx context.Context, live func([]byte)) (sandbox.Result, error)
	content string // of each file; empty for one with its name
}

func (h *fakeHost) Prepare(_ context.Context, typed tools.HostRequest) (tools.HostCommand, error) {
	line := typed.Text
	if strings.HasPrefix(line, "sudo") {
		return tools.HostCommand{}, errors.New("this command never runs")
	}
	return tools.HostCommand{
		Line:     line,
		Shown:    line,
		Binding:  fmt.Sprint(line, h.version),
		NeedsPIN: h.strict || strings.HasPrefix(line, "rm"),
	}, nil
}

func (h *fakeHost) Run(ctx context.Context, c tools.HostCommand, live func([]byte)) (sandbox.Result, error) {
	h.ran = append(h.ran, c.Line)
	if h.run != nil {
		return h.run(ctx, live)
	}
	return sandbox.Result{Output: "total 0", Duration: time.Second}, nil
}

func (h *fakeHost) Resolve(_ context.Context, typed tools.HostRequest) (string, error) {
	if typed.Text == "/etc/shadow" {
		return "", errors.New("this path is not for the assistant")
	}
	return typed.Text, nil
}

func (h *fakeHost) Read(_ context.Context, typed tools.HostRequest) (string, error) {
	if h.content != "" {
		return h.content, nil
	}
	return "the content of " + typed.Text, nil
}

// What a file or a command says stays in its block: it makes no link, mention or heading of the admin room.
func TestRead_FenceCannotBeClosed(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.setPIN(canary)
	h.content = "a log\n`\u200b``\n[pay](https://evil.example)"
	r.ownerTypes("/read /srv/a.log")
	for _, content := range []string{
		h.content, "```\n[pay](https://evil.example)", "a\u2028```\u2028[pay](https://evil.example)", "\u202e```\r[pay](https://evil.example)",
		"``\ufeff`\v[pay](https://evil.example)", "````\n[pay](https://evil.example)", "~~~\n[pay](https://evil.example)",
		"`\x00``\n[pay](https://evil.example)",
	} {
		h.content = content
		said := r.ownerTypes("/read /srv/a.log")
		if strings.Contains(said, "Your PIN") {
			said = r.ownerTypes(canary)
		}
		last := r.homeserver.sent[len(r.homeserver.sent)-1]
		require.Contains(t, last.Body, "https://evil.example", "%q: %s", content, said)
		require.NotContains(t, last.HTML, "<a ", "%q", content)
	}
}

func newHostRig(t *testing.T) (*pinRig, *fakeHost) {
	t.Helper()
	r, h := newPINRig(t, true), &fakeHost{}
	r.host = h
	r.restart()
	return r, h
}

// runCommands runs the jobs of commands, as one attempt.
func (r *pinRig) runCommands() (string, error) {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx, "select args from river.river_job where kind = 'exec' and state = 'available'")
	require.NoError(r.t, err)
	var all []jobs.ExecArgs
	for rows.Next() {
		var a jobs.ExecArgs
		require.NoError(r.t, rows.Scan(&a))
		all = append(all, a)
	}
	require.NoError(r.t, rows.Err())
	for _, a := range all {
		err = errors.Join(err, r.admin.Host.RunCommand(r.ctx, a))
	}
	return bodies(r.sendQueued()), err
}

func TestExec_ChangeNeedsPIN(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.ownerTypes("/exec ls")
	said, err := r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "✅ `ls` · done, 1.0 s\n\n```\ntotal 0\n```")
	require.Contains(t, r.ownerTypes("/exec sudo ls"), "Not run: this command never runs")
	require.Contains(t, r.ownerTypes("/exec rm a"), "none is set. `/pin set`")
	r.setPIN(canary)
	for range 2 {
		asked := r.ownerTypes("/exec rm a")
		require.Contains(t, asked, "**Your PIN, please**, for: rm a\n", "each time")
		require.NotContains(t, asked, "sha256")
		require.Contains(t, r.ownerTypes(canary), "[👀]")
		said, err = r.runCommands()
		require.NoError(t, err)
		require.Contains(t, said, "✅ `rm a` · done")
		r.exec("update river.river_job set state = 'completed', finalized_at = now() where kind = 'exec'")
	}
	require.Equal(t, []string{"ls", "rm a", "rm a"}, h.ran)
	require.Equal(t, 3,
		r.count("select count(*) from audit_entries where kind = 'tool' and actor = 'owner' and action = 'exec' and outcome = 'done'"))

	r.ownerTypes("/exec rm a")
	h.version++
	require.Contains(t, r.ownerTypes(canary), "**Your PIN, please**, for: rm a", "the program was changed since the PIN was asked for")
	require.Contains(t, r.ownerTypes(canary), "[👀]")
	h.version++
	said, err = r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "has changed since you sent it")
	require.Len(t, h.ran, 3)
	require.Contains(t, r.asOperator("/exec ls"), "Only the owner can use")
}

func TestExec_RunsAtMostOnce(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.ownerTypes("/exec ls")
	died, die := context.WithCancel(r.ctx)
	h.run = func(ctx context.Context, _ func([]byte)) (sandbox.Result, error) {
		die()
		<-ctx.Done()
		return sandbox.Result{}, ctx.Err()
	}
	var task store.TaskID
	var binding string
	require.NoError(t, r.st.DB().QueryRow(r.ctx,
		"select (args->>'task')::bigint, args->>'binding' from river.river_job where kind = 'exec'").Scan(&task, &binding))
	require.Error(t, r.admin.Host.RunCommand(died, jobs.ExecArgs{TaskID: task, Binding: binding}))
	said, err := r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "I cannot tell whether it was done, and do not run it again")
	said, err = r.runCommands()
	require.NoError(t, err)
	require.Empty(t, said)
	require.Len(t, h.ran, 1)
}

func TestExec_StreamsAndStops(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.ownerTypes("/exec ls")
	h.run = func(ctx context.Context, live func([]byte)) (sandbox.Result, error) {
		live([]byte("first line\n"))
		select {
		case <-ctx.Done():
			return sandbox.Result{}, ctx.Err()
		case <-time.After(2 * time.Minute):
			return sandbox.Result{}, nil
		}
	}
	ended := make(chan string)
	go func() {
		said, _ := r.runCommands()
		ended <- said
	}()
	require.Eventually(t, func() bool {
		return r.count("select count(*) from tasks where kind = 'exec' and progress_event <> ''") == 1
	}, time.Minute, 20*time.Millisecond)
	require.Contains(t, r.homeserver.sent[len(r.homeserver.sent)-1].Body, "first line")
	r.exec("update tasks set stop_reason = 'you asked me to' where kind = 'exec'") // what /cancel-task and ❌ do
	said := <-ended
	require.Contains(t, said, "Stopped")
	require.Contains(t, said, "first line", "what it printed until then stays")
	require.Equal(t, 1, r.count("select count(*) from tasks where kind = 'exec' and state = 'killed'"))
	require.Equal(t, 1, r.count("select count(*) from outbox where replaces <> '' and content::text like '%Stopped%'"),
		"in place of the output")
}

func TestExec_StoppedBeforeStart(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.ownerTypes("/exec ls")
	require.Contains(t, r.ownerTypes(fmt.Sprintf("/cancel-task %d", r.count("select id::int from tasks where kind = 'exec'"))), "task")
	said, err := r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "**Not run**: `ls`. You stopped it before it began.")
	require.Empty(t, h.ran)
	require.Equal(t, 1, r.count("select count(*) from tasks where kind = 'exec' and state = 'killed' and finished_at is not null"))
	require.Equal(t, 1, r.count("select count(*) from audit_entries where action = 'exec' and outcome = 'stopped'"))
}

func TestExec_RechecksRules(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.ownerTypes("/exec ls")
	h.strict = true
	said, err := r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "the rules ask for the PIN now; send it again")
	require.Empty(t, h.ran)
}

func TestRead_NeedsPIN(t *testing.T) {
	t.Parallel()
	r, _ := newHostRig(t)
	require.Contains(t, r.ownerTypes("/read /etc/shadow"), "⚠️ Not read: this path is not for the assistant")
	require.Contains(t, r.ownerTypes("/read /srv/a.md"), "none is set")
	r.setPIN(canary)
	require.Contains(t, r.ownerTypes("/read /srv/a.md"), "**Your PIN, please**, for: read /srv/a.md")
	require.Contains(t, r.ownerTypes(canary), "the content of /srv/a.md")
	require.Contains(t, r.ownerTypes("/read /srv/b.md"), "the content of /srv/b.md", "for a day")
}

func TestSafeMode_RunsNoCommand(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.exec(`insert into settings (key, value) values ('safe_mode', '{"since": "2026-05-01T00:00:00Z", "why": "a test"}')`)
	require.Contains(t, r.ownerTypes("/exec ls"), "safe mode, so I run no commands")
	require.Contains(t, r.ownerTypes("/read /srv/notes"), "safe mode, so I run no commands")
	require.Zero(t, r.count("select count(*) from tasks"))
	require.Contains(t, r.ownerTypes("/plan sell the piano"), "it waits until that has ended")
	r.exec("delete from settings where key = 'safe_mode'")
	require.NotContains(t, r.ownerTypes("/plan sell the boat"), "safe mode")
	r.ownerTypes("/exec ls")
	said, err := r.runCommands()
	require.NoError(t, err)
	require.Contains(t, said, "total 0")
	require.Equal(t, []string{"ls"}, h.ran)
}

func TestSafeMode_EndNamesWhatHolds(t *testing.T) {
	t.Parallel()
	r, _ := newHostRig(t)
	r.ownerTypes("/safe on")
	require.Contains(t, r.ownerTypes("/safe off"), "What waited is done now")
	r.ownerTypes("/pause all")
	r.ownerTypes("/safe on")
	said := r.ownerTypes("/safe off")
	require.Contains(t, said, "Everything is paused")
	require.NotContains(t, said, "What waited is done now")

	r, _ = newHostRig(t)
	r.exec(`insert into settings (key, value) values ('restore', '{"backup_at": "2026-01-01T00:00:00Z", "restored_at": "2026-01-02T00:00:00Z"}')`)
	r.ownerTypes("/safe on")
	said = r.ownerTypes("/safe off")
	require.Contains(t, said, "Nothing is sent")
	require.NotContains(t, said, "What waited is done now")
}

func TestExec_LongOutputMasksSecret(t *testing.T) { //nolint:paralleltest // what the configuration holds is the same for all
	const secret = "canary-K9x7Qm2vz5"
	policy.SetSecrets([]string{secret})
	t.Cleanup(func() { policy.SetSecrets(nil) })
	r, h := newHostRig(t)
	for _, at := range []int{1490, 1495, 1499} { // where the middle is left out
		h.run = func(_ context.Context, live func([]byte)) (sandbox.Result, error) {
			output := strings.Repeat("x", at) + secret + strings.Repeat("y", 40_000) + secret + strings.Repeat("z", at)
			for chunk := range slices.Chunk([]byte(output), 1000) {
				live(chunk)
			}
			return sandbox.Result{Output: output}, nil
		}
		r.ownerTypes("/exec ls")
		said, err := r.runCommands()
		require.NoError(t, err)
		require.Contains(t, said, "done")
		for n := 0; n+4 <= len(secret); n++ {
			require.NotContains(t, said, secret[n:n+4], "the secret begins after %d characters", at)
		}
	}
	require.Empty(t, storetest.ColumnsContaining(t, r.st, secret[:8]))
}
