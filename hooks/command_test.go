package hooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/safety/sandbox"
	"multis/store"
	"multis/store/storetest"
)

var provedSandbox = sync.OnceValues(func() (*sandbox.Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}})
	if err != nil {
		return nil, err
	}
	return s, s.Probe(context.Background()).Err()
})

// openCommands returns commands whose folder belongs to nobody, so that root can run them.
func openCommands(t *testing.T, runner Runner, commands ...Command) (*Commands, *store.Store, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "multis-hook-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	if os.Geteuid() == 0 {
		const nobody = 65534
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	o := CommandOptions{
		Store:    storetest.New(t),
		Runner:   runner,
		Problem:  "there is no Landlock here.",
		Folder:   filepath.Join(dir, "hooks"),
		Commands: commands,
	}
	hs, err := NewCommands(o)
	require.NoError(t, err)
	return hs, o.Store, o.Folder
}

func proved(t *testing.T) Runner {
	t.Helper()
	s, err := provedSandbox()
	require.NoError(t, err)
	return s
}

func shell(name, script string, before ...string) Command {
	return Command{Name: name, Argv: []string{"sh", "-c", script}, Before: before}
}

func TestHook_FailureDenies(t *testing.T) {
	t.Parallel()
	runner := proved(t)
	for name, c := range map[string]struct {
		script string
		want   policy.HookDecision
		why    string
	}{
		"allow": {`cat >/dev/null; echo '{"decision": "allow"}'`, policy.HookAllow, ""},
		"ask": {
			`echo '{"decision": "ask", "reason": "It costs money."}'`, policy.HookAsk,
			"The hook guard says ask. It costs money.",
		},
		"deny": {
			`echo '{"decision": "deny", "reason": "Not on Sundays."}'`, policy.HookDeny,
			"The hook guard says deny. Not on Sundays.",
		},
		"the last line":      {`echo 'looking'; echo 'maybe' >&2; echo '{"decision": "deny"}'`, policy.HookDeny, "says deny"},
		"prints a lot first": {`yes x | head -c 100000000; echo; echo '{"decision": "allow"}'`, policy.HookAllow, ""},
		"prints a lot":       {`yes '{"decision": "allow"} x' | head -c 100000000`, policy.HookDeny, "not a decision"},
		"hangs":              {`sleep 100`, policy.HookDeny, "it took longer than 5s"},
		"exits with 3":       {`echo '{"decision": "allow"}'; exit 3`, policy.HookDeny, "it ended with 3"},
		"says why it fails": {
			`echo begun; echo 'no file guard.py' >&2; exit 2`, policy.HookDeny,
			"could not decide: it ended with 2, and printed: no file guard.py.",
		},
		"prints nothing":     {`true`, policy.HookDeny, "not a decision"},
		"another word":       {`echo '{"decision": "yes"}'`, policy.HookDeny, "not a decision"},
		"another key":        {`echo '{"decision": "allow", "approve": true}'`, policy.HookDeny, "not a decision"},
		"more than one":      {`echo '{"decision": "allow"}{"decision": "deny"}'`, policy.HookDeny, "not a decision"},
		"no program":         {`exec /nowhere/at/all`, policy.HookDeny, "it ended with 127"},
		"reads the password": {`cat /etc/shadow && echo '{"decision": "allow"}'`, policy.HookDeny, "it ended with 1"},
		"a long reason": {
			`printf '{"decision": "deny", "reason": "%s"}' "$(yes x | head -n 2000 | tr '\n' ' ')"`, policy.HookDeny,
			"says deny",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hs, st, _ := openCommands(t, runner, shell("guard", c.script, BeforeTool))
			began := time.Now()
			v, err := hs.AskTool(t.Context(), ToolCall{Name: "exec", Agent: "multis"})
			require.NoError(t, err)
			require.Equal(t, c.want, v.Decision, v.Why)
			require.Contains(t, v.Why, c.why)
			require.Less(t, len(v.Why), 500)
			require.Less(t, time.Since(began), time.Minute)
			outcome := string(c.want)
			if c.want == policy.HookDeny && !strings.Contains(v.Why, "says deny") {
				outcome = "failed"
			}
			require.Equal(t, 1, storetest.Count(t, st,
				"select count(*) from audit_entries where kind = 'tool' and action = 'exec' and rule = 'hook:guard' and outcome = $1", outcome))
		})
	}
}

func TestHook_ReadsSubjectInItsFolder(t *testing.T) {
	t.Parallel()
	hs, _, folder := openCommands(t, proved(t), Command{
		Name: "guard", Argv: []string{"sh", "-c", `cat > asked.json; echo '{"decision": "allow"}'`}, Before: []string{BeforeTool, BeforeSend},
		Tools: []string{"exec*"},
	})
	v, err := hs.AskTool(t.Context(), ToolCall{
		Name:      "exec",
		Arguments: json.RawMessage(`{"command": "ls"}`),
		Agent:     "sales",
		Surface:   "owner",
		Tainted:   true,
	})
	require.NoError(t, err)
	require.Equal(t, policy.HookAllow, v.Decision, v.Why)
	raw, err := os.ReadFile(filepath.Join(folder, "guard", "asked.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"tool": "exec", "class": "", "arguments": {"command": "ls"}, "agent": "sales", "surface": "owner", "tainted": true}`,
		string(raw))
	v, err = hs.AskSend(t.Context(), ContactMessage{
		Chat:    7,
		Name:    "Ana",
		Network: "whatsapp",
		Purpose: policy.PurposeReply,
		Text:    "Hello",
	})
	require.NoError(t, err)
	require.Equal(t, policy.HookAllow, v.Decision, v.Why)
	raw, err = os.ReadFile(filepath.Join(folder, "guard", "asked.json"))
	require.NoError(t, err)
	require.Contains(t, string(raw), `"text":"Hello"`)
	require.NoError(t, hs.Notify(t.Context(), "guard", []byte(`{"event": "escalation"}`)))
	raw, err = os.ReadFile(filepath.Join(folder, "guard", "asked.json"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(raw), "\n"), "each event is a line, so that a file of several is read line by line")
	require.ErrorContains(t, hs.Notify(t.Context(), "other", nil), "no command hook other")
}

func TestHooks_StrictestDecides(t *testing.T) {
	t.Parallel()
	say := func(decision string) string { return `echo '{"decision": "` + decision + `", "reason": "r"}'` }
	hs, st, _ := openCommands(t, proved(t), shell("c", say("allow"), BeforeTool), shell("b", say("ask"), BeforeTool),
		shell("d", say("deny"), BeforeSend),
		Command{Name: "e", Argv: []string{"sh", "-c", say("deny")}, Before: []string{BeforeTool}, Tools: []string{"fetch_*"}})
	v, err := hs.AskTool(t.Context(), ToolCall{Name: "exec"})
	require.NoError(t, err)
	require.Equal(t, policy.HookVerdict{Decision: policy.HookAsk, Why: "The hook b says ask. r"}, v)
	v, err = hs.AskTool(t.Context(), ToolCall{Name: "fetch_url"})
	require.NoError(t, err)
	require.Equal(t, policy.HookDeny, v.Decision)
	require.Equal(t, 2, storetest.Count(t, st, "select count(*) from audit_entries where action = 'exec'"),
		"those that are not about it are not asked")
}

func TestHook_MissingSandboxDenies(t *testing.T) {
	t.Parallel()
	hs, _, _ := openCommands(t, nil, shell("guard", `echo '{"decision": "allow"}'`, BeforeTool, BeforeSend))
	v, err := hs.AskTool(t.Context(), ToolCall{Name: "search_docs"})
	require.NoError(t, err)
	require.Equal(t, policy.HookVerdict{Decision: policy.HookDeny, Why: "The hook guard could not decide: there is no Landlock here."}, v)
	v, err = hs.AskSend(t.Context(), ContactMessage{})
	require.NoError(t, err)
	require.Equal(t, policy.HookDeny, v.Decision)
	require.ErrorContains(t, hs.Notify(t.Context(), "guard", nil), "no Landlock")
	var none *Commands
	v, err = none.AskTool(t.Context(), ToolCall{})
	require.NoError(t, err)
	require.Equal(t, policy.HookAllow, v.Decision)
}

func TestHook_SeveralDecisionsDeny(t *testing.T) {
	t.Parallel()
	runner := proved(t)
	for name, script := range map[string]string{
		"two lines":        `echo '{"decision": "deny", "reason": "no"}'; echo '{"decision": "allow"}'`,
		"duplicate key":    `echo '{"decision": "deny", "decision": "allow"}'`,
		"other case":       `echo '{"decision": "deny", "Decision": "allow"}'`,
		"closing":          `echo '{"decision": "allow"}]'`,
		"text of the call": `cat; echo`,
	} {
		hs, _, _ := openCommands(t, runner, shell("guard", script, BeforeTool))
		v, err := hs.AskTool(t.Context(), ToolCall{Name: "exec", Agent: "multis"})
		require.NoError(t, err)
		require.Equal(t, policy.HookDeny, v.Decision, name)
	}
}
