package rig

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"text/template"

	"go.mau.fi/util/random"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
)

//go:embed bridge.yaml
var bridgeConfigTemplate string

//go:embed registrations.yaml
var registrationTemplates string

// bridgeSetup holds the values of the bridge's configuration and registrations.
type bridgeSetup struct {
	HomeserverURL, Domain, DomainRegex  string
	Port, ControlPort                   int
	ASToken, HSToken, DoublePuppetToken string
	Sender                              string
	DatabaseURI, StateFile              string
	Owner                               id.UserID
	Encrypted, Encryptable              bool
	PickleKey                           string // encrypts the stored keys
}

func newBridgeSetup(dir string, port, controlPort int, opts Options) bridgeSetup {
	return bridgeSetup{
		Domain:            devstack.Domain,
		DomainRegex:       regexp.QuoteMeta(devstack.Domain),
		Port:              port,
		ControlPort:       controlPort,
		ASToken:           random.String(64),
		HSToken:           random.String(64),
		DoublePuppetToken: random.String(64),
		Sender:            "as_" + strings.ToLower(random.String(16)),
		StateFile:         filepath.Join(dir, "demonet.json"),
		Owner:             OwnerID,
		Encrypted:         opts.Encrypted,
		Encryptable:       opts.Encrypted || opts.Encryptable,
		PickleKey:         random.String(64),
	}
}

// registrations returns the bridge's registration and the one for double puppeting.
func (s bridgeSetup) registrations() ([][]byte, error) {
	parsed, err := template.New("registrations").Parse(registrationTemplates)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, name := range []string{"bridge", "doublepuppet"} {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, name, s); err != nil {
			return nil, err
		}
		all = append(all, text.Bytes())
	}
	return all, nil
}

func (r *Rig) prepareBridge(ctx context.Context, setup bridgeSetup) error {
	if err := r.Stack.CreateDatabase(ctx, BridgeDatabase); err != nil {
		return err
	}
	setup.HomeserverURL, setup.DatabaseURI = r.Stack.HomeserverURL, r.Stack.PostgresDSN(BridgeDatabase)
	parsed, err := template.New("bridge.yaml").Parse(bridgeConfigTemplate)
	if err != nil {
		return err
	}
	var config bytes.Buffer
	if err := parsed.Execute(&config, setup); err != nil {
		return err
	}
	r.bridgeConfig = filepath.Join(r.Dir, "bridge.yaml")
	if err := os.WriteFile(r.bridgeConfig, config.Bytes(), 0o600); err != nil {
		return err
	}
	r.Network = demonet.Client{URL: fmt.Sprintf("http://127.0.0.1:%d", setup.ControlPort)}
	// Without cgo, bridgev2 is built without encryption. It is always built with cgo, so that it is built only once.
	r.bridgeBinary, err = r.build(ctx, "multis/e2e/bridge", true)
	return err
}

// StartBridge starts a stopped bridge and waits until it is connected to the
// network.
func (r *Rig) StartBridge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	bridge, err := startChild(filepath.Join(r.Dir, "bridge.log"), r.Dir, nil, r.bridgeBinary, r.bridgeConfig)
	if err != nil {
		return err
	}
	r.bridge = bridge
	return bridge.until(ctx, func(ctx context.Context) error {
		_, err := r.Network.Delivered(ctx, "")
		return err
	})
}

// StopBridge stops the bridge cleanly. The state of the network is kept.
func (r *Rig) StopBridge() error {
	if r.bridge == nil {
		return nil
	}
	bridge := r.bridge
	r.bridge = nil
	return bridge.stop(syscall.SIGTERM)
}
