package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// systemFolders and systemFiles are what every command may read, and deviceFiles what it may read and write. Nothing else
// of the machine is readable: not /proc, /home or the rest of /etc.
var (
	systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ssl/certs"}                                                       //nolint:gochecknoglobals // a constant, were there constant lists
	systemFiles   = []string{"/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/mime.types", "/etc/magic", "/etc/ssl/openssl.cnf"} //nolint:gochecknoglobals // a constant, were there constant lists
	deviceFiles   = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}                                                                             //nolint:gochecknoglobals // a constant, were there constant lists
)

// statusFD is the pipe into which the child writes why it could not start the command.
const statusFD = 3

// Main is the main function of the child process: it restricts the process and replaces it by the command. args are the
// arguments after Subcommand. If that fails, it writes why into its status pipe and returns an exit status.
func Main(args []string) int {
	if len(args) >= 2 && args[0] == probeArgument {
		return probeMain(args[1:])
	}
	var sp spec
	err := errors.New("it has no description; multis starts it automatically")
	if len(args) == 1 {
		err = json.Unmarshal([]byte(args[0]), &sp) //nolint:musttag // both ends are this program
	}
	if err == nil {
		err = execRestricted(sp)
	}
	unix.CloseOnExec(statusFD)
	_, _ = unix.Write(statusFD, []byte(err.Error()))
	return 1
}

// execRestricted restricts this process and executes the command. It only returns with an error. The restrictions of
// threads other than this one do not matter, because they end when the program is replaced.
func execRestricted(sp spec) error {
	runtime.LockOSThread()
	_ = unix.CloseRange(statusFD, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	unix.CloseOnExec(statusFD)
	if sp.ABI < 1 {
		return errNoLandlock
	}
	if err := os.Chdir(sp.Dir); err != nil {
		return fmt.Errorf("enter the folder: %w", err)
	}
	// Package syscall sets the limits, so that the Go runtime does not restore its own at exec.
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: maxFileSize, unix.RLIMIT_NOFILE: maxOpenFiles, unix.RLIMIT_CPU: sp.CPU,
	} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit a resource: %w", err)
		}
	}
	program := sp.Program
	if len(sp.ReadFiles) > 0 { // the user of the workspace may be unable to enter the folder of this program
		fd, err := unix.Open(program, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", program, err)
		}
		program = fmt.Sprintf("/proc/self/fd/%d", fd)
	}
	if err := restrictFiles(sp); err != nil {
		return err
	}
	if err := dropPrivileges(sp); err != nil {
		return err
	}
	filter, err := installFilter(sp)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(filter)
	last := map[int]uint64{unix.RLIMIT_NPROC: sp.Processes, unix.RLIMIT_AS: maxMemory}
	if sp.Unlimited {
		delete(last, unix.RLIMIT_AS)
	}
	for resource, limit := range last {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit a resource: %w", err)
		}
	}
	return fmt.Errorf("run %s: %w", sp.Argv[0], syscall.Exec(program, sp.Argv, os.Environ()))
}

// landlockVersions are the configurations of the Landlock library by ABI, from 1.
var landlockVersions = []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7} //nolint:gochecknoglobals // a constant, were there constant lists

// restrictFiles limits this process by Landlock to the folders of the command and the files of the system that every
// command may read. Where the kernel can, it also forbids TCP, except to sp.Port, and signals to processes outside.
func restrictFiles(sp spec) error {
	// Not BestEffort: a rule that the kernel does not know is an error.
	config := landlockVersions[min(sp.ABI, len(landlockVersions))-1]
	write := landlock.RWDirs(sp.Write...)
	if sp.ABI >= 2 {
		write = write.WithRefer()
	}
	rules := []landlock.Rule{
		landlock.RODirs(systemFolders...).IgnoreIfMissing(), landlock.ROFiles(systemFiles...).IgnoreIfMissing(),
		landlock.RWFiles(deviceFiles...).IgnoreIfMissing(),
		landlock.RODirs(sp.Read...), landlock.ROFiles(sp.ReadFiles...), write,
	}
	if sp.Port != 0 {
		rules = append(rules, landlock.ConnectTCP(uint16(sp.Port))) //nolint:gosec // a port
	}
	if sp.Unlimited {
		rules = append(rules, landlock.ROFiles("/proc/self/maps").IgnoreIfMissing()) // of this process, which becomes the program; not of others
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("restrict the files: %w", err)
	}
	return nil
}

// dropPrivileges gives up all capabilities permanently, and switches to the user of the workspace if sp has one.
func dropPrivileges(sp spec) error {
	for capability := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) // only root has them to drop
	}
	if sp.UID >= 0 {
		err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(sp.GID, sp.GID, sp.GID), syscall.Setresuid(sp.UID, sp.UID, sp.UID))
		if err != nil {
			return fmt.Errorf("become the user of the workspace: %w", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	// The kernel kills the command when multis ends. This must follow the change of user, which would clear the setting.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie the command to multis: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new rights: %w", err)
	}
	return nil
}

// installFilter installs the seccomp filter on this thread.
func installFilter(sp spec) ([]unix.SockFilter, error) {
	filter := seccompFilter(sp.ABI, sp.Port != 0)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}                                                    //nolint:gosec // it has some dozen instructions
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil { //nolint:gosec // as the system call wants it
		return nil, fmt.Errorf("install the seccomp filter: %w", err)
	}
	return filter, nil
}
