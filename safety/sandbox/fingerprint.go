package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxHashed is the maximum number of bytes of one file that a fingerprint reads. The rest of a bigger file is represented by its size and
// modification time.
const maxHashed = 64 << 20

// Fingerprint returns the SHA-256 of what a command runs: its arguments and folder, the program with its device, inode
// and content, and for a command that is not harmless every file that an argument names. An approval is bound to it.
// Fingerprint returns an error for a command that Run would refuse, so that nobody is asked about it.
func (s *Sandbox) Fingerprint(ctx context.Context, c Command) (string, error) {
	sp, err := s.prepare(&c)
	if err != nil {
		return "", err
	}
	return Fingerprint(ctx, c.Argv, sp.Dir)
}

// Fingerprint returns the fingerprint of a command in an absolute folder; see Sandbox.Fingerprint.
func Fingerprint(ctx context.Context, argv []string, dir string) (string, error) {
	if err := checkArgv(argv); err != nil {
		return "", err
	}
	program, err := lookPath(argv[0], dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	addField(h, "argv", strconv.Itoa(len(argv)))
	for _, a := range argv {
		addField(h, "argument", a)
	}
	if err := addFile(ctx, h, "dir", dir); err != nil {
		return "", err
	}
	if err := addFile(ctx, h, "program", program); err != nil {
		return "", err
	}
	if Classify(argv).Class == Harmless {
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	added := map[string]bool{} // each file is read once, however often it is named
	for _, a := range argv[1:] {
		for _, path := range operandPaths(a, dir) {
			if added[path] {
				continue
			}
			added[path] = true
			if err := addFile(ctx, h, "operand", path); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// operandPaths returns the existing files and folders that an argument may name: itself, the value of an option, or each word of a script.
func operandPaths(arg, dir string) (paths []string) {
	for _, name := range fileNames(arg) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); name != "" && err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// addFile adds a file to a hash: its path with and without links, device, inode, mode and content. The content of a folder is left out.
func addFile(ctx context.Context, h hash.Hash, kind, path string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read %s, which the command uses: %w", path, context.Cause(ctx))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("read %s, which the command uses: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at %s, which the command uses: %w", path, err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("look at %s, which the command uses: no device and inode", path)
	}
	addField(h, kind, path)
	addField(h, "real", realPath(path))
	addField(h, "file", fmt.Sprintf("%d %d %o", stat.Dev, stat.Ino, stat.Mode))
	if !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() > maxHashed {
		addField(h, "size", fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()))
	}
	content := sha256.New()
	if _, err := io.Copy(content, contextReader{ctx, io.LimitReader(f, maxHashed)}); err != nil {
		return fmt.Errorf("read %s, which the command uses: %w", path, err)
	}
	addField(h, "content", string(content.Sum(nil)))
	return nil
}

// contextReader is a reader that fails once its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to get it
	io.Reader
}

// Read reads, unless the context has ended.
func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// addField adds a field to a hash so that no other fields give the same bytes.
func addField(h hash.Hash, kind, value string) {
	fmt.Fprintf(h, "%s:%d:%s\n", kind, len(value), value)
}
