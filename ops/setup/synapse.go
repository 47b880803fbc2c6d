package setup

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/ops/doctor"
)

// Synapse is the Synapse on this machine, according to its configuration.
type Synapse struct {
	Files         []File         // its configuration, in the order in which Synapse reads it
	Domain        string         // server_name
	Addresses     []string       // where its client API may be, likely ones first
	Registrations []Registration // the application services in its configuration
	User          string         // the user that it runs as, a name or a number; empty means unknown
	Unit          string         // its systemd unit; empty means none
	Container     string         // its Docker container; empty means none

	list registrationList
}

// File is a file of Synapse: Inside is its path as Synapse sees it, and Host its path on the machine. They differ when
// Synapse is in a container.
type File struct{ Inside, Host string }

// Registration is an application service of Synapse.
type Registration struct {
	Path  string // as Synapse sees it
	ID    string
	URL   string
	Bot   string   // localpart of its own user
	Users []string // the patterns of its users
}

// registrationList is the place of app_service_config_files in the configuration.
type registrationList struct {
	file   File
	line   int // zero if there is none
	indent int // of the items of a block; negative for a list on one line
	items  []string
}

// synapseConfig is the part of homeserver.yaml that concerns multis.
type synapseConfig struct {
	ServerName string `yaml:"server_name"`
	PublicURL  string `yaml:"public_baseurl"`
	Listeners  []struct {
		Port      int    `yaml:"port"`
		Type      string `yaml:"type"`
		TLS       bool   `yaml:"tls"`
		Resources []struct {
			Names []string `yaml:"names"`
		} `yaml:"resources"`
	} `yaml:"listeners"`
}

// usualConfigs are the paths at which packages and playbooks put Synapse's configuration, each list for one Synapse.
var usualConfigs = [][]string{
	{"/etc/matrix-synapse/homeserver.yaml", "/etc/matrix-synapse/conf.d"},
	{"/matrix/synapse/config/homeserver.yaml"},
	{"/etc/synapse/homeserver.yaml"},
	{"/opt/synapse/homeserver.yaml"},
}

// FindSynapse returns the Synapse of this machine. config is its homeserver.yaml; if it is empty, FindSynapse looks for
// running ones, then in the usual places. It returns nil if it finds none or several.
func (m Machine) FindSynapse(config string) (*Synapse, error) {
	if config != "" {
		return m.namedSynapse(config)
	}
	running := m.runningSynapses()
	switch {
	case len(running) > 1:
		return nil, nil //nolint:nilnil // the user must name one
	case len(running) == 1:
		return running[0], m.read(running[0])
	}
	return m.usualSynapse()
}

// namedSynapse returns the Synapse with this homeserver.yaml, and with the folder beside it that Debian's package reads as well.
func (m Machine) namedSynapse(config string) (*Synapse, error) {
	path, err := filepath.Abs(config)
	if err != nil {
		return nil, err
	}
	for _, s := range m.runningSynapses() {
		if slices.ContainsFunc(s.Files, func(f File) bool { return f.Host == path }) {
			return s, m.read(s)
		}
	}
	for _, paths := range usualConfigs {
		if paths[0] == path {
			return m.configured(paths)
		}
	}
	return m.configured([]string{path})
}

// usualSynapse returns the Synapse that is configured in one of the usual places; nil if there is none.
func (m Machine) usualSynapse() (*Synapse, error) {
	for _, paths := range usualConfigs {
		if m.exists(paths[0]) {
			return m.configured(paths)
		}
	}
	return nil, nil //nolint:nilnil // none is no error: it may be on another machine
}

// configured returns the Synapse with these configuration files and folders. That of Debian's package has a systemd unit.
func (m Machine) configured(paths []string) (*Synapse, error) {
	s := &Synapse{Files: m.expandFolders(paths)}
	if paths[0] == usualConfigs[0][0] {
		s.Unit = "matrix-synapse"
	}
	return s, m.read(s)
}

// SynapseOfDomain looks for the Synapse of a domain on this machine, for the checks of package doctor. It returns nil if
// none or more than one can be read. registration is the file that multis -g writes.
func (m Machine) SynapseOfDomain(domain, registration string) *doctor.Synapse {
	candidates := slices.DeleteFunc(m.runningSynapses(), func(s *Synapse) bool { return m.read(s) != nil })
	if s, err := m.usualSynapse(); len(candidates) == 0 && err == nil && s != nil {
		candidates = append(candidates, s)
	}
	candidates = slices.DeleteFunc(candidates, func(s *Synapse) bool { return s.Domain != domain })
	if len(candidates) != 1 {
		return nil
	}
	return m.forDoctor(candidates[0], registration)
}

// ReadForDoctor returns the Synapse with this homeserver.yaml, for the checks of package doctor. It returns an error if
// the file cannot be read or is that of another domain. domain is empty if it is unknown.
func (m Machine) ReadForDoctor(config, domain, registration string) (*doctor.Synapse, error) {
	if config == "" {
		return nil, errors.New("name Synapse's homeserver.yaml")
	}
	s, err := m.namedSynapse(config)
	switch {
	case err != nil:
		return nil, err
	case s.Domain == "":
		return nil, fmt.Errorf("%s has no server_name: name Synapse's homeserver.yaml", config)
	case domain != "" && s.Domain != domain:
		return nil, fmt.Errorf("the server_name in %s is %q, but homeserver.domain of multis is %q", config, s.Domain, domain)
	}
	return m.forDoctor(s, registration), nil
}

// forDoctor returns what the checks use of a Synapse.
func (m Machine) forDoctor(s *Synapse, registration string) *doctor.Synapse {
	d := &doctor.Synapse{Config: s.Files[0].Host, Restart: doctor.AsRoot(s.restart())}
	if len(s.Addresses) > 0 {
		d.Address = s.Addresses[0]
	}
	for _, r := range s.Registrations {
		d.Registrations = append(d.Registrations, m.path(s.host(r.Path)))
	}
	inside, listed := s.target()
	lines := []string{s.install(registration, s.host(inside)), s.restart()}
	if !listed {
		lines = slices.Insert(lines, 1, s.list.add(s.Files, inside))
	}
	d.Install = doctor.AsRoot("sh -ec " + text.ShellWord(strings.Join(lines, "; "))) // -e: no line is run after one that failed
	return d
}

// runningSynapses returns the main processes of Synapse, each with its configuration files.
func (m Machine) runningSynapses() []*Synapse {
	var found []*Synapse
	for _, p := range m.processes("synapse.app.homeserver") {
		s := &Synapse{Unit: p.unit(), Container: p.container()}
		if p.uid > 0 {
			s.User = strconv.Itoa(p.uid)
			if u, err := user.LookupId(s.User); err == nil && s.Container == "" && m.Root == "" {
				s.User = u.Username
			}
		}
		for i, arg := range p.args {
			path, ok := strings.CutPrefix(arg, "--config-path=")
			if !ok && i > 0 && slices.Contains([]string{"-c", "--config-path"}, p.args[i-1]) {
				path, ok = arg, true
			}
			if !ok {
				continue
			}
			if !filepath.IsAbs(path) {
				cwd, _ := os.Readlink(filepath.Join(p.dir, "cwd"))
				path = filepath.Join("/", cwd, path)
			}
			for _, inside := range expand(filepath.Join(p.dir, "root"), path) {
				if host := m.hostPath(p, inside); host != "" {
					s.Files = append(s.Files, File{Inside: inside, Host: host})
				}
			}
		}
		// A parent such as unshare or a shell has the same arguments.
		same := func(o *Synapse) bool { return len(s.Files) > 0 && slices.Equal(o.Files, s.Files) }
		if i := slices.IndexFunc(found, same); i >= 0 {
			found[i] = mergeSynapse(found[i], s)
		} else if len(s.Files) > 0 {
			found = append(found, s)
		}
	}
	return found
}

// mergeSynapse fills the unknown fields of a from b, another process of the same Synapse.
func mergeSynapse(a, b *Synapse) *Synapse {
	a.Unit = cmp.Or(a.Unit, b.Unit)
	a.Container = cmp.Or(a.Container, b.Container)
	a.User = cmp.Or(a.User, b.User)
	return a
}

// expandFolders returns the files of paths. Each folder among them is replaced by the *.yaml files in it.
func (m Machine) expandFolders(paths []string) []File {
	var files []File
	for _, path := range paths {
		for _, f := range expand(m.path(), path) {
			files = append(files, File{Inside: f, Host: f})
		}
	}
	return files
}

// expand returns path, or the *.yaml in it if it is a folder below root.
func expand(root, path string) []string {
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil {
		return []string{path}
	}
	if !info.IsDir() {
		return []string{path}
	}
	inside, _ := filepath.Glob(filepath.Join(root, path, "*.yaml"))
	files := make([]string, len(inside))
	for i, f := range inside {
		files[i] = filepath.Join(path, filepath.Base(f))
	}
	return files
}

// yamlLine matches the line number in an error of the YAML parser. The rest of such an error is not shown, because it can quote the file.
var yamlLine = regexp.MustCompile(`line \d+`)

// read reads the configuration files of s.
func (m Machine) read(s *Synapse) error {
	var c synapseConfig
	for _, f := range s.Files {
		text, err := plainfile.Read(m.path(f.Host), maxFile)
		if err != nil {
			return fmt.Errorf("read Synapse's configuration: %w", err)
		}
		if err := yaml.Unmarshal(text, &c); err != nil { // the keys of a later file override those of earlier ones
			return fmt.Errorf("%s is no configuration of Synapse (see its %s): name its homeserver.yaml", f.Host,
				cmp.Or(yamlLine.FindString(err.Error()), "first line"))
		}
		if list, ok := findList(text); ok {
			list.file = f
			s.list = list
		}
	}
	s.Domain = c.ServerName
	for _, l := range c.Listeners {
		for _, r := range l.Resources {
			if slices.Contains(r.Names, "client") && !l.TLS && l.Port > 0 && (l.Type == "" || l.Type == "http") {
				s.Addresses = append(s.Addresses, "http://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port)))
			}
		}
	}
	if c.PublicURL != "" {
		s.Addresses = append(s.Addresses, strings.TrimSuffix(c.PublicURL, "/"))
	}
	for _, path := range s.list.items {
		s.Registrations = append(s.Registrations, m.readRegistration(s, path))
	}
	return nil
}

// readRegistration reads a registration. Only its path is known if it cannot be read.
func (m Machine) readRegistration(s *Synapse, path string) Registration {
	r := Registration{Path: path}
	var raw struct {
		ID         string `yaml:"id"`
		URL        string `yaml:"url"`
		Sender     string `yaml:"sender_localpart"`
		Namespaces struct {
			Users []struct {
				Regex string `yaml:"regex"`
			} `yaml:"users"`
		} `yaml:"namespaces"`
	}
	if yaml.Unmarshal([]byte(readText(m.path(s.host(path)))), &raw) != nil {
		return r
	}
	r.ID = raw.ID
	r.URL = raw.URL
	r.Bot = raw.Sender
	for _, u := range raw.Namespaces.Users {
		r.Users = append(r.Users, u.Regex)
	}
	return r
}

// host returns the path on the machine of a file as Synapse sees it. For files outside of the folder of the configuration it is a guess.
func (s *Synapse) host(inside string) string {
	if !filepath.IsAbs(inside) {
		return filepath.Join(filepath.Dir(s.Files[0].Host), inside)
	}
	for _, f := range s.Files {
		if rest, ok := strings.CutPrefix(inside, filepath.Dir(f.Inside)+"/"); ok {
			return filepath.Join(filepath.Dir(f.Host), rest)
		}
	}
	return inside
}

// findList finds app_service_config_files in a configuration file.
func findList(text []byte) (registrationList, bool) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return registrationList{}, false
	}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if key.Value != "app_service_config_files" {
			continue
		}
		place := registrationList{line: key.Line, indent: -1}
		if value.Kind == yaml.SequenceNode {
			for _, item := range value.Content {
				place.items = append(place.items, item.Value)
			}
			if value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0 {
				place.indent = value.Column - 1
			}
		}
		return place, true
	}
	return registrationList{}, false
}

// Bridges returns the registrations that look like bridges: they have an address and users of their own.
func (s *Synapse) Bridges() []Registration {
	var found []Registration
	for _, r := range s.Registrations {
		if r.URL != "" && len(r.Users) > 0 && r.ID != "multis" {
			found = append(found, r)
		}
	}
	return found
}

// HasDoublePuppet reports whether there is a double puppeting registration as mautrix' documentation describes it: one
// without an address whose users are all users of the domain.
func (s *Synapse) HasDoublePuppet() bool {
	return slices.ContainsFunc(s.Registrations, func(r Registration) bool {
		return r.URL == "" && slices.ContainsFunc(r.Users, func(regex string) bool {
			return strings.HasPrefix(strings.TrimPrefix(regex, "^"), "@.*")
		})
	})
}
