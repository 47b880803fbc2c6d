package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/ops/doctor"
)

// DropPrivileges makes a process of root continue as the owner of a folder, or of the nearest existing folder above it,
// because that user could not use files that root writes. It does nothing for other users, and for folders that root
// owns.
func DropPrivileges(folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	uid, gid, err := ownerOf(folder)
	if err != nil {
		return err
	}
	if uid == 0 {
		return nil
	}
	name, groups := strconv.Itoa(uid), []int{gid}
	if u, err := userByID(uid); err == nil {
		name = u.Username
		if err := os.Setenv("HOME", u.HomeDir); err != nil {
			return fmt.Errorf("switch to the user %s: %w", name, err)
		}
		if gid, groups, err = groupsOf(u); err != nil {
			return err
		}
	}
	if err := errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(uid)); err != nil {
		return fmt.Errorf("switch to the user %s, who owns %s: %w; run the command as that user: runuser -u %s -- multis COMMAND", name, folder,
			err, name)
	}
	fmt.Fprintf(os.Stderr, "Running as %s, who owns %s.\n", name, folder)
	return nil
}

// ownerOf returns the owner of a folder, or of the nearest folder above it that exists.
func ownerOf(folder string) (uid, gid int, err error) {
	info, err := os.Stat(folder)
	for errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		info, err = os.Stat(folder)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("find the owner of the data folder: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("find the owner of %s: the system does not say", folder)
	}
	return int(owner.Uid), int(owner.Gid), nil
}

// UserName returns the name of a user, or else the id.
func UserName(uid int) string {
	if u, err := userByID(uid); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// userByID returns the user with an id.
func userByID(uid int) (*user.User, error) { return user.LookupId(strconv.Itoa(uid)) }

// groupsOf returns the primary group of a user, and all groups of the user.
func groupsOf(u *user.User) (own int, all []int, err error) {
	ids, err := u.GroupIds()
	if err != nil {
		return 0, nil, fmt.Errorf("find the groups of %s: %w", u.Username, err)
	}
	for _, id := range append(ids, u.Gid) {
		n, err := strconv.Atoi(id)
		if err != nil {
			return 0, nil, fmt.Errorf("find the groups of %s: %w", u.Username, err)
		}
		all, own = append(all, n), n
	}
	return own, all, nil
}

// ExplainUnreadable returns the error of loading a file. To the user to whom the folder belongs, as that of the service
// is, it says how to get back a file that root has replaced.
func ExplainUnreadable(file string, err error) error {
	if uid, _, ownerErr := ownerOf(filepath.Dir(file)); ownerErr == nil && uid == os.Geteuid() && isUnreadable(file) {
		return unreadable(UserName(uid), file)
	}
	return err
}

// isUnreadable reports whether this user may not read a file.
func isUnreadable(file string) bool {
	f, _, err := plainfile.Open(file)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return errors.Is(err, fs.ErrPermission)
}

// unreadable says that the user who runs multis may not read a file, and how to give it to that user.
func unreadable(name, path string) error {
	path = absolutePath(path)
	file := text.ShellWord(path)
	return fmt.Errorf("%s, who runs multis, may not read %s; %s && %s", name, path, doctor.AsRoot("chown "+name+": "+file),
		doctor.AsRoot("chmod 600 "+file))
}

// absolutePath returns a path for messages, which may be read in another folder.
func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}
