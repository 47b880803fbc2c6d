//go:build chaos

package installtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
	"multis/deploy/guide"
	"multis/ops/doctor"
)

// synapseSettings configure Debian's Synapse as an existing homeserver.
const synapseSettings = `server_name: example.org
registration_shared_secret: secret
trusted_key_servers: []
suppress_key_server_warning: true
listeners:
  - {port: 8008, bind_addresses: ["127.0.0.1"], type: http, resources: [{names: [client]}]}
`

// startSynapseOn starts Debian's Synapse as a service and registers the owner.
func startSynapseOn(t *testing.T, m *devstack.Machine) *owner {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir, "server_name.yaml"), []byte(synapseSettings), 0o644))
	runOn(t, m, `install -m 644 /mnt/server_name.yaml /etc/matrix-synapse/conf.d/
		chown -R matrix-synapse: /etc/matrix-synapse
		systemctl start matrix-synapse`)
	o, err := newOwner(t.Context(), m)
	require.NoError(t, err)
	return o
}

func TestSystemd_RunsInstalledPackage(t *testing.T) {
	m := newMachine(t)
	o := startSynapseOn(t, m)
	runOn(t, m, "cp /mnt/dist/multis_*.deb /root/")
	blocks, err := guide.Blocks("../../README.md", "## Install beside your Synapse")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(blocks), 2)
	commands := len(blocks[0].Commands()) + len(blocks[1].Commands())

	started := time.Now()
	setUpOn(t, m, blocks[0].Text, blocks[1].Text)
	require.NoError(t, o.joinAdminRoom(t.Context()))
	require.NoError(t, o.ask(t.Context(), "/remember The deposit is 200 €.", "deposit"))
	require.NoError(t, o.ask(t.Context(), question, answer))
	took := time.Since(started)
	fmt.Printf("systemd, as the README says: %d commands, %.1f minutes to the first answer\n", commands, took.Minutes())
	require.LessOrEqual(t, commands, 6)
	require.Less(t, took, 10*time.Minute)

	// Commands that root runs in the folder of the service must not break the service.
	runOn(t, m, "cd /var/lib/multis && multis search deposit && multis doctor || true")
	require.Equal(t, "active\n", runOn(t, m, "systemctl is-active multis"))
	require.Empty(t, runOn(t, m, "find /var/lib/multis -user root"))
	require.NoError(t, o.ask(t.Context(), question, answer))
	runOn(t, m, "systemctl restart multis")
	require.NoError(t, o.ask(t.Context(), question, answer), "after a restart")
	isRestoredOn(t, m, o)
}

// isRestoredOn types the commands of the guide to backups, with the name of the backup that was made.
func isRestoredOn(t *testing.T, m *devstack.Machine, o *owner) {
	t.Helper()
	const guidePath = "../../docs/backup.md"
	making, err := guide.Blocks(guidePath, "## Make backups")
	require.NoError(t, err)
	restoring, err := guide.Blocks(guidePath, "## Restore")
	require.NoError(t, err)
	placeholder := regexp.MustCompile(`multis-\d\S+\.tar\.gz`)
	named := func(text, folder string) string {
		if !placeholder.MatchString(text) {
			return text
		}
		newest := strings.TrimSpace(runOn(t, m, "ls -t "+folder+" | grep -v without | head -n 1"))
		return placeholder.ReplaceAllString(text, newest)
	}
	runOn(t, m, making[1].Text) // the folder on another disk
	for _, command := range making[0].Commands() {
		t.Logf("%s\n%s", command, runOn(t, m, named(command, "/var/lib/multis/data/backups")))
	}
	runOn(t, m, "systemctl stop multis && mv /var/lib/multis/data/postgres /root/") // as the guide says below its commands
	t.Logf("%s", runOn(t, m, named(restoring[0].Text, "/mnt/other/multis")))
	require.NoError(t, o.ask(t.Context(), question, answer), "after a restore")
}

// setUpOn runs a script that ends with multis init, and as soon as init has written its files the lines for Synapse.
func setUpOn(t *testing.T, m *devstack.Machine, install, synapse string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir, "answers"), []byte(answers), 0o644))
	setUp := make(chan error, 1)
	go func() {
		out, err := m.Command(t.Context(), "/root", "bash", "-euo", "pipefail", "-c", "exec < /mnt/answers\n"+install).CombinedOutput()
		t.Logf("%s\n%s", install, out)
		setUp <- err
	}()
	require.NoError(t, awaitFile(filepath.Join(m.Dir, "changes/var/lib/multis/registration.yaml"), setUp))
	t.Logf("%s\n%s", synapse, runOn(t, m, synapse))
	require.NoError(t, <-setUp)
}

func TestSystemd_RunsUnpackagedProgram(t *testing.T) {
	m := newMachine(t)
	o := startSynapseOn(t, m)
	blocks, err := guide.Blocks("../../README.md", "## Install beside your Synapse")
	require.NoError(t, err)
	setUpOn(t, m, "install $(ls /mnt/dist/multis-linux-* | grep -v json) /root/multis\n/root/multis init", blocks[1].Text)
	require.NoError(t, o.joinAdminRoom(t.Context()))
	require.NoError(t, o.ask(t.Context(), "/remember The deposit is 200 €.", "deposit"))
	require.NoError(t, o.ask(t.Context(), question, answer))
	require.Equal(t, "active\nenabled\n", runOn(t, m, "systemctl is-active multis; systemctl is-enabled multis"))
	require.Equal(t, "multis:multis 750\n", runOn(t, m, "stat -c '%U:%G %a' /var/lib/multis"))
	require.Equal(t, "755 root\n", runOn(t, m, "stat -c '%a %U' /usr/local/bin/multis"))
	require.Equal(t, "600 multis\n600 multis\n", runOn(t, m, "stat -c '%a %U' /var/lib/multis/config.yaml /var/lib/multis/registration.yaml"))

	// A second run with another name: the running service applies it.
	require.Contains(t, runOn(t, m, "multis init --yes --name Ada"), "name: Ada")
	require.Equal(t, "active\n", runOn(t, m, "systemctl is-active multis"))
	require.NoError(t, o.ask(t.Context(), question, answer))
	require.NotContains(t, runOn(t, m, "multis doctor || true"), "✗")
	isRepairedByPrintedLines(t, m, o)
	require.NoError(t, o.ask(t.Context(), question, answer), "after the repairs")
	isExplainedBySystemd(t, m)
	require.NoError(t, o.ask(t.Context(), question, answer), "after it was started again")
}

// isExplainedBySystemd lets multis end because of a folder that its unit makes read-only: the doctor reads why from the
// unit and from the journal.
func isExplainedBySystemd(t *testing.T, m *devstack.Machine) {
	t.Helper()
	find := func(id doctor.ID) string {
		var report struct{ Findings []doctor.Finding }
		require.NoError(t, json.Unmarshal([]byte(runOn(t, m, "multis doctor --json 2>/dev/null || true")), &report))
		for _, f := range report.Findings {
			if f.ID == id {
				return f.Message + " fix: " + f.Fix
			}
		}
		return ""
	}
	require.Contains(t, runOn(t, m, "multis config set documents.folder /srv/docs 2>&1 || true"),
		"ReadWritePaths=/srv/docs with systemctl edit multis", "as systemctl show says")
	runOn(t, m, `cp -p /var/lib/multis/config.yaml /root/right.yaml
		sed -i 's|^  folder: documents$|  folder: /srv/docs|' /var/lib/multis/config.yaml
		grep -q '^  folder: /srv/docs$' /var/lib/multis/config.yaml
		systemctl restart multis`)
	require.NoError(t, awaitLong(t.Context(), "the doctor to name why multis ended", func(context.Context) error {
		if found := find(doctor.MultisStopped); !strings.Contains(found, "It ended last with: ") || !strings.Contains(found, "/srv/docs") {
			return errors.New(found)
		}
		return nil
	}))
	require.Contains(t, find(doctor.ConfigStart), "ReadWritePaths=/srv/docs")
	runOn(t, m, `systemctl stop multis
		mkdir -p /srv/docs /etc/systemd/system/multis.service.d && chown multis: /srv/docs
		printf '[Service]\nReadWritePaths=/srv/docs\n' > /etc/systemd/system/multis.service.d/override.conf
		systemctl daemon-reload && systemctl restart multis`) // as the fix says, without the editor
	require.NoError(t, awaitLong(t.Context(), "the folder to be usable", func(context.Context) error {
		if found := find(doctor.ConfigStart) + find(doctor.MultisStopped); found != "" {
			return errors.New(found)
		}
		return nil
	}))
	runOn(t, m, "cp -p /root/right.yaml /var/lib/multis/config.yaml && systemctl restart multis")
}
