package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_AARCH64
	firstForeign = 0x40000000 // above all syscall numbers; there is no second ABI
)

// legacySyscalls are further denied syscalls, which other architectures do not have.
var legacySyscalls []uint32 //nolint:gochecknoglobals // a constant, were there constant lists
