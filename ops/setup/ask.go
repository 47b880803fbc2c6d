package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"golang.org/x/term"

	"multis/internal/text"
)

// ErrAborted is returned when the person presses Ctrl-C or ends the input.
var ErrAborted = errors.New("stopped; nothing was written")

// Question asks for one value.
type Question struct {
	Title   string
	Help    string // a sentence below the title; may be empty
	Default string // the answer of a person who only presses Enter
	Flag    string // of multis init, for the error if nobody can be asked and there is no value; may be empty
	Secret  bool   // the answer is not shown, and Enter keeps Default without showing it
	Options []Option
	// Complete completes what a person typed, such as "anna" to a whole Matrix id. nil takes it as it is.
	Complete func(string) string
	Check    func(string) error // returns what is wrong with the form of an answer. If Check is nil, every answer is accepted.
}

// Option is one of the answers to choose from.
type Option struct{ Value, Label string }

// Asker asks a person. It returns ErrAborted when the person gives up, and errBack when the person wants the question before.
type Asker interface {
	Ask(ctx context.Context, q Question) (string, error)
	Confirm(ctx context.Context, title string, yes bool) (bool, error)
}

// NewAsker returns forms on a terminal that can show them, else plain prompts. Both read in and write to out.
func NewAsker(in *os.File, out *os.File) Asker {
	if term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != "" {
		return newForms(in, out)
	}
	return newPrompts(in, out)
}

// forms asks by forms with cursor keys. One goroutine reads the keys for all forms: if each form read the terminal
// itself, its last read would outlive it and could take keys typed for the next form.
type forms struct {
	terminal int // file descriptor
	keys     chan []byte
	out      io.Writer
}

func newForms(in *os.File, out io.Writer) forms {
	f := forms{terminal: int(in.Fd()), keys: make(chan []byte), out: out}
	go func() {
		defer close(f.keys)
		for {
			const burst = 256 // keys typed or pasted at once
			buffer := make([]byte, burst)
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			f.keys <- buffer[:n]
		}
	}()
	return f
}

// formInput is the input of one form.
type formInput struct {
	ctx  context.Context //nolint:containedctx // Read has no context parameter
	keys <-chan []byte
	rest []byte
	// isBack reports whether keys ask for the question before. Then the form ends as by Ctrl-C, and wantsBack is set.
	isBack    func(keys []byte) bool
	wantsBack atomic.Bool
}

// The keys that go back, and those that end a form.
const shiftTab, controlC = "\x1b[Z", "\x03"

// Read returns the next keys. It ends with the form.
func (i *formInput) Read(b []byte) (int, error) {
	if len(i.rest) == 0 {
		select {
		case <-i.ctx.Done():
			return 0, io.EOF
		case keys, ok := <-i.keys:
			if !ok {
				return 0, io.EOF
			}
			if i.isBack(keys) {
				i.wantsBack.Store(true)
				keys = []byte(controlC)
			}
			i.rest = keys
		}
	}
	n := copy(b, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// Ask shows a form with one field.
func (f forms) Ask(ctx context.Context, q Question) (string, error) {
	answer := q.Default
	check := func(s string) error {
		if q.Check == nil || isBack(strings.TrimSpace(s)) {
			return nil
		}
		return q.Check(strings.TrimSpace(s))
	}
	var field huh.Field
	switch {
	case len(q.Options) > 0:
		options := make([]huh.Option[string], len(q.Options))
		for i, o := range q.Options {
			options[i] = huh.NewOption(o.Label, o.Value)
		}
		field = huh.NewSelect[string]().Title(q.Title).Description(q.Help).Options(options...).Value(&answer)
	case q.Secret:
		kept := q.Default
		answer = ""
		help := q.Help
		if kept != "" {
			help = strings.TrimSpace(help + " Enter keeps the one that is set.")
		}
		field = huh.NewInput().Title(q.Title).Description(help).EchoMode(huh.EchoModePassword).Value(&answer).Validate(func(s string) error {
			if s == "" && kept != "" {
				return nil
			}
			return check(s)
		})
	default:
		field = huh.NewInput().Title(q.Title).Description(q.Help).Value(&answer).Validate(check)
	}
	if err := f.run(ctx, field, len(q.Options) > 0); err != nil {
		return "", err
	}
	switch answer = strings.TrimSpace(answer); {
	case isBack(answer):
		return "", errBack
	case answer == "" && q.Secret:
		return q.Default, nil
	default:
		return answer, nil
	}
}

// Confirm shows a form with yes and no.
func (f forms) Confirm(ctx context.Context, title string, yes bool) (bool, error) {
	answer := yes
	err := f.run(ctx, huh.NewConfirm().Title(title).Affirmative("Yes").Negative("No").Value(&answer), true)
	return answer, err
}

// run shows a form. takesKey says that single keys choose, so that b is not the beginning of a text.
func (f forms) run(ctx context.Context, field huh.Field, takesKey bool) error {
	cooked, err := term.MakeRaw(f.terminal)
	if err != nil {
		return fmt.Errorf("read keys from the terminal: %w", err)
	}
	defer func() { _ = term.Restore(f.terminal, cooked) }() // the terminal may be gone
	if err := keepLineBreaks(f.terminal); err != nil {
		return fmt.Errorf("read keys from the terminal: %w", err)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	// The options come first, because they replace those before them. The context ends with a signal; a handler of the
	// form's own waits for ever if the form has ended with the context already.
	form := huh.NewForm(huh.NewGroup(field)).WithProgramOptions(tea.WithoutSignalHandler())
	input := &formInput{ctx: reading, keys: f.keys}
	input.isBack = func(keys []byte) bool {
		return strings.HasPrefix(string(keys), shiftTab) || takesKey && isBack(string(keys))
	}
	err = form.WithInput(input).WithOutput(f.out).WithShowHelp(false).RunWithContext(ctx)
	if input.wantsBack.Load() {
		return errBack
	}
	if errors.Is(err, huh.ErrUserAborted) || ctx.Err() != nil {
		return ErrAborted
	}
	return err
}

// prompts asks by lines of text.
type prompts struct {
	out    io.Writer
	lines  chan line
	silent func() (restore func()) // turns the terminal's echo off
}

type line struct {
	text string
	err  error
}

// newPrompts starts to read lines from in, in a goroutine of its own, because a read cannot be canceled by a context.
func newPrompts(in *os.File, out io.Writer) *prompts {
	p := &prompts{out: out, lines: make(chan line), silent: func() func() { return func() {} }}
	if fd := int(in.Fd()); term.IsTerminal(fd) {
		p.silent = func() func() { return EchoOff(fd) }
	}
	go func() {
		reader := bufio.NewReader(in)
		for {
			read, err := reader.ReadString('\n')
			if err != nil && read == "" {
				p.lines <- line{err: err}
				return
			}
			p.lines <- line{text: strings.TrimSpace(read)}
		}
	}()
	return p
}

// Ask prints the question and reads a line, until the answer has the right form.
func (p *prompts) Ask(ctx context.Context, q Question) (string, error) {
	if q.Secret {
		defer p.silent()() // before the question, because a person may type as soon as it is there
	}
	p.print(q)
	for {
		answer, err := p.read(ctx)
		if err != nil {
			return "", err
		}
		if q.Secret {
			fmt.Fprintln(p.out)
		}
		if isBack(answer) {
			return "", errBack
		}
		if answer == "" {
			answer = q.Default
			if q.Secret && answer != "" {
				return answer, nil
			}
		}
		answer, err = q.parse(answer)
		if err == nil {
			return answer, nil
		}
		fmt.Fprintf(p.out, "%v\n> ", err)
	}
}

func (p *prompts) print(q Question) {
	fmt.Fprintf(p.out, "\n%s\n", q.Title)
	if q.Help != "" {
		fmt.Fprintln(p.out, q.Help)
	}
	for i, o := range q.Options {
		fmt.Fprintf(p.out, "  %d %s\n", i+1, o.Label)
	}
	switch {
	case q.Default == "":
	case q.Secret:
		fmt.Fprintln(p.out, "Enter keeps the one that is set.")
	case len(q.Options) > 0:
		if i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == q.Default }); i >= 0 {
			fmt.Fprintf(p.out, "[%d] ", i+1)
		}
	default:
		fmt.Fprintf(p.out, "[%s] ", text.Visible(q.Default))
	}
	fmt.Fprint(p.out, "> ")
}

// parse checks an input. For a question with options it returns the option with that number or value; for any other, the
// input if Check accepts it.
func (q Question) parse(answer string) (string, error) {
	if len(q.Options) == 0 {
		if q.Check == nil {
			return answer, nil
		}
		return answer, q.Check(answer)
	}
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Value, nil
	}
	for _, o := range q.Options {
		if strings.EqualFold(o.Value, answer) {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("type a number from 1 to %d", len(q.Options))
}

// Confirm asks for yes or no.
func (p *prompts) Confirm(ctx context.Context, title string, yes bool) (bool, error) {
	choice := "[y/N]"
	if yes {
		choice = "[Y/n]"
	}
	fmt.Fprintf(p.out, "\n%s %s > ", title, choice)
	for {
		answer, err := p.read(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return yes, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		case "b", "back":
			return false, errBack
		}
		fmt.Fprint(p.out, "Type y or n > ")
	}
}

func (p *prompts) read(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
		return "", ErrAborted
	case l := <-p.lines:
		if l.err != nil {
			return "", ErrAborted
		}
		return l.text, nil
	}
}
