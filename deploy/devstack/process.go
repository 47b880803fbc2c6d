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

// process is a program that runs inside a Root.
type process struct {
	name    string
	log     string // path of its output
	control io.WriteCloser
	done    chan struct{} // closed when the process has ended and err is set
	err     error
}

// run starts argv inside the root with dir as /mnt. Its output is appended
// to <name>.log in dir. It never runs as root: if root calls it, it runs as the
// user postgres, otherwise as the caller.
func (r Root) run(dir, name string, argv ...string) (*process, error) {
	enter := filepath.Join(dir, "enter.sh")
	if err := os.WriteFile(enter, enterScript, 0o600); err != nil {
		return nil, err
	}
	user := "postgres:postgres"
	if os.Geteuid() != 0 {
		user = strconv.Itoa(os.Geteuid()) + ":" + strconv.Itoa(os.Getegid())
	}
	full := asRoot("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
		"bash", enter, r.Dir, dir, user)
	return start(name, filepath.Join(dir, name+".log"), append(full, argv...))
}

// start starts argv with a pipe as standard input; the process ends when the pipe is closed. Its output is appended to the file log.
func start(name, log string, argv []string) (*process, error) {
	p := &process{name: name, log: log, done: make(chan struct{})}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	// Its own process group, so that Ctrl-C in a terminal does not reach it.
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

// signal sends sig without waiting. It is no error if the process has ended.
func (p *process) signal(sig syscall.Signal) error {
	_, err := fmt.Fprintln(p.control, unix.SignalName(sig))
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// stop sends sig and waits for the end of the process, which it kills after 15 s.
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

// kill kills the process and its children and waits for their end.
func (p *process) kill() {
	_ = p.control.Close() // may be closed already
	<-p.done
}

// wait waits for the end of the process and kills it when ctx is done.
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

// until calls ready every 50 ms until it succeeds, the process has ended or ctx
// is done.
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

// failed returns an error with the end of the process's output.
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
