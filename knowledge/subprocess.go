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
	// startTimeout is how long the reader process may take until it is ready. It may have to compile the PDF engine, which takes a busy
	// machine a minute.
	startTimeout = 3 * time.Minute
	readTimeout  = 30 * time.Second // timeout for reading one file
	// memoryLimit is the limit on the address space of the reader process, in bytes. The garbage collector's limit on real memory is a quarter
	// of it.
	memoryLimit = 4 << 30
	// cpuLimit limits the CPU time of the reader process, in seconds. It also ends a reader whose parent has died.
	cpuLimit = 120
	// maxReplyBytes is the maximum size of the replies of the reader process.
	maxReplyBytes = 4 * maxText
)

// read reads a file in a reader process, or in this process if no reader is configured.
func (l *Library) read(ctx context.Context, f File) (document, error) {
	src := readRequest{
		Name:      f.Name,
		Type:      f.Type,
		Data:      f.Data,
		CacheDir:  l.options.CacheDir,
		UnidocKey: l.options.UnidocKey,
	}
	if len(l.options.Reader) == 0 {
		return read(ctx, src, reporter{progress: f.Progress})
	}
	return readInSubprocess(ctx, l.options.Reader, src, f.Progress)
}

// CompileEngine compiles the PDF engine into the cache folder, unless it is there, so that the first PDF does not wait for that.
func (l *Library) CompileEngine(ctx context.Context) error {
	if l.options.CacheDir == "" || l.options.UnidocKey != "" {
		return nil
	}
	const noPages = "%PDF-1.7\n"
	_, err := l.read(ctx, File{Name: "empty.pdf", Data: []byte(noPages)})
	if errors.Is(err, ErrBroken) { // the engine says so, which it can only when it is compiled
		return nil
	}
	return err
}

// reporter is a watcher that calls progress.
type reporter struct{ progress func(done, all int) }

func (reporter) ready() {}

func (r reporter) pageRead(done, all int) {
	if r.progress != nil {
		r.progress(done, all)
	}
}

// reply is a message of the reader process: that it is ready, its progress, or finally the document or an error.
type reply struct {
	Ready       bool
	Page, Pages int
	Document    *document
	Failure     *failure
}

// failure is the form in which an error is sent between processes.
type failure struct {
	Sentinel int // its index in sentinels plus 1; 0 for other errors
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

// Serve is the main function of the reader process: it reads one file from in and writes its content to out. It lowers the limits of the
// process for memory, CPU time and file size permanently.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := limitResources(); err != nil {
		return err
	}
	var src readRequest
	if err := gob.NewDecoder(in).Decode(&src); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	answer := &replyWriter{out: gob.NewEncoder(out)}
	doc, err := read(ctx, src, answer)
	if err != nil {
		answer.write(reply{Failure: newFailure(err)})
	} else {
		answer.write(reply{Document: &doc})
	}
	return answer.err
}

// limitResources lowers the limits of this process to what reading a file needs.
func limitResources() error {
	debug.SetMemoryLimit(memoryLimit / 4)
	for resource, limit := range map[int]uint64{
		syscall.RLIMIT_AS: memoryLimit, syscall.RLIMIT_CPU: cpuLimit,
		syscall.RLIMIT_FSIZE: 256 << 20,
	} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit the reader: %w", err)
		}
	}
	// When the machine runs out of memory, this process should be killed first. Where this file does not exist, nothing is changed.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// replyWriter writes replies. It keeps the first error and writes nothing after it.
type replyWriter struct {
	out  *gob.Encoder
	err  error
	last time.Time
}

func (a *replyWriter) write(r reply) {
	if a.err == nil {
		a.err = a.out.Encode(r)
	}
}

func (a *replyWriter) ready() { a.write(reply{Ready: true}) }

// pageRead writes the progress, at most five times a second.
func (a *replyWriter) pageRead(done, all int) {
	if now := time.Now(); done == all || now.Sub(a.last) > 200*time.Millisecond {
		a.last = now
		a.write(reply{Page: done, Pages: all})
	}
}

// readInSubprocess reads a file in a reader process and kills it when it takes too long.
func readInSubprocess(ctx context.Context, command []string, src readRequest, progress func(done, all int)) (document, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.AfterFunc(startTimeout, func() { cancel(ErrTooSlow) })
	defer deadline.Stop()

	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{} // the environment may have secrets
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
	// An error here means that the process ended early; the missing reply shows that as well.
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
	_ = cmd.Wait() // its last reply counts, not its exit code
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
