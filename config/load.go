package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"multis/internal/plainfile"
	"multis/internal/text"
)

// ErrRestoreInterrupted is returned for a missing configuration whose copy an interrupted restore has left.
var ErrRestoreInterrupted = errors.New("the restore of a backup was interrupted; run it again: multis backup restore FILE")

// RestoreCopy returns the path of the copy from which a restore makes a configuration.
func RestoreCopy(path string) string { return path + ".from-backup" }

// readError returns the error for a configuration file that cannot be read.
func readError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			if _, copied := os.Lstat(RestoreCopy(at.Path)); copied == nil {
				return fmt.Errorf("read the configuration: %w: %w", err, ErrRestoreInterrupted)
			}
		}
		return fmt.Errorf("read the configuration: %w; multis init writes one, multis -e writes an example, -c names another file", err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("read the configuration: %w; only its owner and root may: run the command as root, with sudo", err)
	}
	return fmt.Errorf("read the configuration: %w", err)
}

// maxFile is the maximum size of a configuration, in bytes.
const maxFile = 1 << 20

// ReadFile reads a configuration file. It refuses pipes and devices, whose reading may not end, and files of more than maxFile bytes.
func ReadFile(path string) ([]byte, error) {
	data, err := plainfile.Read(path, maxFile)
	switch {
	case errors.Is(err, plainfile.ErrNotRegular):
		return nil, fmt.Errorf("read the configuration: %w; name a file", err)
	case errors.Is(err, plainfile.ErrTooLarge):
		return nil, fmt.Errorf("read the configuration: %w, and at most %s are read; remove what is not configuration", err, text.Bytes(maxFile))
	case err != nil:
		return nil, readError(err)
	}
	return data, nil
}

// Load reads the configuration at path and the environment of the process.
func Load(path string) (*Config, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, os.LookupEnv)
}

// Parse reads a configuration from data. name is the path of the file: errors begin with it, and relative paths start at
// its folder. With an empty name, errors about missing keys name the environment variable instead. env looks up an
// environment variable, as os.LookupEnv does.
//
// The error joins all problems, one line each, and never contains a secret.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := defaults()
	return c.parse(newReader(name, c), data, nil, env)
}

func (c *Config) parse(r *reader, data []byte, settings map[string]string, env func(string) (string, bool)) (*Config, error) {
	r.env = env
	if !r.readDocument(data) {
		return nil, r.err()
	}
	r.readSettings(settings)
	r.readEnvironment()
	r.reportMissing()
	c.check(r)
	if err := r.err(); err != nil {
		return nil, err
	}
	c.complete(filepath.Dir(r.file))
	c.checkFolders(r) // they are complete only now
	c.places = r.places
	if err := r.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// strongCurrencies lists currencies whose unit is worth about a dollar or more. For them PerDollar defaults to 1, which
// overestimates costs, so that the caps are still kept.
var strongCurrencies = []string{"USD", "EUR", "GBP", "CHF"}
