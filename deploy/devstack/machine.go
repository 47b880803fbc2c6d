package devstack

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed enter-machine.sh
var enterMachineScript []byte

// PrepareMachine returns a root file system like Prepare's that boots with systemd. The first call on a machine builds it (some
// minutes).
func PrepareMachine(ctx context.Context, out io.Writer) (Root, error) {
	return prepareLayer(ctx, out, "machine", "systemd", "systemd-sysv", "dbus", "mount", "procps", "curl", "openssl", "ca-certificates",
		"busybox-static")
}

// Machine is a fresh Debian, booted by systemd, with Synapse and Postgres installed. It cannot reach other networks.
type Machine struct {
	box
	// Dir is the folder that commands see as /mnt.
	Dir string
}

// StartMachine boots a machine from the root. Its changes are in dir, not in the root. The caller must Kill it.
func StartMachine(ctx context.Context, root Root, dir string) (*Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	m := &Machine{Dir: dir}
	err := m.start(ctx, dir, "machine", enterMachineScript, root.Dir, dir)
	if err == nil {
		err = m.process.until(ctx, func(ctx context.Context) error {
			state, err := m.Command(ctx, "/", "systemctl", "is-system-running").Output()
			if text := strings.TrimSpace(string(state)); text != "running" && text != "degraded" {
				return fmt.Errorf("systemd is %q (%w)", text, err)
			}
			return nil
		})
	}
	if err != nil {
		m.Kill()
		return nil, err
	}
	return m, nil
}
