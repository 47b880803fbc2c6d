package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"multis/internal/plainfile"
)

// Output is a file that is to be written.
type Output struct {
	Path string
	Data []byte
	Mode fs.FileMode
	// UID and GID own the file if root writes it. A negative UID keeps the owner of the old file, or uses that of the folder for a new file.
	UID, GID int
}

// IsWritten reports whether the file exists with this content, mode and owner.
func (f Output) IsWritten() bool {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return false
	}
	if info.Mode() != f.Mode {
		return false
	}
	if uid, gid, ok := plainfile.Owner(info); f.UID >= 0 && os.Geteuid() == 0 && (!ok || uid != f.UID || gid != f.GID) {
		return false
	}
	old, err := os.ReadFile(f.Path)
	return err == nil && bytes.Equal(old, f.Data)
}

// Write writes files atomically: each is first written completely under another name in its folder, and all are renamed
// at the end. So after an interruption none of them is half written. Nothing is renamed once ctx is done.
func Write(ctx context.Context, files []Output) (err error) {
	var staged []string
	defer func() {
		for _, path := range staged {
			err = errors.Join(err, ignoreMissing(os.Remove(path)))
		}
	}()
	for _, f := range files {
		temporary, err := plainfile.WriteTemporary(f.Path, f.Data, plainfile.Attributes{Mode: f.Mode, UID: f.UID, GID: f.GID})
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

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
