package rig

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"text/template"

	"go.mau.fi/util/random"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

//go:embed bridge.yaml
var bridgeConfigTemplate string

//go:embed registrations.yaml
var registrationTemplates string

// BridgeSetup holds the values of the bridge's configuration and registrations. NewBridgeSetup makes the secrets.
type BridgeSetup struct {
	HomeserverURL, Domain string
	// Address is the URL at which the homeserver reaches the bridge. Hostname and Port are where the bridge listens.
	Address, Hostname string
	Port              int
	// Control is where the control interface listens, as host:port.
	Control                             string
	ASToken, HSToken, DoublePuppetToken string
	Sender                              string
	DatabaseURI, StateFile              string
	Owner                               id.UserID
	// Encrypted and Encryptable have the meaning that they have in Options.
	Encrypted, Encryptable bool
	PickleKey              string // encrypts the stored keys
}

// NewBridgeSetup returns the setup of an owner's bridge with new secrets. The caller fills in the addresses, the database and the file of
// the network's state.
func NewBridgeSetup(owner id.UserID) BridgeSetup {
	return BridgeSetup{
		Domain:            owner.Homeserver(),
		ASToken:           random.String(64),
		HSToken:           random.String(64),
		DoublePuppetToken: random.String(64),
		Sender:            "as_" + strings.ToLower(random.String(16)),
		Owner:             owner,
		PickleKey:         random.String(64),
	}
}

// DomainRegex returns a regular expression for the domain, for registrations.
func (s BridgeSetup) DomainRegex() string { return regexp.QuoteMeta(s.Domain) }

// Registrations returns the bridge's registration and the one for double puppeting.
func (s BridgeSetup) Registrations() ([][]byte, error) {
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

// Config returns the bridge's configuration.
func (s BridgeSetup) Config() ([]byte, error) {
	parsed, err := template.New("bridge.yaml").Parse(bridgeConfigTemplate)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, s)
	return text.Bytes(), err
}

func (r *Rig) prepareBridge(ctx context.Context, setup BridgeSetup) error {
	if err := r.Stack.CreateDatabase(ctx, BridgeDatabase); err != nil {
		return err
	}
	setup.HomeserverURL, setup.DatabaseURI = r.Stack.HomeserverURL, r.Stack.PostgresDSN(BridgeDatabase)
	config, err := setup.Config()
	if err != nil {
		return err
	}
	r.bridgeConfig = filepath.Join(r.Dir, "bridge.yaml")
	if err := os.WriteFile(r.bridgeConfig, config, 0o600); err != nil {
		return err
	}
	r.Network = demonet.Client{URL: "http://" + setup.Control}
	// Without cgo, bridgev2 would have no encryption. The bridge always uses cgo, so that it is built only once.
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
