package knowledge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"multis/internal/plainfile"
)

// Errors of Files, ReadFile and SyncFolder. The text of each is shown to people after the name that they gave, as the
// second half of a sentence.
var (
	ErrNoFiles      = errors.New("there is nothing there that I read")
	ErrTooManyFiles = errors.New("there are more than 500 files: name a smaller part")
	// ErrNoFile is returned for a name that is neither that of a file nor that of a folder.
	ErrNoFile = errors.New("it is not a file")
	// ErrFileName is returned for a name that is not UTF-8, which the database and messages require.
	ErrFileName = errors.New("the name of a file there is not written in UTF-8, rename it")
)

const (
	maxFiles   = 500    // files in a result
	maxEntries = 50_000 // entries that are visited in one search
)

// Files returns the files in folder that a path refers to: the file itself, all readable files below a folder, or the
// files that match a pattern such as **/*.pdf. Links to folders are not followed. Hidden files and folders are left out.
func Files(folder fs.FS, where string) ([]string, error) {
	info, err := fs.Stat(folder, where)
	switch {
	case err == nil && info.Mode().IsRegular():
		return []string{where}, nil
	case err == nil && info.IsDir():
		return walk(folder, where, func(string) bool { return true })
	case err == nil:
		return nil, ErrNoFile
	case isPattern(where) && doublestar.ValidatePattern(where):
		from, _ := doublestar.SplitPattern(where)
		info, err := fs.Stat(folder, from)
		if err != nil {
			return nil, ErrNoFiles
		}
		if !info.IsDir() {
			return nil, ErrNoFiles
		}
		return walk(folder, from, func(name string) bool {
			matches, err := doublestar.Match(where, name)
			return err == nil && matches
		})
	default:
		return nil, fmt.Errorf("look at it: %w", err)
	}
}

func isPattern(where string) bool { return strings.ContainsAny(where, "*?[{") }

func walk(folder fs.FS, from string, wanted func(name string) bool) ([]string, error) {
	var found []string
	entries := 0
	err := fs.WalkDir(folder, from, func(name string, e fs.DirEntry, err error) error {
		if e == nil {
			return err
		}
		if entries++; entries > maxEntries {
			return ErrTooManyFiles
		}
		hidden := name != from && strings.HasPrefix(e.Name(), ".")
		switch {
		case (err != nil || hidden) && e.IsDir():
			return fs.SkipDir
		case err != nil, hidden, !e.IsDir() && !(e.Type().IsRegular() && IsReadable(name)):
			return nil //nolint:nilerr // files and folders that may not be read are left out
		case !utf8.ValidString(name):
			return fmt.Errorf("%w: %q", ErrFileName, name)
		case e.IsDir(), !wanted(name):
			return nil
		}
		if found = append(found, name); len(found) > maxFiles {
			return ErrTooManyFiles
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNoFiles
	}
	slices.Sort(found)
	return found, nil
}

// ReadFile reads a file below a folder. It returns ErrTooBig for one that is larger than MaxSize.
func ReadFile(folder *os.Root, name string) ([]byte, error) {
	f, info, err := plainfile.OpenIn(folder, name)
	switch {
	case errors.Is(err, plainfile.ErrNotRegular):
		return nil, ErrNoFile
	case err != nil:
		return nil, fmt.Errorf("open: %w", err)
	}
	defer f.Close()
	if info.Size() > MaxSize {
		return nil, ErrTooBig
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}
