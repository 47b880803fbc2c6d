package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetup_NamesOldGo(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go ((\d+\.\d+).*)$`).FindSubmatch(mod)
	require.NotNil(t, version)
	needed := string(version[1])
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "Building needs Go "+string(version[2])+".")

	for name, c := range map[string]struct{ version, toolchain, refusal string }{
		"Debian 12":                      {"1.19.8", "", "building needs Go " + needed + ", and "},
		"one that fetches it":            {"1.21.0", "auto", ""},
		"one that may not fetch it":      {"1.21.0", "local", "building needs Go " + needed + ", and "},
		"the same":                       {needed, "local", ""},
		"a newer one":                    {"1.99.1", "local", ""},
		"a newer one with an experiment": {"1.99.1 X:something", "auto", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			script := "#!/bin/sh\ncase $1 in version) echo 'go version go" + c.version + " linux/amd64' ;; env) echo '" + c.toolchain + "' ;; esac\n"
			require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o700))
			cmd := exec.CommandContext(t.Context(), "./setup.sh")
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if c.refusal == "" {
				require.NoError(t, err, string(out))
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), c.refusal)
			require.Contains(t, string(out), "https://go.dev/dl/")
		})
	}
}
