package devstack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Domain is the server name of every stack.
const Domain = "multis.localhost"

// startTimeout bounds the start of a server, which takes a few seconds on an
// idle machine.
const startTimeout = 90 * time.Second

// Options configure a Stack.
type Options struct {
	// Root has the programs. Required; see Prepare.
	Root Root
	// Dir is an empty or missing folder for data and logs. Required. Stop does
	// not remove it.
	Dir string
	// Registrations are appservice registrations in YAML. The services need not
	// be running.
	Registrations [][]byte
}

// Stack is a running Synapse and its Postgres.
type Stack struct {
	// HomeserverURL is the URL of Synapse's client API.
	HomeserverURL string
	// Domain is the server name.
	Domain string
	// SynapseLog is the path of Synapse's log.
	SynapseLog string

	root         Root
	dir          string
	secret       string
	password     string
	postgresPort int
	postgres     *process
	synapse      *process // nil while stopped
}

// Start starts Postgres and Synapse on an empty database and returns when both
// are ready. The caller must Stop the stack.
func Start(ctx context.Context, opts Options) (*Stack, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	s := &Stack{
		HomeserverURL: fmt.Sprintf("http://127.0.0.1:%d", ports[0]),
		Domain:        Domain,
		SynapseLog:    filepath.Join(dir, "synapse.log"),
		root:          opts.Root,
		dir:           dir,
		secret:        newSecret(),
		password:      newSecret(),
		postgresPort:  ports[1],
	}
	if err := s.writeSynapseConfig(ports[0], opts.Registrations); err != nil {
		return nil, fmt.Errorf("configure synapse: %w", err)
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// StartPostgres starts only Postgres, which has pgvector. The caller must Stop the stack.
func StartPostgres(ctx context.Context, opts Options) (*Stack, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	ports, err := FreePorts(1)
	if err != nil {
		return nil, err
	}
	s := &Stack{root: opts.Root, dir: dir, password: newSecret(), postgresPort: ports[0]}
	if err := s.startPostgres(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.startPostgres(ctx); err != nil {
		return err
	}
	if err := s.CreateDatabase(ctx, "synapse"); err != nil {
		return err
	}
	return s.StartSynapse(ctx)
}

// Stop stops both servers cleanly. It may be called twice.
func (s *Stack) Stop() error {
	err := s.StopSynapse(syscall.SIGTERM)
	if s.postgres != nil {
		err = errors.Join(err, s.postgres.stop(syscall.SIGINT)) // fast shutdown, which does not wait for clients
		s.postgres = nil
	}
	return err
}

// FreePorts returns n different free loopback ports. They are below the range of
// ephemeral ports, so that a server that restarts finds its port still free.
func FreePorts(n int) ([]int, error) {
	const low, high, tries = 20000, 32000, 1000
	var ports []int
	for range tries {
		if len(ports) == n {
			return ports, nil
		}
		port := low + rand.IntN(high-low)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer listener.Close() // until the return, so that no port is found twice
		ports = append(ports, port)
	}
	return nil, errors.New("find free ports: too many are taken")
}
