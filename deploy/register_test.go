package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// register runs register.sh of a clone for the Synapse in a folder.
func register(t *testing.T, clone, folder string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(clone, "deploy/register.sh"), folder).CombinedOutput()
	return string(out), err
}

// newClone returns a folder with register.sh and a registration.
func newClone(t *testing.T) string {
	t.Helper()
	clone := t.TempDir()
	script, err := os.ReadFile("register.sh")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(clone, "deploy"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(clone, "data"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(clone, "deploy/register.sh"), script, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(clone, "data/registration.yaml"), []byte("id: multis\n"), 0o600))
	return clone
}

// synapseConfig is a homeserver.yaml.
type synapseConfig struct {
	Registrations []string       `yaml:"app_service_config_files"`
	Others        map[string]any `yaml:",inline"`
}

func parseConfig(t *testing.T, text []byte) (c synapseConfig) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(text, &c), string(text))
	return c
}

func TestRegister_KeepsRegistrationsOfBridges(t *testing.T) {
	t.Parallel()
	const ours = "/data/multis-registration.yaml"
	clone := newClone(t)
	for name, c := range map[string]struct {
		list string
		want []string
	}{
		"no list":       {"", []string{ours}},
		"no line break": {"report_stats: false", []string{ours}},
		"a list": {
			"app_service_config_files:\n  - /data/whatsapp.yaml\n  - /data/signal.yaml\n",
			[]string{ours, "/data/whatsapp.yaml", "/data/signal.yaml"},
		},
		"without indent": {"app_service_config_files:\n- /data/whatsapp.yaml\n", []string{ours, "/data/whatsapp.yaml"}},
		"with comments": {
			"app_service_config_files: # bridges\n\n    # the first\n    - /data/whatsapp.yaml\n",
			[]string{ours, "/data/whatsapp.yaml"},
		},
		"on one line": {
			"app_service_config_files: [/data/whatsapp.yaml, /data/signal.yaml]\n",
			[]string{ours, "/data/whatsapp.yaml", "/data/signal.yaml"},
		},
		"an empty list":     {"app_service_config_files: []\n", []string{ours}},
		"an empty value":    {"app_service_config_files:\nreport_stats: false\n", []string{ours}},
		"named already":     {"app_service_config_files:\n  - " + ours + "\n  - /data/whatsapp.yaml\n", []string{ours, "/data/whatsapp.yaml"}},
		"named in a remark": {"# - " + ours + "\n", []string{ours}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			config := filepath.Join(folder, "homeserver.yaml")
			for before, after := range map[string]string{"": "", "server_name: example.org\n": "\nlisteners: [{port: 8008}]\n"} {
				require.NoError(t, os.WriteFile(config, []byte(before+c.list+after), 0o644))
				out, err := register(t, clone, folder)
				require.NoError(t, err, out)
				text, err := os.ReadFile(config)
				require.NoError(t, err)
				require.Equal(t, c.want, parseConfig(t, text).Registrations, string(text))
				require.Equal(t, parseConfig(t, []byte(before+c.list+after)).Others, parseConfig(t, text).Others)

				out, err = register(t, clone, folder)
				require.NoError(t, err, out)
				again, err := os.ReadFile(config)
				require.NoError(t, err)
				require.Equal(t, string(text), string(again))
			}
			info, err := os.Stat(filepath.Join(folder, "multis-registration.yaml"))
			require.NoError(t, err)
			require.EqualValues(t, 0o640, info.Mode().Perm())
		})
	}
}

func TestRegister_RefusesFolderWithoutSynapse(t *testing.T) {
	t.Parallel()
	out, err := register(t, newClone(t), t.TempDir())
	require.Error(t, err)
	require.Contains(t, out, "There is no ")
	folder := t.TempDir()
	odd := "server_name: example.org\napp_service_config_files: *bridges\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "homeserver.yaml"), []byte(odd), 0o644))
	out, err = register(t, newClone(t), folder)
	require.Error(t, err)
	require.True(t, strings.HasPrefix(out, "Add /data/multis-registration.yaml to app_service_config_files in "), out)
}
