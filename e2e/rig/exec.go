package rig

import (
	"os"
	"path/filepath"
)

// nobody is the user who owns the folder if the tests run as root, because multis runs no commands as root.
const nobody = 65534

// ExecFolder makes a data folder for a multis that runs commands. As root, multis runs them as the user who owns the
// folder agents/multis in it.
func ExecFolder() (string, error) {
	data, err := os.MkdirTemp("", "multis-data-")
	if err != nil {
		return "", err
	}
	workspace := filepath.Join(data, "agents", "multis")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		return "", err
	}
	if os.Geteuid() != 0 {
		return data, nil
	}
	if err := os.Chmod(data, 0o711); err != nil {
		return "", err
	}
	return data, os.Chown(workspace, nobody, nobody)
}
