package rig

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
)

// standIn makes this test binary act as multis: "serve" is ready at the third
// request, "broken" exits at once.
const standIn = "RIG_TEST_STAND_IN"

func TestMain(m *testing.M) {
	switch os.Getenv(standIn) {
	case "serve":
		fmt.Println("arguments:", os.Args[1:3])
		serveAsMultis(os.Args[3])
	case "broken":
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

func serveAsMultis(config string) {
	data, err := os.ReadFile(config)
	if err != nil {
		panic(err)
	}
	var asked atomic.Int32
	http.HandleFunc("GET /_matrix/mau/ready", func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	var port int
	if _, err := fmt.Sscanf(string(data), "appservice: {port: %d}", &port); err != nil {
		panic(err)
	}
	panic(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", port), nil))
}

func TestMultis_StartsAndIsKilled(t *testing.T) {
	t.Parallel()
	r, config, ready := standInRig(t)
	for run := range 2 {
		multis, err := r.StartMultis(t.Context(), config, standIn+"=serve")
		require.NoError(t, err, "run %d", run)
		resp, err := http.Get(ready)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)

		require.NoError(t, multis.Kill())
		_, err = http.Get(ready)
		require.Error(t, err, "a killed one must not answer")
		require.NoError(t, multis.Term(), "ending an ended one is no error")
		log, err := os.ReadFile(multis.Log)
		require.NoError(t, err)
		require.Equal(t, "arguments: [run -c]\n", string(log), "each run has a log of its own")
	}
}

func TestMultis_EarlyExitIsError(t *testing.T) {
	t.Parallel()
	r, config, _ := standInRig(t)
	_, err := r.StartMultis(t.Context(), config, standIn+"=broken")
	require.ErrorContains(t, err, "exit status 1")
	require.ErrorContains(t, err, "multis-1.log")
}

func TestMultis_NeedsPort(t *testing.T) {
	t.Parallel()
	r, _, _ := standInRig(t)
	_, err := r.StartMultis(t.Context(), []byte("appservice: {}"))
	require.ErrorContains(t, err, "appservice.port is missing")
}

// standInRig returns a rig that is not started and whose multis is this test binary.
func standInRig(t *testing.T) (r *Rig, config []byte, ready string) {
	t.Helper()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	r = &Rig{Dir: t.TempDir(), multisBinary: self}
	return r, fmt.Appendf(nil, "appservice: {port: %d}", ports[0]),
		fmt.Sprintf("http://127.0.0.1:%d/_matrix/mau/ready", ports[0])
}
