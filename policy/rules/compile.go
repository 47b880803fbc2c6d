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

// DefaultFile is the file name of the default rules in messages, as in "default.yaml:12".
const DefaultFile = "default.yaml"

// DefaultText returns the default rules as YAML, with their comments.
func DefaultText() []byte { return slices.Clone(defaultFile) }

var defaults = sync.OnceValues(func() ([]Rule, error) { return Parse(DefaultFile, defaultFile) })

// Vocabulary holds the names that rules may use. A rule with any other name can never match.
type Vocabulary struct {
	Home   string   // the folder that ~ means in paths; empty means /root
	Agents []string // the names of agents, without Assistant; nil means that names of agents are not checked
	// Can holds for each word the names of the agents that are good for it, in their order.
	Can map[string][]string
	// Tools are multis' own tools; nil means that names of tools are not checked.
	Tools []Tool
	// Prefixes are prefixes of the names of tools that may be missing at times, such as those of MCP servers.
	Prefixes []string
}

// Tool holds the facts about a tool that rules are checked against.
type Tool struct {
	Name     string
	Class    Class
	Kinds    Kinds
	Contacts bool // turns of contacts may call it
}

// Kinds says which kinds of resources a tool's calls have.
type Kinds struct{ Paths, Domains, Argv bool }

// New returns a set of own rules, followed by the default rules. If any own rules can never match, it returns no set, and
// an error that lists all of them.
func New(own []Rule, known Vocabulary) (*Set, error) {
	ends, err := defaults()
	if err != nil {
		return nil, fmt.Errorf("read the default rules: %w", err)
	}
	own, problems := resolveCan(own, known)
	if len(problems) == 0 { // else the rules that mean no agent would seem to match all of them
		problems = unreachable(own, known)
	}
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

// resolveCan returns the rules with the agents that Can means, as they are configured now, in Agents. It returns a
// problem for each rule that means no agent, because without a condition the rule would match all of them.
func resolveCan(own []Rule, known Vocabulary) ([]Rule, []ParseError) {
	own = slices.Clone(own)
	var problems []ParseError
	for i := range own {
		r := &own[i]
		if len(r.Can) == 0 {
			continue
		}
		var agents []string
		for _, word := range r.Can {
			for _, name := range known.Can[word] {
				if (len(r.Agents) == 0 || matchesAny(r.Agents, name)) && !slices.Contains(agents, name) {
					agents = append(agents, name)
				}
			}
		}
		if len(agents) == 0 {
			problems = append(problems, ParseError{
				r.File, r.Line,
				fmt.Sprintf("the rule can never match: no such agent has %s under can; /agents shows who has what", strings.Join(r.Can, ", ")),
			})
			continue
		}
		r.Agents = agents
	}
	return own, problems
}
