package metrics_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store/storetest"
)

// monitoring is the folder of the files for Prometheus and Grafana.
const monitoring = "../../deploy/monitoring/"

// metricName matches the metrics of multis in a query.
var metricName = regexp.MustCompile(`\b(multis|llm|tool|task)_[a-z_]+`)

func TestMonitoring_AsksForMetricsThatExist(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	_, err := st.Pool().Exec(t.Context(), traffic+
		"insert into settings (key, value) values ('sync_token', '\"s1\"'), ('pushed_at', to_jsonb(now()))")
	require.NoError(t, err)
	var shown bytes.Buffer
	require.NoError(t, newMetrics(st, time.Now).Write(&shown))
	for _, file := range []string{"alerts.yml", "grafana.json"} {
		raw, err := os.ReadFile(monitoring + file)
		require.NoError(t, err)
		names := metricName.FindAllString(string(raw), -1)
		require.NotEmpty(t, names)
		for _, name := range names {
			require.Contains(t, shown.String(), "\n"+name, file)
		}
	}
	rules, err := os.ReadFile(monitoring + "alerts.yml")
	require.NoError(t, err)
	require.Equal(t, 8, strings.Count(string(rules), "- alert: "))
	board, err := os.ReadFile(monitoring + "grafana.json")
	require.NoError(t, err)
	require.True(t, json.Valid(board))
}
