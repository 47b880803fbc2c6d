package setup

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"multis/internal/text"
	"multis/ops/doctor"
)

// ServiceDir is the folder of the service: its configuration and everything it stores.
const ServiceDir = "/var/lib/multis"

const (
	serviceUser = "multis"
	serviceName = "multis"
	unitPath    = "/etc/systemd/system/multis.service"
	programPath = "/usr/local/bin/multis"
)

// unitFile is the systemd unit. deploy/multis.service is the same file.
//
//go:embed multis.service
var unitFile string

// StartCommand returns the shell line that starts multis with a configuration, depending on how it is installed: in a
// container, as a service of systemd, or to be started by hand with program. If again is true, the line also restarts a
// multis that runs already.
func (m Machine) StartCommand(program, config string, again bool) string {
	switch {
	case m.InContainer() && again:
		return "docker compose restart multis"
	case m.InContainer():
		return "docker compose up -d --wait"
	case m.isService(config):
		return doctor.AsRoot("systemctl restart " + serviceName)
	case filepath.Base(config) == "config.yaml" && isWorkingDir(filepath.Dir(config)):
		return text.ShellWord(program) + " run"
	default:
		return text.ShellWord(program) + " run -c " + text.ShellWord(config)
	}
}

// StoppedCommand returns the shell line that runs a command of multis with a configuration while the service is stopped,
// and starts multis after that. Without a service it only runs the command.
func (m Machine) StoppedCommand(program, config, command string) string {
	switch {
	case m.InContainer():
		return "docker compose run --rm multis " + command + " && docker compose up -d --wait"
	case m.isService(config):
		return doctor.AsRoot("systemctl stop "+serviceName) + "; " + doctor.AsRoot(text.ShellWord(program)+" "+command) + " && " +
			doctor.AsRoot("systemctl start "+serviceName)
	case filepath.Base(config) == "config.yaml" && isWorkingDir(filepath.Dir(config)):
		return text.ShellWord(program) + " " + command
	default:
		return text.ShellWord(program) + " " + command + " -c " + text.ShellWord(config)
	}
}

func isWorkingDir(folder string) bool {
	here, err := os.Getwd()
	return err == nil && folder == here
}

// packagedUnits are where a package installs the unit.
var packagedUnits = []string{"/usr/lib/systemd/system/multis.service", "/lib/systemd/system/multis.service"}

// EnsureUser returns the service's user. It creates the user if it is missing.
func EnsureUser(ctx context.Context) (uid, gid int, err error) {
	u, err := user.Lookup(serviceUser)
	if _, unknown := errors.AsType[user.UnknownUserError](err); unknown {
		err = command(ctx, "useradd", "--system", "--user-group", "--home-dir", ServiceDir, "--shell", "/usr/sbin/nologin", serviceUser)
		if err == nil {
			u, err = user.Lookup(serviceUser)
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("make the user %s: %w", serviceUser, err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return uid, gid, errors.Join(err1, err2)
}

// EnsureFolder creates the folder of the service. If the folder belongs to root, because root ran a command there before,
// it is given to the service with everything in it. If it belongs to another user, EnsureFolder returns an error.
func EnsureFolder(dir string, uid, gid int) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("make %s: its owner is unknown", dir)
	case int(owner.Uid) == uid:
		return nil
	case owner.Uid != 0:
		return fmt.Errorf("%s belongs to the user %d, not to %s: move it away, or give it to %s (chown -R %s: %s)", dir, owner.Uid, serviceUser,
			serviceUser, serviceUser, dir)
	}
	if pid := runningPostgres(filepath.Join(dir, "data", "postgres", "data")); pid != 0 {
		return fmt.Errorf("another program runs a Postgres (pid %d) in %s: stop it first", pid, dir)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid) //nolint:gosec // the folder is root's, and a link itself changes its owner, not what it names
	})
	if err != nil {
		return fmt.Errorf("give %s to %s: %w", dir, serviceUser, err)
	}
	return nil
}

// hiddenFolders are the folders that the unit hides from the service (ProtectHome, PrivateTmp).
var hiddenFolders = []string{"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"}

// CheckReadable returns an error if the user who runs multis cannot read one of the files with secrets that the
// configuration names. Only root can call it. folder is that of the configuration. isService is true if multis runs as a
// service of systemd, which does not see hiddenFolders.
func CheckReadable(ctx context.Context, files []string, folder string, uid, gid int, isService bool) error {
	name, groups := strconv.Itoa(uid), []uint32{}
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
		ids, _ := u.GroupIds() // without the groups the check is only stricter
		for _, id := range ids {
			if n, err := strconv.ParseUint(id, 10, 32); err == nil {
				groups = append(groups, uint32(n))
			}
		}
	}
	as := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: groups} //nolint:gosec // ids are not negative
	for _, path := range files {
		isHidden := func(dir string) bool { return isService && strings.HasPrefix(path, dir) }
		test := exec.CommandContext(ctx, "test", "-r", path)
		test.Dir, test.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as}
		if !slices.ContainsFunc(hiddenFolders, isHidden) && test.Run() == nil {
			continue
		}
		return fmt.Errorf("%s, who runs multis, cannot read %s, which the configuration names: install -m 600 -o %[1]s %[2]s %[3]s/, and name the file there instead", name, path, folder)
	}
	return nil
}

// runningPostgres returns the process of the Postgres that runs on a data folder; zero if there is none.
func runningPostgres(data string) int {
	first, _, _ := strings.Cut(readText(filepath.Join(data, "postmaster.pid")), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0
	}
	if !strings.Contains(readText(fmt.Sprintf("/proc/%d/cmdline", pid)), "postgres") {
		return 0
	}
	return pid
}

// ServiceFiles returns the unit file and, if the service could not run program where it is, a copy of it. Files that a
// package has installed are left out.
func (m Machine) ServiceFiles(program string) ([]Output, error) {
	var files []Output
	if !strings.HasPrefix(program, "/usr/") && !strings.HasPrefix(program, "/opt/") {
		data, err := os.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("copy the program to %s: %w", programPath, err)
		}
		files, program = append(files, Output{Path: m.path(programPath), Data: data, Mode: 0o755, UID: -1}), programPath
	}
	if slices.ContainsFunc(packagedUnits, m.exists) {
		return files, nil
	}
	unit := strings.ReplaceAll(unitFile, programPath, program)
	if readText(m.path(unitPath)) != unit {
		files = append(files, Output{Path: m.path(unitPath), Data: []byte(unit), Mode: 0o644, UID: -1})
	}
	return files, nil
}

// StartService starts the service now and at each boot, or restarts it.
func StartService(ctx context.Context) error {
	for _, args := range [][]string{{"daemon-reload"}, {"enable", serviceName}, {"restart", serviceName}} {
		if err := command(ctx, "systemctl", args...); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program and returns what it printed as an error if it fails.
func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
