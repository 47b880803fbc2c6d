// Package rig runs multis with everything around it: Synapse and Postgres
// (deploy/devstack), a bridge to a simulated network (e2e/bridge), a Matrix
// client of the owner, and multis itself as a process that can be killed. The
// end-to-end tests and the demo use it.
package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
)

const (
	// OwnerID is the owner's Matrix id.
	OwnerID id.UserID = "@owner:" + devstack.Domain
	// OwnerPassword is the owner's password.
	OwnerPassword = "owner"
	// BridgeBotID is the bridge's bot.
	BridgeBotID id.UserID = "@demobot:" + devstack.Domain
	// BridgeDatabase is the bridge's database in the stack's Postgres.
	BridgeDatabase = "bridge"
)

// Options configure a Rig.
type Options struct {
	// Dir is an empty folder for all data and logs. Required. Stop does not
	// remove it.
	Dir string
	// Out gets the progress, one line per step. Defaults to io.Discard.
	Out io.Writer
	// Registrations are those of the services under test. Synapse reads them
	// only when it starts, so their ports must be chosen before, with
	// devstack.FreePorts.
	Registrations [][]byte
	// Encrypted makes the bridge encrypt every portal and refuse plain text.
	Encrypted bool
	// Encryptable allows encryption to be turned on in single portals.
	Encryptable bool
}

// Rig is all running services around multis. StartMultis adds multis.
type Rig struct {
	Dir string
	// Stack is Synapse and Postgres.
	Stack *devstack.Stack
	// Network controls the simulated network. Say, OwnerOnPhone and Delivered are
	// shortcuts for its methods.
	Network demonet.Client
	// Owner is a Matrix client of the owner, logged in with the password.
	Owner *mautrix.Client

	out          io.Writer
	started      time.Time
	bridgeBinary string
	bridgeConfig string
	bridge       *child // nil while stopped

	mu           sync.Mutex
	multisBinary string
	multis       []*Multis // all that were started
}

// Start starts everything but multis. The caller must Stop it.
func Start(ctx context.Context, opts Options) (*Rig, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	r := &Rig{Dir: dir, out: opts.Out, started: time.Now()}
	if r.out == nil {
		r.out = io.Discard
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := r.start(ctx, opts); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func (r *Rig) start(ctx context.Context, opts Options) error {
	root, err := devstack.Prepare(ctx, r.out)
	if err != nil {
		return err
	}
	ports, err := devstack.FreePorts(2)
	if err != nil {
		return err
	}
	setup := NewBridgeSetup(OwnerID)
	setup.Hostname = "127.0.0.1"
	setup.Port = ports[0]
	setup.Control = fmt.Sprintf("127.0.0.1:%d", ports[1])
	setup.Address = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	setup.StateFile = filepath.Join(r.Dir, "demonet.json")
	setup.Encrypted, setup.Encryptable = opts.Encrypted, opts.Encrypted || opts.Encryptable
	ours, err := setup.Registrations()
	if err != nil {
		return fmt.Errorf("register the bridge: %w", err)
	}
	r.Stack, err = devstack.Start(ctx, devstack.Options{
		Root: root, Dir: filepath.Join(r.Dir, "stack"), Registrations: append(ours, opts.Registrations...),
	})
	if err != nil {
		return err
	}
	r.step("Synapse answers at %s", r.Stack.HomeserverURL)
	if err := r.makeOwner(ctx); err != nil {
		return err
	}
	if err := r.prepareBridge(ctx, setup); err != nil {
		return err
	}
	if err := r.StartBridge(ctx); err != nil {
		return err
	}
	r.step("the bridge to the made-up network is up")
	return nil
}

func (r *Rig) makeOwner(ctx context.Context) error {
	if _, err := r.Stack.RegisterUser(ctx, OwnerID.Localpart(), OwnerPassword); err != nil {
		return err
	}
	client, err := mautrix.NewClient(r.Stack.HomeserverURL, "", "")
	if err != nil {
		return err
	}
	_, err = client.Login(ctx, &mautrix.ReqLogin{
		Type:                     mautrix.AuthTypePassword,
		Identifier:               mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: string(OwnerID)},
		Password:                 OwnerPassword,
		InitialDeviceDisplayName: "Element of the owner",
		StoreCredentials:         true,
	})
	if err != nil {
		return fmt.Errorf("log the owner in: %w", err)
	}
	r.Owner = client
	return nil
}

// Stop stops everything, multis first. It may be called twice.
func (r *Rig) Stop() error {
	r.mu.Lock()
	multis := r.multis
	r.mu.Unlock()
	var errs []error
	for _, m := range multis {
		errs = append(errs, m.Term())
	}
	errs = append(errs, r.StopBridge())
	if r.Stack != nil {
		errs = append(errs, r.Stack.Stop())
	}
	return errors.Join(errs...)
}

// step prints the progress in the same form as devstack.
func (r *Rig) step(format string, args ...any) {
	fmt.Fprintf(r.out, "[%3.0f s] %s\n", time.Since(r.started).Seconds(), fmt.Sprintf(format, args...))
}
