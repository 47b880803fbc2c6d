package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Attributes are the mode and the owner of a file that is written.
type Attributes struct {
	Mode fs.FileMode
	// UID and GID own the file if root writes it. A negative UID keeps the owner of the old file, or uses that of the folder
	// for a new file, so that root takes no file away from the user of a service.
	UID, GID int
}

// WriteTemporary writes a complete file, synced to the disk, under a temporary name in the folder of path. The caller
// renames it to path or removes it. After an error the name is empty if there is nothing to remove.
func WriteTemporary(path string, data []byte, a Attributes) (temporary string, err error) {
	if a.UID < 0 {
		if a.UID, a.GID, err = ownerFor(path); err != nil {
			return "", err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600, and no link is followed
	if err != nil {
		return "", err
	}
	if os.Geteuid() == 0 {
		err = f.Chown(a.UID, a.GID)
	}
	if err == nil {
		err = f.Chmod(a.Mode)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return f.Name(), errors.Join(err, f.Close())
}

// Replace writes a file atomically: after a crash the file is either the old or the new one. It keeps the owner; see
// Attributes. It replaces a symbolic link at path itself, and leaves the file that the link points to as it is.
func Replace(path string, data []byte, mode fs.FileMode) error {
	temporary, err := WriteTemporary(path, data, Attributes{Mode: mode, UID: -1})
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil && temporary != "" {
		return errors.Join(err, os.Remove(temporary))
	}
	return err
}

// ownerFor returns the owner of the file at path, or that of its folder if there is none.
func ownerFor(path string) (uid, gid int, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return 0, 0, err
	}
	uid, gid, ok := Owner(info)
	if !ok {
		return 0, 0, fmt.Errorf("the owner of %s is unknown", path)
	}
	return uid, gid, nil
}

// Owner returns the owner of a file. It returns false where the system does not say.
func Owner(info fs.FileInfo) (uid, gid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// Resolve follows the symbolic links at path and returns the path that they point to. Root does not follow a link of
// another user out of its folder, because that user may be unable to write there himself.
func Resolve(path string) (string, error) {
	for range 40 { // as the kernel does
		info, err := os.Lstat(path)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if uid, _, ok := Owner(info); os.Geteuid() == 0 && (!ok || uid != 0) && filepath.Dir(target) != filepath.Dir(path) {
			return "", fmt.Errorf("%s is a link of the user %d to %s, which root does not follow; name that file instead", path, uid, target)
		}
		path = target
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
}
