package main

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/ops/setup"
)

func TestTheCheckOfAConfigurationFindsWhatWouldKeepItFromStarting(t *testing.T) {
	t.Parallel()
	used, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer used.Close()
	_, port, err := net.SplitHostPort(used.Addr().String())
	require.NoError(t, err)
	for more, complaint := range map[string]string{
		"documents: {folder: /dev/null/documents}\n":                    "documents.folder: cannot be made: /dev/null is no folder",
		"logging: {file: /dev/null/log}\n":                              "logging.file: cannot be made: /dev/null is no folder",
		"watches: {hostname: 127.0.0.1, port: " + port + "}\n":          "watches.port: is in use by another program",
		"policy: {rules: [{tool: nothing_like_it, decision: allow}]}\n": "there is no tool nothing_like_it",
	} {
		dir := configured(t, "postgres://nobody@127.0.0.1:1/none", more)
		_, said, err := program(t, dir, "", "config", "check")
		require.Error(t, err, more)
		require.Contains(t, said, complaint)
		said, _, err = program(t, dir, "", "doctor")
		require.Error(t, err)
		require.Contains(t, said, "multis cannot start with this: ")
		require.Contains(t, said, "[config.start]")
	}
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "watches: {hostname: 127.0.0.1, port: "+port+"}\n")
	_, said, err := program(t, dir, "", "config", "set", "documents.folder", "/dev/null/documents")
	require.Error(t, err)
	require.Contains(t, said, "documents.folder: cannot be made: /dev/null is no folder")
	require.NotContains(t, said, "watches.port", "which was so before")
	_, said, err = program(t, dir, "", "config", "set", "watches.port", "0")
	require.NoError(t, err, said)
	said, complaint, err := program(t, dir, "", "config", "check")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "is valid")
}

func TestAMultisThatRunsMayChangeTheInterfaceOfItsPort(t *testing.T) {
	t.Parallel()
	own, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer own.Close()
	address, ok := own.Addr().(*net.TCPAddr)
	require.True(t, ok)
	file := filepath.Join(configured(t, "postgres://nobody@127.0.0.1:1/none", ""), "config.yaml")
	running, err := config.Load(file)
	require.NoError(t, err)
	running.Appservice.Hostname, running.Appservice.Port = "127.0.0.1", address.Port
	next := *running
	next.Appservice.Hostname = "0.0.0.0"
	require.NoError(t, runUser{}.checkStart(t.Context(), running, &next))
	require.ErrorContains(t, runUser{}.checkStart(t.Context(), nil, &next), "appservice.port: is in use by another program")
}

func TestAPortThatIsHeldForAMomentIsNotInUse(t *testing.T) {
	t.Parallel()
	held, err := listenOn(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	port := held.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on TCP
	time.AfterFunc(30*time.Millisecond, func() { held.Close() })
	listener, err := listenOn(t.Context(), "127.0.0.1", port)
	require.NoError(t, err)
	defer listener.Close()
	_, err = listenOn(t.Context(), "127.0.0.1", port)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestTwoListenersOfMultisOnOnePortAreFound(t *testing.T) {
	t.Parallel()
	file := filepath.Join(configured(t, "postgres://nobody@127.0.0.1:1/none", ""), "config.yaml")
	running, err := config.Load(file)
	require.NoError(t, err)
	next := *running
	next.Watches.Port = next.Appservice.Port
	require.ErrorContains(t, runUser{}.checkStart(t.Context(), running, &next), "watches.port: is the same as appservice.port; choose another port")
	next.Watches.Port, next.MCPServer.Port, next.MCPServer.Hostname = 0, next.Appservice.Port, "0.0.0.0"
	require.ErrorContains(t, runUser{}.checkStart(t.Context(), running, &next), "mcp_server.port: is the same as appservice.port")
	next.Appservice.Hostname, next.MCPServer.Hostname = "127.0.0.1", "192.0.2.1"
	require.NoError(t, runUser{}.checkStart(t.Context(), running, &next), "another interface")
}

func TestFoldersOfBackupsAndSkillsAreCheckedAndSetBack(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "")
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	_, complaint, err := program(t, dir, "", "config", "set", "backup.folder", filepath.Join(taken, "backups"))
	require.Error(t, err)
	require.Contains(t, complaint, "is no folder; choose a folder that multis can use, or take the default, backups: multis config set backup.folder ''")
	_, complaint, err = program(t, dir, "", "config", "set", "skills.folder", filepath.Join(dir, "missing"))
	require.Error(t, err)
	require.Contains(t, complaint, "skills.folder: cannot be used")
	_, complaint, err = program(t, dir, "", "config", "set", "backup.folder", filepath.Join(dir, "other"))
	require.NoError(t, err, complaint)
	_, complaint, err = program(t, dir, "", "config", "set", "backup.folder", "")
	require.NoError(t, err, complaint)
	said, _, err := program(t, dir, "", "config", "diff")
	require.NoError(t, err)
	require.NotContains(t, said, "backup.folder")
}

func TestAFolderThatOnlyAnotherUserMayWriteToIsFound(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can make a folder of another user.")
		return
	}
	data, closed := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chown(data, 65534, 65534))
	w, err := runUserOf(t.Context(), filepath.Join(data, "config.yaml"), &config.Config{Database: config.Database{DataDir: filepath.Join(closed, "data")}})
	require.NoError(t, err)
	require.Equal(t, 65534, w.uid, "the owner of the configuration's folder, not of a data folder that is still to be made")
	require.ErrorIs(t, w.checkFolder(filepath.Join(closed, "documents")), os.ErrPermission)
	require.NoError(t, w.checkFolder(filepath.Join(data, "documents")))
	require.NoError(t, os.Chmod(closed, 0o777))
	require.NoError(t, w.checkFolder(filepath.Join(closed, "documents")))
	require.NoDirExists(t, filepath.Join(closed, "documents"), "it is not made")
}

// A command of root's that took the data folder over, such as chown or cp: the default is the same folder, and another one would be empty.
func TestADataFolderOfAnotherUserIsGivenBack(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can give a folder to another user.")
		return
	}
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "")
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(cfg.Database.DataDir, "documents"), 0o700))
	w := runUser{uid: 65534}
	err = w.checkStart(t.Context(), cfg, cfg)
	require.ErrorContains(t, err, "permission denied; chown -R nobody: "+cfg.Database.DataDir)
	require.NotContains(t, err.Error(), "config set")
	require.NoError(t, os.Chown(cfg.Database.DataDir, w.uid, -1))
	require.ErrorContains(t, w.checkStart(t.Context(), cfg, cfg), "documents: permission denied; chown -R nobody: "+cfg.Database.DataDir)
}

func TestFilesThatOnlyAnotherUserMayReadAreFound(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can make a file of another user.")
		return
	}
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "speech: {api_key: \"file:key\"}\n")
	file, key := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("secret"), 0o600))
	cfg, err := config.Load(file)
	require.NoError(t, err)
	w := runUser{file: file, uid: 65534}
	err = w.checkStart(t.Context(), cfg, cfg)
	require.ErrorContains(t, err, "nobody, who runs multis, may not read "+file+"; chown nobody: "+file+" && chmod 600 "+file)
	require.ErrorContains(t, err, "may not read "+key)
	require.NoError(t, os.Chown(file, w.uid, -1))
	require.NoError(t, os.Chown(key, w.uid, -1))
	require.NoError(t, w.checkFiles(cfg))
	require.NoError(t, os.Chmod(file, 0))
	require.ErrorContains(t, w.checkFiles(cfg), "may not read "+file)
}

func TestARelativeFolderIsJudgedByItsWholePath(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	unit := filepath.Join(root, "etc/systemd/system/multis.service")
	require.NoError(t, os.MkdirAll(filepath.Dir(unit), 0o755))
	require.NoError(t, os.WriteFile(unit, []byte("[Service]\nProtectSystem=strict\nReadWritePaths="+dir+"\n"), 0o600))
	service, ok := setup.Machine{Root: root}.ServiceUnit(t.Context(), filepath.Join(setup.ServiceDir, "config.yaml"))
	require.True(t, ok)
	w := runUser{service: &service}
	require.NoError(t, w.checkFolder("data"))
	require.ErrorContains(t, w.checkFolder("../data"), "read-only")
}

func TestAFolderOfTheKernelIsRefusedEvenForRoot(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"/proc/documents", "/sys/a/b"} {
		require.ErrorContains(t, runUser{}.checkFolder(folder), "cannot be ", folder)
	}
	if os.Geteuid() == 0 {
		require.ErrorContains(t, runUser{}.checkFolder("/proc/documents"), "cannot be made: /proc belongs to the kernel")
	}
}
