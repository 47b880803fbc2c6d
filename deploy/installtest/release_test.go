//go:build chaos

package installtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
)

// build builds a release of this machine's architecture, in a folder of source code and with an environment.
func build(t *testing.T, source, dir string, env ...string) {
	t.Helper()
	arch, err := exec.CommandContext(t.Context(), "go", "env", "GOHOSTARCH").Output()
	require.NoError(t, err)
	buildFor(t, strings.TrimSpace(string(arch)), source, dir, env...)
}

// buildFor builds a release of one architecture.
func buildFor(t *testing.T, arch, source, dir string, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(source, "deploy/release.sh"), dir, arch)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// emulator returns a command that runs a program for arm64 on this machine.
func emulator(t *testing.T, dir, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "qemu-aarch64-static", append([]string{program}, args...)...)
	cmd.Dir = dir
	return cmd
}

func TestRelease_ARMBuildRuns(t *testing.T) {
	dir, dist := t.TempDir(), filepath.Join(t.TempDir(), "dist")
	buildFor(t, "arm64", "../..", dist)
	packages, err := filepath.Glob(filepath.Join(dist, "multis_*_arm64.deb"))
	require.NoError(t, err)
	require.Len(t, packages, 1)
	arch, err := output(t.Context(), "dpkg-deb", "--field", packages[0], "Architecture")
	require.NoError(t, err)
	require.Equal(t, "arm64", arch)
	unpacked := t.TempDir()
	_, err = output(t.Context(), "dpkg-deb", "--extract", packages[0], unpacked)
	require.NoError(t, err)
	for _, program := range []string{filepath.Join(dist, "multis-linux-arm64"), filepath.Join(unpacked, "usr/bin/multis")} {
		t.Run(program, func(t *testing.T) {
			out, err := emulator(t, dir, program, "version").CombinedOutput()
			require.NoError(t, err, string(out))
			require.Regexp(t, "^multis [0-9a-z]", string(out))
			out, err = emulator(t, dir, program, "doctor").CombinedOutput()
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, string(out))
			require.Equal(t, 2, failed.ExitCode(), string(out))
			require.Contains(t, string(out), "[config.missing]")
		})
	}

	// With a database, which multis starts from the programs of this machine.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	chat := emulator(t, dir, filepath.Join(dist, "multis-linux-arm64"), "chat", "--data", filepath.Join(dir, "data"))
	chat.Stdin = strings.NewReader("/remember The deposit is 200 €.\n" + question + "\nexit\n")
	out, err := chat.CombinedOutput()
	require.NoError(t, err, string(out))
	_, found, _ := strings.Cut(string(out), "here is what I found")
	require.Contains(t, found, answer, string(out))
}

// The second build uses another folder and an empty build cache, so everything is compiled again.
func TestRelease_BuildIsReproducible(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, source := range []string{first, second} {
		t.Run(source, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "../..", source).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
	build(t, first, filepath.Join(first, "dist"))
	build(t, second, filepath.Join(second, "dist"), "GOCACHE="+filepath.Join(dir, "cache"))
	sums, err := os.ReadFile(filepath.Join(first, "dist/SHA256SUMS"))
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(sums)), "\n"), 3, "the program, its SBOM and the package")
	again, err := os.ReadFile(filepath.Join(second, "dist/SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(sums), string(again))
}

// newMachine boots a fresh Debian with a release in /mnt/dist.
func newMachine(t *testing.T) *devstack.Machine {
	t.Helper()
	root, err := devstack.PrepareMachine(t.Context(), t.Output())
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	build(t, "../..", filepath.Join(dir, "dist"))
	m, err := devstack.StartMachine(t.Context(), root, dir)
	require.NoError(t, err)
	t.Cleanup(m.Kill)
	return m
}

// runOn runs a script as root on the machine and returns what it printed.
func runOn(t *testing.T, m *devstack.Machine, script string) string {
	t.Helper()
	out, err := m.Command(t.Context(), "/root", "bash", "-euo", "pipefail", "-c", script).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestPackage_KeepsExistingUserAndFolder(t *testing.T) {
	m := newMachine(t)
	// root has run multis in this folder before.
	runOn(t, m, "mkdir /var/lib/multis && touch /var/lib/multis/config.yaml")
	runOn(t, m, "apt-get install --no-install-recommends -y /mnt/dist/multis_*.deb")
	require.Equal(t, "multis:multis 750\nmultis:multis 644\n", runOn(t, m, "stat -c '%U:%G %a' /var/lib/multis /var/lib/multis/config.yaml"))
	require.Equal(t, "/usr/bin/multis run\n", runOn(t, m,
		"systemctl show --property ExecStart --value multis | sed 's/.*argv\\[\\]=\\([^;]*\\) ;.*/\\1/'"))
	require.Equal(t, "/var/lib/multis:/usr/sbin/nologin\n", runOn(t, m, "getent passwd multis | cut -d: -f6-"))
	require.Contains(t, runOn(t, m, "multis version"), "multis ")
	require.Equal(t, "disabled\n", runOn(t, m, "systemctl is-enabled multis || true"), "nothing starts before it is configured")
	runOn(t, m, "systemd-analyze verify multis.service")
	runOn(t, m, "source /usr/share/bash-completion/completions/multis && complete -p multis")
	require.Contains(t, runOn(t, m, "dpkg --listfiles multis"), "/usr/share/man/man1/multis.1.gz\n")

	// A multis that was installed by hand is named, because it hides the one of the package.
	require.NotContains(t, runOn(t, m, "/var/lib/dpkg/info/multis.postinst configure 2>&1"), "warning")
	runOn(t, m, "cp /usr/lib/systemd/system/multis.service /etc/systemd/system/ && ln -s /usr/bin/multis /usr/local/bin/multis")
	warned := runOn(t, m, "/var/lib/dpkg/info/multis.postinst configure 2>&1")
	require.Contains(t, warned, "/etc/systemd/system/multis.service hides /usr/lib/systemd/system/multis.service")
	require.Contains(t, warned, "rm /usr/local/bin/multis && systemctl daemon-reload")
	runOn(t, m, "rm /etc/systemd/system/multis.service /usr/local/bin/multis && systemctl daemon-reload")

	// The package is removed and installed again, which must lose no data.
	require.Contains(t, runOn(t, m, "apt-get purge -y multis"), "/var/lib/multis and the user multis stay")
	runOn(t, m, "test -e /var/lib/multis/config.yaml && getent passwd multis")
	runOn(t, m, "apt-get install --no-install-recommends -y /mnt/dist/multis_*.deb")
}
