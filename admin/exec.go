package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/agent/tools"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/safety/sandbox"
	"multis/store"
)

const (
	// maxShownOutput is how many characters of a command's output are shown: its beginning and its end.
	maxShownOutput = 3000
	// stopInterval is how often a running command looks whether it is to be stopped.
	stopInterval = 500 * time.Millisecond
)

var errStopped = errors.New("the owner stopped it")

// commandEnd is how a command ended.
type commandEnd struct {
	state   store.TaskState
	outcome string // for the audit log
	text    string
}

// RunCommand runs a command that the owner typed, once. If an earlier attempt began it, the owner is told that its outcome is not known.
func (hc *HostCommands) RunCommand(ctx context.Context, args jobs.ExecArgs) error {
	task, err := store.ClaimTask(ctx, hc.store.Writer(), args.TaskID)
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	if err != nil {
		return err
	}
	room, err := store.ChatByID(ctx, hc.store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	switch {
	case task.Attempt > 1:
		return hc.end(ctx, task, room, "", commandEnd{
			store.TaskFailed, "unknown",
			"⚠️ **I was restarted before this ended, or right before it began**: " + code(task.Input) +
				". I cannot tell whether it was done, and do not run it again. Look, and send it again if it is needed.",
		})
	case task.StopReason != "":
		return hc.end(ctx, task, room, "", commandEnd{
			store.TaskKilled, "stopped",
			"⏹ **Not run**: " + code(task.Input) + ". You stopped it before it began.",
		})
	case task.Forgotten, hc.host == nil:
		return hc.end(ctx, task, room, "", commandEnd{store.TaskFailed, "refused", hostOffText})
	}
	typed := tools.HostRequest{Room: room, Text: task.Input}
	if task.MessageID != nil {
		typed.Message = *task.MessageID
	}
	c, err := hc.host.Prepare(ctx, typed)
	if err == nil && c.Binding != args.Binding {
		err = errors.New("the program, or a file that it runs, has changed since you sent it; send it again")
	}
	if err == nil && c.NeedsPIN && !args.PINEntered {
		err = errors.New("the rules ask for the PIN now; send it again")
	}
	if err != nil {
		return hc.end(ctx, task, room, "", commandEnd{store.TaskFailed, "refused", "⚠️ Not run: " + esc(err.Error())})
	}
	err = hc.store.InTx(ctx, func(tx store.Tx) error { return hc.audit(ctx, tx, task, "begun") })
	if err != nil {
		return err
	}
	live, result, err := hc.runLive(ctx, task, room, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // the next attempt tells that its outcome is not known
	case errors.Is(err, errStopped):
		return hc.end(ctx, task, room, live, commandEnd{
			store.TaskKilled, "stopped",
			"⏹ **Stopped**: " + code(c.Shown) + ". It was ended with all that it started." + outputBlock(result.Output),
		})
	case err != nil:
		return hc.end(ctx, task, room, live, commandEnd{store.TaskFailed, "failed", "⚠️ " + code(c.Shown) + ": " + esc(err.Error())})
	}
	return hc.end(ctx, task, room, live, endOfCommand(c, result))
}

// endOfCommand describes how a command ended.
func endOfCommand(c tools.HostCommand, result sandbox.Result) commandEnd {
	icon := "✅"
	how := "done"
	outcome := "done"
	switch {
	case result.TimedOut:
		icon = "⚠️"
		how = "ended, because it took too long"
		outcome = "timeout"
	case result.ExitCode < 0:
		icon = "⚠️"
		how = "ended by a signal"
		outcome = "failed"
	case result.ExitCode > 0:
		icon = "⚠️"
		how = "exit status " + strconv.Itoa(result.ExitCode)
		outcome = "failed"
	}
	e := commandEnd{store.TaskCompleted, outcome, fmt.Sprintf("%s %s · %s, %.1f s", icon, code(c.Shown), how, result.Duration.Seconds())}
	e.text += outputBlock(result.Output)
	return e
}

// outputBlock formats the output of a command below a line; empty if there is none.
func outputBlock(output string) string {
	if strings.TrimSpace(output) == "" {
		return ""
	}
	return "\n" + codeBlock(clipMiddle(output, maxShownOutput))
}

// runLive runs a command, shows its output as it comes, and ends it when the owner stops the task. It returns the message with the output.
func (hc *HostCommands) runLive(ctx context.Context, task store.Task, room store.Chat,
	c tools.HostCommand,
) (id.EventID, sandbox.Result, error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var output []byte
	live, done := hc.room.box.Live(room, task.ProgressEvent), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(stopInterval); ; {
			select {
			case <-running.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			if why, err := store.StopReason(running, hc.store.DB(), task.ID); err == nil && why != "" {
				cancel(errStopped)
				return
			}
			mu.Lock()
			shown := policy.HideBeforeCut(string(output)) // the end may be the first part of a secret
			mu.Unlock()
			shown = fmt.Sprintf("⏳ %s%s\n_task %d · ❌ ends it_", code(c.Shown), outputBlock(shown), task.ID)
			if live.IsDue() && live.Show(running, shown) {
				// if this fails, ❌ on the message has no effect, but /cancel-task has
				_ = store.SetTaskProgressEvent(running, hc.store.Writer(), task, live.Event())
			}
		}
	}()
	result, err := hc.host.Run(running, c, func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		if output = append(output, p...); len(output) > 8*maxShownOutput {
			output = []byte(policy.HideAfterCut(string(output[len(output)-4*maxShownOutput:])))
		}
	})
	stopped := errors.Is(context.Cause(running), errStopped)
	cancel(nil)
	<-done
	if stopped {
		result.Output, err = policy.HideBeforeCut(string(output)), errStopped
	}
	return live.Event(), result, err
}

// end ends the task, and replaces the message that showed the output by the result.
func (hc *HostCommands) end(ctx context.Context, task store.Task, room store.Chat, live id.EventID, e commandEnd) error {
	ctx = context.WithoutCancel(ctx)
	task.State = e.state
	err := hc.store.InTx(ctx, func(tx store.Tx) error {
		if _, err := store.EndTask(ctx, tx, task); err != nil {
			return err
		}
		if err := hc.audit(ctx, tx, task, e.outcome); err != nil {
			return err
		}
		_, err := hc.room.write(ctx, tx, room, notice{
			text:     e.text,
			kind:     outbox.Answer,
			replaces: cmp.Or(live, task.ProgressEvent),
			sources:  task.Sources,
		})
		return err
	})
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	return err
}

// audit writes what became of a command into the audit log.
func (hc *HostCommands) audit(ctx context.Context, tx store.Tx, task store.Task, outcome string) error {
	e := audit.Entry{
		Kind:    audit.Tool,
		Actor:   audit.Owner,
		AgentID: task.Agent,
		Chat:    task.ChatID,
		Task:    task.ID,
		Action:  "exec",
		Outcome: outcome,
		Content: []byte(task.Input),
	}
	if task.MessageID != nil {
		e.Message = *task.MessageID
	}
	return hc.settings.Audit.Append(ctx, tx, e)
}

// clipMiddle returns the beginning and the end of an output, n characters together, without invisible characters. It
// masks secrets before it cuts, because half a secret is not recognized.
func clipMiddle(output string, n int) string {
	runes := []rune(policy.Hide(text.Clean(strings.ToValidUTF8(output, "�"))))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n/2]) + "\n[…]\n" + string(runes[len(runes)-n/2:])
}
