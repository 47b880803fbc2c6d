package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"multis/agent/tools"
	"multis/config"
	"multis/internal/text"
	"multis/policy/rules"
	"multis/store"
)

// newRules returns the rules of the configuration, followed by the default rules.
func newRules(cfg *config.Config) (*rules.Set, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // ~ in a rule then means root's home
	}
	known := rules.Vocabulary{Home: home, Agents: append([]string{}, slices.Sorted(maps.Keys(cfg.Agents))...)}
	known.Can = cfg.AgentsByCapability()
	known.Tools = tools.NewRegistry(nil, possibleTools()...).KnownTools()
	for name := range cfg.MCP {
		known.Prefixes = append(known.Prefixes, name+"__")
	}
	set, err := rules.New(cfg.OwnRules(), known)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return set, nil
}

// possibleTools returns all built-in tools, including those that the configuration turns off. They can be described but not called.
func possibleTools() []tools.Tool {
	return slices.Concat((&assistant{}).ownTools(), []tools.Tool{tools.Schedule{}}, writingTools(), commandTools(nil, nil))
}

// checkRules returns an error that names every rule that can never match.
func checkRules(cfg *config.Config) error {
	_, err := newRules(cfg)
	return err
}

// policyCmd shows the rules about tools.
type policyCmd struct {
	Show    policyShowCmd    `cmd:"" default:"1" help:"Print the rules in the order in which they are tried."`
	Explain policyExplainCmd `cmd:"" help:"Say what happens with a call: which rule decides, where it is written, and which were tried."`
}

// policyShowCmd prints the rules.
type policyShowCmd struct{}

// Run prints the owner's rules with their places in the configuration, and then the default rules.
func (policyShowCmd) Run(_ context.Context, c *cli) error {
	cfg, err := load(c.Config)
	if err != nil {
		return err
	}
	if err := checkRules(cfg); err != nil {
		return err
	}
	for _, r := range cfg.OwnRules() {
		fmt.Println(text.Clean("# yours: " + r.String()))
	}
	fmt.Print(string(rules.DefaultText()))
	return nil
}

// policyExplainCmd explains the decision about a call.
type policyExplainCmd struct {
	Agent   string `arg:"" help:"The agent; multis for the assistant itself."`
	Tool    string `arg:"" help:"The tool."`
	Args    string `arg:"" optional:"" help:"The arguments of the call, a JSON object. Without them, what the mildest of its calls needs."`
	Surface string `default:"owner" help:"Where the call comes from: owner, schedule, heartbeat, webhook, mcp, cli, delegate or contact."`
	Tainted bool   `help:"As if the agent had read text of others before."`
}

// Run prints the explanation. It starts no MCP servers, so it does not know their tools; /policy explain does.
func (p policyExplainCmd) Run(_ context.Context, c *cli) error {
	cfg, err := load(c.Config)
	if err != nil {
		return err
	}
	set, err := newRules(cfg)
	if err != nil {
		return err
	}
	registry := tools.NewRegistry(tools.NewRulePolicy(set, cfg.TimeZone, nil), possibleTools()...)
	caller := tools.Caller{
		Owner: p.Surface != string(rules.SurfaceContact), Surface: rules.Surface(p.Surface), Tainted: p.Tainted,
		ReadOnly: p.Surface == string(rules.SurfaceHeartbeat),
	}
	if err := callerOf(cfg, p.Agent, &caller); err != nil {
		return err
	}
	said, err := policyView{cfg: cfg, registry: registry}.explain(p.Tool, p.Args, caller)
	if err != nil {
		return err
	}
	fmt.Println(text.Clean(said))
	return nil
}

// callerOf sets the agent of a caller, with the tools and folders that the configuration gives the agent.
func callerOf(cfg *config.Config, agent string, c *tools.Caller) error {
	if agent == rules.Assistant {
		return nil
	}
	a, known := cfg.Agents[agent]
	if !known {
		return fmt.Errorf("there is no agent %s; write one of: %s", text.Clip(agent, 60),
			strings.Join(append([]string{rules.Assistant}, slices.Sorted(maps.Keys(cfg.Agents))...), ", "))
	}
	c.Agent = agent
	c.Allow = a.Allow
	c.Deny = a.Deny
	c.Workspace = a.Workspace
	c.ReadPaths = a.ReadPaths
	return nil
}

// explain returns the decision about a call and the rules that were tried, in lines.
func (v policyView) explain(tool, args string, caller tools.Caller) (string, error) {
	caller.Typed = caller.Surface == rules.SurfaceOwner && tool == tools.ReadPath{}.Spec().Name
	call := tools.Call{Name: tool, Args: json.RawMessage(args), AnyCall: args == "", Caller: caller}
	if args != "" && !json.Valid(call.Args) {
		return "", errors.New("the arguments are not a JSON object; write them like '{\"url\": \"https://example.com\"}'")
	}
	if v.safe {
		return "deny: multis is in safe mode and calls no tool; /safe off ends it", nil
	}
	if why := whyOff(v.cfg, tool); why != "" {
		return "deny: " + why, nil
	}
	e, err := v.registry.Explain(call)
	if err != nil {
		return "", err
	}
	if call.AnyCall && e.Spec.Class == rules.ClassExec {
		return "", errors.New("that depends on the command; write one after it, like '{\"command\": \"ls\"}'")
	}
	switch {
	case e.Forbidden != "" && e.Spec.Class == "" && slices.ContainsFunc(commandTools(nil, nil), func(t tools.Tool) bool {
		return t.Spec().Name == tool
	}) && caller.MayCall(tool):
		return "deny: commands are on, but none is run, because the sandbox does not hold on this machine; multis doctor says why", nil
	case e.Forbidden != "":
		return "deny: " + strings.TrimSuffix(e.Forbidden, ".") + "; no rule can change that", nil
	}
	lines := []string{e.Verdict.Sentence(), fmt.Sprintf("tool %s, class %s, tier %s; tried in this order:", tool, e.Spec.Class, e.Spec.Tier)}
	for _, t := range e.Checks {
		if t.About != e.Verdict.About {
			continue // another path or domain of the call, which decided nothing
		}
		why := "matches, " + string(t.Rule.Decision)
		switch {
		case t.Mismatch != "":
			why = "no: " + t.Mismatch
		case call.AnyCall && t.Rule != e.Verdict.Rule:
			why = "some calls, " + string(t.Rule.Decision)
		}
		lines = append(lines, fmt.Sprintf("  %s %s", t.Rule.Position(), why))
	}
	if e.Verdict.Decision != rules.Deny {
		for _, h := range commandHooksOf(v.cfg) {
			if h.IsAskedAbout(tool) {
				lines = append(lines, "then the command hook "+h.Name+" is asked, which may deny it or have you asked")
			}
		}
	}
	return strings.Join(lines, "\n"), nil
}

// policyView shows the rules and their decisions.
type policyView struct {
	cfg      *config.Config
	registry *tools.Registry
	safe     bool // multis is in safe mode
}

// Rules returns the owner's rules, one per line.
func (v policyView) Rules() []string {
	var lines []string
	for _, r := range v.cfg.OwnRules() {
		lines = append(lines, r.String())
	}
	return lines
}

// Explain says how the rules decide the owner's call of a tool in a room, a reason a line. Its error may be shown to the owner.
func (v policyView) Explain(room store.Chat, agent, tool, args string) (string, error) {
	caller := tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Chat: room}
	if err := callerOf(v.cfg, agent, &caller); err != nil {
		return "", err
	}
	return v.explain(tool, args, caller)
}
