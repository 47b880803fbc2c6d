// Package plainfile opens plain files and nothing else. It never waits: a pipe, whose opening waits for somebody to write into it, is opened at
// once and refused. What a path names is looked at after it was opened, because it may change before.
package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned for what is no plain file: a folder, a pipe, a device.
var ErrNotRegular = errors.New("it is no plain file")

const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens the plain file at a path.
func Open(path string) (*os.File, fs.FileInfo, error) {
	return checkRegular(os.OpenFile(path, openFlags, 0))
}

// OpenIn opens a plain file in a folder. Links that lead out of the folder are not followed.
func OpenIn(root *os.Root, path string) (*os.File, fs.FileInfo, error) {
	return checkRegular(root.OpenFile(path, openFlags, 0))
}

// checkRegular is a file that was opened, with what it is, unless that is no plain file.
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
