package main

import (
	"bufio"
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
	"multis/ops/setup"
)

// errUnfinished is returned when all files are written, but a later step is not done. The output before it says what to do.
var errUnfinished = errors.New("multis is not running yet; run multis init again when that is done: Enter keeps each answer, and with --yes it asks nothing")

// errUnpaired is returned when pairing ended without a new owner. The output before it says why.
var errUnpaired = errors.New("nobody is paired yet; multis init --pair goes on, with a new code")

// firstStartTimeout limits the first start of multis, from starting its process to its greeting.
const firstStartTimeout = 3 * time.Minute

// bringUp creates the database, waits until multis is registered at Synapse, starts multis and waits for its greeting.
func (i installation) bringUp(ctx context.Context, a setup.Answers) error {
	if err := i.migrate(ctx, a.Config); err != nil {
		return err
	}
	known, err := i.awaitRegistration(ctx, a)
	if err != nil || !known {
		return err
	}
	running := (healthCmd{}).Run(ctx, &cli{Config: i.config}) == nil
	stop, err := i.start(ctx, running, a.IsNew() || string(a.Old) != string(a.Data))
	if err != nil {
		return err
	}
	defer stop()
	if err := i.awaitGreeting(ctx, a.Config); err != nil {
		return err
	}
	return i.showNext(running)
}

// pair waits until the bot is registered at Synapse, waits for the one-time code, and writes the sender of the code to the configuration as the owner.
// After that, Synapse needs the new registration.
func (i installation) pair(ctx context.Context, a setup.Answers) (setup.Answers, error) {
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
		if user, ok := strings.CutPrefix(lines.Text(), pairedPrefix); ok {
			owner = user
			continue
		}
		fmt.Println(lines.Text())
	}
	if err := cmd.Wait(); err != nil || owner == "" {
		return a, errUnpaired
	}
	fmt.Printf("✓ owner        %s\n", owner)
	before := a.Data
	if a, err = a.WithOwner(i.config, owner, os.LookupEnv); err != nil {
		return a, err
	}
	return a, i.write(ctx, a, before)
}

// child returns a command that runs this program with the configuration of the installation. The new process runs as the user who owns the
// data folder.
func (i installation) child(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, i.program, append(args, "-c", i.config)...)
	cmd.Dir = filepath.Dir(i.config)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// migrate starts the database and creates its tables, which shows whether the database role has the necessary rights. For an external database it
// also tests row-level security. Ctrl-C ends the child process as well.
func (i installation) migrate(ctx context.Context, c *config.Config) error {
	fmt.Println("  making the database ...")
	out, err := i.child(ctx, "migrate").CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return errUnfinished
	case err != nil:
		return fmt.Errorf("the database does not work yet: %s", strings.TrimPrefix(strings.TrimSpace(string(out)), "multis: "))
	}
	fmt.Println("✓ database     its tables are made")
	if c.Database.URL == "" {
		return nil
	}
	result := doctor.ProbeDatabase(ctx, c.Database.URL.Value())
	setup.PrintResult(os.Stdout, "database", result)
	for _, f := range result.Findings {
		if f.Severity == doctor.Error {
			return errUnfinished
		}
	}
	return nil
}

// awaitRegistration prints what root must do to register multis at Synapse, and waits until Synapse has the registration and can reach multis.
func (i installation) awaitRegistration(ctx context.Context, a setup.Answers) (known bool, err error) {
	known = setup.HasRegistration(ctx, a.Config)
	// Synapse's configuration may have changed since it was last read.
	synapse, err := i.machine.FindSynapse(i.synapse)
	if err != nil {
		synapse = a.Synapse
	}
	steps := i.machine.Steps(synapse, i.registration, known)
	if len(steps) > 0 {
		fmt.Print("\nNow, as root in another terminal:\n\n")
		for _, s := range steps {
			fmt.Println("  " + s.Command)
		}
		fmt.Println()
		for n, s := range steps {
			fmt.Printf("  %d %s\n", n+1, s.Purpose)
		}
	}
	if i.wait == 0 && !known {
		fmt.Println("\nThen run this again:", i.again())
		return false, nil
	}
	if !known {
		goesOn := "with --yes this goes on without a question"
		if a.Config.Owner == config.UnpairedOwner(a.Config.Homeserver.Domain) {
			goesOn = "multis init --pair goes on"
		}
		fmt.Printf("\nWaiting for Synapse to know multis. Ctrl-C is fine: everything is written, and %s.\n", goesOn)
	}
	waiting, cancel := context.WithTimeout(ctx, max(i.wait, time.Minute))
	defer cancel()
	result := setup.AwaitSynapse(waiting, a.Config)
	if !result.OK() || result.Fact == "" {
		fmt.Println()
		setup.PrintResult(os.Stdout, "synapse", result)
		return false, errUnfinished
	}
	setup.PrintResult(os.Stdout, "synapse", result)
	return true, nil
}

// again says what the next run does when Synapse knows multis.
func (i installation) again() string {
	if i.systemd {
		return "it starts multis."
	}
	return "it tries multis until it has greeted you, and says how to start it for good."
}

// start starts the service or, without a service, a process of multis, which stop ends. If multis already runs, start does nothing, except that it
// restarts a service whose configuration has changed.
func (i installation) start(ctx context.Context, running, changed bool) (stop func(), err error) {
	switch {
	case i.systemd && (!running || changed):
		if err := setup.StartService(ctx); err != nil {
			return nil, fmt.Errorf("start the service: %w; what it says: journalctl -u multis -n 20", err)
		}
		fmt.Println("✓ service      multis runs, and starts with the machine")
		return func() {}, nil
	case running:
		if changed {
			fmt.Printf("! multis       runs with the old configuration; start it again: %s\n", startCommand(i.config, true))
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
func (i installation) log() string { return filepath.Join(filepath.Dir(i.config), "init.log") }

// awaitGreeting waits until multis has created the admin room and written the greeting.
func (i installation) awaitGreeting(ctx context.Context, c *config.Config) error {
	inspector := appservice.NewInspector(doctor.AccessOf(c))
	waiting, cancel := context.WithTimeout(ctx, firstStartTimeout)
	defer cancel()
	room, result := setup.AwaitGreeting(waiting, func(ctx context.Context) (string, bool, error) {
		room, written, err := inspector.Greeting(ctx)
		return room.String(), written, err
	})
	if !result.OK() {
		setup.PrintResult(os.Stdout, "admin room", result)
		if text, err := os.ReadFile(i.log()); err == nil {
			fmt.Printf("The end of what multis said:\n%s\n", lastLines(string(text), 5))
		}
		return errUnfinished
	}
	fmt.Printf("✓ admin room   multis has greeted you there: https://matrix.to/#/%s\n", room)
	return nil
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// showNext prints what to do next.
func (i installation) showNext(running bool) error {
	next := "Open your Matrix client, accept the invitation of multis and write /help."
	if !i.systemd && !running {
		next += "\nStart multis for good: " + startCommand(i.config, false)
	}
	_, err := fmt.Println("\n" + next)
	return err
}
