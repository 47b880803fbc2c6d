package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"multis/config"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/ops/health"
)

// checkStart returns what would keep multis run from starting: a file that its user cannot read, a folder or file that he cannot make or write to, or an address that is in
// use. It makes nothing. running is the configuration of the multis that runs, whose addresses are its own; nil if none runs.
func (w runUser) checkStart(ctx context.Context, running, next *config.Config) error {
	found := []error{w.checkFiles(next), w.checkWritable(next, "database.data_dir", next.Database.DataDir)}
	if w.checkReadable(next.Documents.Folder) != nil { // it is made if it is missing, and otherwise read only
		found = append(found, w.checkWritable(next, "documents.folder", next.Documents.Folder))
	}
	if next.Logging.File != "" {
		found = append(found, w.checkWritable(next, "logging.file", filepath.Dir(next.Logging.File)))
	}
	addresses := addressesOf(next)
	for i, a := range addresses {
		if a.port == 0 {
			continue
		}
		if j := slices.IndexFunc(addresses[:i], a.overlaps); j >= 0 {
			found = append(found, next.Problem(a.section+".port", fmt.Sprintf("is the same as %s.port; choose another port", addresses[j].section)))
			continue
		}
		found = append(found, checkAddress(ctx, a, running, next))
	}
	return errors.Join(found...)
}

// checkFolders returns what is wrong with the other folders of a configuration. They do not keep multis from starting.
func (w runUser) checkFolders(next *config.Config) error {
	found := []error{w.checkWritable(next, "backup.folder", next.Backup.Folder)}
	for _, f := range []struct{ key, path string }{{"skills.folder", next.Skills.Folder}, {"tasks.folder", next.Tasks.Folder}} {
		usual := filepath.Join(next.Database.DataDir, config.Default(f.key))
		if _, err := os.Stat(f.path); f.path == usual && errors.Is(err, fs.ErrNotExist) {
			continue // there are none
		}
		if err := w.checkReadable(f.path); err != nil {
			found = append(found, next.Problem(f.key, folderProblem(err, f.key)))
		}
	}
	return errors.Join(found...)
}

// checkWritable returns the problem of a key whose folder multis could not make or write to.
func (w runUser) checkWritable(next *config.Config, key, folder string) error {
	err := w.checkFolder(folder)
	if err == nil {
		return nil
	}
	// What is in the data folder was made by multis. A command of root's that was run there took it over; another folder would not bring it back.
	data := absolutePath(next.Database.DataDir)
	if inside, relErr := filepath.Rel(data, absolutePath(folder)); relErr == nil && filepath.IsLocal(inside) && errors.Is(err, fs.ErrPermission) {
		if _, statErr := os.Stat(data); statErr == nil {
			return next.Problem(key, fmt.Sprintf("%v; %s", err, doctor.AsRoot("chown -R "+w.name()+": "+text.ShellWord(data))))
		}
	}
	return next.Problem(key, folderProblem(err, key))
}

// folderProblem returns what is wrong with the folder of a key, and what to do about it.
func folderProblem(err error, key string) string {
	what := err.Error()
	if !strings.Contains(what, "; ") {
		what += "; choose a folder that multis can use"
	}
	if usual := config.Default(key); usual != "" {
		what += fmt.Sprintf(", or take the default, %s: multis config set %s ''", usual, key)
	}
	return what
}

// checkAddress returns the problem of an address that multis could not listen on.
func checkAddress(ctx context.Context, a listenAddress, running, next *config.Config) error {
	isOwn := func(b listenAddress) bool { return b.port == a.port } // also on another interface: multis gives it up before it takes the new one
	if slices.ContainsFunc(addressesOf(running), isOwn) {
		return nil
	}
	listener, err := listenOn(ctx, a.hostname, a.port)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return next.Problem(a.section+".port", fmt.Sprintf("is in use by another program (ss -ltnp | grep %d shows which); choose another port", a.port))
	case err != nil:
		return next.Problem(a.section+".hostname", err.Error()+"; write 127.0.0.1, or 0.0.0.0 for every interface")
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("close the address of %s again: %w", a.section, err)
	}
	return nil
}

// newStartCheck returns a check of a changed configuration. Its error has the problems that would keep multis from starting, without those that the
// configuration in the file has already.
func newStartCheck(ctx context.Context, file string) func(next *config.Config) error {
	current, err := config.Load(file)
	var running *config.Config
	before := map[string]bool{}
	check := func(next *config.Config) error {
		known := current
		if known == nil {
			known = next
		}
		w, err := runUserOf(ctx, file, known)
		if err != nil {
			return err
		}
		return errors.Join(w.checkStart(ctx, running, next), w.checkFolders(next))
	}
	if err == nil {
		running = runningNow(ctx, current)
		for _, line := range lines(check(current)) {
			before[withoutPlace(line)] = true
		}
	}
	return func(next *config.Config) error {
		var found []error
		for _, line := range lines(check(next)) {
			if !before[withoutPlace(line)] {
				found = append(found, errors.New(line))
			}
		}
		return errors.Join(found...)
	}
}

// lines returns the lines of an error; none for nil.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// withoutPlace returns a problem without the line of the file, which a change may move.
func withoutPlace(problem string) string {
	_, what, _ := strings.Cut(problem, ": ")
	return what
}

// listenAddress is an address that multis listens on.
type listenAddress struct {
	section, hostname string
	port              int
}

// overlaps reports whether multis could not listen on both addresses.
func (a listenAddress) overlaps(b listenAddress) bool {
	every := func(host string) bool { ip := net.ParseIP(host); return ip != nil && ip.IsUnspecified() }
	return a.port == b.port && (a.hostname == b.hostname || every(a.hostname) || every(b.hostname) || doctor.IsLoopback(a.hostname) && doctor.IsLoopback(b.hostname))
}

// addressesOf returns the addresses of a configuration, which is nil for none.
func addressesOf(c *config.Config) []listenAddress {
	if c == nil {
		return nil
	}
	return []listenAddress{
		{"appservice", c.Appservice.Hostname, c.Appservice.Port},
		{"watches", c.Watches.Hostname, c.Watches.Port},
		{"mcp_server", c.MCPServer.Hostname, c.MCPServer.Port},
	}
}

// runningNow returns cfg if a multis runs with it, as far as its address shows that. If another program answers there, which multis doctor
// finds by itself, it returns a configuration with that address only.
func runningNow(ctx context.Context, cfg *config.Config) *config.Config {
	switch answers, other := health.IsListening(ctx, cfg.Appservice.LocalAddr()); {
	case other:
		return &config.Config{Appservice: cfg.Appservice}
	case answers:
		return cfg
	}
	return nil
}
