package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Output is a file that is to be written.
type Output struct {
	Path string
	Data []byte
	Mode fs.FileMode
	// UID and GID own the file; negative leaves it to the writer, or to the owner of an existing file.
	UID, GID int
}

// Write writes files atomically: each is first written completely under another name in its folder, and all are renamed at the end. So after an
// interruption none of them is half written. Nothing is renamed once ctx is done.
func Write(ctx context.Context, files []Output) (err error) {
	var staged []string
	defer func() {
		for _, path := range staged {
			err = errors.Join(err, ignoreMissing(os.Remove(path)))
		}
	}()
	for _, f := range files {
		temporary, err := stage(f)
		if temporary != "" {
			staged = append(staged, temporary)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	if ctx.Err() != nil {
		return ErrAborted
	}
	for i, f := range files {
		if err := os.Rename(staged[i], f.Path); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// stage writes a file completely under another name in its folder.
func stage(f Output) (path string, err error) {
	if f.UID < 0 {
		if info, err := os.Stat(f.Path); err == nil {
			if owner, ok := info.Sys().(*syscall.Stat_t); ok {
				f.UID, f.GID = int(owner.Uid), int(owner.Gid)
			}
		}
	}
	file, err := os.CreateTemp(filepath.Dir(f.Path), ".init-*") // mode 0600
	if err != nil {
		return "", err
	}
	if f.UID >= 0 && os.Geteuid() == 0 {
		err = file.Chown(f.UID, f.GID)
	}
	if err == nil {
		err = file.Chmod(f.Mode)
	}
	if err == nil {
		_, err = file.Write(f.Data)
	}
	if err == nil {
		err = file.Sync()
	}
	return file.Name(), errors.Join(err, file.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
