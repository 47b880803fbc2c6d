package tools_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy/rules"
)

// judged returns what rules of the owner's, followed by the default ones, say about a command.
func judged(t *testing.T, own, workspace, command string) tools.Verdict {
	t.Helper()
	all := []tools.Tool{tools.Exec{}, tools.StreamCommand{}, tools.ReadFile{}, tools.WriteFile{}}
	parsed, err := rules.Parse("own.yaml", []byte("rules:\n  - "+own+"\n"))
	require.NoError(t, err)
	set, err := rules.New(parsed, rules.Vocabulary{Tools: tools.NewRegistry(tools.TierPolicy{}, all...).KnownTools()})
	require.NoError(t, err, own)
	raw, err := json.Marshal(map[string]string{"command": command})
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), all...)
	_, v, err := r.Judge(t.Context(), tools.Call{
		Name:   "exec",
		Args:   raw,
		Caller: tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: workspace},
	})
	require.NoError(t, err)
	return v
}

func TestCommandRules_PathRuleSkipsCommands(t *testing.T) {
	t.Parallel()
	const deny = "{path: /**, decision: deny, reason: Not these.}"
	for _, command := range []string{
		"cut -d/ -f1 notes.md", "sort -t / -k 2 notes.md", "tr / _", "expr 6 / 2", "awk -F/ '{print $1}' notes.md", "awk /run/ notes.md",
		"sed -n /run/p notes.md", "sed '/etc/d' notes.md", "sed 's/ / /g' notes.md",
		"grep -rn /usr/bin notes.md", "git commit -m 'either / or'", "git log --grep=/usr", "python3 -c 'print(6 / 2)'", "echo 'and / or'",
		"env -i /usr/bin/ls", "timeout -s KILL 5 /bin/ls", "find . -exec /usr/bin/wc '{}' ';'",
		"sh -c '/usr/bin/ls'", "sh -c 'ls >/dev/null'", "sh -c 'ls 2>/dev/null'", "sh -c 'ls >/dev/null 2>&1'", "gcc -I/usr/include x.c",
		"make PREFIX=/usr/local", "ls /", "find / -name x", "cat /etc/os-release", "cat notes.md",
	} {
		v := judged(t, deny, t.TempDir(), command)
		require.True(t, v.Ask || v.Pin, "%s: %+v", command, v)
	}
}

func TestCommandRules_DenyNestedCommand(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	const deny = "{class: exec, argv: curl **, decision: deny, reason: No curl.}"
	for _, command := range []string{
		"curl x", "/usr/bin/curl x", "env curl x", "env A=b curl x", "env -i /usr/bin/curl x", "nice curl x", "nice -n 5 curl x",
		"timeout 5 curl x", "timeout -s KILL 5 curl x", "xargs curl x",
		"xargs -n1 curl", "nohup curl x", "stdbuf -o0 curl x", "busybox curl x", "find . -exec curl x ';'", "sh -c 'curl x'",
		"env sh -c 'ls; curl x'", "git -c alias.x='!curl x' x", "setsid curl x",
	} {
		require.Equal(t, tools.Verdict{Why: "No curl."}, judged(t, deny, workspace, command), command)
	}
	for _, command := range []string{"ls curl", "grep -rn curl .", "npm install curl", "echo curl x", "curlie x"} {
		v := judged(t, deny, workspace, command)
		require.True(t, v.Ask || v.Pin || v.Allow, "%s: %+v", command, v)
	}
	const allow = "{class: exec, argv: make **, decision: allow}"
	require.True(t, judged(t, allow, workspace, "make all").Allow)
	require.False(t, judged(t, allow, workspace, "env LD_PRELOAD=./x.so make x").Allow, "what is allowed is the command itself")
}
