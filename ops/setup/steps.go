package setup

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"multis/internal/plainfile"
	"multis/internal/text"
)

// Step is a command that root runs on the machine of Synapse.
type Step struct {
	Purpose string // what it does, a short clause
	Command string // one line of shell
}

// registrationName is the name of multis' registration in Synapse's folder.
const registrationName = "multis-registration.yaml"

// Steps returns the commands that make Synapse load the registration file at path: at most three, without those that are done already.
// known is true if the running Synapse already accepts the token. s is nil if Synapse is not on this machine.
func (m Machine) Steps(s *Synapse, path string, known bool) []Step {
	if s == nil && m.InContainer() {
		return containerSteps()
	}
	if s == nil {
		return unknownSteps(path)
	}
	inside, listed := s.target()
	host := s.host(inside)
	var steps []Step
	old, err := plainfile.Read(m.path(host), maxFile)
	if now, err2 := plainfile.Read(path, maxFile); err != nil || err2 != nil || !bytes.Equal(old, now) {
		steps = append(steps, Step{"gives Synapse the registration", s.install(path, host)})
	}
	if !listed {
		steps = append(steps, Step{"tells Synapse of it", s.list.add(s.Files, inside)})
	}
	if len(steps) > 0 || !known {
		steps = append(steps, Step{"makes Synapse read it; it does so only when it starts", s.restart()})
	}
	return steps
}

// target returns where Synapse expects the registration, and whether its configuration names it already.
func (s *Synapse) target() (inside string, listed bool) {
	for _, r := range s.Registrations {
		if r.ID == "multis" || filepath.Base(r.Path) == registrationName {
			return r.Path, true
		}
	}
	return filepath.Join(filepath.Dir(s.Files[0].Inside), registrationName), false
}

// install returns the command that copies the registration from path to host, where Synapse reads it.
func (s *Synapse) install(path, host string) string {
	return fmt.Sprintf("install -m 640 %s %s %s", s.owner(), text.ShellWord(path), text.ShellWord(host))
}

// owner returns the options of install that let Synapse read the file.
func (s *Synapse) owner() string {
	if s.User != "" {
		return "-o " + s.User
	}
	return "-o matrix-synapse"
}

// restart returns the command that restarts Synapse.
func (s *Synapse) restart() string {
	switch {
	case s.Container != "":
		return "docker restart " + s.Container
	default:
		return "systemctl restart " + cmp.Or(s.Unit, "matrix-synapse")
	}
}

// add returns the command that adds a registration to Synapse's list: in the file that has the list, else in a file of
// its own or at the end of the last file. Run again it changes nothing, because Synapse does not start with a
// registration that is listed twice.
func (p registrationList) add(files []File, inside string) string {
	switch {
	case p.line == 0 && len(files) > 1 && filepath.Dir(files[0].Host) != filepath.Dir(files[len(files)-1].Host):
		own := filepath.Join(filepath.Dir(files[len(files)-1].Host), "multis.yaml")
		return fmt.Sprintf("echo %s > %s", text.ShellWord("app_service_config_files: ["+inside+"]"), text.ShellWord(own))
	case p.line == 0:
		// Such a file may end without a line break.
		host := text.ShellWord(files[len(files)-1].Host)
		return unlessNamed(host) + fmt.Sprintf(`printf '\napp_service_config_files:\n  - %%s\n' %s >> %s`, text.ShellWord(inside), host)
	case p.indent >= 0:
		host := text.ShellWord(p.file.Host)
		return unlessNamed(host) + fmt.Sprintf(`sed -i %s %s`,
			text.ShellWord(fmt.Sprintf(`%da\%s- %s`, p.line, strings.Repeat(" ", p.indent), inside)), host)
	default:
		all := strings.Join(append(slices.Clone(p.items), inside), ", ")
		return fmt.Sprintf(`sed -i %s %s`, text.ShellWord(fmt.Sprintf(`%dc\app_service_config_files: [%s]`, p.line, all)),
			text.ShellWord(p.file.Host))
	}
}

// unlessNamed begins a command that is left out if the file, a word of the shell, names the registration already. A comment does not count.
func unlessNamed(file string) string {
	return fmt.Sprintf("grep -q '^[^#]*%s' %s || ", registrationName, file)
}

// unknownSteps are the commands for a Synapse that was not found. They are right for Debian's package.
func unknownSteps(path string) []Step {
	const target = "/etc/matrix-synapse/" + registrationName
	return []Step{
		{
			"gives Synapse the registration; if Synapse is elsewhere, copy the file there",
			"install -m 640 -o matrix-synapse " + text.ShellWord(path) + " " + target,
		},
		{
			"tells Synapse of it; if app_service_config_files is there already, add the path to it instead",
			"echo 'app_service_config_files: [" + target + "]' > /etc/matrix-synapse/conf.d/multis.yaml",
		},
		{"makes Synapse read it; it does so only when it starts", "systemctl restart matrix-synapse"},
	}
}

// containerSteps are the commands for a Synapse in a container, when multis is in one as well and does not see the
// machine. They are typed in the folder of docker-compose.yml.
func containerSteps() []Step {
	return []Step{
		{
			"gives Synapse the registration and names it in homeserver.yaml, beside those of bridges; /srv/synapse stands for the folder that Synapse's container has as /data",
			"deploy/register.sh /srv/synapse",
		},
		{"makes Synapse read it; it does so only when it starts", "docker restart synapse"},
	}
}
