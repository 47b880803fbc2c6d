package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
)

// KeptOutput returns what is kept of an output: at most limit bytes and a line that says what is missing.
func KeptOutput(limit int, output string) string {
	b := headTailBuffer{limit: limit}
	_, _ = b.Write([]byte(output))
	return b.String()
}

// SetBubblewrap makes a sandbox use a program as bubblewrap.
func (s *Sandbox) SetBubblewrap(path string) { s.bwrap = path }

// Bubblewrap returns the program that a sandbox uses as bubblewrap.
func (s *Sandbox) Bubblewrap() string { return s.bwrap }

// ChildArgv returns the argument vector that starts a command, which may connect to a port.
func (s *Sandbox) ChildArgv(workspace string, port int) ([]string, error) {
	return s.childArgv(spec{Write: []string{workspace}, Port: port})
}

// ProbeOutside runs the attempts of Probe without a sandbox, as the same user.
func (s *Sandbox) ProbeOutside(ctx context.Context) ([]Attempt, error) {
	base, err := os.MkdirTemp(s.options.Temp, "multis-probe-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(base)
	to, closeAll, err := s.createTargets(ctx, base)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	about, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	program, err := os.Open(s.options.Program[0])
	if err != nil {
		return nil, err
	}
	defer program.Close()
	cmd := exec.CommandContext(ctx, "/proc/self/fd/3", Subcommand, probeArgument, string(about))
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{program}, &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID}
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var attempts []Attempt
	return attempts, json.Unmarshal(out, &attempts)
}
