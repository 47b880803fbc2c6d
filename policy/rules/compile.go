package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed default.yaml
var defaultFile []byte

// DefaultFile is how places name the default rules.
const DefaultFile = "default.yaml"

// DefaultText returns the default rules as they are written.
func DefaultText() []byte { return slices.Clone(defaultFile) }

var defaults = sync.OnceValues(func() ([]Rule, error) { return Parse(DefaultFile, defaultFile) })

// Vocabulary is what rules may name. Rules that name something else can never match.
type Vocabulary struct {
	Home   string   // the folder of ~; empty means /root
	Agents []string // their names, without Assistant; nil means that they are not checked
	// Tools are multis' own tools; nil means that they are not checked.
	Tools []Tool
	// Prefixes begin the names of tools that come and go, such as those of MCP servers.
	Prefixes []string
}

// Tool is what a rule needs to know about a tool.
type Tool struct {
	Name  string
	Class Class
	Kinds Kinds
}

// Kinds says which resources the calls of a tool have.
type Kinds struct{ Paths, Domains, Argv bool }

// New returns a set of own rules, followed by the default rules. It returns an error with every rule that can never match, and no set, if there
// is one.
func New(own []Rule, known Vocabulary) (*Set, error) {
	ends, err := defaults()
	if err != nil {
		return nil, fmt.Errorf("read the default rules: %w", err)
	}
	problems := unreachable(own, known)
	if err := join(problems); err != nil {
		return nil, err
	}
	all := slices.Concat(own, ends)
	home := strings.TrimSuffix(known.Home, "/")
	if known.Home == "" {
		home = "/root"
	}
	for i := range all {
		all[i].Paths = slices.Clone(all[i].Paths)
		for j, p := range all[i].Paths {
			if rest, is := strings.CutPrefix(p, "~/"); is {
				all[i].Paths[j] = home + "/" + rest
			}
		}
	}
	return &Set{all}, nil
}
