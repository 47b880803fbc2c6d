package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"multis/config"
)

// RunUser is the user who runs multis, and so reads and writes its folders. The zero RunUser is the user of this process.
type RunUser struct {
	file    string // the configuration; empty for this process, which has read it
	uid     int
	groups  []int
	service *Unit // nil if multis is no service of systemd
}

// RunUserOf returns who runs multis with a configuration: the user of the service, else the owner of the data folder or,
// if that is still to be made, of the configuration's folder.
func RunUserOf(ctx context.Context, file string, cfg *config.Config) (RunUser, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return RunUser{}, fmt.Errorf("find the folder of the configuration: %w", err)
	}
	var service *Unit
	if unit, ok := (Machine{}).ServiceUnit(ctx, file); ok {
		service = &unit
		if u, err := lookupUser(cmp.Or(unit.User, "root")); err == nil {
			return runUserFor(u, file, service)
		}
	}
	folder := cfg.Database.DataDir
	if _, err := os.Stat(folder); err != nil {
		folder = filepath.Dir(file)
	}
	w, err := ownerAsRunUser(folder)
	w.file, w.service = file, service
	return w, err
}

// ownerAsRunUser returns the owner of a folder, or of the nearest existing one above it, as who runs multis.
func ownerAsRunUser(folder string) (RunUser, error) {
	uid, gid, err := ownerOf(folder)
	if err != nil {
		return RunUser{}, err
	}
	if u, err := userByID(uid); err == nil {
		return runUserFor(u, "", nil)
	}
	return RunUser{uid: uid, groups: []int{gid}}, nil
}

// runUserFor returns a user as who runs multis.
func runUserFor(u *user.User, file string, service *Unit) (RunUser, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return RunUser{}, fmt.Errorf("find the id of the user %s: %w", u.Username, err)
	}
	_, groups, err := groupsOf(u)
	return RunUser{file, uid, groups, service}, err
}

// lookupUser returns a user by name or id.
func lookupUser(name string) (*user.User, error) {
	if u, err := user.Lookup(name); err == nil {
		return u, nil
	}
	return user.LookupId(name)
}

// The rights to a file or folder, as bits of a mode and of access(2).
const (
	mayRead  = 0o4
	mayList  = 0o5 // read and enter
	mayWrite = 0o3 // write and enter
)

// CheckFolder returns why the owner of a folder, or of the nearest existing one above it, could not make it or write to
// it. It makes nothing.
func CheckFolder(folder string) error {
	w, err := ownerAsRunUser(folder)
	if err != nil {
		return err
	}
	if err := w.checkFolder(folder); err != nil {
		return fmt.Errorf("%s %w", folder, err)
	}
	return nil
}

// checkFolder returns why multis could not make a folder or write to it. It makes nothing.
func (w RunUser) checkFolder(folder string) error {
	folder, err := filepath.Abs(folder) // as the unit of a service names folders
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	if w.service != nil {
		if why := w.service.Refusal(folder); why != "" {
			return fmt.Errorf("cannot be written to: %s", why)
		}
	}
	nearest, err := nearestFolder(folder)
	if err != nil {
		return err
	}
	if isOfKernel(nearest) { // where root may do everything and make nothing
		return fmt.Errorf("cannot be made: %s belongs to the kernel", nearest)
	}
	if err := w.checkAccess(nearest, mayWrite); err != nil {
		return fmt.Errorf("cannot be written to: %s: %w", nearest, err)
	}
	return nil
}

// checkReadable returns why multis could not read a folder that it does not write to.
func (w RunUser) checkReadable(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("cannot be used: %w", err)
	}
	switch info, err := os.Stat(folder); {
	case err != nil:
		return fmt.Errorf("cannot be used: %w", err)
	case !info.IsDir():
		return fmt.Errorf("cannot be used: %s is not a folder", folder)
	}
	if err := w.checkAccess(folder, mayList); err != nil {
		return fmt.Errorf("cannot be read: %s: %w", folder, err)
	}
	if w.service != nil {
		if why := w.service.Hides(folder); why != "" {
			return fmt.Errorf("cannot be read: %s", why)
		}
	}
	return nil
}

// checkFiles returns an error for each file with secrets that multis could not read: the configuration, for example after
// an editor of root replaced it, and the files that it names.
func (w RunUser) checkFiles(next *config.Config) error {
	var found []error
	for _, path := range append([]string{w.file}, next.SecretFiles...) {
		if path == "" || !errors.Is(w.checkAccess(path, mayRead), fs.ErrPermission) {
			continue
		}
		found = append(found, unreadable(w.name(), path))
	}
	return errors.Join(found...)
}

// name is the name of the user who runs multis. The zero value is the user of this process, such as the running service.
func (w RunUser) name() string {
	return UserName(cmp.Or(w.uid, os.Geteuid()))
}

// isOfKernel reports whether a folder is in /proc, /sys or another file system without files of programs.
func isOfKernel(folder string) bool {
	var system unix.Statfs_t
	if err := unix.Statfs(folder, &system); err != nil {
		return false
	}
	return slices.Contains([]int64{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC}, system.Type)
}

// nearestFolder returns the folder, or the nearest one above it that exists.
func nearestFolder(folder string) (string, error) {
	nearest := folder
	info, err := os.Stat(nearest)
	for (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && nearest != filepath.Dir(nearest) {
		nearest = filepath.Dir(nearest)
		info, err = os.Stat(nearest)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot be used: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("cannot be made: %s is not a folder", nearest)
	}
	return nearest, nil
}

// checkAccess returns an error unless multis has these rights to a folder or file.
func (w RunUser) checkAccess(path string, rights fs.FileMode) error {
	if err := syscall.Access(path, uint32(rights)); err != nil {
		return err
	}
	if os.Geteuid() != 0 || w.uid == 0 {
		return nil
	}
	// This process is root, who may do everything, and is not who runs multis.
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	bits := info.Mode().Perm()
	switch {
	case int(owner.Uid) == w.uid:
		bits >>= 6
	case slices.Contains(w.groups, int(owner.Gid)):
		bits >>= 3
	}
	if bits&rights != rights {
		return fs.ErrPermission
	}
	return nil
}
