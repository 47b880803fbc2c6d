package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/safety/sandbox"
)

func (g testSandbox) run(t *testing.T, line string) sandbox.Result {
	t.Helper()
	argv, err := sandbox.Parse(line)
	require.NoError(t, err)
	result, err := g.Run(context.Background(), sandbox.Command{Argv: argv, Workspace: g.workspace, Timeout: 20 * time.Second})
	require.NoError(t, err)
	return result
}

func TestRun_WorksInWorkspaceOnly(t *testing.T) {
	g := newTestSandbox(t)
	require.NoError(t, os.WriteFile(filepath.Join(g.workspace, "notes.md"), []byte("480 euro\n"), 0o644))
	require.Equal(t, "480 euro\n", g.run(t, "cat notes.md").Output)
	moved := g.run(t, "sh -c 'mkdir sub && echo new > sub/file && mv sub/file moved'")
	require.Zero(t, moved.ExitCode, moved.Output)
	require.FileExists(t, filepath.Join(g.workspace, "moved"))
	require.Equal(t, g.workspace+"\n", g.run(t, "pwd").Output)

	temp := strings.TrimSpace(g.run(t, "sh -c 'echo x > $TMPDIR/x && echo $TMPDIR'").Output)
	require.NotEmpty(t, temp)
	require.NoDirExists(t, temp, "the temporary folder is removed")

	for _, line := range []string{
		"cat " + g.secret, "sh -c 'cat < " + g.secret + "'", "sh -c 'echo x > " + g.secret + "'", "sh -c 'echo x > /tmp/multis-outside'",
		"ls /root", "ls /proc", "cat /etc/shadow",
		"cat ../../" + g.secret, "ln " + g.secret + " hard", "sh -c 'ln -s " + g.secret + " soft; cat soft'", "cat /proc/self/root" + g.secret,
		"rm -f " + g.secret, "chmod 777 " + g.secret,
		"sh -c 'cat < /proc/$PPID/environ'", "tar -cf x.tar " + g.secret,
	} {
		t.Run(line, func(t *testing.T) {
			result := g.run(t, line)
			require.NotZero(t, result.ExitCode, line)
			require.NotContains(t, result.Output, "canary", line)
		})
	}
	data, err := os.ReadFile(g.secret)
	require.NoError(t, err)
	require.Equal(t, "token: canary\n", string(data))
}

func TestRun_HidesOurEnvironment(t *testing.T) {
	t.Setenv("MULTIS_CANARY", "canary")
	output := newTestSandbox(t).run(t, "env").Output
	require.NotContains(t, output, "canary")
	for line := range strings.Lines(output) {
		name, _, _ := strings.Cut(line, "=")
		require.Contains(t, "PATH HOME TMPDIR LANG TERM PAGER PWD SHLVL _ OLDPWD", strings.SplitN(name, "GIT_", 2)[0], line)
	}
}

func TestRun_EndsWithItsChildren(t *testing.T) {
	g := newTestSandbox(t)
	began := time.Now()
	result := g.run(t, "sh -c 'sleep 100 & (sleep 100 &) ; setsid sleep 100; echo started'")
	require.Contains(t, result.Output, "started")
	require.Less(t, time.Since(began), 15*time.Second, "what it left running is killed")

	result, err := g.Run(context.Background(), sandbox.Command{
		Argv:      []string{"sh", "-c", "trap '' TERM INT; sleep 100"},
		Workspace: g.workspace,
		Timeout:   300 * time.Millisecond,
	})
	require.NoError(t, err)
	require.True(t, result.TimedOut)
	require.Equal(t, -1, result.ExitCode)

	ctx, cancel := context.WithCancel(context.Background())
	_, err = g.Run(ctx, sandbox.Command{
		Argv:      []string{"sh", "-c", "echo ready; sleep 100"},
		Workspace: g.workspace,
		OnOutput:  func([]byte) { cancel() },
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestOutput_KeepsBeginningAndEnd(t *testing.T) {
	g := newTestSandbox(t)
	result, err := g.Run(context.Background(), sandbox.Command{
		Argv:      []string{"sh", "-c", "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"},
		Workspace: g.workspace,
		MaxOutput: 1000,
	})
	require.NoError(t, err)
	require.Less(t, len(result.Output), 1100)
	require.True(t, strings.HasPrefix(result.Output, "first\nxxx"))
	require.True(t, strings.HasSuffix(result.Output, "xxx\nlast\n"))
	require.Greater(t, result.Dropped, int64(2_900_000))
}

func TestOutput_MasksCutSecret(t *testing.T) {
	const secret = "canary-K9x7Qm2vz5"
	policy.SetSecrets([]string{secret})
	t.Cleanup(func() { policy.SetSecrets(nil) })
	const limit = 200
	for at := limit/2 - len(secret) - 1; at <= limit/2+1; at++ {
		head := strings.Repeat("x", at) + secret + strings.Repeat("y", 10*limit)
		tail := strings.Repeat("x", 10*limit) + secret + strings.Repeat("y", at)
		for _, output := range []string{head, tail} {
			shown := policy.Hide(sandbox.KeptOutput(limit, output))
			for n := 0; n+4 <= len(secret); n++ {
				require.NotContains(t, shown, secret[n:n+4], "the secret begins or ends %d bytes from the end", at)
			}
		}
	}
}

func TestForkBomb_EndsAtLimit(t *testing.T) {
	g := newTestSandbox(t)
	refused := regexp.MustCompile("(?i)fork|resource")
	output := ""
	for timeout := 500 * time.Millisecond; !refused.MatchString(output) && timeout < time.Minute; timeout *= 2 { // a busy machine forks slowly
		result, err := g.Run(context.Background(), sandbox.Command{
			Argv:      []string{"sh", "-c", "b() { b | b & }; b; sleep 60"},
			Workspace: g.workspace,
			Timeout:   timeout,
		})
		require.NoError(t, err)
		output = result.Output
	}
	require.Regexp(t, refused, output)
	require.Zero(t, g.run(t, "true").ExitCode, "the next command works")
}

func TestProbe_EscapeKeepsExecOff(t *testing.T) {
	for abi, why := range map[int]string{sandbox.NoLandlock: "no Landlock", 2: "truncate a file outside"} {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			o := options(t)
			o.ABI = abi
			s, err := sandbox.New(o)
			require.NoError(t, err)
			s.SetBubblewrap("") // which would hold a file of the outside where Landlock does not
			require.ErrorContains(t, s.Probe(context.Background()).Err(), why)
			_, err = s.Run(context.Background(), sandbox.Command{Argv: []string{"true"}, Workspace: workspace(t)})
			require.ErrorContains(t, err, "exec is off: ")
			require.ErrorContains(t, err, why)
		})
	}
}

func TestProbe_OlderKernelsHold(t *testing.T) {
	for abi := 3; abi <= 7; abi++ {
		o := options(t)
		o.ABI = abi
		s, err := sandbox.New(o)
		require.NoError(t, err)
		require.NoError(t, s.Probe(context.Background()).Err(), "Landlock ABI %d", abi)
	}
}

func TestProbe_EscapesWithoutSandbox(t *testing.T) {
	o := options(t)
	s, err := sandbox.New(o)
	require.NoError(t, err)
	attempts, err := s.ProbeOutside(context.Background())
	require.NoError(t, err)
	var failed []string
	for _, a := range attempts {
		if !a.Escaped {
			failed = append(failed, a.Name)
		}
	}
	// Outside of the sandbox these attempts may fail as well, because they need a capability, a file of root's or a service
	// that this machine does not have. Sandbox.Probe checks that the sandbox itself refuses them.
	require.Subset(t, []string{
		"read /etc/shadow", "connect to the socket of Docker", "open a raw socket", "mount", "have a capability", "trace multis", "use io_uring",
		"read the environment of multis", "read the memory of multis", "read the files of multis by /proc", "send multis a signal",
		"send multis a signal by a thread",
		"send a signal to its starter", "change the limits of multis", "slow multis down", "make a user namespace", "leave the session",
		"read a file outside by a link",
		"connect by multipath TCP", "mark a file outside", "truncate a file outside", "truncate a file outside when opening it",
		"remove a file outside", "move a file from outside",
		"link a file from outside", "move a file to the outside", "change the mode of a file outside", "change the time of a file outside",
	}, failed)
}

func TestWorkspace_WithOwnFilesIsRefused(t *testing.T) {
	g := newTestSandbox(t)
	for _, folder := range []string{filepath.Dir(g.secret), "/", "/etc", "/proc/self", "/dev"} {
		t.Run(folder, func(t *testing.T) {
			_, err := g.Run(context.Background(), sandbox.Command{Argv: []string{"ls"}, Workspace: folder})
			require.ErrorContains(t, err, "choose another workspace", folder)
			_, err = g.Run(context.Background(), sandbox.Command{Argv: []string{"ls"}, Workspace: g.workspace, ReadPaths: []string{folder}})
			require.ErrorContains(t, err, "choose another workspace", folder)
		})
	}
	link := filepath.Join(g.workspace, "link")
	require.NoError(t, os.Symlink(filepath.Dir(g.secret), link))
	_, err := g.Run(context.Background(), sandbox.Command{Argv: []string{"ls"}, Workspace: link})
	require.ErrorContains(t, err, "choose another workspace", "links are resolved")
	_, err = g.Run(context.Background(), sandbox.Command{Argv: []string{"ls"}, Workspace: g.workspace, Dir: ".."})
	require.ErrorContains(t, err, "in its workspace")
}

func TestHardLink_StopsAllCommands(t *testing.T) {
	g := newTestSandbox(t)
	hard := filepath.Join(g.workspace, "hard")
	require.NoError(t, os.Link(g.secret, hard))
	_, err := g.Run(context.Background(), sandbox.Command{Argv: []string{"cat", "hard"}, Workspace: g.workspace})
	require.ErrorContains(t, err, g.secret+" has another name")
	info, err := os.Stat(hard)
	require.NoError(t, err)
	require.True(t, g.IsForbidden(hard, info))
	require.NoError(t, os.Remove(hard))
	require.Zero(t, g.run(t, "true").ExitCode)
}

func TestWorkspace_OwnFolderNeedsConfiguration(t *testing.T) {
	hooks := newSharedFolder(t)
	own := filepath.Join(hooks, "guard")
	require.NoError(t, os.Mkdir(own, 0o755))
	chownToNobody(t, own)
	o := options(t)
	o.ForbiddenPaths = []string{hooks}
	s, err := sandbox.New(o)
	require.NoError(t, err)
	require.NoError(t, s.Probe(context.Background()).Err())
	for _, folder := range []string{own, hooks, filepath.Dir(hooks)} {
		_, err = s.Run(context.Background(), sandbox.Command{Argv: []string{"true"}, Workspace: folder})
		require.ErrorContains(t, err, "choose another workspace", folder)
	}
	_, err = s.Run(context.Background(), sandbox.Command{
		Argv:            []string{"true"},
		Workspace:       workspace(t),
		ReadPaths:       []string{own},
		AllowsOwnFolder: true,
	})
	require.ErrorContains(t, err, "choose another workspace", "to read from")
	_, err = s.Run(context.Background(), sandbox.Command{Argv: []string{"true"}, Workspace: hooks, AllowsOwnFolder: true})
	require.ErrorContains(t, err, "choose another workspace", "those of all hooks")
	_, err = s.Run(context.Background(), sandbox.Command{Argv: []string{"true"}, Workspace: own, AllowsOwnFolder: true})
	require.NoError(t, err)
}

func TestFingerprint_ChangedCommandIsNotRun(t *testing.T) {
	g := newTestSandbox(t)
	script := filepath.Join(g.workspace, "build.sh")
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		chownToNobody(t, path)
	}
	for name, swap := range map[string]func(){
		"script":            func() { write(script, "echo other") },
		"inode":             func() { write(script+"2", "echo built"); require.NoError(t, os.Rename(script+"2", script)) },
		"link":              func() { require.NoError(t, os.Remove(script)); require.NoError(t, os.Symlink("/usr/bin/env", script)) },
		"missing operand":   func() { write(filepath.Join(g.workspace, "argument"), "new") },
		"script in options": func() { require.NoError(t, os.Remove(script)) },
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(script)
			_ = os.Remove(filepath.Join(g.workspace, "argument"))
			write(script, "echo built")
			c := sandbox.Command{Argv: []string{"sh", "build.sh", "argument"}, Workspace: g.workspace}
			var err error
			c.Fingerprint, err = g.Fingerprint(t.Context(), c)
			require.NoError(t, err)
			result, err := g.Run(context.Background(), c)
			require.NoError(t, err, name)
			require.Equal(t, "built\n", result.Output)
			swap()
			_, err = g.Run(context.Background(), c)
			require.ErrorIs(t, err, sandbox.ErrChanged, name)
		})
	}
}

func TestRun_LimitsMemoryAndFiles(t *testing.T) {
	g := newTestSandbox(t)
	require.Equal(t, "2097152\n", g.run(t, "sh -c 'ulimit -v'").Output, "KB of memory")
	require.Zero(t, g.run(t, "truncate -s 256M most").ExitCode)
	require.NotZero(t, g.run(t, "truncate -s 257M more").ExitCode)
}

// holdArgument makes the test program run holdLock.
const holdArgument = "hold-lock"

// holdLock runs a command in the sandbox that holds a lock on the file "lock" of its workspace until it ends.
func holdLock(temp, workspace string) {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	s, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}, Temp: temp})
	if err != nil {
		panic(err)
	}
	if err := s.Probe(context.Background()).Err(); err != nil {
		panic(err)
	}
	_, _ = s.Run(context.Background(), sandbox.Command{
		Argv:      []string{"sh", "-c", "exec 9>lock; flock 9; exec sleep 300"},
		Workspace: workspace,
		Timeout:   5 * time.Minute,
	})
}

func TestRun_DiesWithMultis(t *testing.T) {
	temp, folder := newSharedFolder(t), workspace(t)
	multis := exec.CommandContext(t.Context(), os.Args[0], holdArgument, temp, folder)
	require.NoError(t, multis.Start())
	isHeld := func() bool {
		lock, err := os.Open(filepath.Join(folder, "lock"))
		if err != nil {
			return false
		}
		defer lock.Close()
		return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
	}
	require.Eventually(t, isHeld, time.Minute, 10*time.Millisecond)
	require.NoError(t, multis.Process.Kill())
	require.Error(t, multis.Wait())
	require.Eventually(t, func() bool { return !isHeld() }, time.Minute, 10*time.Millisecond)
}

func TestAgent_ReadsOwnMemoryMapOnly(t *testing.T) {
	g := newTestSandbox(t)
	run := func(relaxed bool, argv ...string) sandbox.Result {
		r, err := g.Run(t.Context(), sandbox.Command{Argv: argv, Workspace: g.workspace, RelaxedLimits: relaxed})
		require.NoError(t, err)
		return r
	}
	require.Contains(t, run(true, "cat", "/proc/self/maps").Output, "/bin/cat")
	for _, denied := range [][]string{
		{"sh", "-c", "cat /proc/self/maps; true"},
		{"cat", "/proc/1/maps"},
		{"cat", fmt.Sprintf("/proc/%d/maps", os.Getpid())},
		{"ls", "/proc/self"},
		{"cat", "/proc/self/environ"},
		{"head", "-c1", "/proc/self/mem"},
		{"cat", "/proc/self/status"},
	} {
		require.Regexp(t, "Permission denied|No such file", run(true, denied...).Output, denied) // bubblewrap hides other processes
	}
	require.Contains(t, run(false, "cat", "/proc/self/maps").Output, "Permission denied", "a command is no agent")
}

// "link/../../../bin/ls" is /bin/ls where the words are read, and another program where a link is followed first.
func TestSymlink_BeforeDotsDecidesNothing(t *testing.T) {
	g := newTestSandbox(t)
	levels := strings.Count(g.workspace, "/") + 1 // of /link below the root
	deep, fake := filepath.Join(g.workspace, "a", strings.Repeat("x/", levels)), filepath.Join(g.workspace, "a", "bin", "uname")
	require.NoError(t, errors.Join(os.MkdirAll(deep, 0o755), os.MkdirAll(filepath.Dir(fake), 0o755),
		os.WriteFile(fake, []byte("#!/bin/sh\necho fake\n"), 0o755)))
	require.NoError(t, os.Symlink(deep, filepath.Join(g.workspace, "link")))
	command := g.workspace + "/link/" + strings.Repeat("../", levels) + "bin/uname"
	require.Equal(t, sandbox.Harmless, sandbox.Classify([]string{command}).Class)
	require.Equal(t, "Linux\n", g.run(t, command).Output)
}

func TestRun_IgnoresPATH(t *testing.T) {
	g := newTestSandbox(t)
	fake := filepath.Join(g.workspace, "cat")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho fake\n"), 0o755))
	before, err := g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{"cat", "/dev/null"}, Workspace: g.workspace})
	require.NoError(t, err)
	t.Setenv("PATH", g.workspace+":"+os.Getenv("PATH"))
	after, err := g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{"cat", "/dev/null"}, Workspace: g.workspace})
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Empty(t, g.run(t, "cat /dev/null").Output)
}

func TestRun_ShortensMissingProgramName(t *testing.T) {
	t.Parallel()
	g := newTestSandbox(t)
	for _, name := range []string{strings.Repeat("a", 10_000), strings.Repeat("/a", 5000)} {
		t.Run(name, func(t *testing.T) {
			_, err := g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{name}, Workspace: g.workspace})
			require.ErrorContains(t, err, "there is no program ")
			require.Less(t, len(err.Error()), 400)
		})
	}
}

// A folder whose files write_file accepts (none is in ".git") is a bare repository with a promisor remote: "git show
// HEAD" is harmless by its class and would run any script.
func TestGit_IgnoresPlantedRepository(t *testing.T) {
	t.Parallel()
	g := newTestSandbox(t)
	for name, content := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "1111111111111111111111111111111111111111\n", "objects/x": "",
		"config": "[core]\n repositoryformatversion = 1\n bare = true\n[extensions]\n partialClone = x\n[remote \"x\"]\n url = ext::sh ./evil\n promisor = true\n partialclonefilter = blob:none\n[protocol \"ext\"]\n allow = always\n",
		"evil":   "echo pwned > PWNED; rm -f victim.md\n", "victim.md": "keep me\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(g.workspace, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
			_ = os.Chown(path, 65534, 65534)
		})
	}
	argv, err := sandbox.Parse("git show HEAD")
	require.NoError(t, err)
	require.Equal(t, sandbox.Harmless, sandbox.Classify(argv).Class)
	require.Contains(t, g.run(t, "git show HEAD").Output, "safe.bareRepository is 'explicit'", "Git read the configuration of the folder")
	require.NoFileExists(t, filepath.Join(g.workspace, "PWNED"), "a harmless command ran a script")
	require.FileExists(t, filepath.Join(g.workspace, "victim.md"), "a harmless command removed a file")
}

func TestRefusedCommand_AsksNobody(t *testing.T) {
	g := newTestSandbox(t)
	own := newSharedFolder(t)
	_, err := g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{"ls"}, Workspace: own})
	if os.Geteuid() == 0 {
		require.ErrorContains(t, err, "chown -R nobody: "+own)
	} else {
		require.NoError(t, err)
	}
	_, err = g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{"ls"}})
	require.ErrorContains(t, err, "the owner can run the command with /exec")
	_, err = g.Fingerprint(t.Context(), sandbox.Command{Argv: []string{"ls"}, Workspace: filepath.Dir(g.secret)})
	require.ErrorContains(t, err, "choose another workspace")
}
