package rig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"
)

// Multis is one process of multis.
type Multis struct {
	// Log and Config are the paths of its output and of its configuration.
	Log, Config string

	child *child
}

// StartMultis runs `multis run` with a configuration and returns when it is
// ready. The program is built from this module once per rig. Several processes
// may run at once, each with its own log. Their working folder is multis in
// Dir. env ("KEY=value") is added to the environment of this process.
func (r *Rig) StartMultis(ctx context.Context, config []byte, env ...string) (*Multis, error) {
	program, err := r.Program(ctx)
	if err != nil {
		return nil, err
	}
	return r.StartProgram(ctx, program, config, env...)
}

// StartProgram is StartMultis for the given build of multis.
func (r *Rig) StartProgram(ctx context.Context, program string, config []byte, env ...string) (*Multis, error) {
	ready, err := readyURL(config)
	if err != nil {
		return nil, fmt.Errorf("read multis' configuration: %w", err)
	}
	m, err := r.launch(program, config, env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = m.child.until(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, m.Kill())
	}
	return m, nil
}

// RunMultis runs another command of multis with a configuration and returns its output.
func (r *Rig) RunMultis(ctx context.Context, config []byte, input string, args ...string) (string, error) {
	program, err := r.Program(ctx)
	if err != nil {
		return "", err
	}
	return r.RunProgram(ctx, program, config, input, args...)
}

// RunProgram is RunMultis for the given build of multis.
func (r *Rig) RunProgram(ctx context.Context, program string, config []byte, input string, args ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir, err := r.multisFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "config-command.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, append(args, "-c", path)...)
	cmd.Dir, cmd.Stdin = filepath.Dir(path), strings.NewReader(input)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// Program builds multis, once, and returns the path of the program.
func (r *Rig) Program(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.multisBinary == "" {
		r.multisBinary, err = r.build(ctx, "multis/cmd/multis", false)
	}
	return r.multisBinary, err
}

// multisFolder creates the working folder of multis.
func (r *Rig) multisFolder() (string, error) {
	dir := filepath.Join(r.Dir, "multis")
	return dir, os.MkdirAll(dir, 0o700)
}

// launch writes the configuration and starts the process.
func (r *Rig) launch(program string, config []byte, env []string) (*Multis, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := len(r.multis) + 1
	dir, err := r.multisFolder()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fmt.Sprintf("config-%d.yaml", run))
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return nil, err
	}
	log := filepath.Join(r.Dir, fmt.Sprintf("multis-%d.log", run))
	env = append([]string{"MULTIS_SAFE_MODE_AFTER_CRASHES=0"}, env...) // tests kill multis often
	child, err := startChild(log, dir, env, program, "run", "-c", path)
	if err != nil {
		return nil, err
	}
	m := &Multis{Log: log, Config: path, child: child}
	r.multis = append(r.multis, m)
	return m, nil
}

// Kill sends SIGKILL and waits for the end of the process.
func (m *Multis) Kill() error { return m.child.stop(syscall.SIGKILL) }

// Term sends SIGTERM and waits for the end of the process. It is no error if
// the process has already ended.
func (m *Multis) Term() error { return m.child.stop(syscall.SIGTERM) }

func readyURL(config []byte) (string, error) {
	var parsed struct {
		AppService struct {
			Port int `yaml:"port"`
		} `yaml:"appservice"`
	}
	if err := yaml.Unmarshal(config, &parsed); err != nil {
		return "", err
	}
	if parsed.AppService.Port == 0 {
		return "", errors.New("appservice.port is missing")
	}
	return fmt.Sprintf("http://127.0.0.1:%d/_matrix/mau/ready", parsed.AppService.Port), nil
}
