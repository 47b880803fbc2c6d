package setup_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/setup"
)

// fakePrograms puts shell scripts before the programs of the machine and returns the file into which they write their arguments.
func fakePrograms(t *testing.T, scripts map[string]string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	for name, script := range scripts {
		text := "#!/bin/sh\necho \"" + name + " $*\" >> " + log + "\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

//nolint:paralleltest // it changes PATH
func TestService_StartsNowAndAtBoot(t *testing.T) {
	log := fakePrograms(t, map[string]string{"systemctl": ""})
	require.NoError(t, setup.StartService(t.Context()))
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "systemctl daemon-reload\nsystemctl enable multis\nsystemctl restart multis\n", string(said))
}

//nolint:paralleltest // it changes PATH
func TestService_FailedStartIsExplained(t *testing.T) {
	fakePrograms(t, map[string]string{"systemctl": `[ "$1" != restart ] || { echo 'Job for multis.service failed.' >&2; exit 1; }`})
	require.EqualError(t, setup.StartService(t.Context()), "systemctl restart multis: exit status 1: Job for multis.service failed.")
}

//nolint:paralleltest // it changes PATH
func TestService_FailedUserIsExplained(t *testing.T) {
	if known, err := user.Lookup("multis"); err == nil {
		uid, _, err := setup.EnsureUser(t.Context())
		require.NoError(t, err)
		require.Equal(t, known.Uid, strconv.Itoa(uid), "the user that is there")
		return
	}
	log := fakePrograms(t, map[string]string{"useradd": "echo 'cannot lock /etc/passwd' >&2; exit 1"})
	_, _, err := setup.EnsureUser(t.Context())
	require.ErrorContains(t, err, "make the user multis: useradd --system")
	require.ErrorContains(t, err, "cannot lock /etc/passwd")
	said, readErr := os.ReadFile(log)
	require.NoError(t, readErr)
	require.Equal(t, "useradd --system --user-group --home-dir /var/lib/multis --shell /usr/sbin/nologin multis\n", string(said))
}

// The unit of a package is left alone; without one, the program is copied to where the service can run it.
func TestService_UnreadableSecretIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can ask for another user.")
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/var", "multis-secret") //nolint:usetesting // t.TempDir is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("secret"), 0o600))
	check := func(isService bool, path string) error {
		return setup.CheckReadable(t.Context(), []string{path}, "/var/lib/multis", nobody, nobody, isService)
	}
	require.ErrorContains(t, check(true, key), "nobody, who runs multis, cannot read "+key+
		", which the configuration names: install -m 600 -o nobody "+key+" /var/lib/multis/, and")
	require.NoError(t, os.Chown(key, nobody, nobody))
	require.NoError(t, check(true, key))
	for _, hidden := range []string{"/root/key", "/home/you/key", "/tmp/key"} {
		require.ErrorContains(t, check(true, hidden), "cannot read "+hidden)
	}
	inTemporary := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(inTemporary, nil, 0o644))
	require.Error(t, check(true, inTemporary), "the service has temporary files of its own")
}

func TestService_FilesFitProgramPath(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "multis")
	require.NoError(t, os.WriteFile(program, []byte("program"), 0o755))
	m := machine(t, nil)
	files, err := m.ServiceFiles(program)
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, m.Root+"/usr/local/bin/multis", files[0].Path)
	require.Equal(t, "program", string(files[0].Data))
	require.Equal(t, m.Root+"/etc/systemd/system/multis.service", files[1].Path)
	require.Contains(t, string(files[1].Data), "ExecStart=/usr/local/bin/multis run")

	files, err = m.ServiceFiles("/usr/bin/multis")
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, string(files[0].Data), "ExecStart=/usr/bin/multis run")

	packaged := machine(t, map[string]string{"usr/lib/systemd/system/multis.service": "[Unit]\n"})
	files, err = packaged.ServiceFiles("/usr/bin/multis")
	require.NoError(t, err)
	require.Empty(t, files)
}
