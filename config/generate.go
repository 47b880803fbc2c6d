package config

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"gopkg.in/yaml.v3"

	"multis/internal/plainfile"
)

// Placeholder is the value in the file that Generate replaces with a random one.
const Placeholder = "generate"

// Generate replaces each token with the value "generate" in the configuration at path by a random one. It writes the
// file only if the result is valid, keeps comments and order, and sets mode 0600. If no value is "generate", it does not
// change the file.
func Generate(path string) (*Config, error) {
	path, old, unlock, err := openForChange(path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	filled, err := ReplacePlaceholders(path, old)
	if err != nil {
		return nil, err
	}
	c, err := Parse(path, filled, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	if string(filled) == string(old) {
		return c, nil
	}
	if err := plainfile.Replace(path, filled, 0o600); err != nil {
		return nil, fmt.Errorf("write the tokens into the configuration: %w", err)
	}
	return c, nil
}

// ReplacePlaceholders returns data with random values instead of the placeholders. name is the path of the file, for errors.
func ReplacePlaceholders(name string, data []byte) ([]byte, error) {
	for _, fresh := range []struct{ key, value string }{
		{"sender_localpart", "as_multis_" + strings.ToLower(rand.Text())},
		{"as_token", rand.Text() + rand.Text()},
		{"hs_token", rand.Text() + rand.Text()},
	} {
		// Parse again for each key, because the replacement before may have moved the columns of its line.
		var doc yaml.Node
		if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
			return data, nil //nolint:nilerr // the data is no YAML, which Parse explains better
		}
		node := yamlValue(yamlValue(doc.Content[0], "appservice"), fresh.key)
		if node == nil || node.Kind != yaml.ScalarNode || node.Value != Placeholder {
			continue
		}
		lines := strings.Split(string(data), "\n")
		if !replacePlaceholder(lines, node, fresh.value) {
			return nil, fmt.Errorf("%s:%d: appservice.%s: cannot be replaced here; write it as %s: generate, on a line of its own",
				name, node.Line, fresh.key, fresh.key)
		}
		data = []byte(strings.Join(lines, "\n"))
	}
	return data, nil
}

// yamlValue returns the value of a key in a mapping, or nil if there is none.
func yamlValue(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// replacePlaceholder replaces the placeholder at node's position in lines by value. It returns false if the text at
// that position is not the placeholder, as with anchors, tags or line breaks that only YAML recognizes.
func replacePlaceholder(lines []string, node *yaml.Node, value string) bool {
	if node.Line > len(lines) {
		return false
	}
	runes := []rune(lines[node.Line-1])
	if node.Column > len(runes) {
		return false
	}
	before, after := string(runes[:node.Column-1]), string(runes[node.Column-1:])
	for _, written := range []string{Placeholder, `"` + Placeholder + `"`, "'" + Placeholder + "'"} {
		if rest, ok := strings.CutPrefix(after, written); ok {
			lines[node.Line-1] = before + value + rest
			return true
		}
	}
	return false
}
