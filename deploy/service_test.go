package deploy_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/setup"
)

// multis init and the Debian package both install the unit, and create its user and its folder.
func TestService_UsesPackageUserAndFolder(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("multis.service")
	require.NoError(t, err)
	postinst, err := os.ReadFile("release/postinst")
	require.NoError(t, err)
	set := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^(\w+)=(.*)$`).FindAllStringSubmatch(string(unit), -1) {
		set[line[1]] = line[2]
	}
	require.Equal(t, "/usr/local/bin/multis run", set["ExecStart"])
	require.Equal(t, setup.ServiceDir, set["WorkingDirectory"])
	require.Contains(t, string(postinst), "\ninstall -d -o "+set["User"]+" -g "+set["User"]+" -m 750 "+set["WorkingDirectory"]+"\n",
		"its folder is its own, whoever made it")
	require.Equal(t, set["WorkingDirectory"], set["ReadWritePaths"], "its folder is the one it can write to")
	require.Equal(t, "mixed", set["KillMode"], "the database must outlive the answer that is being written")
}
