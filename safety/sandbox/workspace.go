package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
)

// MakeWorkspace makes a folder for a command of the configuration, in a folder of the data folder. It belongs to the owner of the data
// folder, so that root runs no such command as root.
func MakeWorkspace(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	above, err := os.Stat(filepath.Dir(filepath.Dir(folder)))
	if err != nil {
		return err
	}
	owner, ok := above.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || owner.Uid == 0 {
		return nil
	}
	if err := os.Chown(filepath.Dir(folder), int(owner.Uid), int(owner.Gid)); err != nil {
		return err
	}
	return os.Chown(folder, int(owner.Uid), int(owner.Gid))
}
