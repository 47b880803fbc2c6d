package main

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nobody is the id of a user that every Linux system has, and that runs no process of multis.
const nobody = 65534

// service is a running multis with its own Postgres server. If root runs the test, the service runs as another user.
type service struct {
	t    *testing.T
	dir  string
	self string // this program, where the service's user can reach it
	cmd  *exec.Cmd
}

func openService(t *testing.T) *service {
	t.Helper()
	dir, err := os.MkdirTemp("", "multis-service") //nolint:usetesting // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	s := &service{t: t, dir: filepath.Join(dir, "home"), self: filepath.Join(dir, "multis")}
	require.NoError(t, os.Mkdir(s.dir, 0o755))
	program, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer program.Close()
	copied, err := os.OpenFile(s.self, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(copied, program)
	require.NoError(t, err)
	require.NoError(t, copied.Close())
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.yaml"), fmt.Appendf(nil, serveConfig, "http://127.0.0.1:1", freePort(t), ""),
		0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(s.dir, nobody, nobody))
		require.NoError(t, os.Chown(filepath.Join(s.dir, "config.yaml"), nobody, nobody))
	}
	t.Cleanup(s.stop)
	return s
}

// start runs the service until its database can be used.
func (s *service) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.self, "run")
	s.cmd.Dir, s.cmd.Env = s.dir, append(os.Environ(), asProgram+"=1")
	if os.Geteuid() == 0 {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var log strings.Builder
	s.cmd.Stderr = &log
	require.NoError(s.t, s.cmd.Start())
	require.Eventually(s.t, s.isReady, time.Minute, 50*time.Millisecond, "the service listens for the homeserver")
}

// command runs a multis command as the user of the test, in the service's folder.
func (s *service) command(args ...string) (stdout, stderr string, err error) {
	s.t.Helper()
	return programAt(s.t, s.self, s.dir, "", args...)
}

// isReady reports whether the service has its database and listens for the homeserver.
func (s *service) isReady() bool {
	text, err := os.ReadFile(filepath.Join(s.dir, "config.yaml"))
	require.NoError(s.t, err)
	_, rest, _ := strings.Cut(string(text), "port: ")
	port, _, _ := strings.Cut(rest, ",")
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func (s *service) stop() {
	if s.cmd == nil {
		return
	}
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(s.t, s.cmd.Wait())
	s.cmd = nil
}

// requireOwnFiles requires that the service's user owns all files in its folder.
func (s *service) requireOwnFiles() {
	s.t.Helper()
	owner := uint32(os.Geteuid())
	if owner == 0 {
		owner = nobody
	}
	require.NoError(s.t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) { // the database has just deleted the file
			return nil
		}
		require.NoError(s.t, err)
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		require.NoError(s.t, err)
		now, ok := info.Sys().(*syscall.Stat_t)
		require.True(s.t, ok)
		require.Equal(s.t, owner, now.Uid, path)
		return nil
	}))
}

func TestRoot_CommandsWorkBesideService(t *testing.T) {
	t.Parallel()
	s := openService(t)
	search := func() {
		t.Helper()
		said, stderr, err := s.command("search", "nothing")
		require.NoError(t, err, stderr)
		require.Equal(t, "Nothing found.\n", said)
		s.requireOwnFiles()
	}
	search() // before the service ran for the first time
	s.start()
	search()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "prices.md"), []byte("# Prices\n\nA consultation costs 80 EUR.\n"), 0o644))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Join(s.dir, "prices.md"), nobody, nobody))
	}
	said, stderr, err := s.command("index", "--role", "public", "prices.md")
	require.NoError(t, err, said+stderr)
	said, _, err = s.command("search", "consultation")
	require.NoError(t, err)
	require.Contains(t, said, "80 EUR")
	require.True(t, s.isReady(), "the service goes on")
	s.stop()
	search()
	s.start() // on the data as the commands left it
	s.requireOwnFiles()
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(s.self, 0o700), "where only root reaches it")
		_, stderr, err = s.command("index", "--role", "public", "prices.md")
		require.Error(t, err)
		require.Contains(t, stderr, "the user who runs multis cannot run "+s.self+": permission denied; copy it")
	}
}

// On a new machine the folder belongs to the user of the service and is empty, and root restores into it.
func TestRoot_RestoredFilesKeepOwner(t *testing.T) {
	t.Parallel()
	old := configured(t, newLargeStore(t).Pool().Config().ConnString(), "")
	_, _, err := program(t, old, "", "backup", "create")
	require.NoError(t, err)
	backups := filepath.Join(old, "data", "backups")
	s := openService(t)
	require.NoError(t, os.Remove(filepath.Join(s.dir, "config.yaml")))
	cmd := exec.CommandContext(t.Context(), s.self, "backup", "restore", filepath.Join(backups, filesIn(t, backups)[0]))
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), asProgram+"=1")
	out, _ := cmd.CombinedOutput() // it fails, because that user cannot use the database of the tests
	require.Contains(t, string(out), "The configuration is that of the backup.")
	for _, name := range []string{"config.yaml.from-backup", "data"} {
		info, err := os.Stat(filepath.Join(s.dir, name))
		require.NoError(t, err)
		owner, ok := info.Sys().(*syscall.Stat_t)
		require.True(t, ok)
		want := uint32(os.Geteuid())
		if want == 0 {
			want = nobody
		}
		require.Equal(t, want, owner.Uid, name)
	}
}
