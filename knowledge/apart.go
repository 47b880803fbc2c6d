package knowledge

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

const (
	// startTimeout is for the reading process to be ready. It may have to compile the PDF engine, which takes a busy machine a minute
	// and would begin anew for each PDF if it were stopped.
	startTimeout = 3 * time.Minute
	readTimeout  = 30 * time.Second // for one file
	// memoryLimit is what the reading process may use, in bytes of address space. The garbage collector, which knows real
	// memory, is told a quarter of it.
	memoryLimit = 4 << 30
	// cpuLimit is how long it may run, in seconds, should this process die before it can end it.
	cpuLimit = 120
	// maxReplyBytes bounds what it may answer, in bytes.
	maxReplyBytes = 4 * maxText
)

// read reads a file where the options say.
func (l *Library) read(ctx context.Context, f File) (document, error) {
	src := source{Name: f.Name, Type: f.Type, Data: f.Data, CacheDir: l.options.CacheDir, UnidocKey: l.options.UnidocKey}
	if len(l.options.Reader) == 0 {
		return read(ctx, src, reporter{progress: f.Progress})
	}
	return readInSubprocess(ctx, l.options.Reader, src, f.Progress)
}

// reporter passes on how many pages are read.
type reporter struct{ progress func(done, all int) }

func (reporter) ready() {}

func (r reporter) page(done, all int) {
	if r.progress != nil {
		r.progress(done, all)
	}
}

// reply is what the reading process says: that it is ready, how far it is, and at last the document or why there is none.
type reply struct {
	Ready       bool
	Page, Pages int
	Document    *document
	Failure     *failure
}

// failure is an error on its way between processes.
type failure struct {
	Sentinel int // its place among the sentinels, from 1; 0: it is none
	Text     string
}

func newFailure(err error) *failure {
	known := slices.IndexFunc(sentinels(), func(s error) bool { return errors.Is(err, s) })
	return &failure{Sentinel: known + 1, Text: err.Error()}
}

// remoteError is an error that came from another process.
type remoteError struct {
	text     string
	sentinel error
}

func (k remoteError) Error() string { return k.text }
func (k remoteError) Unwrap() error { return k.sentinel }

func (f *failure) err() error {
	if all := sentinels(); f.Sentinel > 0 && f.Sentinel <= len(all) {
		return remoteError{text: f.Text, sentinel: all[f.Sentinel-1]}
	}
	return errors.New(f.Text)
}

// Serve reads the one file that stands on in and writes what is in it to out, both in a form of its own. It is the whole of
// the process that Options.Reader names: it lowers the limits of the process for good.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := confine(); err != nil {
		return err
	}
	var src source
	if err := gob.NewDecoder(in).Decode(&src); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	answer := &replyWriter{out: gob.NewEncoder(out)}
	doc, err := read(ctx, src, answer)
	if err != nil {
		answer.say(reply{Failure: newFailure(err)})
	} else {
		answer.say(reply{Document: &doc})
	}
	return answer.err
}

// confine takes from this process what reading a file does not need, so that the file cannot use it.
func confine() error {
	debug.SetMemoryLimit(memoryLimit / 4)
	for resource, limit := range map[int]uint64{syscall.RLIMIT_AS: memoryLimit, syscall.RLIMIT_CPU: cpuLimit, syscall.RLIMIT_FSIZE: 256 << 20} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit the reader: %w", err)
		}
	}
	// When the machine runs out of memory, this process should be the one to go. Where that cannot be said, it is not needed.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// replyWriter writes replies. The first error stays.
type replyWriter struct {
	out  *gob.Encoder
	err  error
	last time.Time
}

func (a *replyWriter) say(r reply) {
	if a.err == nil {
		a.err = a.out.Encode(r)
	}
}

func (a *replyWriter) ready() { a.say(reply{Ready: true}) }

// page is told a few times a second: nobody reads faster.
func (a *replyWriter) page(done, all int) {
	if now := time.Now(); done == all || now.Sub(a.last) > 200*time.Millisecond {
		a.last = now
		a.say(reply{Page: done, Pages: all})
	}
}

// readInSubprocess reads a file in a process of its own and ends it when it takes too long.
func readInSubprocess(ctx context.Context, command []string, src source, progress func(done, all int)) (document, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.AfterFunc(startTimeout, func() { cancel(ErrTooSlow) })
	defer deadline.Stop()

	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{} // none of our secrets
	in, err := cmd.StdinPipe()
	if err != nil {
		return document{}, fmt.Errorf("start the reader: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return document{}, fmt.Errorf("start the reader: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return document{}, fmt.Errorf("start the reader: %w", err)
	}
	// When the process ends before it read everything, its end says why; so does the missing reply.
	_ = gob.NewEncoder(in).Encode(src)
	in.Close()
	last := reply{}
	replies := gob.NewDecoder(io.LimitReader(out, maxReplyBytes))
	for last.Document == nil && last.Failure == nil {
		last = reply{}
		if replies.Decode(&last) != nil {
			break
		}
		if last.Ready {
			deadline.Reset(readTimeout)
		}
		if last.Pages > 0 && progress != nil {
			progress(last.Page, last.Pages)
		}
	}
	stopped := context.Cause(ctx)
	cancel(nil)
	_ = cmd.Wait() // what it said counts, not how it ended
	switch {
	case last.Document != nil:
		return *last.Document, nil
	case last.Failure != nil:
		return document{}, last.Failure.err()
	case stopped != nil:
		return document{}, stopped
	default:
		return document{}, ErrUnreadable
	}
}
