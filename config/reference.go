package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Prefixes of the value of a secret that is a reference: it says where the secret is.
const (
	envReference     = "env:"     // in an environment variable of multis
	fileReference    = "file:"    // in a file; relative paths start at the folder of the configuration
	systemdReference = "systemd:" // in a credential of the systemd service
)

// credentialsVariable is the environment variable with the folder of systemd's credentials.
const credentialsVariable = "CREDENTIALS_DIRECTORY"

// IsReference reports whether the value of a secret is a reference to the secret, and not the secret itself.
func IsReference(value string) bool {
	for _, prefix := range []string{envReference, fileReference, systemdReference} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return false
}

// variableName matches names of environment variables. Errors quote no other names, because users may have written the secret there.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// resolveSecret returns the secret itself: the value, or what the value refers to.
func (r *reader) resolveSecret(value string) (string, error) {
	if name, ok := strings.CutPrefix(value, envReference); ok {
		if !variableName.MatchString(name) {
			return "", errors.New("has no name of a variable after env:; write it like env:ANTHROPIC_API_KEY")
		}
		secret, set := r.env(name)
		if !set || strings.TrimSpace(secret) == "" {
			return "",
				fmt.Errorf("names the environment variable %s, which is not set; set it where multis is started (Environment= or EnvironmentFile= of the service), and in the shell for a command that you type", name)
		}
		return strings.TrimSpace(secret), nil
	}
	if path, ok := strings.CutPrefix(value, fileReference); ok {
		return r.readSecretFile(resolvePath(filepath.Dir(r.file), path))
	}
	if name, ok := strings.CutPrefix(value, systemdReference); ok {
		folder, set := r.env(credentialsVariable)
		switch {
		case name == "" || name != filepath.Base(name) || strings.HasPrefix(name, "."):
			return "", errors.New("has no name of a credential after systemd:; write it like systemd:as_token")
		case !set || folder == "":
			return "",
				errors.New("names a credential of systemd, and multis was not started with any; add LoadCredential=NAME:/path to the service, or write file:/path; " +
					"before a command that you type write " + credentialsVariable + "=/run/credentials/multis.service, while the service runs")
		}
		return r.readSecretFile(filepath.Join(folder, name))
	}
	return value, nil
}

// readSecretFile reads a file with a secret and records its path in SecretFiles.
func (r *reader) readSecretFile(path string) (string, error) {
	secret, err := readSecret(path)
	if err == nil {
		r.config.SecretFiles = append(r.config.SecretFiles, path)
	}
	return secret, err
}

// setField parses text and sets a field to it. It resolves references to secrets.
func (r *reader) setField(f field, text string) error {
	var err error
	switch {
	case f.isSecret:
		if delete(r.references, f.key); IsReference(text) {
			r.references[f.key] = text
		}
		if text, err = r.resolveSecret(text); err != nil {
			return err
		}
	case f.isSecretFile:
		if text, err = r.readSecretFile(resolvePath(filepath.Dir(r.file), text)); err != nil {
			return err
		}
	}
	return f.set(text)
}
