package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxName is the maximum length of a tool's name that model providers accept.
const maxName = 64

// refusedCharacters match what the names of tools may have in the protocol, such as dots and slashes, and not at model providers.
var refusedCharacters = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// toolNames returns the names of a server's tools for models, by the server's own names: with the prefix, and with underscores in place of
// refused characters. A name that is too long, or that another tool has, ends with a hash of the server's name for it. It does not depend
// on the order of the tools, and a tool whose name needs no change keeps it.
func toolNames(prefix string, offered []*mcp.Tool) map[string]string {
	owners := map[string]int{} // how many tools would have a name
	for _, t := range offered {
		owners[plainName(prefix, t.Name)]++
	}
	names := map[string]string{}
	for _, t := range offered {
		if t.Name == "" {
			continue
		}
		name := plainName(prefix, t.Name)
		isChanged := name != prefix+t.Name
		if len(name) > maxName || isChanged && owners[name] > 1 {
			sum := sha256.Sum256([]byte(t.Name))
			end := "_" + hex.EncodeToString(sum[:4])
			name = name[:min(len(name), maxName-len(end))] + end
		}
		names[t.Name] = name
	}
	return names
}

func plainName(prefix, name string) string {
	return prefix + refusedCharacters.ReplaceAllString(name, "_")
}
