package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// testWorkspace is an agent's workspace with a folder to read from beside it, and something outside of both.
type testWorkspace struct {
	t        *testing.T
	registry *tools.Registry
	caller   tools.Caller
	outside  string
}

func newWorkspace(t *testing.T) *testWorkspace {
	t.Helper()
	top := t.TempDir()
	d := &testWorkspace{t: t, outside: filepath.Join(top, "outside")}
	d.caller = tools.Caller{Owner: true, Workspace: filepath.Join(top, "work"), ReadPaths: []string{filepath.Join(top, "shared")}}
	for file, text := range map[string]string{
		"work/notes.md": "first line\nthe fence costs 480 euro\nlast line\n", "work/sub/offer.txt": "an offer: 480", "work/.secret": "token",
		"work/data.bin": "a\x00b", "shared/price.csv": "item,price\nbolt,3\n", "outside/key.txt": "480 private",
		"work/page.html": "<html><body><h1>Hours</h1><p>Open <b>daily</b>.</p></body></html>",
	} {
		path := filepath.Join(top, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(d.outside, "key.txt"), filepath.Join(d.caller.Workspace, "link.txt")))
	require.NoError(t, os.Symlink(d.outside, filepath.Join(d.caller.Workspace, "linked")))
	library := knowledge.Open(nil, knowledge.Options{})
	d.registry = tools.NewRegistry(tools.TierPolicy{}, tools.ReadFile{Documents: library}, tools.GrepFiles{}, tools.FindFiles{})
	return d
}

func (d *testWorkspace) call(name string, args map[string]any) tools.Result {
	d.t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(d.t, err)
	res, err := d.registry.Do(context.Background(), tools.Call{ID: "1", Name: name, Args: raw, Caller: d.caller}, false)
	require.NoError(d.t, err)
	return res
}

func TestFiles_OutsideIsInvisible(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	key := filepath.Join(d.outside, "key.txt")
	for _, path := range []string{
		key, "../outside/key.txt", "sub/../../outside/key.txt", "link.txt", "linked/key.txt", "/etc/passwd", "/", "nothing.txt",
		"../outside/nothing.txt",
		filepath.Join(d.caller.Workspace, "../outside/key.txt"), filepath.Join(d.caller.ReadPaths[0], "../outside/key.txt"), "sub\x00/x",
	} {
		res := d.call("read_file", map[string]any{"path": path})
		require.True(t, res.IsError, path)
		require.Equal(t, tools.CodeNotFound, res.Code, path)
		require.NotContains(t, res.ForLLM, "private", path)
		require.Equal(t, "there is no such file in your folders", res.ForLLM, path)
	}
	for _, path := range []string{"", "linked", "..", d.outside} {
		require.NotContains(t, d.call("grep_files", map[string]any{"pattern": "private", "path": path}).ForLLM, "480 private", path)
		require.NotContains(t, d.call("find_files", map[string]any{"name": "*", "path": path}).ForLLM, "key.txt", path)
	}
	require.NotContains(t, d.call("find_files", map[string]any{"name": "*"}).ForLLM, ".secret")
}

func TestFiles_NeedFolders(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	d.caller.Workspace, d.caller.ReadPaths = "", nil
	offered, err := d.registry.Offered(context.Background(), d.caller)
	require.NoError(t, err)
	require.Empty(t, offered)
	require.True(t, d.call("read_file", map[string]any{"path": "notes.md"}).IsError)
}

func TestFiles_PipeDoesNotBlock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe.txt"), 0o600))
	caller := tools.Caller{Owner: true, Workspace: folder, Chat: store.Chat{Kind: policy.KindAdmin}}
	for _, tool := range []tools.Tool{tools.ReadFile{}, tools.SendFile{}} {
		said := make(chan tools.Result, 1)
		go func() {
			res, err := tool.Run(context.Background(), tools.Call{Args: json.RawMessage(`{"path": "pipe.txt"}`), Caller: caller})
			if err != nil {
				res.ForLLM = err.Error()
			}
			said <- res
		}()
		select {
		case res := <-said:
			require.Equal(t, "pipe.txt is no plain file", res.ForLLM)
		case <-time.After(time.Minute):
			require.Fail(t, "it waits for a pipe")
		}
	}
}

func TestFiles_RulesMatchWrittenAndResolvedPath(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(top, "disk/private"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(top, "disk/private/key.txt"), []byte("480"), 0o600))
	require.NoError(t, os.Symlink("disk", filepath.Join(top, "work")))
	all := []tools.Tool{tools.ReadFile{}, tools.GrepFiles{}, tools.WriteFile{}, tools.ReadPath{}}
	for _, denied := range []string{"work", "disk"} {
		parsed, err := rules.Parse("own.yaml", []byte("rules:\n  - {path: "+filepath.Join(top, denied, "private/**")+
			", decision: deny, reason: Private.}\n"))
		require.NoError(t, err)
		set, err := rules.New(parsed, rules.Vocabulary{})
		require.NoError(t, err)
		registry := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), all...)
		file := map[string]any{"path": "private/key.txt"}
		for name, args := range map[string]map[string]any{
			"read_file": file, "write_file": {"path": "private/key.txt", "content": "x"}, "grep_files": {"pattern": "480", "path": "private"},
			"read": {"path": filepath.Join(top, "work/private/key.txt")},
		} {
			raw, err := json.Marshal(args)
			require.NoError(t, err)
			caller := tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: filepath.Join(top, "work"), Typed: true}
			_, v, err := registry.Judge(t.Context(), tools.Call{Name: name, Args: raw, Caller: caller})
			require.NoError(t, err)
			require.Equal(t, tools.Verdict{Why: "Private."}, v, "%s with a rule about %s", name, denied)
		}
	}
}
