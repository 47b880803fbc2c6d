package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"multis/internal/plainfile"
	"multis/policy/rules"
)

// Policy holds the owner's rules about which tools may be called; see package rules.
type Policy struct {
	Rules []rules.Rule // written in config.yaml
	File  string       // path of a file with further rules, relative to the folder of config.yaml; empty means none
	// FileRules are the rules in File, which is read together with the configuration.
	FileRules []rules.Rule
}

// Tools configures the tools of all agents.
type Tools struct {
	Deny []string // patterns of tools that nobody may call, not even multis itself
}

// OwnRules returns the owner's rules in the order in which they are tried: one for each pattern in tools.deny, then Rules, then FileRules.
func (c *Config) OwnRules() []rules.Rule {
	var denied []rules.Rule
	for i, pattern := range c.Tools.Deny {
		denied = append(denied, rules.Rule{File: "tools.deny", Line: i + 1, Tools: []string{pattern}, Decision: rules.Deny})
	}
	return slices.Concat(denied, c.Policy.Rules, c.Policy.FileRules)
}

// policyFields returns the fields of the rules.
func (c *Config) policyFields() []field {
	return []field{
		list("tools.deny", &c.Tools.Deny, toolPattern),
		{
			key: "policy.rules", clear: func() { c.Policy.Rules = []rules.Rule{} }, value: func() any { return c.Policy.Rules },
			set: func(string) error { return errors.New("can only be written in config.yaml") },
			node: func(file string, n *yaml.Node) []rules.ParseError {
				all, problems := rules.ParseNode(file, n)
				c.Policy.Rules = append(c.Policy.Rules, all...)
				return problems
			},
		},
		value("policy.file", &c.Policy.File, optional(filePath)),
	}
}

// checkPolicy reads the file of rules, and rejects rules that can never match.
func (c *Config) checkPolicy(r *reader) {
	if c.Policy.File != "" {
		c.Policy.File = resolvePath(filepath.Dir(r.file), c.Policy.File)
		data, err := readRules(c.Policy.File)
		if err != nil {
			r.reportKey("policy.file", err.Error())
			return
		}
		if c.Policy.FileRules, err = rules.Parse(c.Policy.File, data); err != nil {
			r.reportRules(err)
			return
		}
	}
	agents := append([]string{}, slices.Sorted(maps.Keys(c.Agents))...)
	if _, err := rules.New(c.OwnRules(), rules.Vocabulary{Agents: agents, Can: c.AgentsByCapability()}); err != nil {
		r.reportRules(err)
	}
}

// readRules reads a file of rules.
func readRules(path string) ([]byte, error) {
	f, _, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, rules.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return data, nil
}

// reportRules adds the problems in an error about rules, one per line. Each already names its place.
func (r *reader) reportRules(err error) {
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimRight(line, "\n")
		r.problems = append(r.problems, Problem{Key: "policy.rules", What: line, Text: line})
	}
}

// AgentsByCapability returns for each word under can the names of the agents that have it, sorted.
func (c *Config) AgentsByCapability() map[string][]string {
	all := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		for _, word := range c.Agents[name].Capabilities {
			all[word] = append(all[word], name)
		}
	}
	return all
}
