package setup

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Unit is what the installed unit of systemd says about who runs multis and where the service may write.
type Unit struct {
	User    string   // empty means root
	system  string   // ProtectSystem
	hidden  []string // folders that it does not see
	private []string // folders in whose place it has its own
	open    []string // folders that it may write to all the same
}

// unitProperties are the properties of the unit that Unit is read from.
const unitProperties = "User,ProtectSystem,ProtectHome,PrivateTmp,ReadWritePaths,BindPaths,StateDirectory,CacheDirectory,LogsDirectory,RuntimeDirectory"

// systemdTimeout is the timeout of a command of systemd.
const systemdTimeout = 2 * time.Second

// ServiceUnit returns the installed unit of the service if config is its configuration; else, and in a container, it returns
// false. Where systemd runs, the unit includes its drop-ins.
func (m Machine) ServiceUnit(ctx context.Context, config string) (Unit, bool) {
	if m.InContainer() || !m.isService(config) {
		return Unit{}, false
	}
	if m.Root == "" && m.HasSystemd() {
		ctx, cancel := context.WithTimeout(ctx, systemdTimeout)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "systemctl", "show", "-p", unitProperties, serviceName).Output(); err == nil {
			return parseUnit(string(out)), true
		}
	}
	for _, path := range append([]string{unitPath}, packagedUnits...) {
		if m.exists(path) {
			return parseUnit(readText(m.path(path))), true
		}
	}
	return Unit{}, false
}

// isService reports whether the service of systemd is the one that runs multis with this configuration.
func (m Machine) isService(config string) bool {
	return filepath.Dir(config) == ServiceDir && slices.ContainsFunc(append(slices.Clone(packagedUnits), unitPath), m.exists)
}

// parseUnit reads a unit file, or what systemctl show prints about one.
func parseUnit(text string) Unit {
	var u Unit
	parents := map[string]string{
		"StateDirectory": "/var/lib", "CacheDirectory": "/var/cache", "LogsDirectory": "/var/log",
		"RuntimeDirectory": "/run",
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(value)
		switch key {
		case "User":
			u.User = value
		case "ProtectSystem":
			u.system = value
		case "ProtectHome":
			if value != "no" && value != "false" && value != "read-only" {
				u.hidden = []string{"/home", "/root", "/run/user"}
			}
		case "PrivateTmp":
			if value != "no" && value != "false" {
				u.private = []string{"/tmp", "/var/tmp"}
			}
		case "ReadWritePaths":
			for _, path := range words {
				u.open = append(u.open, strings.Trim(path, `-+"`))
			}
		case "BindPaths":
			for _, path := range words {
				parts := strings.Split(strings.Trim(path, `-"`), ":")
				u.open = append(u.open, parts[min(1, len(parts)-1)])
			}
		case "StateDirectory", "CacheDirectory", "LogsDirectory", "RuntimeDirectory":
			for _, name := range words {
				name, _, _ = strings.Cut(name, ":")
				u.open = append(u.open, filepath.Join(parents[key], name))
			}
		}
	}
	return u
}

// Refusal returns why the service may not write to a folder although its user may, and what to do about it; empty if it may.
func (u Unit) Refusal(folder string) string {
	if why := u.Hides(folder); why != "" {
		return why
	}
	var closed bool
	switch u.system {
	case "strict":
		closed = !isIn(folder, "/dev", "/proc", "/sys")
	case "full":
		closed = isIn(folder, "/usr", "/boot", "/efi", "/etc")
	case "yes", "true":
		closed = isIn(folder, "/usr", "/boot", "/efi")
	}
	if !closed || isIn(folder, u.open...) {
		return ""
	}
	return fmt.Sprintf("the unit of the service makes %s read-only; make the folder for the user %s, write [Service] and below it ReadWritePaths=%[1]s with systemctl edit %[3]s, "+
		"then systemctl restart %[3]s; or choose a folder in %[4]s", folder, cmp.Or(u.User, "root"), serviceName, ServiceDir)
}

// Hides returns why the service does not see a folder, and what to do about it; empty if it does.
func (u Unit) Hides(folder string) string {
	switch {
	case isIn(folder, u.private...):
		return fmt.Sprintf("the service does not see %s, because its unit gives it a folder for temporary files of its own (PrivateTmp); choose a folder in %s", folder, ServiceDir)
	case isIn(folder, u.hidden...):
		return fmt.Sprintf("the unit of the service hides %s from it (ProtectHome); choose a folder in %s", folder, ServiceDir)
	}
	return ""
}

// isIn reports whether a folder is one of parents or lies in one.
func isIn(folder string, parents ...string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool {
		inside, err := filepath.Rel(parent, folder)
		return err == nil && filepath.IsLocal(inside)
	})
}

// IsStarting reports whether systemd starts, stops or runs the service that runs multis with this configuration. It does
// not report one that waits for its next start because it failed.
func (m Machine) IsStarting(ctx context.Context, config string) bool {
	if m.InContainer() || !m.isService(config) || m.Root != "" || !m.HasSystemd() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, systemdTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "-p", "ActiveState,SubState,Job", serviceName).Output()
	return err == nil && isStarting(string(out))
}

// isStarting reads what systemctl show prints about a service. Between the stop and the start of a restart only a job says that it goes on.
func isStarting(properties string) bool {
	lines := strings.Fields(properties)
	switch {
	case slices.Contains(lines, "SubState=auto-restart"):
		return false
	case slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Job=") && line != "Job=0" && line != "Job=" }):
		return true
	}
	return !slices.Contains(lines, "ActiveState=inactive") && !slices.Contains(lines, "ActiveState=failed")
}

// LastError returns the error with which the service that runs multis with this configuration ended last; empty if it
// ended by itself, or nothing is known.
func (m Machine) LastError(ctx context.Context, config string) string {
	if m.InContainer() || !m.isService(config) || m.Root != "" || !m.HasSystemd() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, systemdTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "journalctl", "--unit", serviceName, "--lines", "100", "--output", "cat", "--no-pager").Output()
	if err != nil {
		return ""
	}
	return lastError(string(out))
}

// lastError returns the last error in a journal after which the service did not end in order.
func lastError(journal string) string {
	why := ""
	for line := range strings.Lines(journal) {
		line = strings.TrimSpace(line)
		if message, ok := strings.CutPrefix(line, "multis: "); ok {
			why = message
		} else if strings.HasSuffix(line, serviceName+".service: Deactivated successfully.") {
			why = ""
		}
	}
	return why
}
