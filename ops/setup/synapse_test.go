package setup_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"multis/ops/doctor"
	"multis/ops/setup"
)

// machine makes a root file system with these files.
func machine(t *testing.T, files map[string]string) setup.Machine {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		full := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
	}
	return setup.Machine{Root: root}
}

const whatsappRegistration = `id: whatsapp
url: http://127.0.0.1:29318
as_token: a
hs_token: b
sender_localpart: x1
namespaces:
  users:
    - {regex: '^@whatsappbot:example\.org$', exclusive: true}
    - {regex: '^@whatsapp_.*:example\.org$', exclusive: true}
`

const doublePuppet = `id: doublepuppet
url:
as_token: a
hs_token: b
sender_localpart: x2
namespaces:
  users:
    - {regex: '@.*:example\.org', exclusive: false}
`

// debian is Synapse as Debian's package sets it up, with a bridge.
func debian(list string) map[string]string {
	return map[string]string{
		"etc/matrix-synapse/homeserver.yaml":         "listeners:\n  - port: 8008\n    tls: false\n    type: http\n    resources:\n      - names: [client, federation]\n" + list,
		"etc/matrix-synapse/conf.d/server_name.yaml": "server_name: example.org\n",
		"etc/matrix-synapse/whatsapp.yaml":           whatsappRegistration,
		"etc/matrix-synapse/doublepuppet.yaml":       doublePuppet,
	}
}

func TestSynapse_FoundWithBridges(t *testing.T) {
	t.Parallel()
	m := machine(t,
		debian("app_service_config_files:\n  - /etc/matrix-synapse/whatsapp.yaml\n  - /etc/matrix-synapse/doublepuppet.yaml\n  - /gone.yaml\n"))
	s, err := m.FindSynapse("")
	require.NoError(t, err)
	require.Equal(t, "example.org", s.Domain)
	require.Equal(t, []string{"http://127.0.0.1:8008"}, s.Addresses)
	require.Len(t, s.Registrations, 3)
	require.Len(t, s.Bridges(), 1)
	require.Equal(t, "whatsapp", s.Bridges()[0].ID)
	require.True(t, s.HasDoublePuppet())
	none, err := machine(t, nil).FindSynapse("")
	require.NoError(t, err)
	require.Nil(t, none)
}

// What the doctor says about Synapse fits the one that is found.
func TestSynapse_OfDomain(t *testing.T) {
	t.Parallel()
	m := machine(t, debian("app_service_config_files: [whatsapp.yaml]\n"))
	require.Nil(t, m.SynapseOfDomain("other.org", "/var/lib/multis/registration.yaml"))
	d := m.SynapseOfDomain("example.org", "/var/lib/multis/registration.yaml")
	require.NotNil(t, d)
	require.Equal(t, "/etc/matrix-synapse/homeserver.yaml", d.Config)
	require.Equal(t, "http://127.0.0.1:8008", d.Address)
	require.Equal(t, []string{m.Root + "/etc/matrix-synapse/whatsapp.yaml"}, d.Registrations)
	require.Equal(t, doctor.AsRoot("systemctl restart matrix-synapse"), d.Restart)
	require.Equal(t,
		doctor.AsRoot(`sh -ec 'install -m 640 -o matrix-synapse /var/lib/multis/registration.yaml /etc/matrix-synapse/multis-registration.yaml; `+
			`sed -i '\''7c\app_service_config_files: [whatsapp.yaml, /etc/matrix-synapse/multis-registration.yaml]'\'' /etc/matrix-synapse/homeserver.yaml; `+
			`systemctl restart matrix-synapse'`), d.Install)
}

func TestSynapse_RefusesFileOfOther(t *testing.T) {
	t.Parallel()
	m := machine(t, debian("app_service_config_files: [whatsapp.yaml]\n"))
	for _, test := range []struct{ file, domain, want string }{
		{"", "example.org", "name Synapse's homeserver.yaml"},
		{"/etc/matrix-synapse/gone.yaml", "example.org", "no such file"},
		{"/etc/matrix-synapse/whatsapp.yaml", "example.org", "has no server_name"},
		{"/etc/matrix-synapse/whatsapp.yaml", "", "has no server_name"},
		{"/etc/matrix-synapse/homeserver.yaml", "other.org", `is "example.org", but homeserver.domain of multis is "other.org"`},
	} {
		_, err := m.ReadForDoctor(test.file, test.domain, "/var/lib/multis/registration.yaml")
		require.ErrorContains(t, err, test.want, "%+v", test)
	}
	d, err := m.ReadForDoctor("/etc/matrix-synapse/homeserver.yaml", "example.org", "/var/lib/multis/registration.yaml")
	require.NoError(t, err)
	require.Equal(t, "/etc/matrix-synapse/homeserver.yaml", d.Config)
	require.Equal(t, doctor.AsRoot("systemctl restart matrix-synapse"), d.Restart)
	_, err = m.ReadForDoctor("/etc/matrix-synapse/homeserver.yaml", "", "/var/lib/multis/registration.yaml")
	require.NoError(t, err, "the configuration of multis is not readable")
}

// Whatever the list of registrations looks like, the printed lines make Synapse read ours beside the others.
func TestSteps_AddRegistrationToList(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"none":                 "",
		"no line break":        "# end",
		"empty":                "app_service_config_files:\nreport_stats: false\n",
		"empty list":           "app_service_config_files: []\nreport_stats: false\n",
		"block":                "app_service_config_files:\n  - /etc/matrix-synapse/whatsapp.yaml\nreport_stats: false\n",
		"block without indent": "app_service_config_files:\n- /etc/matrix-synapse/whatsapp.yaml\n# comment\n- /etc/matrix-synapse/doublepuppet.yaml\n",
		"wide block":           "app_service_config_files:\n      - /etc/matrix-synapse/whatsapp.yaml\n",
		"one line":             "app_service_config_files: [/etc/matrix-synapse/whatsapp.yaml, '/etc/matrix-synapse/doublepuppet.yaml']\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine(t, debian(list))
			registration := filepath.Join(t.TempDir(), "registration.yaml")
			require.NoError(t, os.WriteFile(registration, []byte("id: multis\nurl: http://127.0.0.1:29399\n"), 0o600))
			before, err := m.FindSynapse("")
			require.NoError(t, err)
			steps := m.Steps(before, registration, false)
			require.Len(t, steps, 3)
			require.Equal(t, "systemctl restart matrix-synapse", steps[2].Command)
			for _, s := range steps[:2] {
				line := strings.ReplaceAll(s.Command, "-o matrix-synapse ", "")
				line = strings.NewReplacer(" /etc/", " "+m.Root+"/etc/", " '/etc/", " '"+m.Root+"/etc/").Replace(line)
				// What is written into the files stays as Synapse sees it.
				line = strings.ReplaceAll(line, "- "+m.Root+"/etc", "- /etc")
				line = strings.ReplaceAll(line, "[ "+m.Root, "[ ")
				for strings.Contains(line, ", "+m.Root) {
					line = strings.ReplaceAll(line, ", "+m.Root, ", ")
				}
				if strings.HasPrefix(line, "printf") {
					line = strings.Replace(line, m.Root, "", 1)
				}
				for range 2 { // a line that is pasted twice by mistake
					out, err := exec.Command("sh", "-c", line).CombinedOutput()
					require.NoError(t, err, "%s: %s", line, out)
				}
			}
			after, err := m.FindSynapse("")
			require.NoError(t, err)
			var ids []string
			for _, r := range after.Registrations {
				ids = append(ids, r.ID)
			}
			require.Contains(t, ids, "multis")
			require.Len(t, ids, len(before.Registrations)+1, "the others stay")
			require.Empty(t, m.Steps(after, registration, true), "what is done is not asked for again")
			require.Len(t, m.Steps(after, registration, false), 1, "only the restart is missing")
			require.NoError(t, os.WriteFile(registration, []byte("id: multis\nurl: http://127.0.0.1:1\n"), 0o600))
			require.Len(t, m.Steps(after, registration, true), 2, "a new registration has to be copied and read")
		})
	}
}

func TestSynapse_FoundInContainer(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("ab", 32)
	m := machine(t, map[string]string{
		"srv/synapse/homeserver.yaml":       "server_name: example.org\napp_service_config_files: [/data/whatsapp.yaml]\n",
		"srv/synapse/whatsapp.yaml":         whatsappRegistration,
		"proc/42/cmdline":                   "python3\x00-m\x00synapse.app.homeserver\x00-c\x00/data/homeserver.yaml\x00",
		"proc/42/status":                    "Name:\tpython3\nUid:\t991\t991\t991\t991\n",
		"proc/42/cgroup":                    "0::/system.slice/docker-" + id + ".scope\n",
		"proc/42/mountinfo":                 "1 0 8:1 / / rw - overlay overlay rw\n2 1 8:1 /srv/synapse /data rw - ext4 /dev/sda1 rw\n",
		"proc/7/cmdline":                    "vi\x00notes\x00",
		"proc/42/root/etc/debian_version":   "13\n",
		"proc/42/root/data.was/placeholder": "",
	})
	require.NoError(t, os.Symlink(filepath.Join(m.Root, "srv/synapse"), filepath.Join(m.Root, "proc/42/root/data")))
	s, err := m.FindSynapse("")
	require.NoError(t, err)
	require.NotNil(t, s)
	require.Equal(t, []setup.File{{Inside: "/data/homeserver.yaml", Host: "/srv/synapse/homeserver.yaml"}}, s.Files)
	require.Equal(t, "whatsapp", s.Bridges()[0].ID)
	var lines []string
	for _, step := range m.Steps(s, "/var/lib/multis/registration.yaml", false) {
		lines = append(lines, step.Command)
	}
	require.Equal(t, []string{
		"install -m 640 -o 991 /var/lib/multis/registration.yaml /srv/synapse/multis-registration.yaml",
		`sed -i '1c\app_service_config_files: [/data/whatsapp.yaml, /data/multis-registration.yaml]' /srv/synapse/homeserver.yaml`,
		"docker restart " + id[:12],
	}, []string{lines[0], strings.Replace(lines[1], "2c", "1c", 1), lines[2]})
	s.User = "synapse"
	require.Contains(t, m.Steps(s, "/var/lib/multis/registration.yaml", false)[0].Command, "install -m 640 -o synapse /var/lib/")
}

func TestTimeZone_OfMachine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Europe/Berlin", machine(t, map[string]string{"etc/timezone": "Europe/Berlin\n"}).TimeZone())
	require.Empty(t, machine(t, map[string]string{"etc/timezone": "Etc/UTC\n"}).TimeZone(), "UTC is what nobody chose")
	require.Empty(t, machine(t, map[string]string{"etc/timezone": "Middle/Earth\n"}).TimeZone())
	m := machine(t, map[string]string{"etc/x": ""})
	require.NoError(t, os.Symlink("/usr/share/zoneinfo/America/New_York", filepath.Join(m.Root, "etc/localtime")))
	require.Equal(t, "America/New_York", m.TimeZone())
}

func TestUnit_OfPackage(t *testing.T) {
	t.Parallel()
	ours, err := os.ReadFile("multis.service")
	require.NoError(t, err)
	theirs, err := os.ReadFile("../../deploy/multis.service")
	require.NoError(t, err)
	require.Equal(t, string(theirs), string(ours), "deploy/multis.service is copied into ops/setup/multis.service")
}

func TestSynapse_OtherFileIsOnlyNamed(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]string{
		"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1\n": "line 1", "a: b\nkey: value: two\n": "line 2",
		"- one\n": "line 1",
	} {
		_, err := machine(t, map[string]string{"etc/other": text}).FindSynapse("/etc/other")
		require.EqualError(t, err, "/etc/other is no configuration of Synapse (see its "+line+"): name its homeserver.yaml")
	}
}

func FuzzSynapseConfig(f *testing.F) {
	for _, list := range []string{
		"app_service_config_files: [/a]\n", "app_service_config_files:\n- /a\n",
		"x: &a\n  - b\napp_service_config_files: *a\n", "\xff",
	} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := setup.Machine{Root: t.TempDir()}
		path := filepath.Join(m.Root, "homeserver.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		s, err := m.FindSynapse("/homeserver.yaml")
		if err != nil {
			return
		}
		for _, step := range m.Steps(s, "/r.yaml", false) {
			require.NotContains(t, step.Command, "\n")
		}
		var parsed map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &parsed), fmt.Sprint(s))
	})
}

// In a container nothing of the machine is seen; the README has the same lines.
func TestSteps_InContainerMatchReadme(t *testing.T) {
	t.Setenv("container", "docker") // as our image sets it
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	m := machine(t, nil)
	steps := m.Steps(nil, "/data/registration.yaml", false)
	require.Len(t, steps, 2)
	for _, step := range steps {
		require.Contains(t, string(readme), "\n"+step.Command+"\n")
	}
}

func TestUnit_PostgresOfPackage(t *testing.T) {
	t.Parallel()
	require.Empty(t, machine(t, nil).PostgresUnit())
	const units = "usr/lib/systemd/system/"
	require.Equal(t, "postgresql", machine(t, map[string]string{
		units + "postgresql.service": "", units + "postgresql@.service": "",
		"lib/systemd/system/postgresql.service": "",
	}).PostgresUnit())
	require.Equal(t, "postgresql-17", machine(t, map[string]string{units + "postgresql-17.service": ""}).PostgresUnit())
	require.Empty(t, machine(t, map[string]string{units + "postgresql-17.service": "", units + "postgresql-16.service": ""}).PostgresUnit(),
		"which of them is not known")
}
