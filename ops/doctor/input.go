package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"multis/appservice"
	"multis/config"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Input is what the checks look at. A check whose part is missing is skipped.
type Input struct {
	Paths Paths
	// Config is nil if ConfigErr says why it could not be loaded.
	Config    *config.Config
	ConfigErr error
	// Synapse is nil if it is not on this machine, or cannot be read.
	Synapse *Synapse
	// Homeserver makes requests to the homeserver on behalf of multis; nil without a configuration.
	Homeserver *appservice.Inspector
	// Database is nil if DatabaseErr says why it could not be opened.
	Database    *store.Inspector
	DatabaseErr error
	HasSchema   bool // whether the database was migrated
	Postgres    Postgres
	// ProgramsErr says why multis cannot start a Postgres of its own; nil if it can, or if the database is elsewhere.
	ProgramsErr error
	// Restore is the restore of a backup that has begun and not ended; the zero value is none.
	Restore Restore
	// Start is the shell line that starts or restarts multis as it is installed here; empty means as a service.
	Start string
	// Compose is true if multis runs by Docker Compose. The lines of findings are then for the machine, in the folder of docker-compose.yml.
	Compose bool
	// Defaults are the settings of chats for which the owner set none.
	Defaults policy.Defaults
	// Models opens the configured models; nil without a configuration. No check makes a paid call.
	Models Models
	// TestSandbox tests the sandbox of commands and returns what it is made of, or why no command is run. nil skips the check.
	TestSandbox func(ctx context.Context) (level string, err error)
	// IsStarting reports whether the service of multis starts, stops or has just begun to run. nil means that there is no service.
	IsStarting func(ctx context.Context) bool
	// StopReason returns why multis ended when it ran last, as far as that is known. nil means unknown.
	StopReason func(ctx context.Context) string
	// CheckStart returns what would keep multis from starting with the configuration, one problem a line. nil skips the check.
	CheckStart func(ctx context.Context) error
	Now        func() time.Time
	// FreeBytes returns the free space, in bytes, of the disk that contains a path.
	FreeBytes func(path string) (uint64, error)
}

// Restore is the restore of a backup that has begun and not ended.
type Restore struct {
	File    string // the backup
	Running bool   // whether it still runs; otherwise it was interrupted
}

// Paths are the files that belong to an installation. Empty means unknown.
type Paths struct {
	Config       string // config.yaml
	Registration string // the registration that multis -g wrote
}

// Synapse is Synapse's configuration; nil if it is not on this machine or cannot be read.
type Synapse struct {
	Config        string   // path of its homeserver.yaml, by which it is named to people
	Address       string   // where its client API is, according to its configuration; empty means unknown
	Registrations []string // the registration files of application services in its configuration
	// Install is the shell line that gives Synapse the registration of multis and restarts it. Restart is the line that only restarts it.
	Install, Restart string
}

// installFix says how to give Synapse the current registration.
func (in *Input) installFix() string {
	if in.Compose {
		return "multis -g && " + AsRoot("deploy/register.sh /srv/synapse") + " && " + in.restartSynapse() +
			"   (/srv/synapse stands for the folder that Synapse's container has as /data)"
	}
	if in.Synapse == nil || in.Synapse.Install == "" {
		return usualInstall()
	}
	return "multis -g && " + in.Synapse.Install
}

// start returns the shell line that starts or restarts multis.
func (in *Input) start() string { return cmp.Or(in.Start, AsRoot("systemctl restart multis")) }

// log returns the shell command that shows what multis logged in the last hours.
func (in *Input) log(hours int) string {
	if in.Compose {
		return fmt.Sprintf("docker compose logs --since %dh multis", hours)
	}
	return fmt.Sprintf("journalctl -u multis --since -%dh", hours)
}

// asTyped returns the line of a finding as a person types it on the machine. With Docker Compose there are neither the
// program multis nor the paths of its container.
func (in *Input) asTyped(fix string) string {
	const asRoot = "sudo "
	if !in.Compose {
		return fix
	}
	line, isRoot := strings.CutPrefix(fix, asRoot)
	switch program, arguments, _ := strings.Cut(line, " "); program {
	case "multis":
		if strings.HasPrefix(arguments, "doctor ") { // it looks for a multis in its own container
			return "docker compose exec multis " + line
		}
		return "docker compose run --rm multis " + arguments
	case "chmod", "chown":
		if line = strings.ReplaceAll(line, " /data", " data"); isRoot {
			return asRoot + line
		}
		return line
	}
	return fix
}

// Copyable returns the line of a finding with what is said about it as a comment of the shell and of YAML, so that the
// whole of it can be pasted.
func Copyable(fix string) string {
	const begin, end = "   (", ")"
	line, note, ok := strings.Cut(fix, begin)
	if !ok || !strings.HasSuffix(note, end) {
		return fix
	}
	return line + Comment + strings.TrimSuffix(note, end)
}

// Comment is what stands between the line of a finding and what is said about it.
const Comment = "   # "

// restartSynapse returns the line that restarts Synapse.
func (in *Input) restartSynapse() string {
	if in.Compose {
		return "docker restart synapse"
	}
	if in.Synapse == nil || in.Synapse.Restart == "" {
		return usualRestart()
	}
	return in.Synapse.Restart
}

// The lines for a Synapse that is not found on this machine. They are right for Debian's package.
func usualInstall() string {
	return "multis -g && " +
		AsRoot("install -m 640 -o matrix-synapse /var/lib/multis/registration.yaml /etc/matrix-synapse/multis-registration.yaml") + " && " +
		usualRestart() +
		"   (app_service_config_files in homeserver.yaml must name that file)"
}

func usualRestart() string { return AsRoot("systemctl restart matrix-synapse") }

// Models checks models without paying for a call. *llm.Models is one.
type Models interface {
	// Describe returns what is configured for a model.
	Describe(name, key string) (llm.ModelInfo, error)
	// Check asks the model's provider whether it knows the key and the model.
	Check(ctx context.Context, name, key string) error
}

// FreeBytes returns the free space, in bytes, of the disk that contains a path, without what is reserved for root.
func FreeBytes(path string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // the size of a block is positive
}
