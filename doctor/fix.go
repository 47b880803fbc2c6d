package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"multis/config"
)

// Fix repairs the finding with an id, if it is there and safe to repair, and returns what was done. A configuration that it changes is backed
// up first.
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
		open := OpenToAll(in.Paths.Config, in.Config)
		for _, path := range open {
			if err := os.Chmod(path, 0o600); err != nil {
				return "", err
			}
		}
		return "chmod 600 " + strings.Join(open, " "), nil
	case RegistrationPermissions:
		return "chmod 600 " + in.Paths.Registration, os.Chmod(in.Paths.Registration, 0o600)
	case RegistrationFile:
		return fixRegistration(in)
	case PingLoopback:
		backup, err := config.Set(in.Paths.Config, "appservice.hostname", "0.0.0.0")
		return fmt.Sprintf("Set appservice.hostname to 0.0.0.0 in %s (the old file is %s). Restart multis.", in.Paths.Config, backup), err
	default:
		return "", fmt.Errorf("%s has no repair", id)
	}
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
	backup, err := config.Replace(path, text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %s (the old file is %s). Next: %s", path, backup, in.installFix()), nil
}
