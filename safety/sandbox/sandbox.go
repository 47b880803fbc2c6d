// Package sandbox runs programs of the machine for a model: one argument vector, never a shell, under Landlock, a seccomp
// filter and resource limits, in a process group and a temporary folder of its own, with an environment of its own. Linux
// only.
//
// A Sandbox runs nothing before Probe has tried to escape from it and failed. Parse reads command lines, and Classify
// says how dangerous they are. The class only decides what the owner is asked; what confines a command is the sandbox.
// Fingerprint binds an approval to the files that a command runs.
package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// The limits of one command.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 10 * time.Minute
	DefaultOutput  = 64 << 10 // bytes that are kept of the output: its beginning and its end
	maxArguments   = 32 << 10 // bytes of all arguments together
	maxProcesses   = 64       // processes and threads beside those that the user has already
	maxMemory      = 2 << 30  // bytes of address space of one process
	maxFileSize    = 256 << 20
	// maxAgentProcesses is maxProcesses for a Command with RelaxedLimits: the runtimes of agents have many threads.
	maxAgentProcesses = 256
	maxOpenFiles      = 256
)

// Path is the search path of commands. A program in any other folder is never Harmless.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Subcommand is the command-line argument with which this program must call Main.
const Subcommand = "sandbox-exec"

// Options configure a Sandbox.
type Options struct {
	// Program is the argument vector that starts Main: this program and Subcommand. The sandbox appends further arguments.
	Program []string
	// ForbiddenPaths are files and folders that no command can reach, whatever is configured: the configuration, keys, the
	// data folder, sockets. The workspace of a command must not contain one of them or lie in one, unless
	// Command.AllowsOwnFolder allows the latter.
	ForbiddenPaths []string
	// Temp is where the temporary folders of commands are made; empty means the system's.
	Temp string
	// ABI lowers the version of Landlock that is used, to simulate an older kernel. Zero means the newest, NoLandlock none.
	ABI int
}

// NoLandlock is the value of Options.ABI that simulates a kernel without Landlock.
const NoLandlock = -1

// Sandbox runs commands. It is safe for concurrent use.
type Sandbox struct {
	options   Options
	forbidden []string // Options.ForbiddenPaths, with links resolved
	bwrap     string   // bubblewrap; empty if it is missing or does not work here

	mu       sync.RWMutex
	notReady error // why nothing is run; nil after a successful Probe
}

// ErrNotProbed is the error of Ready before Probe.
var ErrNotProbed = errors.New("exec is off: the sandbox was not tested")

// New returns a sandbox that runs nothing until Probe succeeds.
func New(o Options) (*Sandbox, error) {
	if len(o.Program) == 0 || !filepath.IsAbs(o.Program[0]) {
		return nil, errors.New("sandbox: the program needs an absolute path")
	}
	if o.Temp == "" {
		o.Temp = os.TempDir()
	}
	s := &Sandbox{options: o, notReady: ErrNotProbed}
	for _, path := range o.ForbiddenPaths {
		if path != "" {
			s.forbidden = append(s.forbidden, realPath(path))
		}
	}
	if os.Geteuid() != 0 { // root inside bubblewrap could not become another user
		s.bwrap, _ = exec.LookPath("bwrap")
	}
	return s, nil
}

// Ready returns nil if commands are run, else why not.
func (s *Sandbox) Ready() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.notReady
}

// Features names the parts of the sandbox that this machine has: "Landlock ABI 7, seccomp".
func (s *Sandbox) Features() string {
	level := fmt.Sprintf("Landlock ABI %d, seccomp", s.abi())
	if s.bwrap != "" {
		level += ", bubblewrap"
	}
	return level
}

// abi returns the version of Landlock that is used; 0 means none.
func (s *Sandbox) abi() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	if s.options.ABI < 0 {
		return 0
	}
	if s.options.ABI > 0 {
		abi = min(abi, s.options.ABI)
	}
	return abi
}

// checkForbidden returns an error if a folder contains or lies in a path that no command may reach. If own is true, it
// may lie in a forbidden path.
func (s *Sandbox) checkForbidden(folder string, own bool) error {
	for _, path := range s.forbidden {
		if within(folder, path) || (within(path, folder) && !own) {
			return fmt.Errorf("the folder %s cannot be given to commands: it holds files of multis itself (%s); choose another workspace", folder,
				path)
		}
	}
	for _, system := range []string{"/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/etc"} {
		if within(folder, system) || within(system, folder) {
			return fmt.Errorf("the folder %s cannot be given to commands: it holds files of the system (%s); choose another workspace", folder,
				system)
		}
	}
	return nil
}

// within reports whether path is folder or lies in it.
func within(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// realPath returns an absolute path with all links resolved, as far as the file exists.
func realPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}

// checkHardLinks returns an error if a file that no command may reach has a second name, by which a command could reach it.
func (s *Sandbox) checkHardLinks() error {
	for _, path := range s.forbidden {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && hasHardLinks(info) {
			return fmt.Errorf("%s has another name (a hard link), by which a command could read or change it; find it (find / -xdev -samefile %s) and remove it", path, path)
		}
	}
	return nil
}

// hasHardLinks reports whether a file has hard links.
func hasHardLinks(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink > 1
}

// IsForbidden reports whether a file must not be read: it is in a forbidden path, is a file of the kernel, or has several
// hard links, of which one may be in a forbidden path. All links in path must be resolved. info may be nil.
func (s *Sandbox) IsForbidden(path string, info fs.FileInfo) bool {
	if info != nil && info.Mode().IsRegular() && hasHardLinks(info) {
		return true
	}
	if slices.ContainsFunc(s.forbidden, func(forbidden string) bool { return within(forbidden, path) }) {
		return true
	}
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev", "/run", "/var/run", "/boot"}, func(system string) bool {
		return within(system, path)
	})
}
