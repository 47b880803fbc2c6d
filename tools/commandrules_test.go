package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy/rules"
	"multis/tools"
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
	_, v, err := r.Judge(t.Context(), tools.Call{Name: "exec", Args: raw, Caller: tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: workspace}})
	require.NoError(t, err)
	return v
}

func TestARuleAboutAPathJudgesCommandsThatNameIt(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	workspace := filepath.Join(top, "work")
	for _, folder := range []string{"work/sub", "accounts"} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, folder), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(top, "accounts", "2026.csv"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(top, "accounts"), filepath.Join(workspace, "link")))
	deny := fmt.Sprintf("{class: exec, path: %q, decision: deny, reason: Not these.}", filepath.Join(top, "accounts", "**"))
	for _, command := range []string{
		"cat TOP/accounts/2026.csv", "grep -r iban TOP/accounts", "grep -r iban TOP", "grep -fTOP/accounts/2026.csv x", "diff --to-file=TOP/accounts/2026.csv x", "cat ../accounts/2026.csv",
		"cat link/2026.csv", "ls link", "rm -r link", "cp TOP/accounts/2026.csv x", "cp x TOP/accounts/new.csv", "tee TOP/accounts/new.csv", "tar -CTOP/accounts -cf x .", "sh -c 'cat TOP/accounts/2026.csv'",
		"timeout 5 cat TOP/accounts/2026.csv", "TOP/accounts/program x", "env TOP/accounts/program", "find TOP -name x", "find / -name x", "sort -oTOP/accounts/x y",
	} {
		v := judged(t, deny, workspace, strings.ReplaceAll(command, "TOP", top))
		require.Equal(t, tools.Verdict{Why: "Not these."}, v, command)
	}
	for _, command := range []string{"cat notes.md", "ls", "ls sub", "grep accounts notes.md", "grep -r x .", "rm notes.md", "/usr/bin/ls sub", "timeout 5 /bin/ls", "sort -o /dev/null x"} {
		v := judged(t, deny, workspace, command)
		require.True(t, v.Ask || v.Pin, "%s: %+v", command, v)
	}
	inside := judged(t, deny, filepath.Join(top, "accounts"), "rg iban")
	require.Equal(t, tools.Verdict{Why: "Not these."}, inside, "it works on its folder")
	require.Equal(t, tools.Verdict{Why: "This path is not for the assistant."}, judged(t, deny, workspace, "cat /etc/hosts"), "a default rule")

	allow := fmt.Sprintf("{class: exec, path: %q, decision: allow}", filepath.Join(workspace, "**"))
	require.True(t, judged(t, allow, workspace, "cat sub/notes.md").Allow)
	require.True(t, judged(t, allow, workspace, "ls").Allow)
	require.False(t, judged(t, allow, workspace, "cat sub/notes.md ../accounts/2026.csv").Allow)
	require.False(t, judged(t, allow, workspace, "cat link/2026.csv").Allow)
	require.True(t, judged(t, deny, workspace, "rm"+strings.Repeat(" x", 5000)).Pin, "the same word counts once")
	var words []string
	for i := range 1001 {
		words = append(words, fmt.Sprintf("x%d", i))
	}
	require.Contains(t, judged(t, deny, workspace, "rm "+strings.Join(words, " ")).Why, "no rule can judge")
	require.True(t, judged(t, deny, workspace, "rm "+strings.Join(words[:999], " ")).Pin)
}

func TestADeniedCommandIsDeniedInsideOfOthers(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	const deny = "{class: exec, argv: curl **, decision: deny, reason: No curl.}"
	for _, command := range []string{
		"curl x", "/usr/bin/curl x", "env curl x", "env A=b curl x", "env -i /usr/bin/curl x", "nice curl x", "nice -n 5 curl x", "timeout 5 curl x", "timeout -s KILL 5 curl x", "xargs curl x",
		"xargs -n1 curl", "nohup curl x", "stdbuf -o0 curl x", "busybox curl x", "find . -exec curl x ';'", "sh -c 'curl x'", "env sh -c 'ls; curl x'", "git -c alias.x='!curl x' x", "setsid curl x",
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
