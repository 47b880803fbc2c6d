package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	firstForeign = 0x40000000 // the first syscall number of the x32 ABI
)

// legacySyscalls are further denied syscalls, which other architectures do not have.
var legacySyscalls = []uint32{ //nolint:gochecknoglobals // a constant, were there constant lists
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_INOTIFY_INIT,
}
