package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a program that runs inside a root.
type process struct {
	name    string
	log     string // path of what it printed
	control io.WriteCloser
	done    chan struct{} // closed at its end; err is set before
	err     error
}

// run starts argv inside the root with dir as its /mnt. What it prints is added
// to <name>.log in dir. It never runs as root: a stack that root starts runs as
// the root's postgres user, any other as its caller.
func (r Root) run(dir, name string, argv ...string) (*process, error) {
	enter := filepath.Join(dir, "enter.sh")
	if err := os.WriteFile(enter, enterScript, 0o600); err != nil {
		return nil, err
	}
	user := "postgres:postgres"
	if os.Geteuid() != 0 {
		user = strconv.Itoa(os.Geteuid()) + ":" + strconv.Itoa(os.Getegid())
	}
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	full := asRoot("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
		"bash", enter, r.Dir, dir, user)
	full = append(full, argv...)
	cmd := exec.Command(full[0], full[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own, or Ctrl-C in a terminal would reach the servers first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.control, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends sig and returns at once; an ended process is no error.
func (p *process) signal(sig syscall.Signal) error {
	_, err := fmt.Fprintln(p.control, unix.SignalName(sig))
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// stop sends sig, waits for the end, and kills after a grace of 15 s.
func (p *process) stop(sig syscall.Signal) error {
	if err := p.signal(sig); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(15 * time.Second):
	}
	p.kill()
	return fmt.Errorf("stop %s: it ignored signal %s and was killed", p.name, unix.SignalName(sig))
}

// kill ends the process and everything it started, and waits for that.
func (p *process) kill() {
	_ = p.control.Close() // closed twice is as good
	<-p.done
}

// wait waits for an end of its own accord; a cancelled ctx kills.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		return ctx.Err()
	}
	if p.err != nil {
		return p.failed()
	}
	return nil
}

// until asks ready about every 50 ms until it says so, the process has ended
// or ctx is done.
func (p *process) until(ctx context.Context, ready func(context.Context) error) error {
	for {
		last := ready(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.failed()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", p.name, ctx.Err(), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// failed describes an unwanted end with the last of what the process printed.
func (p *process) failed() error {
	const tail = 2000 // bytes
	text, err := os.ReadFile(p.log)
	if err != nil {
		return errors.Join(p.err, err)
	}
	if len(text) > tail {
		text = text[len(text)-tail:]
	}
	return fmt.Errorf("%s ended (%v); the end of %s:\n%s", p.name, p.err, p.log, text) //nolint:errorlint // nil when it ended of its own accord
}
