// Package commandhook runs programs of the owner before tools and before messages to contacts, and on events. They run in the sandbox of commands.
// Before a tool or a message, a program may deny it or have the owner asked about it. It never allows what the rules deny.
package commandhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/policy"
	"multis/safety/audit"
	"multis/safety/sandbox"
	"multis/store"
)

const (
	// timeout bounds one run of a hook.
	timeout = 5 * time.Second
	// maxOutput is how much of a hook's output is kept, in bytes.
	maxOutput = 16 << 10
	// maxReason is the length of a reason in characters.
	maxReason = 300
)

// The values of Hook.Before.
const (
	BeforeTool = "tool" // before a tool is called
	BeforeSend = "send" // before a message is sent to a contact
)

// Hook is a program that is asked before a tool is called or a message is sent. One with an empty Before is asked nothing and only gets events.
type Hook struct {
	Name    string
	Command []string
	Before  []string // BeforeTool, BeforeSend
	Tools   []string // patterns of the tools that it is asked about; empty means all
}

// Runner runs a command in a sandbox. *sandbox.Sandbox is one.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Options are what New needs.
type Options struct {
	Store *store.Store
	Audit audit.Log
	// Runner runs the hooks. If it is nil, Problem says why, and everything that a hook is asked about is denied.
	Runner  Runner
	Problem string
	Folder  string // each hook has a folder in it, by its name, that it may change
	Hooks   []Hook
}

// Hooks are the configured command hooks. A nil *Hooks has none.
type Hooks struct{ Options }

// New returns the hooks, in the order of their names, and makes their folders.
func New(o Options) (*Hooks, error) {
	o.Hooks = slices.SortedFunc(slices.Values(o.Hooks), func(a, b Hook) int { return strings.Compare(a.Name, b.Name) })
	for _, h := range o.Hooks {
		if err := makeFolder(filepath.Join(o.Folder, h.Name)); err != nil {
			return nil, fmt.Errorf("make the folder of the hook %s: %w", h.Name, err)
		}
	}
	return &Hooks{o}, nil
}

// makeFolder makes a folder that belongs to the owner of the folder above it, so that root runs no hook as root.
func makeFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	above, err := os.Stat(filepath.Dir(filepath.Dir(folder)))
	if err != nil {
		return err
	}
	if owner, ok := above.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && owner.Uid != 0 {
		return errors.Join(os.Chown(filepath.Dir(folder), int(owner.Uid), int(owner.Gid)), os.Chown(folder, int(owner.Uid), int(owner.Gid)))
	}
	return nil
}

// Tool is a call of a tool, as a hook reads it.
type Tool struct {
	Name      string          `json:"tool"`
	Class     string          `json:"class"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Agent     string          `json:"agent"`
	Surface   string          `json:"surface"`
	Tainted   bool            `json:"tainted"`
	Chat      store.ChatID    `json:"chat_id,omitempty"`
	Task      store.TaskID    `json:"task_id,omitempty"`
}

// Send is a message to a contact, as a hook reads it.
type Send struct {
	Chat    store.ChatID   `json:"chat_id"`
	Name    string         `json:"chat"`
	Network string         `json:"network"`
	Purpose policy.Purpose `json:"purpose"`
	Text    string         `json:"text"`
	Ref     string         `json:"ref"` // the outbox message
}

// AskTool asks the hooks about a call of a tool.
func (hs *Hooks) AskTool(ctx context.Context, t Tool) (policy.HookVerdict, error) {
	entry := audit.Entry{Kind: audit.Tool, Actor: audit.System, AgentID: t.Agent, Chat: t.Chat, Task: t.Task, Action: t.Name}
	return hs.ask(ctx, entry, t, func(h Hook) bool { return h.IsAskedAbout(t.Name) })
}

// IsAskedAbout reports whether a hook is asked before a tool is called.
func (h Hook) IsAskedAbout(tool string) bool {
	return slices.Contains(h.Before, BeforeTool) && (len(h.Tools) == 0 || slices.ContainsFunc(h.Tools, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return ok && err == nil
	}))
}

// AskSend asks the hooks about a message to a contact.
func (hs *Hooks) AskSend(ctx context.Context, s Send) (policy.HookVerdict, error) {
	entry := audit.Entry{Kind: audit.Send, Actor: audit.System, Chat: s.Chat, Action: string(s.Purpose), Ref: s.Ref}
	return hs.ask(ctx, entry, s, func(h Hook) bool { return slices.Contains(h.Before, BeforeSend) })
}

// ask asks the matching hooks, one after the other, until one denies, and returns the strictest decision.
func (hs *Hooks) ask(ctx context.Context, entry audit.Entry, about any, matches func(Hook) bool) (policy.HookVerdict, error) {
	strictest := policy.HookVerdict{Decision: policy.HookAllow}
	if hs == nil {
		return strictest, nil
	}
	for _, h := range hs.Hooks {
		if !matches(h) {
			continue
		}
		v, failed, err := hs.decide(ctx, h, about)
		if err != nil {
			return policy.HookVerdict{}, err
		}
		entry.Outcome, entry.Rule = string(v.Decision), "hook:"+h.Name
		if failed {
			entry.Outcome = outcomeFailed
		}
		if err := hs.Store.InTx(ctx, func(tx store.Tx) error { return hs.Audit.Append(ctx, tx, entry) }); err != nil {
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

// outcomeFailed is the outcome in the audit log of a hook that failed, and so denied.
const outcomeFailed = "failed"

// decide runs one hook and reads its decision. A hook that fails denies, and failed is true. The error is not nil only if ctx has ended or about cannot be
// encoded.
func (hs *Hooks) decide(ctx context.Context, h Hook, about any) (v policy.HookVerdict, failed bool, err error) {
	stdin, err := json.Marshal(about)
	if err != nil {
		return policy.HookVerdict{}, false, fmt.Errorf("ask the hook %s: %w", h.Name, err)
	}
	output, err := hs.run(ctx, h, stdin)
	said := ""
	if err != nil {
		said = lastLine(output)
	} else {
		v, err = parseVerdict(output)
	}
	if ctx.Err() != nil {
		return policy.HookVerdict{}, false, ctx.Err()
	}
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Str("hook", h.Name).Msg("A command hook failed, so what it was asked about is denied")
		why := err.Error()
		if said != "" { // not logged, because it may quote a message
			why += ", and printed: " + said
		}
		return policy.HookVerdict{Decision: policy.HookDeny, Why: fmt.Sprintf("The hook %s could not decide: %s.", h.Name, cleanReason(why))}, true, nil
	}
	if v.Decision != policy.HookAllow {
		v.Why = strings.TrimSpace(fmt.Sprintf("The hook %s says %s. %s", h.Name, v.Decision, v.Why))
	}
	return v, false, nil
}

// lastLine returns the last line of an output, where programs say what is wrong.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Notify runs a hook on an event with its JSON. What it prints is ignored.
func (hs *Hooks) Notify(ctx context.Context, name string, event []byte) error {
	i := -1
	if hs != nil {
		i = slices.IndexFunc(hs.Hooks, func(h Hook) bool { return h.Name == name })
	}
	if i < 0 {
		return fmt.Errorf("there is no command hook %s", name)
	}
	_, err := hs.run(ctx, hs.Hooks[i], event)
	return err
}

// run runs a hook and returns what it printed, also if it ended with an error.
func (hs *Hooks) run(ctx context.Context, h Hook, stdin []byte) (string, error) {
	if hs.Runner == nil {
		return "", errors.New(strings.TrimSuffix(hs.Problem, "."))
	}
	res, err := hs.Runner.Run(ctx, sandbox.Command{Argv: h.Command, Workspace: filepath.Join(hs.Folder, h.Name), AllowsOwnFolder: true, Stdin: append(stdin, '\n'), Timeout: timeout, MaxOutput: maxOutput})
	switch {
	case err != nil:
		return "", err
	case res.TimedOut:
		return "", fmt.Errorf("it took longer than %s", timeout)
	case res.ExitCode != 0:
		return res.Output, fmt.Errorf("it ended with %d", res.ExitCode)
	}
	return res.Output, nil
}

var (
	// errNoDecision is returned for an output whose last line is no decision.
	errNoDecision = errors.New(`the last line that it printed is no decision; it prints {"decision": "allow"}, or ask or deny and a reason`)
	// errManyDecisions is returned for an output with more than one decision.
	errManyDecisions = errors.New("it printed more than one decision")
)

// parseVerdict reads the decision in the last line of an output, which must be its only one.
func parseVerdict(output string) (policy.HookVerdict, error) {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := len(lines) - 1
	for _, line := range lines[:last] {
		if _, err := parseDecision(line); err == nil || errors.Is(err, errManyDecisions) {
			return policy.HookVerdict{}, errManyDecisions
		}
	}
	return parseDecision(lines[last])
}

// parseDecision reads a line with a decision: a JSON object with the keys decision and reason, each once and in these letters.
func parseDecision(line string) (v policy.HookVerdict, err error) {
	d := json.NewDecoder(strings.NewReader(line))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return policy.HookVerdict{}, errNoDecision
	}
	values := map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return policy.HookVerdict{}, errNoDecision
		}
		name, _ := key.(string)
		if _, repeated := values[name]; repeated {
			return policy.HookVerdict{}, errManyDecisions
		}
		value, err := d.Token()
		given, isText := value.(string)
		isText = isText || value == nil && name == "reason"
		if err != nil || !isText || (name != "decision" && name != "reason") {
			return policy.HookVerdict{}, errNoDecision
		}
		values[name] = given
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return policy.HookVerdict{}, errNoDecision
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return policy.HookVerdict{}, errNoDecision
	}
	switch decision := policy.HookDecision(values["decision"]); decision {
	case policy.HookAllow, policy.HookAsk, policy.HookDeny:
		return policy.HookVerdict{Decision: decision, Why: cleanReason(values["reason"])}, nil
	default:
		return policy.HookVerdict{}, errNoDecision
	}
}

// cleanReason returns a text of a hook as one short line without secrets.
func cleanReason(s string) string { return text.Clip(policy.Redact(text.OneLine(s)), maxReason) }
