package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecret_FromEnvironmentFileOrCredential(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "from-a-file\n", "credential": "from-systemd\n"} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		})
	}
	env := map[string]string{"KEY": " from-the-environment ", "CREDENTIALS_DIRECTORY": dir, "MULTIS_SPEECH_API_KEY": "env:KEY"}
	file := filepath.Join(dir, "config.yaml")
	c, err := Parse(file, []byte(least+`
llm: {api_key: "env:KEY", providers: {groq: {api_key: "file:key"}}}
embeddings: {api_key: "systemd:credential"}
database: {url_file: key-of-database}
hooks: {desk: {url: "env:HOOK", events: [escalation], secret: "env:SIGNING"}}
mcp:
  near: {command: [x], env: {TOKEN: "env:KEY", PLAIN: "as it is"}}
  far: {url: "env:MCP_URL", headers: {X-Key: "file:key"}}
agents: {sales: {api_key: "file:`+filepath.Join(dir, "key")+`"}}
`), func(name string) (string, bool) {
		switch name {
		case "HOOK":
			return "https://example.org/hook", true
		case "SIGNING":
			return strings.Repeat("s", 30), true
		case "MCP_URL":
			return "https://example.org/mcp/", true
		}
		v, ok := env[name]
		return v, ok
	})
	require.ErrorContains(t, err, "config.yaml:13: database.url_file: is not readable")
	require.Nil(t, c)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key-of-database"), []byte("postgres://multis@localhost/multis"), 0o600))
	c, err = Parse(file, []byte(least+`
llm: {api_key: "env:KEY", providers: {groq: {api_key: "file:key"}}}
embeddings: {api_key: "systemd:credential"}
database: {url_file: key-of-database}
mcp:
  near: {command: [x], env: {TOKEN: "env:KEY", PLAIN: "as it is"}}
  far: {url: "https://example.org/mcp/", headers: {X-Key: "file:key"}}
agents: {sales: {api_key: "file:`+filepath.Join(dir, "key")+`"}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	require.NoError(t, err)
	require.Equal(t, "from-the-environment", c.LLM.APIKey.Value())
	require.Equal(t, "from-a-file", c.LLM.Providers["groq"].APIKey.Value())
	require.Equal(t, "from-systemd", c.Embeddings.APIKey.Value())
	require.Equal(t, "from-the-environment", c.Speech.APIKey.Value(), "an environment variable may hold a reference, too")
	require.Equal(t, "postgres://multis@localhost/multis", c.Database.URL.Value())
	require.Equal(t, map[string]Secret{"TOKEN": "from-the-environment", "PLAIN": "as it is"}, c.MCP["near"].Env)
	require.Equal(t, map[string]Secret{"X-Key": "from-a-file"}, c.MCP["far"].Headers)
	require.Equal(t, "from-a-file", c.Agents["sales"].APIKey.Value())
	require.Subset(t, c.Secrets(), []string{"from-the-environment", "from-a-file", "from-systemd", "as it is"})
	require.Subset(t, c.SecretFiles, []string{
		filepath.Join(dir, "key"), filepath.Join(dir, "credential"),
		filepath.Join(dir, "key-of-database"),
	})
}

func TestSecret_MissingNamesLineAndFix(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"env:MISSING":           `config.yaml:10: llm.api_key: names the environment variable MISSING, which is not set; set it where multis is started (Environment= or EnvironmentFile= of the service), and in the shell for a command that you type`,
		"env:EMPTY":             `config.yaml:10: llm.api_key: names the environment variable EMPTY, which is not set; set it`,
		"env:sk-live-123456789": `config.yaml:10: llm.api_key: has no name of a variable after env:; write it like env:ANTHROPIC_API_KEY`,
		"env:":                  `config.yaml:10: llm.api_key: has no name of a variable after env:`,
		"file:/nowhere/at/all":  `config.yaml:10: llm.api_key: is not readable: no such file or directory; write the path of a file that multis may read`,
		"file:.":                `config.yaml:10: llm.api_key: is not a plain file; write the path of a file with only the secret in it`,
		"systemd:key":           `config.yaml:10: llm.api_key: names a credential of systemd, and multis was not started with any; add LoadCredential=NAME:/path to the service, or write file:/path; before a command that you type write CREDENTIALS_DIRECTORY=/run/credentials/multis.service`,
		"systemd:../key":        `config.yaml:10: llm.api_key: has no name of a credential after systemd:; write it like systemd:as_token`,
		"systemd:":              `config.yaml:10: llm.api_key: has no name of a credential after systemd:`,
	} {
		t.Run(value, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(least+"llm: {api_key: \""+value+"\"}\n"), func(name string) (string, bool) {
				return "", name == "EMPTY"
			})
			require.ErrorContains(t, err, want, value)
			require.NotContains(t, err.Error(), "sk-live")
		})
	}
	for add, want := range map[string]string{
		"mcp: {x: {command: [x], env: {\"A B\": v}}}\n":             "mcp.x.env: has a name that is not an environment variable",
		"mcp: {x: {command: [x], env: [A]}}\n":                      `mcp.x.env: is a list; write "NAME: value" lines below it`,
		"mcp: {x: {command: [x], env: {A: v, A: w}}}\n":             "mcp.x.env.A: is set a second time",
		"mcp: {x: {command: [x], env: {A: \"env:NONE\"}}}\n":        "mcp.x.env.A: names the environment variable NONE",
		"mcp: {x: {command: [x], headers: {X-Key: v}}}\n":           "mcp.x.headers: only works with a url",
		"mcp: {x: {url: \"http://x/\", env: {A: v}}}\n":             "mcp.x.env: only works with a command",
		"mcp: {x: {url: \"http://x/\", headers: {\"a b\": v}}}\n":   "mcp.x.headers: has a name that is not an HTTP header",
		"mcp: {x: {url: \"http://x/\", headers: {host: v}}}\n":      "mcp.x.headers: has a header that multis sets itself",
		"mcp: {x: {url: \"http://x/\", headers: {a: \"b\\nc\"}}}\n": "mcp.x.headers.a: is empty or has line ends",
	} {
		t.Run(add, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(least+add), func(string) (string, bool) { return "", false })
			require.ErrorContains(t, err, "config.yaml:10: "+want, add)
		})
	}
}

func TestSet_RefusesPlainSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least+"llm:\n  api_key: the-old-key\n"), 0o600))
	t.Setenv("NEW_KEY", "the-new-key")
	for _, value := range []string{"sk-typed-in-a-shell", "…", "[secret]"} {
		t.Run(value, func(t *testing.T) {
			_, err := Set(path, "llm.api_key", value)
			require.ErrorContains(t, err, "llm.api_key is a secret")
			require.NotContains(t, err.Error(), value)
		})
	}
	for _, mask := range []string{"[secret]", "…", " … "} {
		t.Run(mask, func(t *testing.T) {
			_, err := Set(path, "name", mask)
			require.ErrorContains(t, err, "stands for a secret that was removed")
			require.ErrorContains(t, CheckSetting(path, nil, "business.greeting", mask), "stands for a secret that was removed")
		})
	}
	for _, key := range []string{"business.greeting", "business.rules", "business.escalation.text"} {
		t.Run(key, func(t *testing.T) {
			require.ErrorContains(t, CheckSetting(path, nil, key, "The code is [secret]"),
				key+": the value has a mark that stands for a secret that was removed")
		})
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "the-old-key", "nothing was replaced")
	_, err = Set(path, "business.greeting", "One moment … we are looking.")
	require.NoError(t, err, "an ellipsis is no mask")
	require.NoError(t, CheckSetting(path, nil, "business.greeting", "One moment …"))
	_, err = Set(path, "llm.api_key", "env:NEW_KEY")
	require.NoError(t, err)
	values, err := Values(path, nil)
	require.NoError(t, err)
	for _, v := range values {
		require.NotContains(t, v.Value, "the-new-key")
		if v.Key == "llm.api_key" {
			require.Equal(t, "env:NEW_KEY", v.Value, "where it is may be known")
		}
	}
}
