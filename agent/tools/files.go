package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/plainfile"
	"multis/policy/rules"
)

// The limits of file tools.
const (
	maxFileBytes     = 10 << 20 // bytes of one file
	maxGrepBytes     = 2 << 20  // bytes of one file that is searched
	maxFiles         = 5000     // files that one search visits
	maxDepth         = 12       // depth of nested folders
	maxMatches       = 200      // files or lines in an answer
	maxFolderEntries = 500      // entries of one listed folder
	sniffLength      = 8000     // bytes that are examined to distinguish text from data
)

// errOutsideFolders is returned for a path outside the caller's folders, whether or not there is a file.
var errOutsideFolders = errors.New("there is no such file in your folders")

// location is a path in one of a caller's folders.
type location struct {
	root *os.Root
	path string // relative to the root, with slashes; "." for the root itself
	name string // as the caller wrote it
}

// locate opens the folder that contains a path: the workspace for a relative path, any of the caller's folders for an
// absolute one. Links that lead out of the folder are not followed.
func (c Caller) locate(name string) (location, error) {
	folder, rel := c.Workspace, filepath.Clean(name)
	if name == "" {
		rel = "."
	}
	if filepath.IsAbs(name) {
		folder, rel = "", ""
		for _, candidate := range slices.Concat([]string{c.Workspace}, c.ReadPaths) {
			if inside, err := filepath.Rel(candidate, filepath.Clean(name)); candidate != "" && err == nil && filepath.IsLocal(inside) {
				folder, rel = candidate, inside
			}
		}
	}
	if folder == "" || !filepath.IsLocal(rel) {
		return location{}, errOutsideFolders
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return location{}, errOutsideFolders
	}
	return location{root: root, path: filepath.ToSlash(rel), name: name}, nil
}

// resourceOf returns the path of a call as a Resource. If below is true, the call concerns everything in that folder.
func (c Caller) resourceOf(name string, below bool) rules.Resource {
	at, err := c.locate(name)
	if err != nil {
		return rules.Resource{}
	}
	defer at.root.Close()
	return rules.Resource{Paths: pathsOf(filepath.Join(at.root.Name(), filepath.FromSlash(at.path)), below)}
}

// pathsOf returns the paths by which rules may name a file: the first has all links resolved, the second is the path as
// written, if it is another one. If below is true, they stand for everything in that folder.
func pathsOf(full string, below bool) []string {
	paths := slices.Compact([]string{resolvePath(full), filepath.Clean(full)})
	if below {
		for i := range paths {
			paths[i] += "/"
		}
	}
	return paths
}

// resolvePath resolves the symbolic links in a path. Parts of the path that do not exist stay as they are.
func resolvePath(full string) string {
	if resolved, err := filepath.EvalSymlinks(full); err == nil {
		return resolved
	}
	if parent := filepath.Dir(full); parent != full {
		return filepath.Join(resolvePath(parent), filepath.Base(full))
	}
	return full
}

// readAll reads a regular file of at most limit bytes.
func (p location) readAll(limit int64) ([]byte, error) {
	f, _, err := plainfile.OpenIn(p.root, p.path)
	switch {
	case errors.Is(err, plainfile.ErrNotRegular):
		return nil, fmt.Errorf("%s is no plain file", p.name)
	case err != nil:
		return nil, errOutsideFolders
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", p.name)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is bigger than %d MB", p.name, limit>>20)
	}
	return data, nil
}

// isText reports whether the beginning of data is UTF-8 text without zero bytes.
func isText(data []byte) bool {
	head := data[:min(len(data), sniffLength)]
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for range utf8.UTFMax { // the cut may go through a character
		if utf8.Valid(head) {
			return true
		}
		if len(head) == 0 || len(head) == len(data) {
			return false
		}
		head = head[:len(head)-1]
	}
	return false
}

// walk calls visit for every regular file below a location, in order, until maxFiles or until visit returns fs.SkipAll. Hidden files
// and folders are skipped. truncated is true if there are more files than were visited.
func (p location) walk(ctx context.Context, visit func(path string, d fs.DirEntry) error) (truncated bool, err error) {
	seen := 0
	err = fs.WalkDir(p.root.FS(), p.path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && path == p.path:
			return errOutsideFolders
		case err != nil:
			return nil //nolint:nilerr // a folder that cannot be read is skipped
		case path != p.path && strings.HasPrefix(d.Name(), "."):
			return skipEntry(d)
		case d.IsDir() && strings.Count(path, "/") >= maxDepth:
			truncated = true
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if seen++; seen > maxFiles {
			truncated = true
			return fs.SkipAll
		}
		return visit(path, d)
	})
	return truncated, err
}

// skipEntry makes fs.WalkDir skip a file or folder.
func skipEntry(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// displayPath returns the path of a file below a location in the form that another call accepts.
func (p location) displayPath(path string) string {
	if filepath.IsAbs(p.name) {
		return filepath.Join(p.root.Name(), filepath.FromSlash(path))
	}
	return path
}

// notFound returns the result for a path that the caller has no access to.
func notFound(err error) Result { return Refused(CodeNotFound, err.Error()) }
