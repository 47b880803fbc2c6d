package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestRunUser_FindsUnwritableFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can make a folder of another user.")
		return
	}
	data, closed := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chown(data, 65534, 65534))
	w, err := RunUserOf(t.Context(), filepath.Join(data, "config.yaml"),
		&config.Config{Database: config.Database{DataDir: filepath.Join(closed, "data")}})
	require.NoError(t, err)
	require.Equal(t, 65534, w.uid, "the owner of the configuration's folder, not of a data folder that is still to be made")
	require.ErrorIs(t, w.checkFolder(filepath.Join(closed, "documents")), os.ErrPermission)
	require.NoError(t, w.checkFolder(filepath.Join(data, "documents")))
	require.NoError(t, os.Chmod(closed, 0o777))
	require.NoError(t, w.checkFolder(filepath.Join(closed, "documents")))
	require.NoDirExists(t, filepath.Join(closed, "documents"), "it is not made")
}

func TestRunUser_FindsUnreadableFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can make a file of another user.")
		return
	}
	dir := writeConfig(t, "speech: {api_key: \"file:key\"}\n")
	file, key := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("secret"), 0o600))
	cfg, err := config.Load(file)
	require.NoError(t, err)
	w := RunUser{file: file, uid: 65534}
	err = w.CheckStart(t.Context(), cfg, cfg)
	require.ErrorContains(t, err, "nobody, who runs multis, may not read "+file+"; chown nobody: "+file+" && chmod 600 "+file)
	require.ErrorContains(t, err, "may not read "+key)
	require.NoError(t, os.Chown(file, w.uid, -1))
	require.NoError(t, os.Chown(key, w.uid, -1))
	require.NoError(t, w.checkFiles(cfg))
	require.NoError(t, os.Chmod(file, 0))
	require.ErrorContains(t, w.checkFiles(cfg), "may not read "+file)
}

func TestRunUser_ResolvesRelativeFolder(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	unit := filepath.Join(root, "etc/systemd/system/multis.service")
	require.NoError(t, os.MkdirAll(filepath.Dir(unit), 0o755))
	require.NoError(t, os.WriteFile(unit, []byte("[Service]\nProtectSystem=strict\nReadWritePaths="+dir+"\n"), 0o600))
	service, ok := Machine{Root: root}.ServiceUnit(t.Context(), filepath.Join(ServiceDir, "config.yaml"))
	require.True(t, ok)
	w := RunUser{service: &service}
	require.NoError(t, w.checkFolder("data"))
	require.ErrorContains(t, w.checkFolder("../data"), "read-only")
}

func TestRunUser_RefusesKernelFolders(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"/proc/documents", "/sys/a/b"} {
		require.ErrorContains(t, RunUser{}.checkFolder(folder), "cannot be ", folder)
	}
	if os.Geteuid() == 0 {
		require.ErrorContains(t, RunUser{}.checkFolder("/proc/documents"), "cannot be made: /proc belongs to the kernel")
	}
}
