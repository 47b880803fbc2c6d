package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// networkKey is the variable of docker-compose.yml that names the Docker network of Synapse.
const networkKey = "MATRIX_NETWORK"

// ErrNoNetwork is returned when the Docker network of Synapse cannot be determined.
var ErrNoNetwork = errors.New("the Docker network of Synapse is not known; name it yourself: echo " + networkKey +
	"=NAME >> .env   (docker network ls lists them)")

// SynapseNetwork returns the Docker network of Synapse's container. config is its homeserver.yaml, or empty to look for it.
func (m Machine) SynapseNetwork(ctx context.Context, config string) (string, error) {
	s, err := m.FindSynapse(config)
	switch {
	case err != nil:
		return "", err
	case s == nil || s.Container == "":
		return "", fmt.Errorf("no Synapse was found in a container: %w", ErrNoNetwork)
	}
	out, err := exec.CommandContext(ctx, "docker", "inspect", "--format",
		"{{range $name, $_ := .NetworkSettings.Networks}}{{println $name}}{{end}}", s.Container).Output()
	if err != nil {
		return "", fmt.Errorf("ask Docker for the network of the container %s: %w", s.Container, err)
	}
	// On these networks, containers do not reach each other by name.
	networks := slices.DeleteFunc(strings.Fields(string(out)), func(n string) bool {
		return slices.Contains([]string{"bridge", "host", "none"}, n)
	})
	if len(networks) != 1 {
		return "", fmt.Errorf("the container %s is on %d networks that multis could join: %w", s.Container, len(networks), ErrNoNetwork)
	}
	return networks[0], nil
}

// ComposeEnv returns the file .env of Compose with the line that names the network of Synapse. Other lines stay as they
// are. changed is false if the file has that line already.
func ComposeEnv(path, network string) (file Output, changed bool, err error) {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Output{}, false, fmt.Errorf("read %s: %w", path, err)
	}
	line := networkKey + "=" + network
	lines := strings.Split(strings.TrimRight(string(old), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" && len(lines) == 1 })
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, networkKey+"=") }); i >= 0 {
		lines[i] = line
	} else {
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n") + "\n"
	return Output{Path: path, Data: []byte(text), Mode: 0o600, UID: -1}, text != string(old), nil
}

// WriteComposeEnv writes .env for Docker Compose, with the network of Synapse. It runs on the host; the questions are
// asked in the container of multis. synapse is the path of homeserver.yaml; empty to look for it.
func WriteComposeEnv(ctx context.Context, synapse string, out io.Writer) error {
	if _, err := os.Stat("docker-compose.yml"); err != nil {
		return errors.New("there is no docker-compose.yml here: change to the folder of multis' repository")
	}
	network, err := Machine{}.SynapseNetwork(ctx, synapse)
	if err != nil {
		return err
	}
	file, changed, err := ComposeEnv(".env", network)
	if err != nil {
		return err
	}
	if changed {
		if err := Write(ctx, []Output{file}); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "✓ .env         Synapse is on the network %s\n\nNext: docker compose run --rm --use-aliases multis init\n", network)
	return nil
}
