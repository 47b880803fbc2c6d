package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAgents_RefuseFoldersOfMultis(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	for name, text := range map[string]string{"key": "abcdefgh", "rules.yaml": "rules: []\n"} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		})
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "notes"), 0o700))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "notes", "all")))
	common := least + "llm: {api_key: \"file:" + filepath.Join(dir, "key") +
		"\"}\npolicy: {file: rules.yaml}\nskills: {folder: skills}\nmcp: {files: {command: [server], folder: server}}\n"
	const own, trusted = "a file of multis itself", "what multis takes from you"
	for agent, want := range map[string]string{
		"{}":                          "",
		"{workspace: desk}":           "",
		"{read_paths: [notes]}":       "",
		"{workspace: .}":              own,
		"{workspace: /}":              own,
		"{workspace: postgres/x}":     own,
		"{workspace: hooks/guard}":    own,
		"{workspace: cache}":          own,
		"{read_paths: [.]}":           own,
		"{read_paths: [key]}":         own,
		"{read_paths: [rules.yaml]}":  own,
		"{read_paths: [notes/all]}":   own,
		"{workspace: skills}":         trusted,
		"{workspace: tasks/x}":        trusted,
		"{workspace: server}":         trusted,
		"{read_paths: [data/skills]}": "",
	} {
		t.Run(agent, func(t *testing.T) {
			data := common + "exec: {write_files: true}\nagents:\n  sales: " + agent + "\n"
			_, err := Parse(file, []byte(data), noEnv)
			if want == "" {
				require.NoError(t, err, agent)
				return
			}
			require.ErrorContains(t, err, want, agent)
			require.Regexp(t, `config\.yaml:\d+: agents\.sales\.(workspace|read_paths): `, err.Error())
		})
	}
	_, err := Parse(file, []byte(common+"documents: {folder: ..}\n"), noEnv)
	require.ErrorContains(t, err, "documents.folder: would let a file of multis itself be indexed")
	c, err := Parse(file, []byte(common), noEnv)
	require.NoError(t, err)
	data := filepath.Join(dir, "data")
	require.Subset(t, c.OwnPaths(file), []string{
		file, filepath.Join(dir, "registration.yaml"), filepath.Join(dir, "key"), filepath.Join(dir, "rules.yaml"), filepath.Join(data, "hooks"),
		filepath.Join(data, "starts.json"), filepath.Join(data, "postgres"),
	})
}

// A command of an agent could rename such a folder and put a link to any folder of the machine in its place.
func TestAgents_RefuseNestedWorkspaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "shop", "public"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "shop"), filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("/srv", filepath.Join(dir, "shop", "elsewhere")))
	in := func(name string) string { return filepath.Join(dir, name) }
	for text, key := range map[string]string{
		"agents: {shop: {workspace: " + in("shop") + "}, sales: {read_paths: [" + in("shop/public") + "]}}":         "agents.sales.read_paths",
		"agents: {shop: {workspace: " + in("link") + "}, sales: {read_paths: [" + in("shop/public/x") + "]}}":       "agents.sales.read_paths",
		"agents: {shop: {workspace: " + in("shop") + "}, sales: {read_paths: [" + in("shop/elsewhere") + "]}}":      "agents.sales.read_paths",
		"agents: {shop: {workspace: " + in("shop") + "}, sales: {workspace: " + in("link/public") + "}}":            "agents.sales.workspace",
		"agents: {shop: {workspace: " + in("shop") + ", read_paths: [" + in("shop/public") + "]}}":                  "agents.shop.read_paths",
		"agents: {shop: {workspace: " + in("shop") + "}}\ndocuments: {folder: " + in("shop/public") + "}":           "documents.folder",
		"agents: {shop: {workspace: " + in("shop") + "}, sales: {workspace: " + in("shop") + "}}":                   "",
		"agents: {shop: {workspace: " + in("shop") + "}, sales: {read_paths: [" + in("shop") + ", " + dir + "]}}":   "",
		"agents: {shop: {workspace: " + in("shop/public") + "}}\ndocuments: {folder: " + in("shop/elsewhere") + "}": "",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Parse("", []byte(least+"exec: {enabled: true}\n"+text+"\n"), noEnv)
			if key == "" {
				require.NoError(t, err, text)
				return
			}
			require.ErrorContains(t, err, key+": lies in the workspace of agents.shop", text)
			_, err = Parse("", []byte(least+"exec: {write_files: true}\n"+text+"\n"), noEnv)
			require.NoError(t, err, "files are written without links")
		})
	}
}

func TestAgents_ProgramIsConfiguredWhole(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"{command: [claude, -p, \"{prompt}\"], network: true, ports: [443], domains: [example.com], env: {KEY: abcdefgh}}": "",
		"{command: [gemini]}":                             "",
		"{network: true}":                                 "only an agent with a command",
		"{ports: [443]}":                                  "only an agent with a command",
		"{domains: [example.com]}":                        "only an agent with a command",
		"{env: {KEY: abcdefgh}}":                          "only an agent with a command",
		"{command: [\"{prompt}\"]}":                       "needs a program first",
		"{command: [claude, \"{prompt}\", \"{prompt}\"]}": "at most once",
		"{command: [claude, \"--task={prompt}\"]}":        "inside of another argument",
		"{command: [claude], default: true}":              "has no model",
		"{command: [claude], delegates: [\"*\"]}":         "has no model",
		"{command: [claude], networks: [whatsapp]}":       "has no model",
		"{command: [claude], ports: [443]}":               "without network: true",
		"{command: [claude], domains: [example.com]}":     "without network: true",
		"{command: []}":                                   "",
	} {
		t.Run(agent, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(least+"exec: {enabled: true}\nagents:\n  coder: "+agent+"\n"), noEnv)
			if want == "" {
				require.NoError(t, err, agent)
				return
			}
			require.ErrorContains(t, err, want, agent)
		})
	}
	_, err := Parse("config.yaml", []byte(least+"agents:\n  coder: {command: [claude]}\n"), noEnv)
	require.ErrorContains(t, err, "needs exec.enabled: true")
}
