package pgserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries is returned by Start and Find when no Postgres that can run the data is installed. The error that wraps
// it, or its own text, names the package to install.
var ErrNoBinaries = errors.New("no Postgres found on PATH or in /usr/lib/postgresql; install it (Debian: apt-get install postgresql) or set database.url")

// Find returns the folder of the Postgres programs that Start uses for the data in dir, which may be empty or missing, or ErrNoBinaries.
func Find(dir string) (string, error) {
	version, err := (&Server{dir: dir}).version()
	if err != nil {
		return "", err
	}
	bin, err := programs(version)
	if version != "" && err != nil {
		err = fmt.Errorf("the database in %s %w", dir, err)
	}
	return bin, err
}

// versionFile is the file in the data folder that has the major version of the programs that made the data.
const versionFile = "PG_VERSION"

// versionError is returned if there are no programs of the version of the data.
type versionError struct {
	want  string
	found []string // versions of the programs on this machine
}

func (e versionError) Error() string {
	there := "there are none on this machine"
	if len(e.found) > 0 {
		there = "this machine has " + strings.Join(e.found, ", ")
	}
	return fmt.Sprintf("was made by Postgres %s and needs its programs, and %s; install them (Debian: apt-get install postgresql-%[1]s, beside newer ones)", e.want, there)
}

func (versionError) Is(target error) bool { return target == ErrNoBinaries }

// version returns the major version of Postgres that made the data; empty if there is none yet.
func (s *Server) version() (string, error) {
	text, err := os.ReadFile(filepath.Join(s.data(), versionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the version of the database: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// programs returns the folder with the programs of a major version. An empty version means the newest on the machine.
func programs(version string) (string, error) {
	folders := programFolders()
	if version == "" {
		if len(folders) == 0 {
			return "", ErrNoBinaries
		}
		return folders[0], nil
	}
	wrong := versionError{want: version}
	for _, folder := range folders {
		found := programVersion(folder)
		if found == version {
			return folder, nil
		}
		wrong.found = append(wrong.found, found)
	}
	return "", wrong
}

// programFolders returns the folders with the programs of a Postgres server: those of Debian's packages, the newest
// version first, then the one on PATH.
func programFolders() []string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	version := func(p string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(p))))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if p, err := exec.LookPath("postgres"); err == nil {
		if resolved, err := filepath.EvalSymlinks(p); err == nil {
			found = append(found, resolved)
		}
	}
	var folders []string
	for _, p := range found {
		folder := filepath.Dir(p)
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// programVersion returns the major version of the programs in a folder, such as 17; empty if they do not run.
func programVersion(folder string) string {
	out, err := exec.Command(filepath.Join(folder, "postgres"), "--version").Output() //nolint:noctx // it prints a line and ends
	if err != nil {
		return ""
	}
	if m := printedVersion.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return ""
}

// printedVersion matches what the programs print, such as "postgres (PostgreSQL) 17.6 (Debian 17.6-1)".
var printedVersion = regexp.MustCompile(`\) (\d+)`)
