package devstack

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// boxNamespaces are the options of unshare and nsenter for a box.
var boxNamespaces = []string{"--mount", "--pid", "--net", "--cgroup", "--ipc", "--uts"}

// box is a root file system with processes that run in namespaces of their own. They cannot reach any other network.
type box struct {
	pid     string   // of its first process, as seen from outside
	process *process // nil while stopped
}

// start runs a script that enters the namespaces and writes the pid of its process to NAME.pid in dir.
func (b *box) start(ctx context.Context, dir, name string, script []byte, args ...string) error {
	enter, number := filepath.Join(dir, "enter-"+name+".sh"), filepath.Join(dir, name+".pid")
	if err := os.WriteFile(enter, script, 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(number); err != nil {
		return err
	}
	// The script's process ends when unshare ends, and unshare when the lifeline is closed.
	argv := append(asRoot("bash", "-c", `exec 3<&0 </dev/null; "$@" 3<&- & child=$!
		{ read -r || true; kill -s KILL "$child"; } <&3 2>/dev/null & exec 3<&-; wait "$child"`, "bash", "unshare"), boxNamespaces...)
	argv = append(argv, "--fork", "--kill-child", "--propagation", "private", "bash", enter)
	process, err := start(name, filepath.Join(dir, name+".log"), append(argv, args...))
	if err != nil {
		return err
	}
	b.process = process
	return process.until(ctx, func(context.Context) error {
		pid, err := os.ReadFile(number)
		b.pid = strings.TrimSpace(string(pid))
		return err
	})
}

// Kill ends all processes at once, as a power failure does. It may be called twice.
func (b *box) Kill() {
	if b.process != nil {
		b.process.kill()
		b.process = nil
	}
}

// Command returns a command that runs inside the box as root, in a folder of its root file system. argv may begin with
// environment variables (KEY=value).
func (b *box) Command(ctx context.Context, dir string, argv ...string) *exec.Cmd {
	full := append(asRoot("nsenter", "--target", b.pid), boxNamespaces...)
	full = append(full, "env", "-i", "-C", dir, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
		"LANG=C.UTF-8")
	full = append(full, argv...)
	return exec.CommandContext(ctx, full[0], full[1:]...)
}

// Dial connects to an address inside the box, such as a port that a container publishes. It can be used as the
// DialContext of http.Transport.
func (b *box) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	inside, outside := net.Pipe()
	// The connection lasts longer than the context of Dial.
	cmd := b.Command(context.WithoutCancel(ctx), "/", "busybox", "nc", host, port)
	cmd.Stdin, cmd.Stdout = inside, inside
	cmd.WaitDelay = time.Second // time to read the rest of the output after nc has ended
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	go func() {
		_ = cmd.Wait() // the end of nc shows as the end of the connection
		_ = inside.Close()
	}()
	return outside, nil
}
