//go:build chaos

package installtest

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"multis/deploy/devstack"
	"multis/e2e/rig"
)

// inputsLabel is the label of an image with a hash of its inputs, by which the next run recognizes that it is current.
const inputsLabel = "multis.inputs"

// baseImages makes the images that docker-compose.yml and the Dockerfile name, from what is on this machine: the engine
// reaches no registry.
func baseImages(ctx context.Context, engine *devstack.Engine, root devstack.Root) error {
	if err := goImage(ctx, engine, root); err != nil {
		return fmt.Errorf("make the image of Go: %w", err)
	}
	status, err := os.ReadFile(filepath.Join(root.Dir, "var/lib/dpkg/status"))
	if err != nil {
		return err
	}
	sid := image{name: "multis-test/sid", inputs: fmt.Sprintf("%x", sha256.Sum256(status))}
	if err := sid.importTar(ctx, engine, func(w *tar.Writer) error {
		return addTree(w, root.Dir, ".", func(name string) bool { return strings.HasPrefix(name, "var/lib/docker/") })
	}); err != nil {
		return fmt.Errorf("make the image of Debian: %w", err)
	}
	for file, name := range map[string]string{"Postgres.Dockerfile": "pgvector/pgvector:pg17", "Synapse.Dockerfile": synapseImage} {
		if err := derive(ctx, engine, file, name); err != nil {
			return fmt.Errorf("make the image %s: %w", name, err)
		}
	}
	return nil
}

// goImage makes the image that multis is built in: Go, a shell, certificates and the modules.
func goImage(ctx context.Context, engine *devstack.Engine, root devstack.Root) error {
	goroot, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	cache, err := output(ctx, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	version, err := output(ctx, "go", "version")
	if err != nil {
		return err
	}
	files, err := allModuleFiles(ctx)
	if err != nil {
		return err
	}
	name := "golang:1.26-alpine"
	i := image{name: name, inputs: fmt.Sprintf("%x", sha256.Sum256([]byte(version+strings.Join(files, "\n")))), changes: []string{
		"ENV PATH=/usr/local/go/bin:/bin", "ENV GOPATH=/go", "ENV GOTOOLCHAIN=local", "ENV GOPROXY=file:///modules", "ENV HOME=/root",
	}}
	return i.importTar(ctx, engine, func(w *tar.Writer) error {
		if err := addTree(w, goroot, "usr/local/go", func(name string) bool {
			return strings.HasPrefix(name, "usr/local/go/test/")
		}); err != nil {
			return err
		}
		for _, file := range files {
			relative, err := filepath.Rel(filepath.Join(cache, "cache/download"), file)
			if err != nil {
				return err
			}
			if err := addFile(w, file, path.Join("modules", relative)); err != nil {
				return err
			}
		}
		if err := addFile(w, filepath.Join(root.Dir, "etc/ssl/certs/ca-certificates.crt"), "etc/ssl/certs/ca-certificates.crt"); err != nil {
			return err
		}
		return addShell(w, filepath.Join(root.Dir, "usr/bin/busybox"))
	})
}

var capital = regexp.MustCompile("[A-Z]")

// escape escapes a capital letter as in paths of the module cache.
func escape(letter string) string { return "!" + strings.ToLower(letter) }

// moduleFiles returns the downloaded files of all modules in the go.sum of a folder. A module whose code is not needed has only its go.mod.
func moduleFiles(ctx context.Context, dir string) (files []string, err error) {
	if _, err = output(ctx, "go", "-C", dir, "mod", "download"); err != nil {
		return nil, err
	}
	cache, err := output(ctx, "go", "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(sums)) {
		fields := strings.Fields(line)
		number, onlyMod := strings.CutSuffix(fields[1], "/go.mod")
		kinds := []string{".info", ".zip"}
		if onlyMod {
			kinds = []string{".mod"}
		}
		for _, kind := range kinds {
			file := filepath.Join(cache, "cache/download", capital.ReplaceAllStringFunc(fields[0], escape), "@v", number+kind)
			if _, err := os.Stat(file); err == nil {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// allModuleFiles returns the module files of this build and of the previous one.
func allModuleFiles(ctx context.Context) ([]string, error) {
	files, err := moduleFiles(ctx, "../..")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "multis-previous-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := exec.CommandContext(ctx, "git", "show", rig.PreviousCommit+":"+name).Output()
		if err != nil {
			return nil, fmt.Errorf("read %s of commit %s: %w", name, rig.PreviousCommit, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	previous, err := moduleFiles(ctx, dir)
	files = append(files, previous...)
	slices.Sort(files)
	return slices.Compact(files), err
}

func output(ctx context.Context, argv ...string) (string, error) {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// image is one that is imported from files.
type image struct {
	name, inputs string
	changes      []string
}

// importTar imports the files that fill writes, unless the image exists with the same inputs.
func (i image) importTar(ctx context.Context, engine *devstack.Engine, fill func(*tar.Writer) error) error {
	inputs := fmt.Sprintf("%x", sha256.Sum256([]byte(i.inputs+strings.Join(i.changes, "\n"))))
	made, err := engine.Command(ctx, "/", "docker", "image", "inspect", "--format", `{{index .Config.Labels "`+inputsLabel+`"}}`,
		i.name).Output()
	if err == nil && strings.TrimSpace(string(made)) == inputs {
		return nil
	}
	argv := []string{"docker", "import", "--change", "LABEL " + inputsLabel + "=" + inputs}
	for _, change := range i.changes {
		argv = append(argv, "--change", change)
	}
	cmd := engine.Command(ctx, "/", append(argv, "-", i.name)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	w := tar.NewWriter(in)
	err = errors.Join(fill(w), w.Close(), in.Close())
	if ended := cmd.Wait(); ended != nil {
		return errors.Join(err, fmt.Errorf("docker import: %w: %s", ended, said.String()))
	}
	return err
}

// derive builds an image from a Dockerfile in testdata.
func derive(ctx context.Context, engine *devstack.Engine, file, name string) error {
	cmd := engine.Command(ctx, "/", "docker", "build", "--tag", name, "--file", file, "-")
	var context strings.Builder
	w := tar.NewWriter(&context)
	if err := errors.Join(addTree(w, "testdata", ".", func(string) bool { return false }), w.Close()); err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(context.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// addTree adds a folder's files below a name in the archive.
func addTree(w *tar.Writer, dir, name string, skip func(string) bool) error {
	return filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		inside := path.Join(name, relative)
		if skip(inside) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return addFile(w, file, inside)
	})
}

// addFile adds a file, a folder or a symbolic link. Others are left out.
func addFile(w *tar.Writer, file, name string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	link := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if link, err = os.Readlink(file); err != nil {
			return err
		}
	case !info.Mode().IsRegular() && !info.IsDir():
		return nil
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name = name
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}

// addShell adds busybox and the names by which the Dockerfile and deploy/commit.sh call it.
func addShell(w *tar.Writer, busybox string) error {
	if err := addFile(w, busybox, "bin/busybox"); err != nil {
		return err
	}
	for _, name := range []string{"sh", "cat", "sed", "dirname", "mkdir"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}); err != nil {
			return err
		}
	}
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777})
}
