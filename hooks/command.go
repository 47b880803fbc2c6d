package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/safety/audit"
	"multis/safety/sandbox"
	"multis/store"
)

const (
	commandTimeout   = 5 * time.Second
	maxCommandOutput = 16 << 10 // bytes of a program's output that are kept
)

// The values of Command.Before.
const (
	BeforeTool = "tool" // before a tool is called
	BeforeSend = "send" // before a message is sent to a contact
)

// Command is a program that is asked before a tool is called or a message is sent. One with an empty Before is asked
// nothing and only gets events.
type Command struct {
	Name   string
	Argv   []string
	Before []string // BeforeTool, BeforeSend
	Tools  []string // patterns of the tools that it is asked about; empty means all
}

// Runner runs a command in a sandbox. *sandbox.Sandbox is one.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// CommandOptions are what NewCommands needs.
type CommandOptions struct {
	Store *store.Store
	Audit audit.Log
	// Runner runs the programs. If it is nil, Problem says why, and everything that a program is asked about is denied.
	Runner   Runner
	Problem  string
	Folder   string // each program has a folder in it, by the name of its hook, that it may change
	Commands []Command
}

// Commands runs the configured programs: before tools, before messages to contacts, and on events. Before a tool or a
// message, a program may deny it or have the owner asked about it. It never allows what the rules deny. A nil *Commands
// has no programs.
type Commands struct{ CommandOptions }

// NewCommands returns the commands, in the order of their names, and makes their folders.
func NewCommands(o CommandOptions) (*Commands, error) {
	o.Commands = slices.SortedFunc(slices.Values(o.Commands), func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range o.Commands {
		if err := sandbox.MakeWorkspace(filepath.Join(o.Folder, c.Name)); err != nil {
			return nil, fmt.Errorf("make the folder of the hook %s: %w", c.Name, err)
		}
	}
	return &Commands{o}, nil
}

// ToolCall is a call of a tool, as a program reads it.
type ToolCall struct {
	Name      string          `json:"tool"`
	Class     string          `json:"class"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Agent     string          `json:"agent"`
	Surface   string          `json:"surface"`
	Tainted   bool            `json:"tainted"`
	Chat      store.ChatID    `json:"chat_id,omitempty"`
	Task      store.TaskID    `json:"task_id,omitempty"`
}

// ContactMessage is a message to a contact, as a program reads it.
type ContactMessage struct {
	Chat    store.ChatID   `json:"chat_id"`
	Name    string         `json:"chat"`
	Network string         `json:"network"`
	Purpose policy.Purpose `json:"purpose"`
	Text    string         `json:"text"`
	Ref     string         `json:"ref"` // the outbox message
}

// AskTool asks the programs about a call of a tool.
func (cs *Commands) AskTool(ctx context.Context, t ToolCall) (policy.HookVerdict, error) {
	entry := audit.Entry{
		Kind:    audit.Tool,
		Actor:   audit.System,
		AgentID: t.Agent,
		Chat:    t.Chat,
		Task:    t.Task,
		Action:  t.Name,
	}
	return cs.ask(ctx, entry, t, func(c Command) bool { return c.IsAskedAbout(t.Name) })
}

// IsAskedAbout reports whether a program is asked before a tool is called.
func (c Command) IsAskedAbout(tool string) bool {
	if !slices.Contains(c.Before, BeforeTool) {
		return false
	}
	return len(c.Tools) == 0 || slices.ContainsFunc(c.Tools, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return ok && err == nil
	})
}

// AskSend asks the programs about a message to a contact.
func (cs *Commands) AskSend(ctx context.Context, m ContactMessage) (policy.HookVerdict, error) {
	entry := audit.Entry{
		Kind:   audit.Send,
		Actor:  audit.System,
		Chat:   m.Chat,
		Action: string(m.Purpose),
		Ref:    m.Ref,
	}
	return cs.ask(ctx, entry, m, func(c Command) bool { return slices.Contains(c.Before, BeforeSend) })
}

// ask asks the matching programs, one after the other, until one denies, and returns the strictest decision.
func (cs *Commands) ask(ctx context.Context, entry audit.Entry, about any, matches func(Command) bool) (policy.HookVerdict, error) {
	strictest := policy.HookVerdict{Decision: policy.HookAllow}
	if cs == nil {
		return strictest, nil
	}
	for _, c := range cs.Commands {
		if !matches(c) {
			continue
		}
		v, failed, err := cs.decide(ctx, c, about)
		if err != nil {
			return policy.HookVerdict{}, err
		}
		entry.Outcome, entry.Rule = string(v.Decision), "hook:"+c.Name
		if failed {
			entry.Outcome = outcomeFailed
		}
		if err := cs.Store.InTx(ctx, func(tx store.Tx) error { return cs.Audit.Append(ctx, tx, entry) }); err != nil {
			return policy.HookVerdict{}, err
		}
		if v.Decision == policy.HookDeny {
			return v, nil
		}
		if v.Decision == policy.HookAsk {
			strictest = v
		}
	}
	return strictest, nil
}

// outcomeFailed is the outcome in the audit log of a program that failed, and so denied.
const outcomeFailed = "failed"

// decide runs one program and reads its decision. A program that fails denies, and failed is true. The error is not nil
// only if ctx has ended or about cannot be encoded.
func (cs *Commands) decide(ctx context.Context, c Command, about any) (v policy.HookVerdict, failed bool, err error) {
	stdin, err := json.Marshal(about)
	if err != nil {
		return policy.HookVerdict{}, false, fmt.Errorf("ask the hook %s: %w", c.Name, err)
	}
	output, err := cs.run(ctx, c, stdin)
	printed := ""
	if err != nil {
		printed = lastLine(output)
	} else {
		v, err = parseVerdict(output)
	}
	if ctx.Err() != nil {
		return policy.HookVerdict{}, false, ctx.Err()
	}
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Str("hook", c.Name).Msg("A command hook failed, so what it was asked about is denied")
		why := err.Error()
		if printed != "" { // not logged, because it may quote a message
			why += ", and printed: " + printed
		}
		why = fmt.Sprintf("The hook %s could not decide: %s.", c.Name, cleanReason(why))
		return policy.HookVerdict{Decision: policy.HookDeny, Why: why}, true, nil
	}
	if v.Decision != policy.HookAllow {
		v.Why = strings.TrimSpace(fmt.Sprintf("The hook %s says %s. %s", c.Name, v.Decision, v.Why))
	}
	return v, false, nil
}

// lastLine returns the last line of an output, where programs say what is wrong.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Notify runs the program of a hook on an event, which it gets as JSON. What it prints is ignored.
func (cs *Commands) Notify(ctx context.Context, name string, event []byte) error {
	if cs != nil {
		for _, c := range cs.Commands {
			if c.Name == name {
				_, err := cs.run(ctx, c, event)
				return err
			}
		}
	}
	return fmt.Errorf("there is no command hook %s", name)
}

// run runs a program and returns what it printed, also if it ended with an error.
func (cs *Commands) run(ctx context.Context, c Command, stdin []byte) (string, error) {
	if cs.Runner == nil {
		return "", errors.New(strings.TrimSuffix(cs.Problem, "."))
	}
	res, err := cs.Runner.Run(ctx, sandbox.Command{
		Argv:            c.Argv,
		Workspace:       filepath.Join(cs.Folder, c.Name),
		AllowsOwnFolder: true,
		Stdin:           append(stdin, '\n'),
		Timeout:         commandTimeout,
		MaxOutput:       maxCommandOutput,
	})
	switch {
	case err != nil:
		return "", err
	case res.TimedOut:
		return "", fmt.Errorf("it took longer than %s", commandTimeout)
	case res.ExitCode != 0:
		return res.Output, fmt.Errorf("it ended with %d", res.ExitCode)
	}
	return res.Output, nil
}
