// Package pgserver runs a Postgres server from the binaries on the machine. The server listens on a socket only, runs as an unprivileged
// user, has its data in one folder, and stops with the program that started it.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options configure a server. Dir is required.
type Options struct {
	// Dir is the folder that holds the data, the socket and the log. It is made if missing.
	Dir string
	// Share makes Start connect to the server that another program already runs on the data, and leave it running. If none
	// runs, Start runs its own.
	Share bool
	// Throwaway turns durability off for speed, for data that nobody needs after the server's end.
	Throwaway bool
}

// Server is a running Postgres.
type Server struct {
	dir  string
	cmd  *exec.Cmd     // nil: another program runs it
	done chan struct{} // closed when the process has ended
	err  error         // how it ended; read after done
}

const (
	superuser  = "postgres"
	port       = "5432" // only part of the socket's name
	startTime  = 60 * time.Second
	stopTime   = 30 * time.Second
	orphanTime = 10 * time.Second
)

// Start runs a server on the data in o.Dir and waits until it answers. An empty folder is initialized. If the program of an earlier server
// was just killed, Start waits for that server to stop. It changes nothing on disk while another server runs on the data.
func Start(ctx context.Context, o Options) (*Server, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("database folder %s: %w", o.Dir, err)
	}
	if strings.Contains(dir, ",") {
		return nil,
			fmt.Errorf("the path of the database folder has a comma, at which Postgres splits addresses: %s; choose a database.data_dir without one",
				dir)
	}
	as, err := serverUser(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, done: make(chan struct{})}
	other, err := s.awaitOther(ctx, o.Share)
	if err != nil {
		return s, err
	}
	if other {
		return s, nil
	}
	bin, err := Find(dir)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, dir, as); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(s.data(), versionFile)); errors.Is(err, fs.ErrNotExist) {
		if err := s.initdb(ctx, bin, as, o.Throwaway); err != nil {
			return nil, err
		}
	}
	if err := s.spawn(bin, s.data(), as, o.Throwaway); err != nil {
		return nil, err
	}
	if err := s.wait(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Running returns the server that another program runs on the data in dir. It starts nothing and changes nothing. false
// means that none runs or that it does not answer.
func Running(ctx context.Context, dir string) (*Server, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, false
	}
	s := &Server{dir: dir}
	pid, err := s.runningPID()
	return s, err == nil && pid != 0 && s.ping(ctx) == nil
}

// Socket returns the folder of the socket of the server on the data in dir.
func Socket(dir string) string { return filepath.Join(dir, "run") }

// DSN returns the address of database db for user.
func (s *Server) DSN(user, db string) string {
	// A + in the address of a database does not stand for a space.
	folder := strings.ReplaceAll(url.QueryEscape(s.socketDir()), "+", "%20")
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=%s", url.PathEscape(user), url.PathEscape(db), folder, port)
}

// SuperDSN returns the address of database db for the server's administrator.
func (s *Server) SuperDSN(db string) string { return s.DSN(superuser, db) }

// EnsureDatabase creates the role user, without privileges, and its database db if they are missing, and returns the address.
func (s *Server) EnsureDatabase(ctx context.Context, user, db string) (string, error) {
	conn, err := pgx.Connect(ctx, s.SuperDSN("postgres"))
	if err != nil {
		return "", fmt.Errorf("connect to our own Postgres: %w", err)
	}
	defer conn.Close(ctx)
	role, name := pgx.Identifier{user}.Sanitize(), pgx.Identifier{db}.Sanitize()
	steps := []struct{ exists, sql, arg string }{
		{"select from pg_roles where rolname = $1", "create role " + role + " login createrole", user},
		{"select from pg_database where datname = $1", "create database " + name + " owner " + role, db},
	}
	for _, st := range steps {
		var there bool
		if err := conn.QueryRow(ctx, "select exists ("+st.exists+")", st.arg).Scan(&there); err != nil {
			return "", fmt.Errorf("look at our own Postgres: %w", err)
		}
		if there {
			continue
		}
		if _, err := conn.Exec(ctx, st.sql); err != nil {
			return "", fmt.Errorf("set up our own Postgres: %w", err)
		}
	}
	return s.DSN(user, db), s.createVectorExtension(ctx, db)
}

// createVectorExtension creates the extension pgvector in a database if it is installed. Only an administrator can do that.
func (s *Server) createVectorExtension(ctx context.Context, db string) error {
	conn, err := pgx.Connect(ctx, s.SuperDSN(db))
	if err != nil {
		return fmt.Errorf("connect to our own Postgres: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx,
		"do $$ begin if exists (select from pg_available_extensions where name = 'vector') then create extension if not exists vector; end if; end $$")
	if err != nil {
		return fmt.Errorf("add pgvector to our own Postgres: %w", err)
	}
	return nil
}

// Stop ends the server's sessions, shuts it down and waits for it. A server of another program keeps running.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	// SIGINT is Postgres' fast shutdown: sessions are ended, data is safe.
	_ = s.cmd.Process.Signal(syscall.SIGINT) // fails if the server has ended
	select {
	case <-s.done:
		return nil
	case <-time.After(stopTime):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // as above
		<-s.done
		return fmt.Errorf("our own Postgres did not stop within %s", stopTime)
	}
}

func (s *Server) socketDir() string { return Socket(s.dir) }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// spawn starts the server from a thread that lives as long as the server: the kernel sends the death signal when the thread that made the
// child ends, not when the program ends.
func (s *Server) spawn(bin, data string, as *syscall.Credential, throwaway bool) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "postgres.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the database log: %w", err)
	}
	args := []string{
		"-D", data, "-c", "listen_addresses=", "-c", "port=" + port, "-c", "unix_socket_directories=" + s.socketDir(), "-c",
		"unix_socket_permissions=0700", "-c", "jit=off", // all queries are short
	}
	if throwaway {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
	}
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), args...) //nolint:noctx // it outlives the start; Stop ends it
	s.cmd.Stdout = log
	s.cmd.Stderr = log
	s.cmd.Dir = s.dir
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT, Credential: as}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.err = s.cmd.Wait()
			close(s.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	return nil
}

func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := s.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("Postgres ended at once (%w); see %s", s.err, filepath.Join(s.dir, "postgres.log"))
		case <-ctx.Done():
			return fmt.Errorf("wait for our own Postgres: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// serverUser returns the user that runs the server: the owner of its folder, or the user of this program for a new folder. nil means the
// user of this program. Postgres refuses to run as root, so root's new server gets an unprivileged user.
func serverUser(dir string) (*syscall.Credential, error) {
	us := os.Geteuid()
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && us != 0:
		return nil, nil //nolint:nilnil // nil means ourselves
	case errors.Is(err, fs.ErrNotExist):
		return unprivileged()
	case err != nil:
		return nil, fmt.Errorf("database folder: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return nil, fmt.Errorf("database folder %s: its owner is unknown", dir)
	case us != 0 && int(owner.Uid) != us:
		theirs, ours := userName(int(owner.Uid)), userName(us)
		return nil,
			fmt.Errorf("the database in %s belongs to %s: run multis as that user (sudo -u %s multis ...), or give it to %s while no multis runs (chown -R %s: %s, as root)",
				dir, theirs, theirs, ours, ours, dir)
	case us != 0:
		return nil, nil //nolint:nilnil // as above
	case owner.Uid == 0: // of a start that was interrupted
		return unprivileged()
	default:
		return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}, nil
	}
}

func userName(uid int) string {
	name := strconv.Itoa(uid)
	if u, err := user.LookupId(name); err == nil {
		return u.Username
	}
	return name
}

// unprivileged returns the user that runs the server of a new folder if this program runs as root.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{superuser, "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("Postgres does not run as root and there is no user postgres or nobody; start multis as an ordinary user")
}

// prepare creates the folders for the user that runs the server; nil means the user of this program. It fails if that user cannot reach
// them.
func prepare(ctx context.Context, dir string, as *syscall.Credential) error {
	// New folders above must be searchable for the database user.
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil { //nolint:gosec // see above
		return fmt.Errorf("make the database folder: %w", err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "run"), filepath.Join(dir, "data")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the database folder: %w", err)
		}
		if err := chownFromRoot(d, as); err != nil {
			return err
		}
	}
	// The name of a socket may be 107 bytes long, counted with ".s.PGSQL.5432".
	if sock := filepath.Join(dir, "run", ".s.PGSQL."+port); len(sock) > 107 {
		return fmt.Errorf("the path of the database folder is too long for a socket (%d of 107 bytes): %s; choose a shorter database.data_dir",
			len(sock), dir)
	}
	if as == nil {
		return nil
	}
	test := exec.CommandContext(ctx, "test", "-w", filepath.Join(dir, "data"))
	test.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	test.Dir = "/"
	if err := test.Run(); err != nil {
		return fmt.Errorf("the database user (uid %d) cannot reach %s: a folder above it is closed to others; choose another folder (in config.yaml: database.data_dir), such as /var/lib/multis", as.Uid, dir)
	}
	return nil
}

// chownFromRoot makes the database user the owner of a folder of root. A folder of another user keeps its owner.
func chownFromRoot(dir string, as *syscall.Credential) error {
	if as == nil {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("database folder: %w", err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != 0 {
		return nil
	}
	if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
		return fmt.Errorf("give %s to the database user: %w", dir, err)
	}
	return nil
}

// initdb makes an empty database. It makes it in a temporary folder and renames that, so that a killed process leaves a
// complete database or none.
func (s *Server) initdb(ctx context.Context, bin string, as *syscall.Credential, throwaway bool) error {
	unfinished := s.data() + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("initialise the database: %w", err)
	}
	args := []string{"-D", unfinished, "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C"}
	if throwaway {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil { // Ctrl-C reaches initdb as well, and it prints much about that
			return fmt.Errorf("making the database in %s was interrupted: %w", s.data(), ctx.Err())
		}
		return fmt.Errorf("initialise the database in %s: %w: %s", s.data(), err, bytes.TrimSpace(out))
	}
	err := os.Remove(s.data()) // it is empty
	if err == nil {
		err = os.Rename(unfinished, s.data())
	}
	if err != nil {
		return fmt.Errorf("initialise the database: %w", err)
	}
	return nil
}

// awaitOther looks for a server that already runs on the data. It waits for one that is stopping because its program was killed. With
// share it returns true if the server answers. Without share, a server that keeps running is an error.
func (s *Server) awaitOther(ctx context.Context, share bool) (bool, error) {
	for end := time.Now().Add(orphanTime); ; {
		pid, err := s.runningPID()
		if err != nil {
			return false, err
		}
		if pid == 0 {
			return false, nil
		}
		if share && s.ping(ctx) == nil {
			return true, nil
		}
		if time.Now().After(end) {
			return false, fmt.Errorf("another multis already runs a Postgres (pid %d) on %s; stop it first, or set database.url to share one", pid,
				s.data())
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// runningPID returns the process id of the server that runs on the data; 0 for none.
func (s *Server) runningPID() (int, error) {
	raw, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for a running database: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0, nil //nolint:nilerr // half-written: Postgres itself deals with it
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(cmdline, []byte(s.data())) {
		return 0, nil //nolint:nilerr // it has ended
	}
	return pid, nil
}

// ping connects once.
func (s *Server) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.SuperDSN("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
