package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// OwnPaths returns the files and folders of multis itself that no agent and no command may read or change, whatever the
// rules say: the configuration and its secrets, the rules, the database, the backups, the command hooks, the monitors. file is the path
// of the configuration; empty for none.
func (c *Config) OwnPaths(file string) []string {
	in := func(name string) string { return filepath.Join(c.Database.DataDir, name) }
	paths := []string{
		in("postgres"), in("cache"), in("hooks"), in("monitors"), in("starts.json"), in("starts.json.lock"), in("starts.json.new"),
		c.Backup.Folder,
	}
	if file != "" {
		paths = append(paths, file, filepath.Join(filepath.Dir(file), "registration.yaml"))
	}
	if c.Policy.File != "" {
		paths = append(paths, c.Policy.File)
	}
	return append(paths, c.SecretFiles...)
}

// trustedFolders returns the folders whose files multis trusts like the configuration: agents may read them but not write there.
func (c *Config) trustedFolders() []string {
	folders := []string{c.Skills.Folder, c.Tasks.Folder}
	for _, m := range c.MCP {
		if len(m.Command) > 0 && m.Folder != c.Database.DataDir {
			folders = append(folders, m.Folder)
		}
	}
	return folders
}

// checkFolders rejects folders of agents and documents that hold files of multis itself: tools could read or change them,
// or answers quote them.
func (c *Config) checkFolders(r *reader) {
	own, trusted := c.OwnPaths(r.file), c.trustedFolders()
	if path := overlapping(c.Documents.Folder, own); path != "" {
		r.reportKey("documents.folder", "would let a file of multis itself be indexed ("+path+"); choose another folder")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a, key := c.Agents[name], "agents."+name
		if path := overlapping(a.Workspace, own); path != "" {
			r.reportKey(key+".workspace", "would let the agent change a file of multis itself ("+path+"); choose another folder")
		} else if path := overlapping(a.Workspace, trusted); path != "" && (c.Exec.Enabled || c.Exec.WriteFiles) {
			r.reportKey(key+".workspace", "would let the agent write what multis takes from you ("+path+"); choose another folder")
		}
		for _, folder := range a.ReadPaths {
			if path := overlapping(folder, own); path != "" {
				r.reportKey(key+".read_paths", "would let the agent read a file of multis itself ("+path+"); name narrower folders")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Monitors)) {
		for _, folder := range c.Monitors[name].ReadPaths {
			if path := overlapping(folder, own); path != "" {
				r.reportKey("monitors."+name+".read_paths", "would let the command read a file of multis itself ("+path+"); name narrower folders")
			}
		}
	}
	if c.Exec.Enabled {
		c.checkReplaceable(r)
	}
}

// checkReplaceable rejects folders that lie in the workspace of an agent whose commands could put a link to any other
// folder of the machine in their place.
func (c *Config) checkReplaceable(r *reader) {
	check := func(key, folder string) {
		for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
			if isReplaceable(folder, c.Agents[name].Workspace) {
				r.reportKey(key, "lies in the workspace of agents."+name+
					", whose commands could put a link to any other folder in its place (exec.enabled); choose a folder elsewhere, or that whole workspace")
				return
			}
		}
	}
	check("documents.folder", c.Documents.Folder)
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		check("agents."+name+".workspace", c.Agents[name].Workspace)
		for _, folder := range c.Agents[name].ReadPaths {
			check("agents."+name+".read_paths", folder)
		}
	}
}

// isReplaceable reports whether a folder, or one that it lies in, is an entry of a workspace.
func isReplaceable(folder, workspace string) bool {
	workspace = withoutLinks(workspace)
	for parent := filepath.Dir(folder); ; parent = filepath.Dir(parent) {
		if isWithin(workspace, withoutLinks(parent)) {
			return true
		}
		if parent == filepath.Dir(parent) {
			return false
		}
	}
}

// overlapping returns the first of paths that is in folder, or that contains it, after symbolic links are resolved; empty for none.
func overlapping(folder string, paths []string) string {
	folder = withoutLinks(folder)
	for _, path := range paths {
		if target := withoutLinks(path); isWithin(folder, target) || isWithin(target, folder) {
			return path
		}
	}
	return ""
}

// isWithin reports whether path is folder or lies in it.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// withoutLinks returns an absolute path with its symbolic links resolved, as far as the file exists.
func withoutLinks(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(withoutLinks(parent), filepath.Base(path))
	}
	return path
}
