package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/rs/zerolog"

	"multis/agent/tools"
	"multis/config"
	"multis/safety/sandbox"
)

// openSandbox returns a sandbox that is not tested yet. file is the path of the configuration; empty for none.
func openSandbox(cfg *config.Config, file string) (*sandbox.Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}, ForbiddenPaths: cfg.OwnPaths(file)})
}

// writingTools returns the tools that exec.write_files turns on.
func writingTools() []tools.Tool { return []tools.Tool{tools.WriteFile{}, tools.EditFile{}} }

// commandTools returns the tools that exec.enabled turns on. Without a sandbox they can be described but not called.
func commandTools(s *sandbox.Sandbox, p *sandbox.Processes) []tools.Tool {
	return []tools.Tool{
		tools.ReadPath{Sandbox: s},
		tools.Exec{Sandbox: s},
		tools.StreamCommand{Sandbox: s, Processes: p},
		tools.TailOutput{Processes: p},
		tools.Kill{Processes: p},
	}
}

// whyOff says why the configuration turns a tool off, and which setting turns it on; empty if it does not.
func whyOff(cfg *config.Config, tool string) string {
	isOneOf := func(all []tools.Tool) bool {
		return slices.ContainsFunc(all, func(t tools.Tool) bool { return t.Spec().Name == tool })
	}
	switch {
	case !cfg.Exec.Enabled && isOneOf(commandTools(nil, nil)):
		return "commands are off; exec.enabled: true in config.yaml turns them on"
	case !cfg.Exec.WriteFiles && isOneOf(writingTools()):
		return "writing files is off; exec.write_files: true in config.yaml turns it on"
	default:
		return ""
	}
}

// addHostTools registers the tools that change files and, if the sandbox works on this machine, the tools that run commands.
func (a *assistant) addHostTools(ctx context.Context) error {
	if a.cfg.Exec.WriteFiles {
		a.tools.Add(writingTools()...)
	}
	if !a.cfg.RunsCommands() {
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
	a.monitorRunner, a.monitorProblem = proved, problem
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
	a.tools.Add(commandTools(proved, a.processes)...)
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
