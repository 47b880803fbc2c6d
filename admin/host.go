package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/agent/tools"
	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/safety/pin"
	"multis/safety/sandbox"
	"multis/store"
)

// Host runs commands and reads files of this machine for the owner, as far as the rules allow. Its errors are shown to the owner.
type Host interface {
	// Prepare reads a command line and asks the rules about it. It runs nothing.
	Prepare(ctx context.Context, typed tools.HostRequest) (tools.HostCommand, error)
	// Run runs a prepared command in the sandbox. live receives the output as it comes.
	Run(ctx context.Context, c tools.HostCommand, live func([]byte)) (sandbox.Result, error)
	// Resolve asks the rules about a file and returns its path with all links resolved. It reads nothing.
	Resolve(ctx context.Context, typed tools.HostRequest) (string, error)
	// Read returns the beginning of a text file. typed.Text is the path that Resolve returned; if it leads to another file
	// now, nothing is read.
	Read(ctx context.Context, typed tools.HostRequest) (string, error)
}

// HostCommands runs commands on this machine and shows its files.
type HostCommands struct {
	base

	host Host // nil while it is off
}

// commands returns the commands about this machine.
func (hc *HostCommands) commands() []command {
	return []command{
		{
			name: "exec", args: "[@agent] COMMAND", group: groupControl, run: hc.exec,
			summary: "run a program on this machine",
			aliases: []string{"shell", "kill"},
			hint:    "`/exec ls -l` runs one program, where `exec.enabled` is on; `/cancel-task` ends it.",
			help: "One program with its arguments, no shell: `/exec ls -l`, `/exec @shop git status` in the workspace of an agent. The rules decide as for an agent's call (`/policy explain multis exec {\"command\": \"ls\"}`). " +
				"What only reads runs at once; what changes something asks for the PIN each time; some programs never run. It runs in the sandbox, for at most 10 minutes; ❌ on its message or `/cancel-task` ends it. " +
				"It is off unless `exec.enabled` is on in config.yaml.",
		},
		{
			name: "read", args: "PATH", group: groupControl, run: hc.read,
			summary: "read a text file on this machine",
			help: "`/read /srv/notes/todo.md` shows the first 64 KB of a text file, after the PIN. Rules decide about paths: the default ones keep it out of `/etc`, `/usr`, `/var/log` and other folders of the system; " +
				"my own configuration, keys and data are never shown. It is off unless `exec.enabled` is on in config.yaml.",
		},
	}
}

const (
	hostOffText  = "That is off: I run no commands on this machine and read no files outside the documents folder. `exec.enabled: true` in config.yaml turns it on; `/index prices.pdf` reads a document."
	hostSafeText = "I am in safe mode, so I run no commands and read no files of this machine. `/safe` says why, and how to end it."
)

// refusal returns the reply to every command about this machine while these commands are off or multis is in safe mode.
// Its text is empty if they may be used.
func (hc *HostCommands) refusal(ctx context.Context) (answer, error) {
	_, safe, err := store.SafeModeOf(ctx, hc.store.DB())
	switch {
	case err != nil:
		return answer{}, err
	case safe:
		return answer{text: hostSafeText, reason: policy.CodeSafeMode.Sentence(), outcome: "refused"}, nil
	case hc.host == nil:
		return answer{text: hostOffText, outcome: "refused"}, nil
	default:
		return answer{}, nil
	}
}

// exec begins a command.
func (hc *HostCommands) exec(ctx context.Context, r request, args string) (answer, error) {
	refused, err := hc.refusal(ctx)
	if err != nil {
		return refused, err
	}
	if refused.text != "" {
		return refused, nil
	}
	if args == "" {
		return answer{text: "Which program? One with its arguments, as in `/exec ls -l`. `/help exec` says what may run."}, nil
	}
	c, err := hc.host.Prepare(ctx, tools.HostRequest{Room: r.room, Message: r.message.ID, Text: args})
	if err != nil {
		return answer{text: "⚠️ Not run: " + esc(err.Error()), reason: "The command is refused.", outcome: "refused"}, nil
	}
	ans := answer{reaction: reactionStarted, reason: "It runs a command.", change: func(ctx context.Context, tx store.Tx) error {
		task, err := store.InsertTask(ctx, tx, store.Task{
			Key:       fmt.Sprintf("exec:%d", r.message.ID),
			Kind:      store.TaskExec,
			ChatID:    r.room.ID,
			MessageID: &r.message.ID,
			Sources:   []store.MessageID{r.message.ID},
			Agent:     c.Agent,
			Input:     args,
		})
		if err != nil {
			return err
		}
		// if the command needs the PIN, guard has checked it
		return jobs.Enqueue(ctx, tx, jobs.ExecArgs{TaskID: task.ID, Binding: c.Binding, PINEntered: c.NeedsPIN})
	}}
	if c.NeedsPIN {
		ans.pin = &pinNeed{pin.ActionExec, c.Shown + bindingMark + c.Binding}
	}
	return ans, nil
}

// bindingMark separates the two parts of the binding of a command that needs the PIN: the command as it is shown, and the
// hash of what it runs.
const bindingMark = "\nsha256 "

// read shows a file.
func (hc *HostCommands) read(ctx context.Context, r request, args string) (answer, error) {
	refused, err := hc.refusal(ctx)
	if err != nil {
		return refused, err
	}
	if refused.text != "" {
		return refused, nil
	}
	if args == "" {
		return answer{text: "Which file? `/read /srv/notes/todo.md`."}, nil
	}
	path, err := hc.host.Resolve(ctx, tools.HostRequest{Room: r.room, Message: r.message.ID, Text: args})
	if err != nil {
		return answer{text: "⚠️ Not read: " + esc(err.Error()), reason: "The file is refused.", outcome: "refused"}, nil
	}
	return answer{
		pin: &pinNeed{pin.ActionRead, "read " + path},
		changeWithText: func(ctx context.Context, _ store.Tx) (string, error) {
			content, err := hc.host.Read(ctx, tools.HostRequest{Room: r.room, Message: r.message.ID, Text: path})
			if err != nil {
				return "⚠️ Not read: " + esc(err.Error()), nil
			}
			return code(path) + "\n" + codeBlock(content), nil
		},
	}, nil
}

// codeBlock formats text as a code block that the text cannot end. It first removes invisible characters, because they
// could hide an end mark.
func codeBlock(s string) string {
	return "```\n" + strings.ReplaceAll(strings.TrimRight(text.Clean(s), "\n"), "```", "` ` `") + "\n```"
}
