package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// ownExample is the example with its reader's own homeserver and id.
func ownExample() string { return strings.ReplaceAll(string(Example()), "example.com", "example.org") }

// filledExample returns the example with every placeholder filled in, with the same tokens as the constant least.
func filledExample() string {
	text := ownExample()
	for _, value := range []string{"as_multis_7hq2c9xk", "as-secret", "hs-secret"} {
		text = strings.Replace(text, ": "+Placeholder, ": "+value, 1)
	}
	return text
}

func TestExample_UntouchedIsRefused(t *testing.T) {
	t.Parallel()
	path := write(t, string(Example()))
	_, err := Generate(path)
	require.Error(t, err)
	for _, key := range []string{"homeserver.address", "homeserver.domain", "owner"} {
		t.Run(key, func(t *testing.T) {
			require.Contains(t, err.Error(), key+": is still the example's")
		})
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(Example()), string(kept), "and is left as it is")
}

func TestExample_ShowsDefaults(t *testing.T) {
	t.Parallel()
	require.Equal(t, parse(t, least), parse(t, filledExample()))
}

func TestExample_ExplainsEveryKey(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(Example(), &doc))
	explained := map[string]bool{}
	var walk func(section string, node *yaml.Node, commented bool)
	walk = func(section string, node *yaml.Node, commented bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			name, content := node.Content[i], node.Content[i+1]
			// A comment is for its key, for those right below it, and for the whole section it stands over.
			commented = commented || name.HeadComment != ""
			explained[joinKey(section, name.Value)] = commented
			if content.Kind == yaml.MappingNode {
				walk(joinKey(section, name.Value), content, commented)
			}
		}
	}
	walk("", doc.Content[0], false)
	for _, f := range defaults().fields() {
		if key, isFile := strings.CutSuffix(f.key, fileSuffix); !isFile {
			require.True(t, explained[key], key)
		}
	}
	for _, g := range defaults().groups() {
		fields, _ := g.item("somebody")
		shown := strings.Contains(string(Example()), keyName(g.section)+": {}\n")
		require.True(t, shown, g.section)
		for _, f := range fields {
			if !strings.HasSuffix(f.key, fileSuffix) {
				deep := strings.Repeat("  ", strings.Count(strings.TrimPrefix(f.key, g.section+"."), ".")-1)
				require.Contains(t, string(Example()), "#     "+deep+keyName(f.key)+": ", f.key+" is shown in a comment")
			}
		}
	}
	require.Contains(t, string(Example()), "as_token_file:")
}

func TestEnvironment_VariablesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, f := range defaults().fields() {
		require.Empty(t, seen[EnvName(f.key)], f.key)
		seen[EnvName(f.key)] = f.key
	}
	require.Contains(t, seen, "MULTIS_APPSERVICE_AS_TOKEN")
	require.Contains(t, seen, "MULTIS_DATABASE_URL_FILE")
}

func TestDocs_NameEveryKey(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/configuration.md")
	require.NoError(t, err)
	fields := defaults().fields()
	for _, g := range defaults().groups() {
		below, _ := g.item("<" + g.name + ">")
		fields = append(fields, below...)
	}
	for _, f := range fields {
		if !strings.HasSuffix(f.key, fileSuffix) {
			require.Contains(t, string(doc), "| `"+f.key+"` |")
		}
	}
}
