//go:build chaos

package installtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
)

// synapseImage is the image of Synapse that docker-compose.yml names.
const synapseImage = "matrixdotorg/synapse:v1.160.0"

// clone is where the engine has the clone of this repository.
const clone = "/mnt/multis"

// world is a machine with Docker, a Synapse in a container, and a clone of this repository.
type world struct {
	engine *devstack.Engine
	dir    string // /mnt of the engine
	commit string // of the clone
	owner  *owner
}

// newWorld starts an engine that has the base images and nothing else, and clones the last commit.
func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := devstack.PrepareEngine(t.Context(), t.Output())
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755)) // the users of the containers enter it
	engine, err := devstack.NewEngine(t.Context(), root, dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Stop()) })
	w := &world{engine: engine, dir: dir}
	w.run(t, "/", `docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes
		docker volume ls --quiet | xargs --no-run-if-empty docker volume rm
		docker network prune --force
		docker image ls --quiet --filter 'reference=multis-*' | xargs --no-run-if-empty docker image rm --force
		docker image prune --force`)
	t.Cleanup(func() { // what containers wrote belongs to their users
		cmd := engine.Command(context.Background(), "/mnt", "sh", "-c",
			"docker ps --quiet | xargs --no-run-if-empty docker kill; rm -rf multis previous synapse")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	})
	started := time.Now()
	require.NoError(t, baseImages(t.Context(), engine, root))
	t.Logf("base images: %.0f s", time.Since(started).Seconds())
	w.commit = revision(t, "HEAD")
	w.checkOut(t, "multis", w.commit)
	return w
}

// checkOut clones this repository below the engine's /mnt, at a commit.
func (w *world) checkOut(t *testing.T, name, commit string) {
	t.Helper()
	to := filepath.Join(w.dir, name)
	for _, argv := range [][]string{
		{"git", "clone", "--quiet", "--no-hardlinks", "../..", to},
		{"git", "-C", to, "checkout", "--quiet", "--detach", commit},
	} {
		out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// revision returns the number of a commit.
func revision(t *testing.T, commit string) string {
	t.Helper()
	number, err := output(t.Context(), "git", "rev-parse", commit)
	require.NoError(t, err)
	return number
}

// run runs a script in a folder of the engine's machine and returns what it printed.
func (w *world) run(t *testing.T, dir, script string) string {
	t.Helper()
	out, err := w.try(t, dir, script)
	require.NoError(t, err, out)
	return out
}

// try runs a script that may fail.
func (w *world) try(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	cmd := w.engine.Command(t.Context(), dir, "bash", "-euo", "pipefail", "-c", script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// write puts a file on the engine's machine.
func (w *world) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
}

// startSynapse starts the Synapse that was there before, which has /srv/synapse as its /data, and registers the owner.
func (w *world) startSynapse(t *testing.T) {
	t.Helper()
	config, err := os.ReadFile("testdata/homeserver.yaml")
	require.NoError(t, err)
	w.write(t, "synapse/homeserver.yaml", string(config), 0o644)
	w.mountSynapse(t)
	w.run(t, "/", `echo 'ed25519 a_dev AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' > /srv/synapse/signing.key
		chown -R 991:991 /srv/synapse
		docker network create matrix
		docker run --detach --name synapse --restart unless-stopped --network matrix --publish 127.0.0.1:8008:8008 --volume /srv/synapse:/data `+
		synapseImage)
	w.owner, err = newOwner(t.Context(), w.engine)
	require.NoError(t, err)
}

// mountSynapse makes Synapse's folder appear where the README has it.
func (w *world) mountSynapse(t *testing.T) {
	t.Helper()
	w.run(t, "/", "mkdir -p /srv/synapse && mount --bind /mnt/synapse /srv/synapse")
}

// containers are the containers of Compose that run, by service.
func (w *world) containers(t *testing.T) map[string]string {
	t.Helper()
	services := map[string]string{}
	for line := range strings.Lines(w.run(t, clone, `docker compose ps --format '{{.Service}} {{.ID}}'`)) {
		service, id, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, ok, line)
		services[service] = id
	}
	return services
}

// awaitHealthy waits until multis is ready.
func (w *world) awaitHealthy(t *testing.T) {
	t.Helper()
	require.NoError(t, awaitLong(t.Context(), "multis to be healthy", func(context.Context) error {
		_, err := w.try(t, clone, "docker compose exec -T multis multis health")
		return err
	}))
}
