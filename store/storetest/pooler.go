package storetest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// poolerConfig gives each transaction another connection than the one before, and accepts no parameter of the start that PgBouncer does not
// know.
const poolerConfig = `[databases]
* = host=%s port=5432 user=multis
[pgbouncer]
pool_mode = transaction
server_round_robin = 1
default_pool_size = 8
auth_type = any
listen_port = 6432
unix_socket_dir = %s
`

// Pooler starts a PgBouncer with pool_mode transaction before the database at an address of DSN, and returns its address.
func Pooler(t testing.TB, dsn string) string {
	t.Helper()
	program := findPooler(t)
	dir, err := makeFolder("")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	address, err := url.Parse(dsn)
	require.NoError(t, err)
	file := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, poolerConfig, address.Query().Get("host"), dir), 0o600))
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command(program, file)
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT, Credential: ownerOf(t, address.Query().Get("host"))}
	if as := cmd.SysProcAttr.Credential; as != nil {
		require.NoError(t, os.Chown(dir, int(as.Uid), int(as.Gid)))
		require.NoError(t, os.Chown(file, int(as.Uid), int(as.Gid)))
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if it has ended
		_ = cmd.Wait()         // it was killed
	})
	pooled := fmt.Sprintf("postgres://%s@/%s?host=%s&port=6432", login, address.Path[1:], dir)
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), pooled)
		return err == nil && conn.Close(t.Context()) == nil
	}, time.Minute, 50*time.Millisecond, "PgBouncer answers")
	return pooled
}

// findPooler returns the path of PgBouncer. Debian has it in a folder that is only on root's path.
func findPooler(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	require.Fail(t, "there is no PgBouncer: deploy/setup.sh postgres installs it")
	return ""
}

// ownerOf returns the user that owns a folder of the server, as whom PgBouncer must run to reach it; nil if that is the user of the tests.
func ownerOf(t testing.TB, folder string) *syscall.Credential {
	t.Helper()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	owner, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	if int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
}
