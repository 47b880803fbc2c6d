package plainfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrLocked is returned by LockFolder while another process holds the lock.
var ErrLocked = errors.New("another process changes a file there; try again when it is done")

// The time that LockFolder waits, and between two tries.
const (
	lockWait  = 30 * time.Second
	lockPause = 20 * time.Millisecond
)

// LockFolder waits until this process may change the files of a folder alone, as far as all who change them call it. A
// killed process leaves no lock.
func LockFolder(folder string) (unlock func(), err error) {
	f, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockWait); ; time.Sleep(lockPause) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // which ends the lock; nothing was written
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			_ = f.Close() // nothing was written
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = ErrLocked
			}
			return nil, err
		}
	}
}
