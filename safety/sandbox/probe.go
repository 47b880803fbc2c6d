package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Attempt is one way to escape that Probe tried.
type Attempt struct {
	Name    string `json:"name"`
	Escaped bool   `json:"escaped"`
	Detail  string `json:"detail"` // the error of the attempt, or "it worked"
}

// Report is what Probe found.
type Report struct {
	Level    string // the parts of the sandbox
	Attempts []Attempt
	Problem  string // why commands are not run; empty if they are
}

// Err returns the reason why no command may run; nil if the sandbox holds.
func (r Report) Err() error {
	if r.Problem == "" {
		return nil
	}
	return errors.New("exec is off: " + r.Problem)
}

// probeTimeout bounds one run of the probe.
const probeTimeout = 20 * time.Second

// probeArgument makes Main run the probe, which tries to escape.
const probeArgument = "probe"

// probeTargets lists what an escape would reach, apart from Inside and Control. The sandbox passes the test if the probe
// reaches nothing of it.
type probeTargets struct {
	Forbidden []string
	Secret    string // a file outside the workspace, which multis can read
	Inside    string // the workspace
	TCP       string // an address that listens
	Unix      string // a socket that listens
	Datagram  string // a socket that receives from everybody
	Parent    int    // multis' process id
	Control   string // a file in the workspace, which must be readable
}

// Probe tries to escape from the sandbox. If every attempt fails, the sandbox runs commands from then on; else it runs none.
func (s *Sandbox) Probe(ctx context.Context) Report {
	report := s.probe(ctx)
	if report.Problem != "" && s.bwrap != "" { // bubblewrap may be forbidden here; the sandbox may pass the test without it
		s.bwrap = ""
		report = s.probe(ctx)
	}
	s.mu.Lock()
	s.notReady = report.Err()
	s.mu.Unlock()
	return report
}

func (s *Sandbox) probe(ctx context.Context) Report {
	report := Report{Level: s.Features()}
	attempts, err := s.runEscapeProbe(ctx)
	report.Attempts = attempts
	var escaped []string
	for _, a := range attempts {
		if a.Escaped {
			escaped = append(escaped, a.Name+" ("+a.Detail+")")
		}
	}
	switch {
	case err != nil:
		report.Problem = err.Error()
	case len(escaped) > 0:
		report.Problem = "the sandbox of this machine does not hold; a test command could " + strings.Join(escaped, "; ")
	}
	return report
}

// runEscapeProbe runs the probe in the sandbox and returns its attempts.
func (s *Sandbox) runEscapeProbe(ctx context.Context) ([]Attempt, error) {
	if s.abi() == 0 {
		return nil, errNoLandlock
	}
	for _, path := range s.forbidden {
		if slices.ContainsFunc(systemFolders, func(folder string) bool { return within(realPath(folder), path) }) {
			return nil, fmt.Errorf("%s lies where every command may read; move it out of %s", path, strings.Join(systemFolders, ", "))
		}
	}
	base, err := os.MkdirTemp(s.options.Temp, "multis-probe-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the test of the sandbox: %w", err)
	}
	defer os.RemoveAll(base)
	to, closeAll, err := s.createTargets(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("prepare the test of the sandbox: %w", err)
	}
	defer closeAll()
	about, err := json.Marshal(to) //nolint:gosec,musttag // the secret of the test is known to everybody, and both ends are this program
	if err != nil {
		return nil, fmt.Errorf("describe the test of the sandbox: %w", err)
	}
	result, err := s.run(ctx, Command{
		Argv: append(slices.Clone(s.options.Program), probeArgument, string(about)), Workspace: to.Inside, Timeout: probeTimeout,
		MaxOutput:  1 << 20,
		probeFiles: []string{s.options.Program[0]},
	})
	if err != nil {
		return nil, err
	}
	var attempts []Attempt
	if err := json.Unmarshal([]byte(result.Output), &attempts); err != nil || result.ExitCode != 0 || len(attempts) < minAttempts {
		return nil, fmt.Errorf("the test of the sandbox did not work (exit status %d): %.500s", result.ExitCode, result.Output)
	}
	if after, err := os.ReadFile(to.Secret); err != nil || string(after) != secretText {
		attempts = append(attempts, Attempt{Name: "change a file outside", Escaped: true, Detail: "it is another file now"})
	}
	return attempts, nil
}

const secretText = "This text is outside of the sandbox.\n"

// createTargets makes a workspace and, outside of it, the targets: a file, listening sockets and a process.
func (s *Sandbox) createTargets(ctx context.Context, base string) (to probeTargets, closeAll func(), err error) {
	to = probeTargets{
		Forbidden: s.forbidden,
		Inside:    filepath.Join(base, "workspace"),
		Secret:    filepath.Join(base, "secret"),
		Unix:      filepath.Join(base, "socket"),
		Datagram:  filepath.Join(base, "datagram"),
		Parent:    os.Getpid(),
	}
	to.Control = filepath.Join(to.Inside, "control")
	err = errors.Join(os.Chmod(base, 0o755), os.Mkdir(to.Inside, 0o700), os.WriteFile(to.Secret, []byte(secretText), 0o600), //nolint:gosec // others may enter the folder of the test
		os.WriteFile(to.Control, []byte(secretText), 0o600))
	if err == nil && os.Geteuid() == 0 {
		err = errors.Join(os.Chown(base, nobodyUID, nobodyUID), os.Chown(to.Inside, nobodyUID, nobodyUID),
			os.Chown(to.Control, nobodyUID, nobodyUID), os.Chown(to.Secret, nobodyUID, nobodyUID))
	}
	if err != nil {
		return probeTargets{}, nil, err
	}
	var listen net.ListenConfig
	listen.SetMultipathTCP(false)
	tcp, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return probeTargets{}, nil, err
	}
	local, err := listen.Listen(ctx, "unix", to.Unix)
	if err != nil {
		tcp.Close()
		return probeTargets{}, nil, err
	}
	datagram, err := listen.ListenPacket(ctx, "unixgram", to.Datagram)
	if err != nil {
		tcp.Close()
		local.Close()
		return probeTargets{}, nil, err
	}
	to.TCP = tcp.Addr().String()
	//nolint:gosec // only the sandbox may stop the test
	return to, func() { tcp.Close(); local.Close(); datagram.Close() }, errors.Join(os.Chmod(to.Unix, 0o777), os.Chmod(to.Datagram, 0o777))
}

// nobodyUID is the user id under which the probe runs if multis runs as root.
const nobodyUID = 65534
