package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/internal/plainfile"
	"multis/policy"
)

// Set sets a key with a single value in the configuration at path, and keeps comments and order. It writes the file only
// if the result is valid and all checks accept it. An empty value stands for the default of a key that cannot be empty.
// It replaces the file atomically, keeps a backup beside it, and returns the path of the backup; empty if the file has
// that value already.
func Set(path, key, value string, checks ...func(*Config) error) (backup string, err error) {
	path, old, unlock, err := openForChange(path)
	if err != nil {
		return "", err
	}
	defer unlock()
	switch f, ok := newReader("", defaults()).fields[key]; {
	case !ok:
		return "", fmt.Errorf("there is no key %q with a single value; multis config get lists the keys", key)
	case f.clear != nil:
		return "", fmt.Errorf("%s is a list; edit it in %s, and multis config check says whether it is right", key, path)
	case f.isSecret && value != "" && !IsReference(value):
		return "",
			fmt.Errorf("%s is a secret, and what is typed in a shell stays in its history; write env:VARIABLE, file:/path or systemd:NAME, or edit %s", key, path)
	case isMasked(value):
		return "", maskedError(key)
	}
	if value == "" && newReader("", defaults()).fields[key].set("") != nil {
		value = Default(key)
	}
	changed, err := Edit(path, old, Value{key, value})
	if err != nil {
		return "", err
	}
	c, err := Parse(path, changed, os.LookupEnv)
	if err != nil {
		return "", err
	}
	for _, check := range checks {
		if err := check(c); err != nil {
			return "", err
		}
	}
	if string(changed) == string(old) {
		return "", nil
	}
	return ReplaceWithBackup(path, changed)
}

// isMasked reports whether a value was copied from where multis hides a secret: it has policy.Mask, or is nothing but
// what stands for a whole secret. A text with an ellipsis in it is none.
func isMasked(value string) bool { return policy.HasMask(value) || strings.TrimSpace(value) == hidden }

// maskedError says that a value has the mark of a removed secret. The value was copied from where multis shows it.
func maskedError(key string) error {
	return fmt.Errorf("%s: the value has a mark that stands for a secret that was removed; write the whole value", key)
}

// openForChange reads the configuration at path, and keeps other processes from changing it until unlock is called: of
// two changes at once, the second would undo the first. target is the file itself where path is a symbolic link.
func openForChange(path string) (target string, data []byte, unlock func(), err error) {
	target, err = plainfile.Resolve(path)
	if err != nil {
		return "", nil, nil, readError(err)
	}
	if unlock, err = plainfile.LockFolder(filepath.Dir(target)); err != nil {
		return "", nil, nil, fmt.Errorf("change %s: %w", target, err)
	}
	if data, err = ReadFile(target); err != nil {
		unlock()
		return "", nil, nil, err
	}
	return target, data, unlock, nil
}

// Default returns the default of a key with a single value as it could be written in the file; empty if it has none.
func Default(key string) string {
	f, ok := newReader("", defaults()).fields[key]
	switch {
	case !ok || f.clear != nil || f.entry != nil || f.node != nil || f.example != "":
		return ""
	case f.show != nil:
		return f.show()
	}
	return display(f.value())
}

// ReplaceWithBackup writes a file atomically, with the mode and owner of the old file, and returns the path of a backup
// of the old file, which only its owner may read. Of the backups the newest ones stay.
func ReplaceWithBackup(path string, data []byte) (backup string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("back up the configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("back up %s: %w", path, plainfile.ErrNotRegular)
	}
	stamp := time.Now().Format("20060102-150405")
	backup = fmt.Sprintf("%s.%s.bak", path, stamp)
	err = os.Link(path, backup)
	for n := 2; errors.Is(err, fs.ErrExist); n++ { // a backup was already made in the same second
		backup = fmt.Sprintf("%s.%s-%d.bak", path, stamp, n)
		err = os.Link(path, backup)
	}
	if err != nil {
		return "", fmt.Errorf("back up the configuration: %w", err)
	}
	if err := plainfile.Replace(path, data, info.Mode().Perm()); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	if err := os.Chmod(backup, 0o600); err != nil { // it has the tokens that the file had
		return "", fmt.Errorf("close the backup of the configuration: %w", err)
	}
	return backup, pruneBackups(path)
}

// maxBackups is how many backups of a configuration stay beside it. They hold its tokens.
const maxBackups = 10

// backupName matches what stands between the names of a configuration and the end of its backup's name.
var backupName = regexp.MustCompile(`^\.\d{8}-\d{6}(-\d+)?$`)

// secondsLength is the length of the part of a backup's name without the number of backups in one second.
const secondsLength = len(".20060102-150405")

// pruneBackups removes the oldest backups that ReplaceWithBackup made of a file.
func pruneBackups(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("list the backups of the configuration: %w", err)
	}
	var stamps []string
	for _, e := range entries {
		stamp, isBackup := strings.CutSuffix(strings.TrimPrefix(e.Name(), filepath.Base(path)), ".bak")
		if isBackup && e.Type().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(path)) && backupName.MatchString(stamp) {
			stamps = append(stamps, stamp)
		}
	}
	slices.SortFunc(stamps, func(a, b string) int {
		return cmp.Or(strings.Compare(a[:secondsLength], b[:secondsLength]), len(a)-len(b), strings.Compare(a, b))
	})
	for len(stamps) > maxBackups {
		if err := os.Remove(path + stamps[0] + ".bak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old backup of the configuration: %w", err)
		}
		stamps = stamps[1:]
	}
	return nil
}
