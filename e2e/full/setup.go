package main

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"multis/config"
	"multis/e2e/rig"
)

//go:embed homeserver.yaml
var homeserverTemplate string

//go:embed log.yaml
var logConfig []byte

// Files in the folder dir.
const (
	startedFile  = "started" // exists once a setup has begun in this folder
	doneFile     = "done"    // exists once the setup is complete
	secretFile   = "registration_secret"
	passwordFile = "postgres_password"
)

// setUp writes the configurations of the services into dir, and that of multis into data. It does nothing if a setup is
// complete, and repeats an interrupted one. It does not touch a data folder with the configuration of another
// installation.
func setUp(dir, data string) error {
	if exists(filepath.Join(dir, doneFile)) {
		return nil
	}
	multis := filepath.Join(data, "config.yaml")
	if exists(multis) && !exists(filepath.Join(dir, startedFile)) {
		return errors.New("data/config.yaml belongs to an installation beside another Synapse: use the profile full in a clone of its own")
	}
	if err := os.WriteFile(filepath.Join(dir, startedFile), nil, 0o644); err != nil {
		return err
	}
	files, err := serviceConfigs()
	if err != nil {
		return err
	}
	if files["multis.yaml"], err = configureMultis(multis); err != nil {
		return fmt.Errorf("configure multis: %w", err)
	}
	files[doneFile] = nil
	for _, name := range append(filesButDone(files), doneFile) {
		// Readable for Postgres, which runs as another user. Users of the machine cannot enter the volume.
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// filesButDone returns the names of all files except doneFile.
func filesButDone(files map[string][]byte) (names []string) {
	for name := range files {
		if name != doneFile {
			names = append(names, name)
		}
	}
	return names
}

// serviceConfigs returns the configuration files of Synapse, the bridge and their Postgres.
func serviceConfigs() (map[string][]byte, error) {
	secret, postgresPassword := newSecret(), newSecret()
	bridge := rig.NewBridgeSetup(owner)
	bridge.HomeserverURL, bridge.Address = homeserverURL, "http://multis-bridge:29401"
	bridge.Hostname = "0.0.0.0"
	bridge.Port = 29401
	bridge.Control = controlAddress
	bridge.DatabaseURI = "postgres://postgres:" + postgresPassword + "@multis-full-postgres/bridge?sslmode=disable"
	bridge.StateFile = "/full/demonet.json"
	registrations, err := bridge.Registrations()
	if err != nil {
		return nil, fmt.Errorf("register the bridge: %w", err)
	}
	bridgeConfig, err := bridge.Config()
	if err != nil {
		return nil, fmt.Errorf("configure the bridge: %w", err)
	}
	parsed, err := template.New("homeserver.yaml").Parse(homeserverTemplate)
	if err != nil {
		return nil, err
	}
	var homeserver bytes.Buffer
	err = parsed.Execute(&homeserver, struct{ Domain, PostgresPassword, Secret string }{domain, postgresPassword, secret})
	if err != nil {
		return nil, fmt.Errorf("configure synapse: %w", err)
	}
	seed := make([]byte, 32)
	_, _ = rand.Read(seed) // never fails
	return map[string][]byte{
		"homeserver.yaml": homeserver.Bytes(), "log.yaml": logConfig, "bridge.yaml": bridgeConfig,
		"signing.key":  fmt.Appendf(nil, "ed25519 a_full %s\n", base64.RawStdEncoding.EncodeToString(seed)),
		"demonet.yaml": registrations[0], "doublepuppet.yaml": registrations[1],
		secretFile: []byte(secret), passwordFile: []byte(postgresPassword),
	}, nil
}

// configureMultis writes multis' configuration and returns its registration.
func configureMultis(path string) ([]byte, error) {
	text := strings.NewReplacer(
		"address: https://matrix.example.com", "address: "+homeserverURL,
		"domain: example.com", "domain: "+domain,
		`"@you:example.com"`, `"`+owner.String()+`"`,
	).Replace(string(config.Example()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cfg, err := config.Generate(path)
	if err != nil {
		return nil, err
	}
	return config.Registration(cfg)
}

// readSecret returns the secret that registers accounts at Synapse.
func readSecret(dir string) (string, error) {
	secret, err := os.ReadFile(filepath.Join(dir, secretFile))
	return string(secret), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
