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
	realModel = "the exam asks a real model, and a person decides what it answers"
	showsOnly = "the command shows the cause, which a person removes"
)

// The tests that carry out what a finding prints, word by word, until the finding is gone, and nothing else. On the
// booted machine services are restarted. With the real bridge most faults are made in the database.
const (
	inUnit    = "doctor_test.go"
	inServer  = "database_test.go"
	onMachine = "../../deploy/installtest/repairs_test.go"
	withReal  = "../../e2e/doctor_test.go"
	encrypted = "../../e2e/encrypted_session_test.go"
)

// Why what a finding prints is carried out nowhere.
const (
	elsewhere   = "it names what to write where this machine cannot know the value"
	otherServer = "it needs a Postgres, or a pooler, that is not on the machines of the tests"
	noClock     = "a container may not set the clock"
	othersKeys  = "a real session without keys would be one of the owner's own, which multis must not take over"
	byBackup    = "a person restores a backup, and finds out who did it"
	simulated   = "the line is run or compared, and what the restart does then is done by the test, which has neither a service nor MAS"
)

// carriedOut says for each kind of finding where the line that it prints is carried out, or why nowhere.
var carriedOut = map[ID]string{
	CheckFailed:             showsOnly,
	ConfigMissing:           asks,
	ConfigInvalid:           inFile,
	ConfigPermissions:       inUnit,
	ConfigStart:             inFile,
	ConfigRefused:           showsOnly,
	ConfigDiffers:           showsOnly,
	DataUnwritable:          inUnit,
	DiskLow:                 showsOnly,
	ClockSkew:               noClock,
	HomeserverUnreachable:   onMachine,
	HomeserverNotMatrix:     onMachine,
	HomeserverDomain:        elsewhere,
	HomeserverMAS:           simulated,
	RegistrationFile:        inUnit,
	RegistrationPermissions: inUnit,
	RegistrationMissing:     inUnit,
	RegistrationRestart:     onMachine,
	RegistrationDrift:       inUnit,
	RegistrationToken:       onMachine,
	RegistrationBot:         onMachine,
	RegistrationOwner:       onMachine,
	RegistrationRateLimit:   onMachine,
	RegistrationDevices:     onMachine,
	OwnerAccount:            asks,
	MultisStopped:           onMachine,
	SafeMode:                onMachine,
	PingToken:               onMachine,
	PingNoAnswer:            elsewhere,
	PingLoopback:            onMachine,
	PingOther:               elsewhere,
	PingNoURL:               onMachine,
	PushLag:                 onMachine,
	PushStalled:             showsOnly,
	SyncStalled:             showsOnly,
	AdminRoom:               onMachine,
	AdminRoomNotIn:          withReal,
	OperatorsRoom:           onMachine,
	OperatorsNotIn:          withReal,
	OperatorsPlain:          inClient,
	FormerOperator:          withReal,
	OperatorsUninvited:      onMachine,
	DeviceMissing:           onMachine,
	DeviceKeys:              othersKeys,
	DeviceUnverified:        encrypted,
	ChatsUnreadable:         encrypted,
	ChatsMissing:            simulated,
	BridgeDown:              inBridge,
	BridgeDoublePuppet:      inBridge,
	BridgeStatus:            inBridge,
	BridgeUnconfirmed:       withReal,
	BridgeClaim:             withReal,
	DatabaseUnreachable:     elsewhere,
	DatabasePrograms:        byPackage,
	DatabaseVersion:         otherServer,
	DatabaseEncoding:        inServer,
	DatabaseSuperuser:       elsewhere,
	DatabaseRights:          inServer,
	DatabaseRowSecurity:     byBackup,
	DatabaseSchema:          inUnit,
	DatabaseVector:          byPackage,
	DatabaseTrigrams:        inUnit,
	DatabasePooling:         otherServer,
	DatabaseConnections:     onMachine,
	DatabaseShared:          inUnit,
	BackupOld:               inUnit,
	BackupFailed:            inUnit,
	SandboxOff:              inUnit,
	MonitorFails:            showsOnly,
	ModelConfig:             inFile,
	ModelKey:                inFile,
	ModelUnknown:            inFile,
	ModelUnreachable:        inFile,
	ModelUnexamined:         realModel,
	ModelUnfit:              realModel,
	BudgetZero:              inUnit,
	BudgetSpent:             inUnit,
	JobsFailed:              showsOnly,
	JobsLate:                onMachine,
	OutboxFailed:            showsOnly,
}

// Of 35 and more kinds the printed line is carried out, and of the others it is said why not.
func TestRepair_LinesOfAllKindsRun(t *testing.T) {
	t.Parallel()
	run := map[ID]bool{}
	for _, b := range brokenInstallations(t) {
		run[b.id] = run[b.id] || b.byHand == ""
	}
	names := constantsOfIDs(t)
	count := 0
	for _, id := range IDs() {
		where := carriedOut[id]
		require.NotEmpty(t, where, id)
		if !strings.HasSuffix(where, "_test.go") {
			t.Logf("%s: %s", id, where)
			continue
		}
		count++
		if where == inUnit {
			require.True(t, run[id], id)
		} else {
			require.True(t, identifiers(t, where)[names[id]], "%s is not in %s", id, where)
		}
	}
	t.Logf("carried out: %d of %d", count, len(carriedOut))
	require.GreaterOrEqual(t, count, 35)
	require.Len(t, carriedOut, len(IDs()))
}

// shell runs the lines that findings print: multis is this commit's program, psql is connected as the administrator of a
// server of the tests, and systemctl only notes what it was called with.
type shell struct {
	bin, services string
	admin         string // address of the server as its administrator
}

// newShell makes the programs. multis is built only if it is needed.
func newShell(t *testing.T, withMultis bool) shell {
	t.Helper()
	s := shell{bin: t.TempDir(), admin: storetest.Server().SuperDSN("postgres")}
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
		build := exec.CommandContext(t.Context(), "go", "build", "-tags", "goolm", "-trimpath", "-buildvcs=false", "-o", s.bin,
			"../../cmd/multis")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return s
}

// carryOut runs the line of a fix in a folder, with the comment behind it. It reports whether the line restarted a service.
func (s shell) carryOut(t *testing.T, dir, fix string) (restarted bool) {
	t.Helper()
	before, _ := os.ReadFile(s.services)
	admin, err := pgx.ParseConfig(s.admin)
	require.NoError(t, err)
	line := Copyable(fix)
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "PGHOST="+admin.Host, "PGPORT="+strconv.Itoa(int(admin.Port)),
		"PGUSER="+admin.User, "PGDATABASE=postgres")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	after, _ := os.ReadFile(s.services)
	return len(after) > len(before)
}

func TestRepair_LinesAreQuoted(t *testing.T) {
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
	s.carryOut(t, dir, Postgres{}.psql("", `create role `+sqlName("it's-Nora")+` nologin`, `drop role "it's-Nora"`))
}
