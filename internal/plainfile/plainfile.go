// Package plainfile opens and replaces regular files only. Opening never blocks: a pipe without a writer is opened at
// once and refused. The file type is checked after opening, because a path can change between check and open.
package plainfile

import (
	"errors"
	"fmt"
	"io"
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

// ErrTooLarge is returned by Read for a file with more bytes than are read.
var ErrTooLarge = errors.New("it is too large")

// Read reads the regular file at a path, which may have most bytes. Its errors name the path.
func Read(path string, most int) ([]byte, error) {
	f, _, err := Open(path)
	if errors.Is(err, ErrNotRegular) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	return data, err
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
