//go:build chaos

// Package installtest installs multis as the README says, word by word: with Compose on a real Docker Engine and with systemd on a fresh
// Debian, each beside a real Synapse. "make test-compose" and "make test-release" run it.
package installtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"multis/deploy/guide"
	"multis/e2e/rig"
)

const (
	prices   = "# Prices\n\nAn e-bike costs 35 € a day. The deposit is 200 €.\n"
	question = "How much is the deposit?"
	answer   = "200 €"
)

// answers are what a person types when multis init asks: the Matrix id and the time zone, and then Enter.
const answers = "@you:example.org\nEurope/Rome\n\n\n\n\n\n\n\n\n"

func TestCompose_RunsAsGuidesSay(t *testing.T) {
	w := newWorld(t)
	w.write(t, "answers", answers, 0o644)
	w.write(t, "documents/prices.md", prices, 0o644)
	w.startSynapse(t)
	w.install(t)
	require.NoError(t, w.owner.joinAdminRoom(t.Context()))
	w.run(t, clone, "docker compose run --rm -T -v /mnt/documents:/documents:ro multis index --role public /documents")
	require.NoError(t, w.owner.ask(t.Context(), question, answer))

	w.isClosed(t)
	w.survives(t)
	w.isRestored(t)
	w.isMended(t)
	w.isUpgraded(t)
}

// install runs the README's section and counts what it takes. Its first block ends with a command that waits for the second.
func (w *world) install(t *testing.T) {
	t.Helper()
	blocks, err := guide.Blocks("../../README.md", "## Install with Docker Compose")
	require.NoError(t, err)
	require.Len(t, blocks, 3)
	commands := 0
	for _, block := range blocks {
		commands += len(block.Commands())
	}
	// The first command builds the image if it is missing. The image is built before the time is measured, because building
	// depends on the load of the machine.
	building := time.Now()
	w.run(t, clone, "docker compose build --quiet multis")
	built := time.Since(building)
	started := time.Now()
	setUp := make(chan error, 1)
	var printed string
	go func() {
		var err error
		printed, err = w.try(t, clone, "exec < /mnt/answers\n"+blocks[0].Text)
		t.Logf("%s\n%s", blocks[0].Text, printed)
		setUp <- err
	}()
	require.NoError(t, awaitFile(filepath.Join(w.dir, "multis/data/registration.yaml"), setUp))
	t.Logf("%s\n%s", blocks[1].Text, w.run(t, clone, blocks[1].Text))
	require.NoError(t, <-setUp)
	for _, command := range append(blocks[1].Commands(), "docker compose up -d --wait") {
		require.Contains(t, printed, command, "init prints what the README has people type")
	}
	t.Logf("%s\n%s", blocks[2].Text, w.run(t, clone, blocks[2].Text))
	took := time.Since(started)
	fmt.Printf("Compose, as the README says: %d commands, %.1f minutes, and %.1f for building the image\n", commands, took.Minutes(),
		built.Minutes())
	require.LessOrEqual(t, commands, 6)
	require.Less(t, took, 10*time.Minute)
}

// awaitFile waits until a file exists. It returns an error if the process that should write it ends before.
func awaitFile(path string, ended <-chan error) error {
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("it ended without %s: %w", path, err)
		case <-time.After(time.Second):
		}
	}
}

// isClosed checks the access rights of containers and files.
func (w *world) isClosed(t *testing.T) {
	t.Helper()
	secrets := w.run(t, clone,
		`cat secrets/postgres_password; echo; sed 's|.*:\(.*\)@.*|\1|' secrets/database_url; sed -n 's|^ *[ah]s_token: ||p' data/config.yaml`)
	inspected := w.run(t, clone, "docker ps --all --quiet | xargs docker inspect; docker image inspect multis-multis")
	for secret := range strings.Lines(secrets) {
		require.NotContains(t, inspected, strings.TrimSpace(secret))
	}
	require.Len(t, strings.Fields(secrets), 4)
	require.Empty(t, w.run(t, clone, "find data secrets -user 0"), "no file belongs to root")
	for service, id := range w.containers(t) {
		status := w.run(t, "/", "cat /proc/$(docker inspect --format '{{.State.Pid}}' "+id+")/status")
		require.NotRegexp(t, `(?m)^Uid:.*\b0\b`, status, service)
		require.Regexp(t, `(?m)^CapEff:\s+0+$`, status, service)
		require.Regexp(t, `(?m)^NoNewPrivs:\s+1$`, status, service)
	}
	require.Equal(t, "true", strings.TrimSpace(w.run(t, clone,
		"docker inspect --format '{{.HostConfig.ReadonlyRootfs}}' "+w.containers(t)["multis"])))
	require.Equal(t, "multis dev-"+w.commit[:12]+"\n", w.run(t, clone, "docker compose exec -T multis multis version"))
	_, err := w.try(t, "/", "docker exec synapse python3 -c \"import socket; socket.create_connection(('multis-postgres', 5432), 5)\"")
	require.Error(t, err, "Synapse must not reach the database of multis")
}

// survives checks that multis works after restarts and kills of every container, after down and up, and after a power failure.
func (w *world) survives(t *testing.T) {
	t.Helper()
	asks := func(after string) {
		started := time.Now()
		w.awaitHealthy(t)
		require.NoError(t, w.owner.ask(t.Context(), question, answer), after)
		t.Logf("answers %.0f s after %s", time.Since(started).Seconds(), after)
	}
	for service, id := range w.containers(t) {
		w.run(t, clone, "docker compose restart "+service)
		asks("a restart of " + service)
		w.run(t, "/", "kill -KILL $(docker inspect --format '{{.State.Pid}}' "+id+")")
		asks("a kill of " + service)
	}
	w.run(t, "/", "docker restart synapse")
	asks("a restart of Synapse")
	w.run(t, clone, "docker compose down && docker compose up -d --wait")
	asks("down and up")
	w.engine.Kill()
	require.NoError(t, w.engine.Start(t.Context()))
	w.mountSynapse(t)
	w.run(t, "/", "docker restart synapse") // its folder was mounted after it had started
	asks("a power cut")
}

// isRestored makes a backup, and restores it in place of the database as the guide says.
func (w *world) isRestored(t *testing.T) {
	t.Helper()
	w.run(t, clone, "docker compose exec -T multis multis backup create")
	folder := filepath.Join(w.dir, "multis/data/data/backups")
	before, err := os.ReadDir(folder)
	require.NoError(t, err)
	// as multis prints it where it does not start without a backup
	w.run(t, clone, "docker compose run --rm -T multis backup create && docker compose up -d --wait")
	after, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, after, len(before)+1)
	require.Contains(t, w.run(t, clone, "docker compose run --rm -T --build multis migrate"), "The database is up to date.")
	report, _ := w.try(t, clone, "docker compose exec -T multis multis doctor") // its status is that of the findings
	require.Contains(t, report, "✓ database")
	require.NotContains(t, report, "✗")
	backup := strings.TrimSpace(w.run(t, clone, "ls -t data/data/backups | head -n 1"))
	blocks, err := guide.Blocks("../../docs/backup.md", "## Restore")
	require.NoError(t, err)
	restore := regexp.MustCompile(`multis-\S+\.tar\.gz`).ReplaceAllString(blocks[len(blocks)-1].Text, backup)
	require.Contains(t, restore, "docker compose run --rm multis backup restore /data/data/backups/"+backup)
	t.Logf("%s\n%s", restore, w.run(t, clone, restore)) // which removes the database
	w.awaitHealthy(t)
	require.NoError(t, w.owner.ask(t.Context(), question, answer), "after a restore")
}

// isMended makes the first set-up of a database fail, and then corrects the cause that the error names.
func (w *world) isMended(t *testing.T) {
	t.Helper()
	w.run(t, clone, `docker compose down --volumes
		cp secrets/database_url /mnt/database_url
		echo postgres://multis@multis-postgres/multis > secrets/database_url`)
	out, err := w.try(t, clone, "docker compose up -d --wait")
	require.Error(t, err, out)
	require.Contains(t, w.run(t, clone, "docker compose logs multis-database"), "secrets/database_url must read postgres://multis:PASSWORD@")
	w.run(t, clone, "cat /mnt/database_url > secrets/database_url && docker compose up -d --wait")
	require.NoError(t, w.owner.ask(t.Context(), "/status", "multis"), "with a new database")
}

// isUpgraded installs the previous build, and upgrades it as the guide says.
func (w *world) isUpgraded(t *testing.T) {
	t.Helper()
	guideText, err := os.ReadFile("../../docs/backup.md")
	require.NoError(t, err)
	const upgrade = "docker compose up -d --build --wait"
	require.Contains(t, string(guideText), upgrade)
	w.checkOut(t, "previous", revision(t, rig.PreviousCommit))
	w.configurePrevious(t)
	w.run(t, clone, `docker compose down --volumes
		docker build --quiet --tag multis-multis --build-arg VERSION=previous --file deploy/Dockerfile /mnt/previous
		docker compose up -d --no-build --wait`)
	require.Equal(t, "multis previous\n", w.run(t, clone, "docker compose exec -T multis multis version"))
	w.run(t, clone, "docker compose run --rm -T -v /mnt/documents:/documents:ro multis index --role public /documents")
	require.NoError(t, w.owner.ask(t.Context(), question, answer), "in the admin room that was there before")
	w.run(t, clone, upgrade)
	require.NotContains(t, w.run(t, clone, "docker compose exec -T multis multis version"), "previous")
	require.NoError(t, w.owner.ask(t.Context(), question, answer))
	_, err = os.Stat(filepath.Join(w.dir, "multis", "data"))
	require.NoError(t, err)
}

// configurePrevious removes the keys from the configuration that the previous build does not know.
func (w *world) configurePrevious(t *testing.T) {
	t.Helper()
	var all, known map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(w.run(t, clone, "cat data/config.yaml")), &all))
	known = map[string]any{}
	for _, key := range []string{"homeserver", "appservice", "owner", "time_zone", "name"} {
		known[key] = all[key]
	}
	text, err := yaml.Marshal(known)
	require.NoError(t, err)
	w.write(t, "config.yaml", string(text), 0o600)
	w.run(t, clone, "cat /mnt/config.yaml > data/config.yaml")
}

func TestImage_CrossBuildsForARM(t *testing.T) {
	w := newWorld(t)
	started := time.Now()
	w.run(t, clone, "docker build --quiet --platform linux/arm64 --tag multis-arm64 --file deploy/Dockerfile .")
	t.Logf("built in %.0f s", time.Since(started).Seconds())
	require.Equal(t, "linux/arm64 user 1337:1337\n", w.run(t, "/",
		"docker image inspect --format '{{.Os}}/{{.Architecture}} user {{.Config.User}}' multis-arm64"))
	w.run(t, "/", "docker create --platform linux/arm64 --name arm64 multis-arm64 && docker cp arm64:/usr/local/bin/multis /mnt/multis-arm64")
	out, err := emulator(t, w.dir, filepath.Join(w.dir, "multis-arm64"), "version").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "multis dev-"+w.commit[:12]+"\n", string(out))
}

func TestCompose_FullProfileFromBareClone(t *testing.T) {
	w := newWorld(t)
	w.write(t, "documents/prices.md", prices, 0o644)
	started := time.Now()
	w.run(t, clone, "docker compose --profile full up -d")
	require.NoError(t, awaitLong(t.Context(), "the contacts to have written", func(context.Context) error {
		out, err := w.try(t, clone,
			`test "$(docker inspect --format '{{.State.Status}} {{.State.ExitCode}}' multis-multis-contacts-1)" = "exited 0"`)
		if err != nil {
			return fmt.Errorf("%w %s", err, out)
		}
		return nil
	}))
	t.Logf("up after %.0f s\n%s", time.Since(started).Seconds(), w.run(t, clone, "docker compose logs --no-log-prefix multis-contacts"))
	var err error
	w.owner, err = logIn(t.Context(), w.engine)
	require.NoError(t, err)
	require.NoError(t, w.owner.joinAdminRoom(t.Context()))
	w.run(t, clone, "docker compose run --rm -T -v /mnt/documents:/documents:ro multis index --role public /documents")
	require.NoError(t, w.owner.ask(t.Context(), question, answer))
	require.NoError(t, w.owner.ask(t.Context(), "/mode business Ana", "business"))
	w.run(t, clone, `docker compose exec -T multis-bridge full say ana "`+question+`"`)
	require.NoError(t, w.owner.awaitReply(t.Context(), answer))

	w.run(t, clone, "docker compose --profile full down && docker compose --profile full up -d")
	require.NoError(t, w.owner.ask(t.Context(), question, answer), "after down and up")
	require.Empty(t, w.run(t, clone, "find data secrets -user 0"), "no file belongs to root")
}
