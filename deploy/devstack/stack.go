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

// Domain is the server name of every stack; ids end with it.
const Domain = "multis.localhost"

// startTimeout bounds the start of one server. They need a few seconds; a busy
// machine more.
const startTimeout = 90 * time.Second

// Options say what to start.
type Options struct {
	// Root is where the programs are. Required; see Prepare.
	Root Root
	// Dir is an empty folder for data and logs, made when it does not exist.
	// Required. It stays after Stop.
	Dir string
	// Registrations are appservice registrations in YAML. Synapse reads them
	// only when it starts; the services need not be up.
	Registrations [][]byte
}

// Stack is a running Synapse and its Postgres.
type Stack struct {
	// HomeserverURL is where Synapse's client API answers.
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

// Start starts Postgres and Synapse and returns when both answer, with Synapse
// on an empty database. The caller must Stop the stack.
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

// StartPostgres starts Postgres alone, for what needs pgvector and no homeserver. The caller must Stop the stack.
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

// Stop ends both servers cleanly. It may be called twice.
func (s *Stack) Stop() error {
	err := s.StopSynapse(syscall.SIGTERM)
	if s.postgres != nil {
		err = errors.Join(err, s.postgres.stop(syscall.SIGINT)) // "fast": does not wait for clients
		s.postgres = nil
	}
	return err
}

// FreePorts returns n different free loopback ports. They lie below the range
// that the kernel hands to outgoing connections, so that a server which stops
// for a while finds its port still free.
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
		defer listener.Close() // held to the end: no port is found twice
		ports = append(ports, port)
	}
	return nil, errors.New("find free ports: too many are taken")
}
