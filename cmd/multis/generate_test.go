package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGenerate_ContainerNamesHostFolders(t *testing.T) {
	t.Parallel()
	inside := registrationHint("/data/registration.yaml", "docker compose up -d --wait", true)
	require.Contains(t, inside, "Wrote data/registration.yaml.")
	require.Contains(t, inside, "install -m 640 -o 991 -g 991 data/registration.yaml ")
	require.Contains(t, inside, "Then: docker compose up -d --wait\n")
	outside := registrationHint("/var/lib/multis/registration.yaml", "systemctl restart multis", false)
	require.Contains(t, outside,
		"install -m 640 -o matrix-synapse /var/lib/multis/registration.yaml /etc/matrix-synapse/multis-registration.yaml")
	require.Contains(t, outside, "\n  systemctl restart matrix-synapse\n", "each step is a line to copy")
	require.Contains(t, inside, "\n  docker restart synapse\n")
	require.Contains(t, outside, "Then: systemctl restart multis\n")
	require.Equal(t, filepath.Join(here(t), "registration.yaml"), doctorPaths("config.yaml", "registration.yaml").Registration,
		"a line that is copied works anywhere")
}

// here returns the working directory.
func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}
