package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// transcript prints the demo as short lines that say who says what. On a terminal it also uses colours and a line that
// counts the seconds of a wait.
type transcript struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	// counting is true while the last printed line counts seconds. The next line replaces it.
	counting bool
	// said are the lines since the start of a picture; nil while none is made.
	said []line
}

// line is what somebody said.
type line struct{ who, words string }

func newTranscript(out io.Writer, terminal bool) *transcript {
	return &transcript{out: out, terminal: terminal}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// The styles of a terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (t *transcript) styled(style, text string) string {
	if !t.terminal {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Write prints output that is not part of the conversation, such as the progress of the start, in a fainter style.
func (t *transcript) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		t.line("   %s", t.styled(dim, strings.TrimRight(line, "\n")))
	}
	return len(p), nil
}

// startPicture starts to collect what is said for a picture.
func (t *transcript) startPicture() { t.said = []line{} }

// endPicture writes the picture of what was said since startPicture.
func (t *transcript) endPicture(name string) error {
	said := t.said
	t.said = nil
	path, err := writePicture(name, said)
	if err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	t.check("drawn: %s", path)
	return nil
}

func (t *transcript) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintf(t.out, format+"\n", args...)
}

// clear removes the line that counts seconds. The caller holds mu.
func (t *transcript) clear() {
	if t.counting {
		fmt.Fprint(t.out, "\r\x1b[K")
		t.counting = false
	}
}

func (t *transcript) title(number int, name string) {
	t.line("\n%s", t.styled(bold, fmt.Sprintf("%d. %s", number, name)))
}

// strong matches bold text in Markdown.
var strong = regexp.MustCompile(`\*\*(.+?)\*\*`)

// says prints somebody's words; lines after the first are indented.
func (t *transcript) says(who, style, words string) {
	if t.said != nil {
		t.said = append(t.said, line{who, words})
	}
	words = strong.ReplaceAllStringFunc(words, func(s string) string { return t.styled(bold, strings.Trim(s, "*")) })
	words = strings.ReplaceAll(strings.TrimSpace(words), "\n", "\n      ")
	t.line("   %s ▸ %s", t.styled(style, who), words)
}

// check prints what was checked outside of the chats, such as in the database or among the processes.
func (t *transcript) check(format string, args ...any) {
	t.line("   %s %s", t.styled(green, "✓"), fmt.Sprintf(format, args...))
}

func (t *transcript) failure(err error, log string) {
	t.line("   %s %v", t.styled(red, "✗"), err)
	t.line("     look into %s", log)
}

// showWhile runs do. Meanwhile it shows what is awaited and for how long: every second on a terminal, else every 10 seconds.
func (t *transcript) showWhile(what string, do func() error) error {
	every := 10 * time.Second
	if t.terminal {
		every = time.Second
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		started, tick := time.Now(), time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				t.count(what, time.Since(started))
			}
		}
	}()
	err := do()
	close(stop)
	<-stopped
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	return err
}

func (t *transcript) count(what string, passed time.Duration) {
	text := fmt.Sprintf("   … %s (%.0f s)", what, passed.Seconds())
	if !t.terminal {
		t.line("%s", text)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprint(t.out, t.styled(dim, text))
	t.counting = true
}

// summary prints the steps and whether each succeeded, and reports whether all did.
func (t *transcript) summary(results []result) bool {
	held := 0
	var took time.Duration
	t.line("\n%s", t.styled(bold, "Summary"))
	for i, r := range results {
		mark, after := t.styled(green, "✓"), fmt.Sprintf("(%.1f s)", r.took.Seconds())
		switch {
		case !r.reached:
			mark, after = t.styled(dim, "–"), "(not reached)"
		case r.err != nil:
			mark = t.styled(red, "✗")
		default:
			held++
		}
		took += r.took
		t.line("   %s %d. %s %s", mark, i+1, r.name, t.styled(dim, after))
	}
	t.line("   %d of %d steps held, in %.0f s.", held, len(results), took.Seconds())
	return held == len(results)
}
