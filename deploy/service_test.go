package deploy_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the README has people type must fit what the unit expects.
func TestTheServiceIsWhatTheReadmeInstalls(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("multis.service")
	require.NoError(t, err)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	set := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^(\w+)=(.*)$`).FindAllStringSubmatch(string(unit), -1) {
		set[line[1]] = line[2]
	}
	require.Equal(t, "/usr/local/bin/multis run", set["ExecStart"])
	require.Contains(t, string(readme), "install bin/multis /usr/local/bin/")
	require.Contains(t, string(readme), "--home-dir "+set["WorkingDirectory"]+" "+set["User"])
	require.Contains(t, string(readme), "\ninstall -d -o "+set["User"]+" -g "+set["User"]+" "+set["WorkingDirectory"]+"\n", "its folder is its own, whoever made it")
	require.Equal(t, set["WorkingDirectory"], set["ReadWritePaths"], "its folder is the one it can write to")
	require.Equal(t, "mixed", set["KillMode"], "the database must outlive the answer that is being written")
}
