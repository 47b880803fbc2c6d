// Package setup installs multis: it finds Synapse, its bridges, Postgres and the time zone, asks for what is missing,
// tries each answer at once, writes the files of an installation all together or not at all, and starts multis for the
// first time. It also knows who runs multis on this machine, and what would keep it from starting.
package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/internal/plainfile"
)

// Machine is the file system that is searched. The zero value is this machine; tests use another root.
type Machine struct {
	Root string // empty means "/"
}

// path returns the path at which this process reaches a path of the machine.
func (m Machine) path(elem ...string) string {
	return filepath.Join(append([]string{m.Root, "/"}, elem...)...)
}

func (m Machine) exists(path string) bool {
	_, err := os.Stat(m.path(path))
	return err == nil
}

// InContainer reports whether this process runs in a container of multis' image, which sets the variable "container" as
// podman and systemd do. It does not look for the files that container engines create, because some whole machines have
// them too.
func (m Machine) InContainer() bool { return os.Getenv("container") != "" }

// HasSystemd reports whether systemd runs the services of the machine.
func (m Machine) HasSystemd() bool { return m.exists("/run/systemd/system") }

// HasDocker reports whether a Docker Engine listens on the machine.
func (m Machine) HasDocker() bool {
	return m.exists("/run/docker.sock") || m.exists("/var/run/docker.sock")
}

// PostgresUnit returns the only unit of systemd of a Postgres on the machine, such as that of another packager
// (postgresql-17); empty if there is none or more than one. Debian's postgresql stands for all of its servers.
func (m Machine) PostgresUnit() string {
	var units []string
	for _, dir := range []string{"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"} {
		paths, _ := filepath.Glob(m.path(dir, "postgresql*.service")) // the pattern is right
		for _, path := range paths {
			if name := strings.TrimSuffix(filepath.Base(path), ".service"); !strings.Contains(name, "@") && !slices.Contains(units, name) {
				units = append(units, name)
			}
		}
	}
	if len(units) != 1 {
		return ""
	}
	return units[0]
}

// LocalPostgres returns the folder of the socket of a Postgres that runs on the machine; empty if there is none.
func (m Machine) LocalPostgres() string {
	for _, dir := range []string{"/run/postgresql", "/var/run/postgresql", "/tmp"} {
		if m.exists(filepath.Join(dir, ".s.PGSQL.5432")) {
			return dir
		}
	}
	return ""
}

// vectors returns text for people about whether the Postgres with these programs has pgvector; empty if that is unknown.
func (m Machine) vectors(programs string) string {
	rest, debian := strings.CutPrefix(programs, "/usr/lib/postgresql/")
	version, _, _ := strings.Cut(rest, "/")
	switch {
	case !debian:
		return ""
	case m.exists("/usr/share/postgresql/" + version + "/extension/vector.control"):
		return ", with pgvector"
	default:
		return ", without pgvector (for search by meaning: apt-get install postgresql-" + version + "-pgvector)"
	}
}

// TimeZone returns the name of the machine's time zone ("Europe/Berlin"); empty if it is unknown, or UTC because nobody set it.
func (m Machine) TimeZone() string {
	var names []string
	if m.Root == "" {
		names = append(names, strings.TrimPrefix(os.Getenv("TZ"), ":"))
	}
	if text, err := os.ReadFile(m.path("/etc/timezone")); err == nil {
		names = append(names, strings.TrimSpace(string(text)))
	}
	if target, err := os.Readlink(m.path("/etc/localtime")); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if name == "" || strings.HasPrefix(name, "Etc/") || name == "UTC" || name == "Local" {
			continue
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	return ""
}

// process is a running program.
type process struct {
	dir  string // its folder in /proc, as a path of this process
	args []string
	uid  int
}

// processes returns the running programs with an argument that contains word.
func (m Machine) processes(word string) []process {
	dirs, _ := filepath.Glob(m.path("/proc/[0-9]*"))
	var found []process
	for _, dir := range dirs {
		cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !bytes.Contains(cmdline, []byte(word)) {
			continue
		}
		p := process{dir: dir, args: strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00"), uid: -1}
		for line := range strings.Lines(readText(filepath.Join(dir, "status"))) {
			if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Uid:" {
				p.uid, _ = strconv.Atoi(fields[2]) // the effective user id
			}
		}
		found = append(found, p)
	}
	return found
}

// maxFile is the maximum size in bytes of a file of another program that is read. Their owners may be other users, who
// must not make root wait or fill the memory.
const maxFile = 4 << 20

// readText returns the text of a small file; empty if it cannot be read.
func readText(path string) string {
	text, _ := plainfile.Read(path, maxFile)
	return string(text)
}

// hostPath returns the path on the machine of a file that the process sees in its mount namespace. It returns an empty
// path if that is unknown.
func (m Machine) hostPath(p process, path string) string {
	inside := filepath.Join(p.dir, "root", path)
	want, err := os.Stat(inside)
	if err != nil {
		return ""
	}
	candidates := []string{path}
	if root, err := os.Readlink(filepath.Join(p.dir, "root")); err == nil {
		candidates = append(candidates, filepath.Join(root, path))
	}
	best := ""
	for line := range strings.Lines(readText(filepath.Join(p.dir, "mountinfo"))) {
		// A line is like: 36 35 98:0 /srv/synapse /data rw,noatime - ext4 /dev/sda1 rw
		fields := strings.Fields(line)
		if len(fields) < 5 || len(fields[4]) < len(best) {
			continue
		}
		at := unescapeMount(fields[4])
		rest, below := strings.CutPrefix(path, strings.TrimSuffix(at, "/")+"/")
		if below {
			best = fields[4]
			candidates = append(candidates, filepath.Join(unescapeMount(fields[3]), rest))
		}
	}
	for _, c := range slices.Backward(candidates) {
		if got, err := os.Stat(m.path(c)); err == nil && os.SameFile(got, want) {
			return c
		}
	}
	return ""
}

// unescapeMount decodes the escapes of a path in mountinfo.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// unit returns the systemd unit of the process; empty if it has none.
func (p process) unit() string {
	for line := range strings.Lines(readText(filepath.Join(p.dir, "cgroup"))) {
		if name, ok := strings.CutSuffix(filepath.Base(strings.TrimSpace(line)), ".service"); ok && !strings.Contains(line, "user.slice") &&
			name != "docker" {
			return name
		}
	}
	return ""
}

// container returns the short id of the process' Docker container; empty if it is in none.
func (p process) container() string {
	for line := range strings.Lines(readText(filepath.Join(p.dir, "cgroup"))) {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(strings.TrimSpace(line)), "docker-"), ".scope")
		if len(id) == 64 && strings.Trim(id, "0123456789abcdef") == "" && strings.Contains(line, "docker") {
			return id[:12]
		}
	}
	return ""
}
