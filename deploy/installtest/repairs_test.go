//go:build chaos

package installtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
	"multis/ops/doctor"
)

const (
	installed = "/etc/matrix-synapse/multis-registration.yaml" // the registration that Synapse reads
	list      = "/etc/matrix-synapse/conf.d/multis.yaml"       // what tells Synapse of it
)

// fault is a broken set-up of the machine.
type fault struct {
	id     doctor.ID
	breaks string
	// after is what the owner does then, where the finding asks for that as well.
	after func(context.Context) error
}

// onDatabase returns a shell line that changes the database of multis, whose server is multis' own.
func onDatabase(statement string) string {
	return `psql --quiet --set ON_ERROR_STOP=1 -h /var/lib/multis/data/postgres/run -U postgres -d multis -c "` + statement + `"`
}

// edited returns a shell line that changes the registration that Synapse reads, and has Synapse read it.
func edited(expression string) string {
	return "sed -i '" + expression + "' " + installed + " && systemctl restart matrix-synapse"
}

// hang is a shell line that halts multis, as a fault of the program would. Its database goes on. A multis that runs
// repairs some faults by itself.
const hang = "systemctl kill --kill-whom main --signal STOP multis; "

// isRepairedByPrintedLines breaks the installation and runs, as root in another folder, the line that multis doctor prints.
func isRepairedByPrintedLines(t *testing.T, m *devstack.Machine, o *owner) {
	t.Helper()
	pushes := func(ctx context.Context) error { return o.ask(ctx, question, answer) }
	runOn(t, m, "echo 127.0.1.1 assistant >> /etc/hosts") // a name of the machine that is not its loopback address
	repair(t, m, "multis doctor", []fault{
		{doctor.MultisStopped, "systemctl stop multis", nil},
		{doctor.ConfigPermissions, "chmod 644 /var/lib/multis/config.yaml", nil},
		{doctor.RegistrationPermissions, "chmod 644 /var/lib/multis/registration.yaml", nil},
		{doctor.DataUnwritable, "touch /var/lib/multis/data/of-root", nil},
		{doctor.RegistrationFile, "sed -i 's/^hs_token: .*/hs_token: older/' /var/lib/multis/registration.yaml", nil},
		{doctor.RegistrationDrift, edited("s/^rate_limited: false/rate_limited: true/"), nil},
		{doctor.RegistrationRestart, "cp -p " + installed + " /root/right && " + edited("s/^as_token: .*/as_token: older/") +
			" && cp -p /root/right " + installed, nil},
		{doctor.RegistrationMissing, "rm " + list + " && systemctl restart matrix-synapse", nil},
		{doctor.PingToken, edited("s/^hs_token: .*/hs_token: older/"), nil},
		{doctor.PingNoURL, edited("s/^url: .*/url: null/"), nil},
		{doctor.HomeserverUnreachable, "systemctl stop matrix-synapse", nil},
		{doctor.HomeserverNotMatrix, "multis config set homeserver.address http://127.0.0.1:29399", nil},
		{doctor.PingLoopback, `multis config set appservice.hostname 127.0.0.1 && multis config set appservice.address http://assistant:29399
			multis -g && cp /var/lib/multis/registration.yaml ` + installed + ` && systemctl restart multis matrix-synapse`, nil},

		{
			doctor.SafeMode,
			onDatabase(`insert into settings (key, value) values ('safe_mode', '{\"since\": \"2026-05-01T12:00:00Z\", \"why\": \"It crashed.\"}')`),
			nil,
		},
		{doctor.JobsLate, hang +
			onDatabase("insert into river.river_job (kind, args, queue, max_attempts, state, scheduled_at) values ('backup', '{}', 'backup', 1, 'available', now() - interval '1 hour')"), nil},
		{doctor.DeviceMissing, hang +
			`curl --fail --silent -X DELETE -H "Authorization: Bearer $(sed -n 's/^ *as_token: //p' /var/lib/multis/config.yaml)" -H 'Content-Type: application/json' -d '{}' \
			"http://127.0.0.1:8008/_matrix/client/v3/devices/$(` +
			strings.Replace(onDatabase("select value->>'id' from settings where key = 'owner_device'"), "--quiet", "-tA", 1) +
			`)?user_id=@you:example.org"`, nil},
		{doctor.PushLag, onDatabase("update settings set value = to_jsonb(now() - interval '20 minutes') where key = 'pushed_at'; " +
			"update messages set ts = now() - interval '5 minutes', received_at = now() - interval '5 minutes'"), pushes},
		{doctor.DatabaseConnections, onDatabase("alter system set max_connections = 30") + " && systemctl restart multis", nil},
		{doctor.DatabaseTrigrams, onDatabase("drop index term_stats_similar, message_terms_similar"), nil},
		{doctor.DatabaseShared, onDatabase("grant connect on database multis to public"), nil},
		{
			doctor.OperatorsUninvited,
			"synapse_register_new_matrix_user -c /etc/matrix-synapse/conf.d/server_name.yaml -u mia -p password --no-admin http://127.0.0.1:8008 && " +
				hang + `sed -i 's/^operators: \[\]$/operators: ["@mia:example.org"]/' /var/lib/multis/config.yaml`, nil,
		},
		{doctor.OperatorsRoom, hang + "sed -i 's/^    room: false$/    room: true/' /var/lib/multis/config.yaml", nil},
		// multis finds the room again
		{doctor.AdminRoom, onDatabase("update chats set closed_reason = 'gone' where kind = 'admin' and not for_operators"), nil},
	})

	// Where the doctor may not read Synapse's files, it knows only what the homeserver answers. The machine has no sudo: root types the line.
	runOn(t, m, `printf '#!/bin/sh\nexec "$@"\n' > /usr/local/bin/sudo && chmod 755 /usr/local/bin/sudo
		chmod 700 /etc/matrix-synapse`)
	repair(t, m, "cd / && runuser -u multis -- multis doctor", []fault{
		{doctor.RegistrationToken, edited("s/^as_token: .*/as_token: older/"), nil},
		{doctor.RegistrationBot, edited("s/@multis:/@other:/"), nil},
		{doctor.RegistrationOwner, edited("s/@you:/@other:/"), nil},
		{doctor.RegistrationRateLimit, edited("s/^rate_limited: false/rate_limited: true/"), nil},
		{doctor.RegistrationDevices, edited("s/^io.element.msc4190: true/io.element.msc4190: false/"), nil},
	})
	runOn(t, m, "chmod 755 /etc/matrix-synapse && rm /usr/local/bin/sudo")
	require.NoError(t, awaitLong(t.Context(), "the sync to have worked again", func(context.Context) error {
		if report := runOn(t, m, "multis doctor || true"); strings.Contains(report, "✗") {
			return errors.New(report)
		}
		return nil
	}))
}

// repair makes one fault after the other, and each time runs the line that the doctor prints until the finding is gone.
func repair(t *testing.T, m *devstack.Machine, command string, faults []fault) {
	t.Helper()
	for _, f := range faults {
		runOn(t, m, f.breaks)
		var line string
		require.NoError(t, awaitLong(t.Context(), string(f.id)+" to be found", func(context.Context) error { // what the fault restarts takes some seconds
			found, all := findings(t, m, command)
			line = found[f.id]
			if line == "" {
				return errors.New(all)
			}
			return nil
		}))
		t.Logf("%s: %s", f.id, line)
		runOn(t, m, line)
		if f.after != nil {
			require.NoError(t, f.after(t.Context()), f.id)
		}
		require.NoError(t, awaitLong(t.Context(), string(f.id)+" to be repaired", func(context.Context) error {
			found, all := findings(t, m, command)
			if found[f.id] != "" || strings.Contains(all, `"severity": "error"`) { // while multis starts, the doctor says only that it does not run
				return errors.New(all)
			}
			return nil
		}))
	}
}

// findings returns the line of each finding of the doctor, without its comment. all is the whole report.
func findings(t *testing.T, m *devstack.Machine, command string) (lines map[doctor.ID]string, all string) {
	t.Helper()
	all = runOn(t, m, command+" --json 2>/dev/null || true")
	var report struct{ Findings []doctor.Finding }
	require.NoError(t, json.Unmarshal([]byte(all), &report))
	lines = map[doctor.ID]string{}
	for _, f := range report.Findings {
		lines[f.ID], _, _ = strings.Cut(f.Fix, doctor.Comment)
	}
	return lines, all
}
