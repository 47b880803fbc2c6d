package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"multis/appservice"
	"multis/config"
	"multis/ops/doctor"
	"multis/ops/health"
)

// errUnfinished is returned when all files are written, but a later step is not done. The output before it says what to do.
var errUnfinished = errors.New("multis is not running yet; run multis init again when that is done: Enter keeps each answer, and with --yes it asks nothing")

// errUnpaired is returned when pairing ended without a new owner. The output before it says why.
var errUnpaired = errors.New("nobody is paired yet; multis init --pair continues, with a new code")

// PairedPrefix is the prefix of the line in which multis pair prints the Matrix id of the new owner.
const PairedPrefix = "paired with "

// firstStartTimeout limits the first start of multis, from starting its process to its greeting.
const firstStartTimeout = 3 * time.Minute

// bringUp creates the database, waits until multis is registered at Synapse, starts multis and waits for its greeting.
func (i *Installation) bringUp(ctx context.Context, a Answers) error {
	if err := i.migrate(ctx, a.Config); err != nil {
		return err
	}
	known, err := i.awaitRegistration(ctx, a)
	if err != nil {
		return err
	}
	if !known {
		return nil
	}
	running := health.CheckReady(ctx, a.Config.Appservice.LocalAddr()) == nil
	stop, err := i.start(ctx, running, a.IsNew() || string(a.Old) != string(a.Data))
	if err != nil {
		return err
	}
	defer stop()
	if err := i.awaitGreeting(ctx, a.Config); err != nil {
		return err
	}
	return i.showNext(running, a.Config)
}

// pair waits until the bot is registered at Synapse, waits for the one-time code, and writes the sender of the code to
// the configuration as the owner. After that, Synapse needs the new registration.
func (i *Installation) pair(ctx context.Context, a Answers) (Answers, error) {
	err := i.migrate(ctx, a.Config)
	if err == nil {
		_, err = i.awaitRegistration(ctx, a)
	}
	if errors.Is(err, errUnfinished) {
		return a, errUnpaired
	}
	if err != nil {
		return a, err
	}
	cmd := i.child(ctx, "pair")
	cmd.Stderr = os.Stderr
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return a, fmt.Errorf("pair: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return a, fmt.Errorf("pair: %w", err)
	}
	owner := ""
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		if user, ok := strings.CutPrefix(lines.Text(), PairedPrefix); ok {
			owner = user
			continue
		}
		fmt.Fprintln(i.Out, lines.Text())
	}
	if err := cmd.Wait(); err != nil || owner == "" {
		return a, errUnpaired
	}
	fmt.Fprintf(i.Out, "✓ owner        %s\n", owner)
	before := a.Data
	if a, err = a.WithOwner(i.Config, owner, os.LookupEnv); err != nil {
		return a, err
	}
	return a, i.write(ctx, a, before)
}

// child returns a command that runs this program with the configuration of the installation. The new process runs as the user who owns the
// data folder.
func (i *Installation) child(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, i.Program, append(args, "-c", i.Config)...)
	cmd.Dir = filepath.Dir(i.Config)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// migrate starts the database and creates its tables, which shows whether the database role has the necessary rights. For
// an external database it also tests row-level security. Ctrl-C ends the child process as well.
func (i *Installation) migrate(ctx context.Context, c *config.Config) error {
	fmt.Fprintln(i.Out, "  making the database ...")
	out, err := i.child(ctx, "migrate").CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return errUnfinished
	case err != nil:
		return fmt.Errorf("the database does not work yet: %s", strings.TrimPrefix(strings.TrimSpace(string(out)), "multis: "))
	}
	fmt.Fprintln(i.Out, "✓ database     its tables are made")
	if c.Database.URL == "" {
		return nil
	}
	result := doctor.ProbeDatabase(ctx, cmp.Or(c.Database.Direct, c.Database.URL).Value())
	PrintResult(i.Out, "database", result)
	for _, f := range result.Findings {
		if f.Severity == doctor.Error {
			return errUnfinished
		}
	}
	return nil
}

// awaitRegistration prints what root must do to register multis at Synapse, and waits until Synapse has the registration
// and can reach multis.
func (i *Installation) awaitRegistration(ctx context.Context, a Answers) (known bool, err error) {
	known = HasRegistration(ctx, a.Config)
	// Synapse's configuration may have changed since it was last read.
	synapse, err := i.Machine.FindSynapse(i.Synapse)
	if err != nil {
		synapse = a.Synapse
	}
	steps := i.Machine.Steps(synapse, i.Registration, known)
	if len(steps) > 0 {
		fmt.Fprint(i.Out, "\nNow, as root in another terminal:\n\n")
		for _, s := range steps {
			fmt.Fprintln(i.Out, "  "+s.Command)
		}
		fmt.Fprintln(i.Out)
		for n, s := range steps {
			fmt.Fprintf(i.Out, "  %d %s\n", n+1, s.Purpose)
		}
	}
	if i.Wait == 0 && !known {
		fmt.Fprintln(i.Out, "\nThen run this again:", i.again())
		return false, nil
	}
	if !known {
		goesOn := "with --yes this continues without a question"
		if a.Config.Owner == config.UnpairedOwner(a.Config.Homeserver.Domain) {
			goesOn = "multis init --pair continues"
		}
		fmt.Fprintf(i.Out, "\nWaiting for Synapse to know multis. Ctrl-C is fine: everything is written, and %s.\n", goesOn)
	}
	waiting, cancel := context.WithTimeout(ctx, max(i.Wait, time.Minute))
	defer cancel()
	result := AwaitSynapse(waiting, a.Config)
	if !result.OK() || result.Fact == "" {
		fmt.Fprintln(i.Out)
		PrintResult(i.Out, "synapse", result)
		return false, errUnfinished
	}
	PrintResult(i.Out, "synapse", result)
	return true, nil
}

// startCommand returns the shell line that starts this multis. again is true if it may be running already.
func (i *Installation) startCommand(again bool) string {
	return i.Machine.StartCommand(os.Args[0], i.Config, again)
}

// again says what the next run does when Synapse knows multis.
func (i *Installation) again() string {
	if i.Systemd {
		return "it starts multis."
	}
	return "it tries multis until it has greeted you, and says how to start it for good."
}

// start starts the service or, without a service, a process of multis, which stop ends. If multis already runs, start
// does nothing, except that it restarts a service whose configuration has changed.
func (i *Installation) start(ctx context.Context, running, changed bool) (stop func(), err error) {
	switch {
	case i.Systemd && (!running || changed):
		if err := StartService(ctx); err != nil {
			return nil, fmt.Errorf("start the service: %w; what it says: journalctl -u multis -n 20", err)
		}
		fmt.Fprintln(i.Out, "✓ service      multis runs, and starts with the machine")
		return func() {}, nil
	case running:
		if changed {
			fmt.Fprintf(i.Out, "! multis       runs with the old configuration; start it again: %s\n", i.startCommand(true))
		}
		return func() {}, nil
	}
	cmd := i.child(context.WithoutCancel(ctx), "run")
	// The child gets its own process group, so that Ctrl-C reaches only this process, which then stops the child.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Stderr, err = os.OpenFile(i.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
		return nil, fmt.Errorf("start multis: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start multis: %w", err)
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		_ = cmd.Wait()                          // its exit status is in its log
		_ = os.Remove(i.log())
	}, nil
}

// log returns the path of the file with the output of a multis that start started.
func (i *Installation) log() string { return filepath.Join(filepath.Dir(i.Config), "init.log") }

// awaitGreeting waits until multis has created the admin room and written the greeting.
func (i *Installation) awaitGreeting(ctx context.Context, c *config.Config) error {
	inspector := appservice.NewInspector(doctor.AccessOf(c))
	waiting, cancel := context.WithTimeout(ctx, firstStartTimeout)
	defer cancel()
	room, result := AwaitGreeting(waiting, func(ctx context.Context) (string, bool, error) {
		room, written, err := inspector.FindAdminRoom(ctx)
		return room.String(), written, err
	})
	if !result.OK() {
		PrintResult(i.Out, "admin room", result)
		if text, err := os.ReadFile(i.log()); err == nil {
			fmt.Fprintf(i.Out, "The end of what multis said:\n%s\n", lastLines(string(text), 5))
		}
		return errUnfinished
	}
	fmt.Fprintf(i.Out, "✓ admin room   multis has greeted you there: https://matrix.to/#/%s\n", room)
	return nil
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// showNext prints what to do next.
func (i *Installation) showNext(running bool, c *config.Config) error {
	next := "Open your Matrix client, accept the invitation from multis and type !help."
	if used := c.LLM.ResolveModels(c.LLM.Model); len(used) > 0 {
		next += "\nBefore " + used[0] + " answers customers, examine it: multis models exam"
	}
	if !i.Systemd && !running {
		next += "\nStart multis for good: " + i.startCommand(false)
	}
	_, err := fmt.Fprintln(i.Out, "\n"+next)
	return err
}
