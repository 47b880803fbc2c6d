package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/sandbox"
	"multis/tools"
)

// openSandbox returns a sandbox that is not tested yet. file is the path of the configuration; empty for none.
func openSandbox(cfg *config.Config, file string) (*sandbox.Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}, ForbiddenPaths: cfg.OwnPaths(file)})
}

// addHostTools registers the tools that change files and, if the sandbox works on this machine, the tools that run commands.
func (a *assistant) addHostTools(ctx context.Context) error {
	if a.cfg.Exec.WriteFiles {
		a.tools.Add(tools.WriteFile{}, tools.EditFile{})
	}
	if !a.cfg.Exec.Enabled && len(a.cfg.CommandHooks) == 0 {
		return nil
	}
	proved, err := openSandbox(a.cfg, a.front.configFile)
	if err != nil {
		return err
	}
	problem := errSafeMode
	log := zerolog.Ctx(ctx).With().Logger()
	if !a.front.safe {
		report := proved.Probe(ctx)
		problem = report.Err()
		log = log.With().Str("sandbox", report.Level).Int("attempts", len(report.Attempts)).Logger()
	}
	if a.commandHooks, err = a.openCommandHooks(proved, problem); err != nil {
		return err
	}
	a.tools.SetBeforeCall(a.beforeTool)
	if problem != nil {
		log.Warn().Err(problem).Msg("Commands are not run, and what a command hook would be asked about is denied")
		a.addPrograms(nil)
		return nil
	}
	if !a.cfg.Exec.Enabled {
		return nil
	}
	log.Info().Msg("Commands run in a sandbox that a test could not escape from")
	a.processes = sandbox.NewProcesses(ctx, proved)
	a.addPrograms(proved)
	a.tools.Add(tools.ReadPath{Sandbox: proved}, tools.Exec{Sandbox: proved}, tools.StreamCommand{Sandbox: proved, Processes: a.processes},
		tools.TailOutput{Processes: a.processes}, tools.Kill{Processes: a.processes})
	a.host, err = newHost(a.cfg, proved, a.tools)
	return err
}

// errSafeMode says that nothing is run, because multis is in safe mode.
var errSafeMode = errors.New("multis is in safe mode")

// endProcesses waits until ctx ends, and then ends the commands in the background.
func (a *assistant) endProcesses(ctx context.Context) error {
	<-ctx.Done()
	if a.processes != nil {
		a.processes.Close()
	}
	return nil
}

// testSandbox tests the sandbox and returns which mechanisms it uses.
func testSandbox(ctx context.Context, cfg *config.Config, file string) (level string, err error) {
	s, err := openSandbox(cfg, file)
	if err != nil {
		return "", err
	}
	report := s.Probe(ctx)
	return report.Level, report.Err()
}
