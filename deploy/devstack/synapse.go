package devstack

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"text/template"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/synapseadmin"
)

//go:embed homeserver.yaml
var homeserverTemplate string

//go:embed log.yaml
var logConfig []byte

// StartSynapse starts a stopped Synapse with the same port and data and returns
// when it is ready.
func (s *Stack) StartSynapse(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	process, err := s.root.run(s.dir, "synapse", "python3", "-m", "synapse.app.homeserver", "-c", "/mnt/homeserver.yaml")
	if err != nil {
		return err
	}
	s.synapse = process
	return process.until(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HomeserverURL+"/health", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("health check: %s", resp.Status)
		}
		return nil
	})
}

// StopSynapse sends sig (SIGTERM for a clean end, SIGKILL for a crash) and waits
// for the end of Synapse. It is no error if Synapse is stopped.
func (s *Stack) StopSynapse(sig syscall.Signal) error {
	if s.synapse == nil {
		return nil
	}
	process := s.synapse
	s.synapse = nil
	return process.stop(sig)
}

// RegisterUser creates an ordinary account.
func (s *Stack) RegisterUser(ctx context.Context, localpart, password string) (id.UserID, error) {
	client, err := mautrix.NewClient(s.HomeserverURL, "", "")
	if err != nil {
		return "", err
	}
	admin := synapseadmin.Client{Client: client}
	resp, err := admin.SharedSecretRegister(ctx, s.secret, synapseadmin.ReqSharedSecretRegister{
		Username: localpart, Password: password,
	})
	if err != nil {
		return "", fmt.Errorf("register %s: %w", localpart, err)
	}
	return resp.UserID, nil
}

func (s *Stack) writeSynapseConfig(port int, registrations [][]byte) error {
	files := map[string][]byte{
		"log.yaml": logConfig,
		// The key id is arbitrary; the seed is 32 random bytes.
		"signing.key": fmt.Appendf(nil, "ed25519 a_dev %s\n", base64.RawStdEncoding.EncodeToString(randomBytes())),
	}
	var inside []string
	for i, registration := range registrations {
		name := fmt.Sprintf("registration-%d.yaml", i+1)
		files[name] = registration
		inside = append(inside, "/mnt/"+name)
	}
	parsed, err := template.New("homeserver.yaml").Parse(homeserverTemplate)
	if err != nil {
		return err
	}
	var config bytes.Buffer
	err = parsed.Execute(&config, struct {
		Domain, URL, Secret, PostgresPassword string
		Port, PostgresPort                    int
		Registrations                         []string
	}{Domain, s.HomeserverURL, s.secret, s.password, port, s.postgresPort, inside})
	if err != nil {
		return err
	}
	files["homeserver.yaml"] = config.Bytes()
	for name, content := range files {
		// Others may read the files, because Synapse may run as another user.
		if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func newSecret() string { return fmt.Sprintf("%x", randomBytes()) }

func randomBytes() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}
