package setup_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/setup"
)

func TestWrite_AllOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	require.NoError(t, os.WriteFile(one, []byte("old"), 0o644))
	list := func() (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	files := []setup.Output{{Path: one, Data: []byte("new"), Mode: 0o600, UID: -1}, {Path: two, Data: []byte("new"), Mode: 0o640, UID: -1}}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, setup.Write(stopped, files), setup.ErrAborted)
	require.Error(t, setup.Write(t.Context(), append(files, setup.Output{Path: filepath.Join(dir, "no/such/folder"), Mode: 0o600, UID: -1})))
	require.Equal(t, []string{"one"}, list(), "nothing else is left behind")
	text, err := os.ReadFile(one)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))

	require.NoError(t, setup.Write(t.Context(), files))
	require.Equal(t, []string{"one", "two"}, list())
	for i, path := range []string{one, two} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "new", string(text))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, files[i].Mode, info.Mode().Perm())
	}
}

// A folder that root made, for example by trying multis there, is handed over with all that is in it; nobody else's is.
func TestWrite_SetsModeAndOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	file := setup.Output{Path: path, Data: []byte("a: 1\n"), Mode: 0o600, UID: -1}
	require.False(t, file.IsWritten())
	require.NoError(t, setup.Write(t.Context(), []setup.Output{file}))
	require.True(t, file.IsWritten())
	require.NoError(t, os.Chmod(path, 0o640))
	require.False(t, file.IsWritten(), "another mode")
	require.NoError(t, os.Chmod(path, 0o600))
	if os.Geteuid() == 0 {
		file.UID, file.GID = 65534, 65534
		require.False(t, file.IsWritten(), "root's, as a former command left it")
		require.NoError(t, setup.Write(t.Context(), []setup.Output{file}))
		require.True(t, file.IsWritten())
	}
	file.Data = nil
	require.False(t, file.IsWritten(), "another content")
}

func TestWrite_FolderBelongsToService(t *testing.T) {
	t.Parallel()
	uid := os.Getuid()
	if uid == 0 {
		uid = 65534
	}
	dir := filepath.Join(t.TempDir(), "multis")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "postgres"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), nil, 0o600))
	require.NoError(t, setup.EnsureFolder(dir, uid, uid))
	for _, path := range []string{dir, filepath.Join(dir, "data", "postgres"), filepath.Join(dir, "config.yaml")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		owner, ok := info.Sys().(*syscall.Stat_t)
		require.True(t, ok)
		require.Equal(t, uid, int(owner.Uid))
	}
	require.NoError(t, setup.EnsureFolder(dir, uid, uid), "again")
	require.ErrorContains(t, setup.EnsureFolder(dir, uid+1, uid+1), "belongs to the user")
}

func TestDiff_HidesSecrets(t *testing.T) {
	t.Parallel()
	old := "# mine\nname: Nora\nllm:\n  model: none\n  api_key: sk-old-secret\nzone: x\n"
	now := "# mine\nname: Ada\nllm:\n  model: openai/x\n  api_key: sk-new-secret\n  base_url: http://user:sk-new-secret@host\nzone: x\n"
	require.Equal(t, `  - name: Nora
  + name: Ada
  - model: none
  - api_key: …
  + model: openai/x
  + api_key: …
  + base_url: http://user:…@host
`, setup.Diff([]byte(old), []byte(now), []string{"sk-new-secret"}))
	require.Empty(t, setup.Diff([]byte(old), []byte(old), nil))
	require.Empty(t, setup.Diff(nil, []byte(old), nil))
	require.Equal(t, "  - name: Nora\n  + name: Nora\\u202E\n", setup.Diff([]byte("name: Nora\n"), []byte("name: Nora\u202e\n"), nil),
		"what does not show is written out")
}

func TestStartLine_FitsInstallation(t *testing.T) {
	none := machine(t, nil)
	packaged, ours := machine(t, map[string]string{"usr/lib/systemd/system/multis.service": "x"}), machine(t,
		map[string]string{"etc/systemd/system/multis.service": "x"})
	here := t.TempDir()
	t.Chdir(here)
	require.Equal(t, "multis run", none.StartCommand("multis", filepath.Join(here, "config.yaml"), true))
	require.Equal(t, "multis run -c /home/you/config.yaml", none.StartCommand("multis", "/home/you/config.yaml", true),
		"it is in another folder")
	for _, m := range []setup.Machine{packaged, ours} {
		require.Equal(t, "systemctl restart multis", m.StartCommand("multis", "/var/lib/multis/config.yaml", true))
		require.Equal(t, "multis run", m.StartCommand("multis", filepath.Join(here, "config.yaml"), true), "another one than that of the service")
	}
	require.Equal(t, "multis run -c '/home/you/my config'", none.StartCommand("multis", "/home/you/my config", false))
	require.Equal(t, "bin/multis run", none.StartCommand("bin/multis", filepath.Join(here, "config.yaml"), false), "where it is in no PATH")
	require.Equal(t, "bin/multis backup create", none.StoppedCommand("bin/multis", filepath.Join(here, "config.yaml"), "backup create"))
	require.Equal(t, "multis backup create -c /home/you/config.yaml", none.StoppedCommand("multis", "/home/you/config.yaml", "backup create"))
	require.Equal(t, "systemctl stop multis; multis backup create && systemctl start multis",
		ours.StoppedCommand("multis", "/var/lib/multis/config.yaml", "backup create"))
	t.Setenv("container", "docker")
	require.Equal(t, "docker compose run --rm multis backup create && docker compose up -d --wait",
		none.StoppedCommand("multis", "/data/config.yaml", "backup create"))
	require.Equal(t, "docker compose up -d --wait", none.StartCommand("multis", "/data/config.yaml", false))
	require.Equal(t, "docker compose restart multis", none.StartCommand("multis", "/data/config.yaml", true))
}

func TestService_RunsProgramFromReachablePath(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "multis")
	require.NoError(t, os.WriteFile(own, []byte("program"), 0o700))
	m := machine(t, map[string]string{"etc/x": ""})
	files, err := m.ServiceFiles(own)
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, []string{filepath.Join(m.Root, "usr/local/bin/multis"), filepath.Join(m.Root, "etc/systemd/system/multis.service")},
		[]string{files[0].Path, files[1].Path})
	require.Equal(t, "program", string(files[0].Data), "a service reaches no home folder")
	require.Contains(t, string(files[1].Data), "\nExecStart=/usr/local/bin/multis run\n")

	files, err = m.ServiceFiles("/usr/bin/multis")
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, string(files[0].Data), "\nExecStart=/usr/bin/multis run\n")

	files, err = machine(t, map[string]string{"usr/lib/systemd/system/multis.service": "packaged"}).ServiceFiles("/usr/bin/multis")
	require.NoError(t, err)
	require.Empty(t, files, "the package brought it")
}
