package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"multis/policy"
)

// The limits of commands in the background.
const (
	maxRunning = 4  // commands that run at the same time
	maxEnded   = 16 // ended commands whose output is kept
)

// Processes runs commands in the background. They end with this process of multis, and other processes of multis do not
// see them. It is safe for concurrent use.
type Processes struct {
	sandbox *Sandbox
	stop    context.CancelFunc
	ctx     context.Context //nolint:containedctx // the life of all commands
	wait    sync.WaitGroup

	mu   sync.Mutex
	last int
	all  []*process
}

// process is one command in the background.
type process struct {
	id, owner string
	cancel    context.CancelFunc
	output    *headTailBuffer
	began     time.Time
	done      chan struct{}
	result    Result // set before done is closed
	err       error
}

// State is the state of a command in the background.
type State struct {
	ID      string
	Running bool
	Output  string // the last bytes of the kept output
	Result  Result // zero while it runs
	Err     error  // why it was not run, or was stopped
}

// ErrNoProcess is returned for a command that the caller did not start, or that ended so long ago that its output was dropped.
var ErrNoProcess = errors.New("there is no such process of yours here; processes end when multis restarts")

// NewProcesses returns a Processes. Close ends all commands.
func NewProcesses(ctx context.Context, s *Sandbox) *Processes {
	ctx, stop := context.WithCancel(ctx)
	return &Processes{sandbox: s, ctx: ctx, stop: stop}
}

// Close kills all commands and waits for their ends.
func (p *Processes) Close() {
	p.stop()
	p.wait.Wait()
}

// Start starts a command for an owner, who alone can look at it and kill it, and returns its id.
func (p *Processes) Start(owner string, c Command) (string, error) {
	if err := p.sandbox.Ready(); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.makeRoom(); err != nil {
		return "", err
	}
	p.last++
	ctx, cancel := context.WithCancel(p.ctx)
	started := &process{
		id:     strconv.Itoa(p.last),
		owner:  owner,
		cancel: cancel,
		output: &headTailBuffer{limit: DefaultOutput},
		began:  time.Now(),
		done:   make(chan struct{}),
	}
	live := c.OnOutput
	c.OnOutput = func(b []byte) {
		_, _ = started.output.Write(b)
		if live != nil {
			live(b)
		}
	}
	p.all = append(p.all, started)
	p.wait.Go(func() {
		defer close(started.done)
		defer cancel()
		started.result, started.err = p.sandbox.Run(ctx, c)
	})
	return started.id, nil
}

// makeRoom drops the oldest ended commands, or returns an error if too many are running.
func (p *Processes) makeRoom() error {
	running, kept := 0, p.all[:0]
	for i, one := range p.all {
		if one.isRunning() {
			running++
		} else if i < len(p.all)-maxEnded {
			continue
		}
		kept = append(kept, one)
	}
	p.all = kept
	if running >= maxRunning {
		return fmt.Errorf("%d commands run already: wait for one to end, or kill one", running)
	}
	return nil
}

func (o *process) isRunning() bool {
	select {
	case <-o.done:
		return false
	default:
		return true
	}
}

// Find returns the state of an owner's command with the last bytes of its output.
func (p *Processes) Find(owner, id string, bytes int) (State, error) {
	one, err := p.find(owner, id)
	if err != nil {
		return State{}, err
	}
	return one.state(bytes), nil
}

// Kill kills an owner's command with all that it started, waits for its end and returns its state.
func (p *Processes) Kill(owner, id string) (State, error) {
	one, err := p.find(owner, id)
	if err != nil {
		return State{}, err
	}
	one.cancel()
	<-one.done
	return one.state(DefaultOutput), nil
}

// Wait waits until an owner's command has ended or ctx is done, and returns its state.
func (p *Processes) Wait(ctx context.Context, owner, id string) (State, error) {
	one, err := p.find(owner, id)
	if err != nil {
		return State{}, err
	}
	select {
	case <-one.done:
	case <-ctx.Done():
	}
	return one.state(DefaultOutput), nil
}

func (p *Processes) find(owner, id string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		if one.id == id && one.owner == owner {
			return one, nil
		}
	}
	return nil, ErrNoProcess
}

func (o *process) state(bytes int) State {
	s := State{ID: o.id, Running: o.isRunning(), Output: o.output.String()}
	if cut := len(s.Output) - bytes; cut > 0 {
		s.Output = policy.HideAfterCut(s.Output[cut:])
	}
	if !s.Running {
		s.Result, s.Err = o.result, o.err
	}
	return s
}
