package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy/rules"
)

func TestWriteFile_NeedsApproval(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	args := map[string]any{"path": "sub/notes.md", "content": "one\n"}
	require.Equal(t, tools.CodeApproval, h.call("write_file", args).Code)
	require.NoDirExists(t, filepath.Join(h.caller.Workspace, "sub"))
	require.False(t, h.callApproved("write_file", args).IsError)
	require.False(t, h.callApproved("write_file", map[string]any{"path": "sub/notes.md", "content": "two\n", "append": true}).IsError)
	data, err := os.ReadFile(filepath.Join(h.caller.Workspace, "sub/notes.md"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(data))
	require.Contains(t, h.callApproved("exec", map[string]any{"command": "cat sub/notes.md"}).ForLLM, "one\ntwo", "commands can use it")
}

func TestWriteFile_WorkspaceOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "config.yaml")
	require.NoError(t, os.WriteFile(secret, []byte("token"), 0o600))
	h.caller.ReadPaths = []string{outside}
	work := h.caller.Workspace
	require.NoError(t, os.Symlink(secret, filepath.Join(work, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(work, "folder")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(work, "pipe"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(work, ".multis-new"), 0o600))
	for _, path := range []string{
		secret, "../config.yaml", "/etc/passwd", "link", "folder/config.yaml", "folder/new", "", ".", "pipe", ".git/config",
		"sub/.git/hooks/pre-commit", ".GIT/config", "a\nb", "x/../../y",
	} {
		require.True(t, h.callApproved("write_file", map[string]any{"path": path, "content": "x"}).IsError, path)
		require.True(t, h.callApproved("edit_file", map[string]any{"path": path, "old": "token", "new": "x"}).IsError, path)
	}
	require.True(t, h.callApproved("write_file", map[string]any{"path": "big", "content": strings.Repeat("x", 1<<20+1)}).IsError)
	require.False(t, h.callApproved("write_file", map[string]any{"path": "new", "content": "x"}).IsError, "a pipe in the way is replaced")
	data, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "token", string(data))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestWriteFile_OwnPathRulesHold(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	work, err := filepath.EvalSymlinks(h.caller.Workspace)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(work, "accounts"), 0o755))
	require.NoError(t, os.Symlink("accounts", filepath.Join(work, "other")))
	own, err := rules.Parse("own.yaml", []byte("rules:\n  - {path: "+work+
		"/accounts/**, decision: deny, reason: Not there.}\n  - {role: owner, decision: allow}"))
	require.NoError(t, err)
	set, err := rules.New(own, rules.Vocabulary{})
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), tools.WriteFile{}, tools.EditFile{})
	caller := h.caller
	caller.Surface = rules.SurfaceOwner
	for path, allowed := range map[string]bool{
		"accounts/2026.csv": false, "accounts/new/deep.csv": false, "./accounts//x": false, "other/2026.csv": false, "sub/../accounts/x": false,
		"notes.md": true, "accountsx/y": true,
	} {
		for _, name := range []string{"write_file", "edit_file"} {
			args, err := json.Marshal(map[string]string{"path": path, map[string]string{"write_file": "content", "edit_file": "old"}[name]: "x"})
			require.NoError(t, err)
			e, err := r.Explain(tools.Call{ID: "1", Name: name, Args: args, Caller: caller})
			require.NoError(t, err)
			require.Equal(t, allowed, e.Verdict.Decision == rules.Allow, "%s %s: %s", name, path, e.Verdict.Sentence())
		}
	}
}

func TestWriteFile_SurvivesSwappedLinks(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	outside := t.TempDir()
	work := h.caller.Workspace
	folder := filepath.Join(work, "swap")
	link := filepath.Join(work, "link")
	away := filepath.Join(work, "away")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Symlink(outside, link))
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default: // a race against the check of the path
				_ = os.Rename(folder, away)
				_ = os.Rename(link, folder)
				_ = os.Rename(folder, link)
				_ = os.Rename(away, folder)
			}
		}
	}()
	for i := range 300 {
		h.callApproved("write_file", map[string]any{"path": "swap/new", "content": strconv.Itoa(i)})
	}
	close(stop)
	<-ended
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestWriteFile_ImpossibleIsNotAsked(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, name := range []string{"write_file", "edit_file"} {
		for path, want := range map[string]string{
			"../config.yaml":       "only files in the workspace are written",
			".git/config":          "files of Git are not written, because Git runs programs that they name",
			"invoice\u202egpj.exe": "the name of the file has characters that cannot be seen, such as direction marks",
			"a\u200b.md":           "the name of the file has characters that cannot be seen, such as direction marks",
			"a\n.md":               "the name of the file has control characters",
		} {
			raw, err := json.Marshal(map[string]any{"path": path})
			require.NoError(t, err)
			_, v, err := h.registry.Judge(t.Context(), tools.Call{Name: name, Args: raw, Caller: h.caller})
			require.NoError(t, err)
			require.Equal(t, tools.Verdict{Why: want}, v)
		}
		for workspace, want := range map[string]string{
			"":                                   "there is no workspace here: the agents of the configuration have one, multis itself has none",
			filepath.Join(t.TempDir(), "nobody"): "the folder of the workspace is not there; the owner has to make it (agents.<name>.workspace)",
		} {
			caller := h.caller
			caller.Workspace = workspace
			_, v, err := h.registry.Judge(t.Context(), tools.Call{Name: name, Args: json.RawMessage(`{"path": "a.md"}`), Caller: caller})
			require.NoError(t, err)
			require.Equal(t, tools.Verdict{Why: want}, v)
		}
	}
}
