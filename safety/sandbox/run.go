package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"multis/internal/text"
)

// Command is a program to run.
type Command struct {
	Argv []string
	// Workspace is the folder that the command may read and change. Dir is where it starts, relative to it; empty means the folder itself.
	Workspace string
	Dir       string
	ReadPaths []string // further folders to read from
	// AllowsOwnFolder allows a workspace that lies in one of Options.ForbiddenPaths, for a command of the configuration that
	// runs in a folder of multis.
	AllowsOwnFolder bool
	Stdin           []byte
	Timeout         time.Duration // zero means DefaultTimeout; at most MaxTimeout
	MaxOutput       int           // bytes of output to keep; zero means DefaultOutput
	// OnOutput receives all output as it comes; nil for none. It is called by one goroutine.
	OnOutput func([]byte)
	// Fingerprint, unless it is empty, is what Sandbox.Fingerprint has returned for this command. If it has changed, nothing is run.
	Fingerprint string

	// Port is the TCP port of this machine that the command may connect to, such as that of a fetch.Proxy. Zero means no
	// network at all. Landlock limits ports, not addresses: the command can also connect to the same port of other machines
	// that are reachable.
	Port int
	// Env are further variables of its environment ("NAME=value"). They override those that every command has.
	Env []string
	// RelaxedLimits lifts the limit on address space, which the runtimes of some languages do not fit in, and allows more
	// processes. It also lets the program, but nothing that it starts, read the map of its own memory, without which the
	// runtime of Claude Code ends at once.
	RelaxedLimits bool

	probeFiles []string // files that Probe may read in addition
}

// Result is how a command ended.
type Result struct {
	ExitCode int    // -1 if a signal ended it
	Output   string // standard output and standard error, in their order; bytes that are no UTF-8 are replaced
	Dropped  int64  // bytes of the output's middle that were not kept
	TimedOut bool
	Duration time.Duration
}

// ErrChanged is returned for a command whose files changed since its fingerprint was taken.
var ErrChanged = errors.New("the program, a script or the folder of this command changed after it was approved, so it was not run; ask again")

// spec is what the parent passes to the child: how to restrict itself, and what to run.
type spec struct {
	Program        string // absolute
	Argv           []string
	Dir            string // absolute
	Write          []string
	Read           []string
	ReadFiles      []string
	UID, GID       int // -1 to keep them
	CPU, Processes uint64
	ABI            int
	Port           int
	Unlimited      bool
}

// Run runs a command and waits until it and all that it started have ended. Its error means that the command was not run.
func (s *Sandbox) Run(ctx context.Context, c Command) (Result, error) {
	if err := s.Ready(); err != nil {
		return Result{}, err
	}
	return s.run(ctx, c)
}

func (s *Sandbox) run(ctx context.Context, c Command) (Result, error) {
	sp, err := s.prepare(&c)
	if err != nil {
		return Result{}, err
	}
	if c.Fingerprint != "" {
		now, err := Fingerprint(ctx, c.Argv, sp.Dir)
		if err != nil || now != c.Fingerprint {
			return Result{}, ErrChanged
		}
	}
	temp, err := os.MkdirTemp(s.options.Temp, "multis-exec-")
	if err != nil {
		return Result{}, fmt.Errorf("make a temporary folder for the command: %w", err)
	}
	defer os.RemoveAll(temp)
	if sp.UID >= 0 {
		if err := os.Chown(temp, sp.UID, sp.GID); err != nil {
			return Result{}, fmt.Errorf("give the temporary folder to the user of the workspace: %w", err)
		}
	}
	sp.Write = append(sp.Write, realPath(temp))
	argv, err := s.childArgv(sp)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	return execute(ctx, argv, append(environment(temp), c.Env...), c)
}

var (
	errTimeout     = errors.New("the command took too long")
	errNoWorkspace = errors.New("commands need a workspace, and the assistant itself has none: " +
		"the owner can run the command with /exec, or ask an agent of config.yaml, each of which has one")
)

// prepare checks a command, fills in its defaults and returns its spec.
func (s *Sandbox) prepare(c *Command) (spec, error) {
	if err := checkArgv(c.Argv); err != nil {
		return spec{}, err
	}
	if c.Workspace == "" {
		return spec{}, errNoWorkspace
	}
	workspace := realPath(c.Workspace)
	dir := realPath(filepath.Join(workspace, c.Dir))
	if !within(workspace, dir) {
		return spec{}, errors.New("the folder of a command lies in its workspace")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return spec{}, fmt.Errorf("there is no folder %s", c.Dir)
	}
	sp := spec{
		Argv:      c.Argv,
		Dir:       dir,
		Write:     []string{workspace},
		ReadFiles: c.probeFiles,
		UID:       -1,
		GID:       -1,
		ABI:       s.abi(),
		Port:      c.Port,
		Unlimited: c.RelaxedLimits,
	}
	if sp.ABI == 0 {
		return spec{}, errNoLandlock
	}
	if sp.Port != 0 && sp.ABI < networkABI {
		return spec{}, errNoNetworkRules
	}
	for _, path := range c.ReadPaths {
		sp.Read = append(sp.Read, realPath(path))
	}
	err := errors.Join(s.checkHardLinks(), s.checkForbidden(workspace, c.AllowsOwnFolder))
	for _, folder := range sp.Read {
		err = errors.Join(err, s.checkForbidden(folder, false))
	}
	if err != nil {
		return spec{}, err
	}
	if sp.Program, err = lookPath(c.Argv[0], dir); err != nil {
		return spec{}, err
	}
	if sp.UID, sp.GID, err = userOf(workspace); err != nil {
		return spec{}, err
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultOutput
	}
	c.Timeout = min(c.Timeout, MaxTimeout)
	sp.CPU = uint64(c.Timeout/time.Second) + 1 //nolint:gosec // it is positive
	uid := os.Geteuid()
	if sp.UID >= 0 {
		uid = sp.UID
	}
	sp.Processes = countTasks(uid) + maxProcesses
	if c.RelaxedLimits {
		sp.Processes += maxAgentProcesses - maxProcesses
	}
	return sp, nil
}

// networkABI is the first ABI of Landlock that limits TCP ports.
const networkABI = 4

var errNoNetworkRules = errors.New("this kernel cannot limit the network of a command: use Linux 6.7 or newer, or set network: false")

var errNoLandlock = errors.New("this kernel has no Landlock: use Linux 6.2 or newer with landlock in CONFIG_LSM or lsm=")

// checkArgv returns an error for arguments that cannot be run, or that cannot be shown to the owner in full.
func checkArgv(argv []string) error {
	size := 0
	for _, a := range argv {
		size += len(a) + 1
		if strings.ContainsRune(a, 0) {
			return errors.New("an argument holds a zero byte")
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("there is no command")
	}
	if size > maxArguments {
		return fmt.Errorf("the command is longer than %d KB", maxArguments>>10)
	}
	return nil
}

// maxShownName is how much of the name of a program that is not there an error quotes, in characters.
const maxShownName = 200

// lookPath returns the program that a command runs: a file of Path for a bare name, else a path from the folder of the
// command. The path has no "..": behind a link that would lead to another program than the one that was classified.
func lookPath(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if name = filepath.Clean(name); !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if isProgram(name) {
			return name, nil
		}
		return "", fmt.Errorf("there is no program %s", text.Clip(name, maxShownName))
	}
	for folder := range strings.SplitSeq(Path, ":") {
		if path := filepath.Join(folder, name); isProgram(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in %s", text.Clip(name, maxShownName), Path)
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// userOf returns the owner of the workspace, as whom a command runs if multis runs as root. It returns -1 if multis does
// not: the user stays the same.
func userOf(workspace string) (uid, gid int, err error) {
	if os.Geteuid() != 0 {
		return -1, -1, nil
	}
	info, err := os.Stat(workspace)
	if err != nil {
		return 0, 0, fmt.Errorf("look at the workspace: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return 0, 0,
			fmt.Errorf("multis runs as root, and so would its commands: run it as another user, or give the workspace to one, as in: chown -R nobody: %s", text.ShellWord(workspace))
	}
	return int(owner.Uid), int(owner.Gid), nil
}

// countTasks returns how many processes and threads of a user are visible to multis.
func countTasks(uid int) (n uint64) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range all {
		if name := e.Name(); name[0] < '0' || name[0] > '9' {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it has ended
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != uid {
			continue
		}
		threads, _ := os.ReadDir(filepath.Join("/proc", e.Name(), "task"))
		n += uint64(max(len(threads), 1))
	}
	return n
}

// childArgv returns the argument vector that starts the child.
func (s *Sandbox) childArgv(sp spec) ([]string, error) {
	encoded, err := json.Marshal(sp) //nolint:musttag // both ends are this program
	if err != nil {
		return nil, fmt.Errorf("describe the command: %w", err)
	}
	var argv []string
	if s.bwrap != "" {
		argv = []string{s.bwrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
		for _, folder := range sp.Write {
			argv = append(argv, "--bind", folder, folder)
		}
		if sp.Port != 0 {
			argv = append(argv, "--share-net")
		}
		argv = append(argv, "--")
	}
	return append(append(argv, s.options.Program...), string(encoded)), nil
}

// environment returns the whole environment of a command. It contains no variable of multis' own environment.
func environment(temp string) []string {
	return []string{
		"PATH=" + Path, "HOME=" + temp, "TMPDIR=" + temp, "LANG=C.UTF-8", "TERM=dumb", "PAGER=cat",
		// Keep Git from running programs that the configuration of a repository names.
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=file:https", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
		"GIT_CONFIG_KEY_2=safe.bareRepository", "GIT_CONFIG_VALUE_2=explicit", // a folder of written files may look like a repository
	}
}

// execute starts a child in a process group of its own, reads its output and kills the group when the child has ended or ctx is done.
func execute(ctx context.Context, argv, env []string, c Command) (Result, error) {
	output, outputW, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	defer output.Close()
	status, statusW, err := os.Pipe()
	if err != nil {
		outputW.Close()
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	defer status.Close()
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // ctx ends the whole group, below
	cmd.Env = env
	cmd.Stdout = outputW
	cmd.Stderr = outputW
	cmd.ExtraFiles = []*os.File{statusW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Stdin != nil {
		cmd.Stdin = strings.NewReader(string(c.Stdin))
	}
	began := time.Now()
	err = cmd.Start()
	outputW.Close()
	statusW.Close()
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	group := cmd.Process.Pid
	kept := &headTailBuffer{limit: c.MaxOutput, live: c.OnOutput}
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(kept, output) }()
	ended := make(chan struct{})
	go func() { defer close(ended); waitEnd(group) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	_ = unix.Kill(-group, unix.SIGKILL) // also what it left running; nothing can have left the group
	<-ended
	waitErr := cmd.Wait()
	<-read
	problem, _ := io.ReadAll(io.LimitReader(status, 1000))
	if len(problem) > 0 {
		return Result{}, fmt.Errorf("start the command in the sandbox: %s", problem)
	}
	if failed, ok := errors.AsType[*exec.ExitError](waitErr); waitErr != nil && !ok && failed == nil && cmd.ProcessState == nil {
		return Result{}, fmt.Errorf("wait for the command: %w", waitErr)
	}
	return Result{
		ExitCode: cmd.ProcessState.ExitCode(), Output: kept.String(), Dropped: kept.dropped,
		TimedOut: errors.Is(context.Cause(ctx), errTimeout), Duration: time.Since(began),
	}, ctxError(ctx)
}

// ctxError returns why the caller stopped the command. It is nil after a timeout, which is reported by Result.TimedOut.
func ctxError(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeout) {
		return cause
	}
	return nil
}

// waitEnd waits until a process has ended, but does not reap it, so that its id stays reserved for its process group until Wait.
func waitEnd(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
