package doctor

import (
	"context"
	"fmt"
	"os"

	"multis/config"
	"multis/internal/plainfile"
)

// Fix repairs the finding with an id, if it is there and safe to repair, and returns what was done. A configuration that
// it changes is backed up first.
func Fix(ctx context.Context, in *Input, id ID) (done string, err error) {
	k, known := kinds[id]
	if !known {
		return "", fmt.Errorf("%q is no id of a finding; multis doctor shows them", id)
	}
	finding, there := find(Run(ctx, in), id)
	switch {
	case !there:
		return fmt.Sprintf("Nothing to do: %s is not found here.", id), nil
	case !k.fixable:
		return "", fmt.Errorf("%s cannot be repaired by a command of multis; do it yourself: %s", id, finding.Fix)
	}
	switch id {
	case ConfigPermissions:
		open := WorldReadable(in.Paths.Config, in.Config)
		for _, path := range open {
			if err := closeToOthers(in.Paths.Config, path); err != nil {
				return "", err
			}
		}
		return chmodLine(open...), nil
	case RegistrationPermissions:
		return chmodLine(in.Paths.Registration), closeToOthers(in.Paths.Config, in.Paths.Registration)
	case RegistrationFile:
		return fixRegistration(in)
	case PingLoopback:
		backup, err := config.Set(in.Paths.Config, "appservice.hostname", "0.0.0.0")
		return fmt.Sprintf("Set appservice.hostname to 0.0.0.0 in %s (the old file is %s). Next: %s", in.Paths.Config, backup, in.start()), err
	default:
		return "", fmt.Errorf("%s has no repair", id)
	}
}

// closeToOthers sets mode 0600 on a file with secrets. If root runs it, it refuses files of users other than the owner of
// the configuration: the service could no longer read them, and the configuration may name any file of the machine.
func closeToOthers(configuration, path string) error {
	f, info, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	whose, err := os.Stat(configuration)
	if err != nil {
		return err
	}
	theirs, _, _ := plainfile.Owner(info)
	ours, _, _ := plainfile.Owner(whose)
	if os.Geteuid() == 0 && theirs != ours {
		return fmt.Errorf("%s belongs to %s, and %s to %s: decide yourself who may read it, such as chgrp %[4]s %[1]s && chmod 640 %[1]s", path,
			userName(theirs), configuration, userName(ours))
	}
	return f.Chmod(0o600)
}

func find(r Report, id ID) (Finding, bool) {
	for _, f := range r.Findings() {
		if f.ID == id {
			return f, true
		}
	}
	return Finding{}, false
}

func fixRegistration(in *Input) (string, error) {
	text, err := config.Registration(in.Config)
	if err != nil {
		return "", err
	}
	path := in.Paths.Registration
	backup, err := config.ReplaceWithBackup(path, text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %s (the old file is %s). Next: %s", path, backup, in.installFix()), nil
}
