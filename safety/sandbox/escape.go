package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minAttempts is the minimum number of attempts of a complete test. A test with fewer was interrupted.
const minAttempts = 20

// probeMain tries to escape and prints the attempts. It is a command in the sandbox.
func probeMain(args []string) int {
	var to probeTargets
	if err := json.Unmarshal([]byte(args[0]), &to); err != nil { //nolint:musttag // both ends are this program
		return 2
	}
	if data, err := os.ReadFile(to.Control); err != nil || string(data) != secretText {
		fmt.Fprintln(os.Stderr, "the workspace cannot be read:", err)
		return 2
	}
	tries := allAttempts(readAttempts(to), writeAttempts(to), connectAttempts(to), processAttempts(to))
	attempts := make([]Attempt, 0, len(tries))
	for _, t := range tries {
		err := t.run()
		a := Attempt{Name: t.name, Escaped: err == nil, Detail: "it worked"}
		if err != nil {
			a.Detail = err.Error()
		}
		attempts = append(attempts, a)
	}
	if err := json.NewEncoder(os.Stdout).Encode(attempts); err != nil {
		return 2
	}
	return 0
}

// escapeAttempt is one attempt to escape. A nil error means that it succeeded.
type escapeAttempt struct {
	name string
	run  func() error
}

func allAttempts(lists ...[]escapeAttempt) (all []escapeAttempt) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func open(path string, flags int) func() error {
	return func() error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

func readAttempts(to probeTargets) []escapeAttempt {
	self := "/proc/self/root" + to.Secret
	parent := "/proc/" + strconv.Itoa(to.Parent)
	tries := []escapeAttempt{
		{"read a file outside the workspace", open(to.Secret, unix.O_RDONLY)},
		{"read a file outside by /proc/self/root", open(self, unix.O_RDONLY)},
		{"read a file outside by ..", open(to.Inside+"/../secret", unix.O_RDONLY)},
		{"read a file outside by a link", func() error {
			link := filepath.Join(to.Inside, "link")
			_ = os.Symlink(to.Secret, link)
			return open(link, unix.O_RDONLY)()
		}},
		{"list a folder outside", open(filepath.Dir(to.Secret), unix.O_RDONLY|unix.O_DIRECTORY)},
		{"read the environment of multis", open(parent+"/environ", unix.O_RDONLY)},
		{"read the memory of multis", open(parent+"/mem", unix.O_RDONLY)},
		{"read the files of multis by /proc", open(parent+"/root"+to.Secret, unix.O_RDONLY)},
		{"read its own environment by /proc", open("/proc/self/environ", unix.O_RDONLY)},
		{"read /etc/shadow", open("/etc/shadow", unix.O_RDONLY)},
	}
	tries = append(tries, escapeAttempt{"watch a folder outside", func() error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.InotifyAddWatch(fd, filepath.Dir(to.Secret), unix.IN_ALL_EVENTS)
		return err
	}})
	for _, path := range to.Forbidden {
		tries = append(tries, escapeAttempt{"read " + path, open(path, unix.O_RDONLY)},
			escapeAttempt{"read " + path + " by /proc", open("/proc/self/root"+path, unix.O_RDONLY)})
	}
	return tries
}

func writeAttempts(to probeTargets) []escapeAttempt {
	beside := filepath.Dir(to.Secret)
	return []escapeAttempt{
		{"create a file outside", open(filepath.Join(beside, "new"), unix.O_WRONLY|unix.O_CREAT)},
		{"create a file in /tmp", func() error {
			path := "/tmp/multis-probe-" + strconv.Itoa(to.Parent)
			defer os.Remove(path)
			return open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)()
		}},
		{"write to a file outside", open(to.Secret, unix.O_WRONLY|unix.O_APPEND)},
		{"truncate a file outside", func() error { return unix.Truncate(to.Secret, 0) }},
		{"truncate a file outside when opening it", open(to.Secret, unix.O_RDONLY|unix.O_TRUNC)},
		{"remove a file outside", func() error { return unix.Unlink(to.Secret) }},
		{"move a file from outside", func() error { return unix.Rename(to.Secret, filepath.Join(to.Inside, "moved")) }},
		{"link a file from outside", func() error { return unix.Link(to.Secret, filepath.Join(to.Inside, "linked")) }},
		{"move a file to the outside", func() error { return unix.Rename(to.Control, filepath.Join(beside, "moved")) }},
		{"change the mode of a file outside", func() error { return unix.Chmod(to.Secret, 0o644) }},
		{"change the time of a file outside", func() error { return unix.Utimes(to.Secret, make([]unix.Timeval, 2)) }},
		{"mark a file outside", func() error { return unix.Setxattr(to.Secret, "user.multis", []byte("x"), 0) }},
	}
}

func connectAttempts(to probeTargets) []escapeAttempt {
	address, err := netip.ParseAddrPort(to.TCP)
	if err != nil {
		return nil
	}
	mapped := netip.AddrFrom16(address.Addr().As16()).As16()
	dial := func(network, to string) func() error {
		return func() error {
			c, err := net.Dial(network, to) //nolint:noctx // it fails or connects at once
			if err == nil {
				c.Close()
			}
			return err
		}
	}
	return []escapeAttempt{
		{"connect by TCP", dial("tcp", to.TCP)},
		{"connect by multipath TCP", socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, nil)},
		{"connect to an IPv4 address by IPv6", socket(unix.AF_INET6, unix.SOCK_STREAM, 0,
			&unix.SockaddrInet6{Port: int(address.Port()), Addr: mapped})},
		{"send by UDP", dial("udp", to.TCP)},
		{"connect to a Unix socket", dial("unix", to.Unix)},
		{"connect to the socket of Docker", dial("unix", "/var/run/docker.sock")},
		{"open an abstract Unix socket", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0, nil)},
		{"send to a datagram socket by a socket pair", func() error { return sendByPair(unix.SOCK_DGRAM, to.Datagram) }},
		{"send to a datagram socket by a raw socket pair", func() error { return sendByPair(unix.SOCK_RAW, to.Datagram) }},
		{"open a netlink socket", socket(unix.AF_NETLINK, unix.SOCK_RAW, 0, nil)},
		{"open a raw socket", socket(unix.AF_PACKET, unix.SOCK_RAW, 0, nil)},
		{"use io_uring", func() error {
			var params [120]byte
			fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0) //nolint:gosec // as the system call wants it
			return asError(fd, errno)
		}},
	}
}

// socket opens a socket, which is an escape by itself, and connects it if there is an address.
func socket(family, kind, protocol int, to unix.Sockaddr) func() error {
	return func() error {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if to != nil {
			return unix.Connect(fd, to)
		}
		return nil
	}
}

// sendByPair sends to a Unix socket by one of a pair of sockets, which a program may make even if it may make no other.
func sendByPair(kind int, path string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
}

func asError(fd uintptr, errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	unix.Close(int(fd))
	return nil
}

func processAttempts(to probeTargets) []escapeAttempt {
	return []escapeAttempt{
		{"send multis a signal", func() error { return unix.Kill(to.Parent, 0) }},
		{"send multis a signal by a thread", func() error { return unix.Tgkill(to.Parent, to.Parent, 0) }},
		{"send a signal to its starter", func() error {
			if os.Getppid() <= 1 {
				return errors.New("it has none")
			}
			return unix.Kill(os.Getppid(), 0)
		}},
		{"choose multis for the signals of a socket", own(func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETOWN, to.Parent)
			return err
		})},
		{"choose multis for the signals of a socket as its owner", own(func(fd int) error {
			owner := [2]int32{1, int32(to.Parent)}                                                                      //nolint:gosec // the id of a process
			_, _, errno := unix.Syscall(unix.SYS_FCNTL, uintptr(fd), unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner))) //nolint:gosec // as the system call wants it
			if errno != 0 {
				return errno
			}
			return nil
		})},
		{"choose multis for the signals of a socket by ioctl", own(func(fd int) error {
			return unix.IoctlSetPointerInt(fd, ioctlFIOSETOWN, to.Parent)
		})},
		{"choose multis for the signals of a socket by its other ioctl", own(func(fd int) error {
			return unix.IoctlSetPointerInt(fd, unix.SIOCSPGRP, to.Parent)
		})},
		{"use a semaphore of other programs", func() error { return sysV(unix.SYS_SEMOP) }},
		{"read a queue of other programs", func() error { return sysV(unix.SYS_MSGRCV) }},
		{"trace multis", func() error { return unix.PtraceSeize(to.Parent) }},
		{"change the limits of multis", func() error { return unix.Prlimit(to.Parent, unix.RLIMIT_CORE, nil, &unix.Rlimit{}) }},
		{"slow multis down", func() error { return unix.Setpriority(unix.PRIO_PROCESS, to.Parent, 19) }},
		{"leave the process group", func() error { return unix.Setpgid(0, 0) }},
		{"leave the session", func() error { _, err := unix.Setsid(); return err }},
		{"give multis a child", func() error {
			pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno != 0 {
				return errno
			}
			if pid == 0 {
				_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			return nil
		}},
		{"make a user namespace", func() error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{"mount", func() error { return unix.Mount("none", to.Inside, "tmpfs", 0, "") }},
		{"take memory that no limit counts", func() error {
			fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		{"have a capability", hasCapability},
		{"start processes without end", forkBomb},
	}
}

// own returns an attempt that makes choose name the process to which the kernel sends a signal, of the caller's choice,
// when a socket is ready.
func own(choose func(fd int) error) func() error {
	return func() error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		return choose(pair[0])
	}
}

// sysV calls a System V function for an object that does not exist. It fails with EPERM if all objects are out of reach;
// else with another error, which is an escape, because the numbers of objects can be guessed.
func sysV(number uintptr) error {
	if _, _, errno := unix.Syscall6(number, ^uintptr(0), 0, 0, 0, 0, 0); errno == unix.EPERM {
		return errno
	}
	return nil
}

// hasCapability succeeds if this process has any capability.
func hasCapability() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	for _, d := range data {
		if d.Effective|d.Permitted != 0 {
			return nil
		}
	}
	return errors.New("none")
}

// forkBomb starts processes until the kernel refuses. It succeeds, which is an escape, if the kernel does not refuse at the limit.
func forkBomb() error {
	tries, most := uint64(3*maxProcesses), uint64(5000)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err == nil && limit.Cur < most {
		tries = max(tries, limit.Cur+1) // the limit also counts other processes of the user, which may end meanwhile
	}
	var children []int
	defer func() {
		for _, pid := range children {
			if unix.Kill(pid, unix.SIGKILL) == nil { // else it is killed with the process group
				_, _ = unix.Wait4(pid, nil, 0, nil)
			}
		}
	}()
	for range tries {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("refused after %d: %w", len(children), errno)
		}
		if pid == 0 {
			for { // the child waits to be killed
				_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		children = append(children, int(pid))
	}
	return nil
}
