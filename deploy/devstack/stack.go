package devstack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Domain is the server name of every stack.
const Domain = "multis.localhost"

// startTimeout limits the start of a server, which takes a few seconds on an
// idle machine.
const startTimeout = 5 * time.Minute

// Options configure a Stack.
type Options struct {
	// Root holds the programs. Required; see Prepare.
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

// Dir returns the folder of the data, the logs and Synapse's configuration.
func (s *Stack) Dir() string { return s.dir }

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

// FreePorts returns n different free loopback ports. They are below the range of ephemeral ports, so that a restarted server finds its port
// still free. FreePorts returns none of them in another process while this one runs.
func FreePorts(n int) ([]int, error) {
	const low, high, tries = 20000, 32000, 1000
	// A process that is forked now would keep the ports in use until it executes its program.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var ports []int
	for range tries {
		if len(ports) == n {
			return ports, nil
		}
		port := low + rand.IntN(high-low)
		if !reservePort(port) {
			continue
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer listener.Close() // closed after the loop, so that no port is found twice
		ports = append(ports, port)
	}
	return nil, errors.New("find free ports: too many are taken")
}

// reservePort locks a port against FreePorts in other processes. It returns false if another process holds the lock, which ends with the
// process.
func reservePort(port int) bool {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("multis-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false
	}
	fd, err := syscall.Open(filepath.Join(dir, strconv.Itoa(port)), syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = syscall.Close(fd)
		return false
	}
	return true
}
