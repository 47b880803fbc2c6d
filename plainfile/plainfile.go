// Package plainfile opens and replaces regular files only. Opening never blocks: a pipe without a writer is opened at once and refused. The file type
// is checked after opening, because a path can change between check and open.
package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned for anything but a regular file, such as a folder, a pipe or a device.
var ErrNotRegular = errors.New("it is not a regular file")

const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens the regular file at a path.
func Open(path string) (*os.File, fs.FileInfo, error) {
	return checkRegular(os.OpenFile(path, openFlags, 0))
}

// OpenIn opens a regular file in a folder. It refuses links that lead out of the folder.
func OpenIn(root *os.Root, path string) (*os.File, fs.FileInfo, error) {
	return checkRegular(root.OpenFile(path, openFlags, 0))
}

// checkRegular returns an opened file and its info. If it is not a regular file, it is closed and the error is ErrNotRegular.
func checkRegular(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if errors.Is(err, syscall.ENXIO) { // a socket
		return nil, nil, ErrNotRegular
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}
