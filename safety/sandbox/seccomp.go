package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// deniedSyscalls fail with EPERM. They do what Landlock does not restrict: make sockets (a command with a network may
// make TCP sockets, see tcpOnly), change mode, owner and times of any file, watch any folder, access other processes, use
// their semaphores and queues, leave the process group, which is killed to end the command, and do what only
// administrators need.
var deniedSyscalls = []uint32{ //nolint:gochecknoglobals // a constant, were there constant lists
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP,
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR,
	unix.SYS_LREMOVEXATTR,
	sysSetxattrat, sysRemovexattrat, sysFileSetattr,
	unix.SYS_SETSID, unix.SYS_SETPGID,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_KCMP,
	unix.SYS_PIDFD_GETFD, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_IOPRIO_SET, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
	unix.SYS_MSGGET, unix.SYS_MSGCTL, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSMOUNT,
	unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_INOTIFY_INIT1, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// Syscall numbers that golang.org/x/sys does not have yet. They are the same on all architectures.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469
)

// argument is one argument of a syscall: the number of the syscall, and the index of the argument.
type argument struct{ number, index uint32 }

// zeroOnlyArguments lists syscall arguments of which only 0 is allowed: a process id (0 is the caller), what setpriority
// means by an id (0 is a process), or a pointer to a path (0 means that an open file is used).
var zeroOnlyArguments = []argument{ //nolint:gochecknoglobals // a constant, were there constant lists
	{unix.SYS_PRLIMIT64, 0},
	{unix.SYS_SCHED_SETAFFINITY, 0},
	{unix.SYS_SCHED_SETSCHEDULER, 0},
	{unix.SYS_SCHED_SETPARAM, 0},
	{unix.SYS_SCHED_SETATTR, 0},
	{unix.SYS_SETPRIORITY, 0},
	{unix.SYS_SETPRIORITY, 1},
	{unix.SYS_UTIMENSAT, 1},
}

// deniedCommands lists values of the second argument of a syscall that are denied. They choose a process, of any program
// of the user, that the kernel sends a signal when a file or socket is ready. F_SETSIG makes it any signal.
var deniedCommands = []struct{ number, value uint32 }{ //nolint:gochecknoglobals // a constant, were there constant lists
	{unix.SYS_FCNTL, unix.F_SETOWN}, {unix.SYS_FCNTL, unix.F_SETOWN_EX}, {unix.SYS_IOCTL, ioctlFIOSETOWN}, {unix.SYS_IOCTL, unix.SIOCSPGRP},
}

// ioctlFIOSETOWN is a command of ioctl that golang.org/x/sys does not have.
const ioctlFIOSETOWN = 0x8901

// absentSyscalls fail with ENOSYS, as on an older kernel, so that programs fall back to others. clone3 passes its flags
// in memory, which a filter cannot read. The files of the other ones are memory that no limit counts: each may be as
// large as a file may, and a process may have as many as it may open.
var absentSyscalls = []uint32{unix.SYS_CLONE3, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET} //nolint:gochecknoglobals // a constant, were there constant lists

// signalSyscalls are denied where Landlock cannot restrict signals, before ABI 6.
var signalSyscalls = []uint32{unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL} //nolint:gochecknoglobals // a constant, were there constant lists

// signalScopeABI is the first ABI of Landlock that denies signals to processes outside of the sandbox.
const signalScopeABI = 6

// Offsets in struct seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

const (
	allow  = unix.SECCOMP_RET_ALLOW
	deny   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	kill   = unix.SECCOMP_RET_KILL_PROCESS
)

// typeMask has the bits of the type of a socket; the others are flags.
const typeMask = 0xf

// deniedClones are the flags of clone that make namespaces, and the one that makes a process a child of multis, where it
// would stay when it has ended.
const deniedClones = unix.CLONE_PARENT | unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// seccompFilter returns the filter of a command. network lets it make TCP sockets, whose ports Landlock limits.
//
// It is assembled here, because elastic/go-seccomp-bpf v1.6.0 allows every call of a foreign architecture if the default
// is to allow, loses the number of a call whose argument does not match, and does not know file_setattr.
func seccompFilter(abi int, network bool) []unix.SockFilter {
	f := []unix.SockFilter{
		load(offsetArch), jump(unix.BPF_JEQ, auditArch, 1, 0), ret(kill),
		load(offsetNumber), jump(unix.BPF_JGE, firstForeign, 0, 1), ret(kill),
	}
	denied, zero := slices.Concat(deniedSyscalls, legacySyscalls), zeroOnlyArguments
	if abi < signalScopeABI {
		denied = append(denied, signalSyscalls...)
		zero = append(slices.Clone(zero), argument{unix.SYS_KILL, 0})
	}
	if network {
		denied = append(slices.DeleteFunc(denied, func(number uint32) bool { return number == unix.SYS_SOCKET }), unix.SYS_LISTEN)
		f = append(f, tcpOnly()...)
	}
	for _, number := range denied {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(deny))
	}
	for _, number := range absentSyscalls {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(absent))
	}
	f = append(f,
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(offsetArgs), jump(unix.BPF_JSET, deniedClones, 0, 1), ret(deny), load(offsetNumber))
	for _, a := range zero {
		low := offsetArgs + 8*a.index
		f = append(f, jump(unix.BPF_JEQ, a.number, 0, 6),
			load(low), jump(unix.BPF_JEQ, 0, 0, 2), load(low+4), jump(unix.BPF_JEQ, 0, 1, 0), ret(deny), load(offsetNumber))
	}
	for _, c := range deniedCommands {
		f = append(f, jump(unix.BPF_JEQ, c.number, 0, 4), load(offsetArgs+8), jump(unix.BPF_JEQ, c.value, 0, 1), ret(deny), load(offsetNumber))
	}
	return append(append(f, connectedPairs()...), ret(allow))
}

// connectedPairs denies pairs of sockets that are not connected for good. Those of datagrams can send to every datagram
// socket of the machine, such as that of the system's log.
func connectedPairs() []unix.SockFilter {
	return []unix.SockFilter{
		jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 7),
		load(offsetArgs), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 4),
		load(offsetArgs + 8),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: typeMask},
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0), jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0),
		ret(deny),
	}
}

// tcpOnly denies all sockets but those of TCP. It also denies TCP Fast Open, which connects without Landlock's check.
func tcpOnly() []unix.SockFilter {
	arg := func(n uint32) unix.SockFilter { return load(offsetArgs + 8*n) }
	const family, kind, protocol = 0, 1, 2
	f := []unix.SockFilter{
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 11),
		arg(family), jump(unix.BPF_JEQ, unix.AF_INET, 1, 0), jump(unix.BPF_JEQ, unix.AF_INET6, 0, 7),
		arg(kind),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: typeMask},
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 4),
		arg(protocol), jump(unix.BPF_JEQ, 0, 1, 0), jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 0, 1), ret(allow),
		ret(deny),
	}
	for _, flags := range []argument{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
		f = append(f, jump(unix.BPF_JEQ, flags.number, 0, 4), arg(flags.index), jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1), ret(deny),
			load(offsetNumber))
	}
	return f
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func ret(value uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
}

// jump compares the loaded value with value. It skips ifTrue instructions if the test holds, else ifFalse.
func jump(test uint16, value uint32, ifTrue, ifFalse uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: ifTrue, Jf: ifFalse, K: value}
}
