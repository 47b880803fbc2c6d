//go:build chaos

package metrics_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Prometheus' own parser reads the files: apt-get install prometheus.
func TestMonitoring_IsReadByPromtool(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "config", monitoring + "prometheus.yml"}, {"check", "rules", monitoring + "alerts.yml"}} {
		out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}
