package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/store/pgserver"
	"multis/store/storetest"
)

// Why the line that a finding prints is not run by these tests. The repair is then what a person does.
const (
	inBridge  = "it is done in the bridge's configuration or at its machine"
	inClient  = "it is written in the admin room or in a Matrix client"
	inFile    = "a person has to choose what is written into config.yaml"
	asks      = "the command asks questions; the tests of init and the end-to-end tests answer them"
	byPackage = "it installs a package of the distribution"
	showsOnly = "the command shows the cause, which a person removes"
)

// shell runs the lines that findings print: multis is this commit's program, psql is connected as the administrator of the tests' server, and
// systemctl only notes what it was called with.
type shell struct{ bin, services string }

// newShell makes the programs. multis is built only if it is needed.
func newShell(t *testing.T, withMultis bool) shell {
	t.Helper()
	s := shell{bin: t.TempDir()}
	s.services = filepath.Join(s.bin, "services")
	psql, err := pgserver.Find("")
	require.NoError(t, err)
	for name, script := range map[string]string{
		"sudo":      `[ "$1" != -u ] || shift 2; exec "$@"`,
		"runuser":   `shift 3; exec "$@"`, // -u postgres --
		"psql":      `exec ` + psql + `/psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@"`,
		"systemctl": `echo "$@" >> ` + s.services + `; [ "$1" = restart ]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	if withMultis {
		build := exec.CommandContext(t.Context(), "go", "build", "-tags", "goolm", "-trimpath", "-buildvcs=false", "-o", s.bin, "../cmd/multis")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return s
}

// carryOut runs the line of a fix in a folder. What stands in brackets behind it is for the reader. It reports whether the line restarted a service.
func (s shell) carryOut(t *testing.T, dir, fix string) (restarted bool) {
	t.Helper()
	before, _ := os.ReadFile(s.services)
	admin, err := pgx.ParseConfig(storetest.Server().SuperDSN("postgres"))
	require.NoError(t, err)
	line, _, _ := strings.Cut(fix, "   (")
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "PGHOST="+admin.Host, "PGPORT="+strconv.Itoa(int(admin.Port)), "PGUSER="+admin.User, "PGDATABASE=postgres")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	after, _ := os.ReadFile(s.services)
	return len(after) > len(before)
}

func TestLinesToCopyQuoteFoldersAndNames(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's a folder")
	require.NoError(t, os.Mkdir(dir, 0o755))
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, nil, 0o600))
	require.NoError(t, os.Chmod(key, 0o644))
	s := newShell(t, false)
	s.carryOut(t, dir, chmodLine(key))
	info, err := os.Stat(key)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	s.carryOut(t, dir, psqlLine("", `create role `+sqlName("it's-Nora")+` nologin`, `drop role "it's-Nora"`))
}
