package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"multis/config"
	"multis/doctor"
)

// checkStart returns what would keep multis run from starting: a folder or file that its user cannot make or write to, or an address that is in
// use. It makes nothing. running is the configuration of the multis that runs, whose addresses are its own; nil if none runs.
func checkStart(ctx context.Context, running, next *config.Config) error {
	var found []error
	folders := []struct{ key, path string }{{"database.data_dir", next.Database.DataDir}, {"documents.folder", next.Documents.Folder}}
	if next.Logging.File != "" {
		folders = append(folders, struct{ key, path string }{"logging.file", filepath.Dir(next.Logging.File)})
	}
	for _, f := range folders {
		if err := checkFolder(f.path, next.Database.DataDir); err != nil {
			found = append(found, next.Problem(f.key, err.Error()+"; choose a folder that multis can make and write to"))
		}
	}
	for _, a := range addressesOf(next) {
		isOwn := func(b listenAddress) bool { return b.port == a.port } // also on another interface: multis gives it up before it takes the new one
		if a.port == 0 || slices.ContainsFunc(addressesOf(running), isOwn) {
			continue
		}
		listener, err := listenOn(ctx, a.hostname, a.port)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			found = append(found, next.Problem(a.section+".port", fmt.Sprintf("is in use by another program (ss -ltnp | grep %d shows which); choose another port", a.port)))
		case err != nil:
			found = append(found, next.Problem(a.section+".hostname", err.Error()+"; write 127.0.0.1, or 0.0.0.0 for every interface"))
		default:
			if err := listener.Close(); err != nil {
				found = append(found, fmt.Errorf("close the address of %s again: %w", a.section, err))
			}
		}
	}
	return errors.Join(found...)
}

// newStartCheck returns a check for what a change of the file adds to what keeps multis from starting. What did so before is no reason against the change.
func newStartCheck(ctx context.Context, file string) func(next *config.Config) error {
	var running *config.Config
	before := map[string]bool{}
	if current, err := config.Load(file); err == nil {
		running = runningNow(ctx, current)
		for _, line := range lines(checkStart(ctx, running, current)) {
			before[withoutPlace(line)] = true
		}
	}
	return func(next *config.Config) error {
		var found []error
		for _, line := range lines(checkStart(ctx, running, next)) {
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
	switch answers, other := doctor.IsListening(ctx, cfg.Appservice); {
	case other:
		return &config.Config{Appservice: cfg.Appservice}
	case answers:
		return cfg
	}
	return nil
}

// checkFolder returns why the user who runs multis, the owner of the data folder, could not make a folder or write to it. It makes nothing.
func checkFolder(folder, data string) error {
	nearest := folder
	info, err := os.Stat(nearest)
	for (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && nearest != filepath.Dir(nearest) {
		nearest = filepath.Dir(nearest)
		info, err = os.Stat(nearest)
	}
	switch {
	case err != nil:
		return fmt.Errorf("cannot be used: %w", err)
	case !info.IsDir():
		return fmt.Errorf("cannot be made: %s is no folder", nearest)
	}
	const write, enter = 2, 1
	err = syscall.Access(nearest, write|enter)
	if os.Geteuid() == 0 { // who may do everything, and is not who runs multis
		err = mayWrite(info, data)
	}
	if err != nil {
		return fmt.Errorf("cannot be written to: %s: %w", nearest, err)
	}
	return nil
}

// mayWrite returns an error if the owner of the data folder may not write to the folder that info is about.
func mayWrite(info fs.FileInfo, data string) error {
	uid, gid, err := ownerOf(data)
	if err != nil || uid == 0 {
		return err
	}
	groups := []int{gid}
	if u, err := userByID(uid); err == nil {
		if _, groups, err = groupsOf(u); err != nil {
			return err
		}
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	const all = 0o3 // write and enter
	bits := info.Mode().Perm()
	switch {
	case int(owner.Uid) == uid:
		bits >>= 6
	case slices.Contains(groups, int(owner.Gid)):
		bits >>= 3
	}
	if bits&all != all {
		return fs.ErrPermission
	}
	return nil
}
